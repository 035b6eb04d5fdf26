"""`inference_mode` as a block, as a decorator, nested with the grad modes, per thread."""

import threading

import pytest
import rushlight as torch
from support import raises


def state():
    """Both modes."""
    return torch.is_inference_mode_enabled(), torch.is_grad_enabled()


def test_the_mode_is_off_at_the_start():
    assert state() == (False, True)


def test_a_block_switches_recording_off_too_and_puts_both_back():
    with torch.inference_mode() as value:
        assert value is None
        assert state() == (True, False)
    assert state() == (False, True)
    with torch.no_grad():
        with torch.inference_mode():
            assert state() == (True, False)
        assert state() == (False, False)


def test_the_mode_can_be_named_in_the_call():
    with torch.inference_mode(True):
        assert state() == (True, False)
    with torch.inference_mode(mode=False):
        assert state() == (False, True)


def test_out_of_the_mode_recording_is_on():
    with torch.inference_mode(), torch.inference_mode(False):
        assert state() == (False, True)
        assert (torch.ones(1, requires_grad=True) * 2).requires_grad
        assert not torch.ones(1).is_inference()
    with torch.no_grad(), torch.inference_mode(False):
        assert state() == (False, True)
    assert state() == (False, True)


def test_blocks_nest():
    with torch.inference_mode():
        with torch.inference_mode(False):
            with torch.inference_mode():
                assert state() == (True, False)
            assert state() == (False, True)
        assert state() == (True, False)


def test_the_grad_mode_may_be_switched_on_but_nothing_is_recorded():
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode(), torch.enable_grad():
        assert state() == (True, True)
        y = x * 2
        assert not y.requires_grad and y.is_inference()
    assert state() == (False, True)


def test_no_grad_does_not_leave_the_mode():
    with torch.inference_mode(), torch.no_grad():
        assert state() == (True, False)
        assert torch.ones(1).is_inference()


def test_an_exception_leaves_the_mode():
    with raises(KeyError, "'x'"):
        with torch.inference_mode():
            raise KeyError("x")
    assert state() == (False, True)


@pytest.mark.parametrize(
    "decorate",
    [torch.inference_mode(), torch.inference_mode, torch.inference_mode(True)],
    ids=["with-parentheses", "without", "with-an-argument"],
)
def test_it_decorates_a_function(decorate):
    @decorate
    def function(a):
        """Its own text."""
        return a, state()

    assert function(1) == (1, (True, False))
    assert function.__name__ == "function" and function.__doc__ == "Its own text."
    assert state() == (False, True)


def test_out_of_the_mode_decorates_too():
    @torch.inference_mode(mode=False)
    def function():
        return state()

    with torch.inference_mode():
        assert function() == (False, True)
        assert state() == (True, False)


def test_a_decorated_function_may_call_itself():
    @torch.inference_mode()
    def count(n):
        return [state()] + (count(n - 1) if n else [])

    assert count(3) == [(True, False)] * 4
    assert state() == (False, True)


def test_a_decorated_generator_is_in_the_mode_inside_only():
    @torch.inference_mode()
    def generate():
        received = yield state()
        yield received, state()

    generator = generate()
    assert next(generator) == (True, False)
    assert state() == (False, True)
    assert generator.send("x") == ("x", (True, False))
    assert state() == (False, True)


def test_a_module_may_be_run_in_the_mode():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 3)

        @torch.inference_mode()
        def forward(self, x):
            return self.linear(x)

    assert Net()(torch.ones(1, 2)).is_inference()


def test_every_thread_has_its_own_mode():
    seen, inside, go = [], threading.Event(), threading.Event()

    def work():
        seen.append((state(), torch.ones(1).is_inference()))
        with torch.inference_mode():
            inside.set()
            go.wait(10)
            seen.append((state(), torch.ones(1).is_inference()))

    with torch.inference_mode():
        thread = threading.Thread(target=work)
        thread.start()
        inside.wait(10)
    assert state() == (False, True)
    assert not torch.ones(1).is_inference()
    go.set()
    thread.join()
    assert seen == [((False, True), False), ((True, False), True)]


def test_a_thread_that_ends_in_the_mode_leaves_the_others_alone():
    thread = threading.Thread(target=lambda: torch.inference_mode().__enter__())
    thread.start()
    thread.join()
    assert state() == (False, True) and not torch.ones(1).is_inference()
    with torch.inference_mode():
        assert torch.ones(1).is_inference()


def test_the_mode_answers_to_its_names():
    assert torch.autograd.inference_mode is torch.inference_mode
    assert torch.autograd.grad_mode.inference_mode is torch.inference_mode
    assert isinstance(torch.inference_mode(), torch.inference_mode)
    assert torch.inference_mode().mode is True and torch.inference_mode(False).clone().mode is False


def test_derivatives_forward_are_not_recorded_for_those_outside():
    x = torch.ones(2, requires_grad=True)
    for mode in (torch.inference_mode, torch.no_grad):
        with mode():
            results = torch.func.jvp(torch.sin, (x,), (x,))
        assert [result.requires_grad for result in results] == [False, False]
        assert torch.equal(results[1], torch.ones(2).cos())
    with torch.inference_mode(), torch.enable_grad():
        assert not torch.func.grad(lambda x: x.sin().sum())(x).requires_grad
        assert torch.is_grad_enabled()
