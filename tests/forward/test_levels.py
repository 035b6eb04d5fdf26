"""Levels of forward mode: entering, leaving, nesting, threads, and what goes when one is left."""

import gc
import threading
import weakref

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from support import raises


def dual(x=None):
    x = torch.tensor([1.0, 2.0]) if x is None else x
    return fwAD.make_dual(x, torch.ones_like(x))


def test_a_level_is_entered_by_a_block_and_has_number_zero():
    assert fwAD._current_level == -1
    with fwAD.dual_level() as level:
        assert level == fwAD._current_level == 0
    assert fwAD._current_level == -1


def test_a_level_is_entered_and_left_by_functions():
    assert fwAD.enter_dual_level() == 0
    assert fwAD.unpack_dual(dual()).tangent.tolist() == [1.0, 1.0]
    fwAD.exit_dual_level(level=0)
    assert fwAD.enter_dual_level() == 0
    fwAD.exit_dual_level()
    assert fwAD._current_level == -1


def test_a_level_can_be_a_decorator_of_functions_and_generators():
    @fwAD.dual_level()
    def tangent(x):
        return fwAD.unpack_dual(dual(x) * 3).tangent

    @fwAD.dual_level()
    def steps():
        yield fwAD._current_level
        yield fwAD._current_level

    assert tangent(torch.ones(1)).item() == 3.0
    generator = steps()
    assert [next(generator), fwAD._current_level, next(generator)] == [0, -1, 0]
    generator.close()


def test_a_level_inside_of_a_level_is_refused():
    with fwAD.dual_level():
        with raises(RuntimeError, "Nested forward mode AD is not supported at the moment"):
            fwAD.enter_dual_level()
        assert fwAD._current_level == 0


def test_only_the_level_that_was_entered_last_can_be_left():
    with fwAD.dual_level():
        with raises(
            RuntimeError,
            "Trying to exit a forward AD level that was not the last one that was created. "
            "This is not supported.",
        ):
            fwAD.exit_dual_level(level=3)
    with raises(RuntimeError, "Dual level must be a positive number."):
        fwAD.exit_dual_level()


def test_a_level_is_left_when_its_block_raises():
    with pytest.raises(KeyError), fwAD.dual_level():
        raise KeyError
    assert fwAD._current_level == -1


def test_tangents_go_when_the_level_is_left():
    with fwAD.dual_level():
        x = dual()
        y = x * x
        assert fwAD.unpack_dual(y).tangent.tolist() == [2.0, 4.0]
    assert fwAD.unpack_dual(y).tangent is None
    with fwAD.dual_level():
        assert fwAD.unpack_dual(x).tangent is None
        assert fwAD.unpack_dual(x * x).tangent is None


def test_outside_of_a_level_a_tensor_is_its_own_primal():
    x = torch.ones(2)
    unpacked = fwAD.unpack_dual(x)
    assert unpacked.primal is x and unpacked.tangent is None


def test_a_dual_tensor_needs_a_level():
    with raises(
        RuntimeError,
        "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
        "enter_dual_level() first.",
    ):
        dual()
    with raises(
        RuntimeError,
        "Trying to access a forward AD level with an invalid index. This index was either not created or "
        "is already deleted.",
    ):
        fwAD.make_dual(torch.ones(1), torch.ones(1), level=0)


def test_a_level_that_does_not_exist_has_no_tangents():
    with fwAD.dual_level():
        assert fwAD.unpack_dual(torch.ones(1), level=1).tangent is None
        with raises(RuntimeError, "Invalid level given to _make_dual"):
            fwAD.make_dual(torch.ones(1), torch.ones(1), level=1)


def test_another_thread_sees_the_level_and_its_tangents():
    seen = []

    def look(x):
        seen.append((fwAD._current_level, fwAD.unpack_dual(x * x).tangent.tolist()))

    with fwAD.dual_level():
        thread = threading.Thread(target=look, args=(dual(),))
        thread.start()
        thread.join()
    assert seen == [(0, [2.0, 4.0])]


def test_tangents_with_a_history_are_freed_with_the_level():
    with fwAD.dual_level():
        x = torch.ones(2, requires_grad=True)
        tangent = torch.ones(2)
        y = fwAD.make_dual(x, tangent).exp()
        names = [weakref.ref(x), weakref.ref(tangent)]
        del x, y, tangent
    gc.collect()
    assert [name() for name in names] == [None, None]


def test_passing_tangents_on_can_be_switched_off():
    with fwAD.dual_level():
        x = dual()
        with fwAD._set_fwd_grad_enabled(False):
            assert not fwAD._is_fwd_grad_enabled()
            assert fwAD.unpack_dual(x).tangent is None
            y = x * x
            made = dual()
        assert fwAD._is_fwd_grad_enabled()
        assert fwAD.unpack_dual(x).tangent is not None
        assert fwAD.unpack_dual(y).tangent is None
        assert fwAD.unpack_dual(made * 1).tangent is not None


def test_no_grad_does_not_switch_forward_mode_off():
    with fwAD.dual_level(), torch.no_grad():
        x = dual()
        assert fwAD.unpack_dual(x * x).tangent.tolist() == [2.0, 4.0]


def test_what_was_inferred_both_gets_no_tangent():
    with torch.inference_mode():
        x, direction = torch.ones(2), torch.ones(2)
    with fwAD.dual_level():
        both = fwAD.make_dual(x, direction)
        assert both.is_inference() and fwAD.unpack_dual(both * 3).tangent is None
        assert fwAD.unpack_dual(fwAD.make_dual(x, torch.ones(2)) * 3).tangent.tolist() == [3.0, 3.0]
        assert fwAD.unpack_dual(fwAD.make_dual(torch.ones(2), direction) * 3).tangent.tolist() == [3.0, 3.0]
