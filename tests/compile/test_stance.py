"""What compiled functions do while a program wishes that they record nothing."""

import sys

import numpy
import pytest
import rushlight as torch
from support import raises


@pytest.fixture
def calls():
    """A compiled function, and the list to which each run of it as it is written adds."""
    seen = []

    def double(x):
        seen.append(1)
        return x * 2

    return torch.compile(double, backend="eager"), seen


def test_functions_run_as_they_are_written_in_a_block(calls):
    compiled, seen = calls
    with torch.compiler.set_stance("force_eager"):
        for count in range(1, 8):
            assert compiled(torch.ones(2)).tolist() == [2, 2]
            assert len(seen) == count


def is_run_as_written(compiled, x):
    """Whether a call with these numbers, which has to double them, runs the function's own code."""
    seen = []

    def notice(frame, event, argument):
        seen.append(frame.f_code)

    before = sys.gettrace()
    sys.settrace(notice)
    try:
        found = compiled(x)
    finally:
        sys.settrace(before)
    assert torch.equal(found, x * 2)
    return compiled.__wrapped__.__code__ in seen


@pytest.mark.own
def test_what_is_recorded_already_is_not_run_where_functions_are_to_be_run_as_written():
    compiled, two, three = torch.compile(lambda x: x * 2), torch.ones(2), torch.ones(3)
    assert is_run_as_written(compiled, two)
    for _ in range(8):
        compiled(two)
    assert not is_run_as_written(compiled, two)
    with torch.compiler.set_stance("force_eager"):
        assert is_run_as_written(compiled, two)
    assert not is_run_as_written(compiled, two)
    with torch.compiler.set_stance("eager_on_recompile"):
        assert not is_run_as_written(compiled, two)
        assert is_run_as_written(compiled, three)
    with torch.compiler.set_stance("fail_on_recompile"):
        assert not is_run_as_written(compiled, two)


def test_a_call_of_a_new_kind_fails_if_that_is_wished(calls):
    compiled, seen = calls
    with (
        torch.compiler.set_stance("fail_on_recompile"),
        raises(RuntimeError, "Detected recompile when torch.compile stance is 'fail_on_recompile'"),
    ):
        compiled(torch.ones(2))
    assert not seen


def test_a_wish_is_made_for_a_function_that_is_decorated(calls):
    compiled, seen = calls

    @torch.compiler.set_stance("force_eager")
    def program():
        return [compiled(torch.ones(1)).item() for _ in range(6)]

    assert program() == [2.0] * 6 and len(seen) == 6
    with raises(RuntimeError, "non-default stance cannot have force_backend set"):
        torch.compiler.set_stance("force_eager", force_backend="inductor")


@pytest.mark.own
def test_functions_of_arrays_become_functions_of_tensors():
    both = torch.compiler.wrap_numpy(lambda x: (numpy.sort(x), {"sum": x.sum(keepdims=True)}))
    order, rest = both(torch.tensor([2.0, 1.0]))
    assert order.tolist() == [1, 2] and rest["sum"].tolist() == [3]
