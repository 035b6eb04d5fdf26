"""Flags of a thread that a mode of calls sees being set: whether operations are recorded, how backward runs."""

import pytest
import rushlight as torch
from rushlight.overrides import TorchFunctionMode
from rushlight.utils.checkpoint import checkpoint
from support import raises


class Listed(TorchFunctionMode):
    """Makes every call, and lists what was called."""

    def __init__(self):
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append((func.__name__, args) if func.__name__.startswith("_set") else func.__name__)
        return func(*args, **(kwargs or {}))


class Answers(TorchFunctionMode):
    """Answers every call without making it."""

    def __init__(self, answer):
        self.answer = answer

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def recorded(on):
    return "_set_grad_enabled", (on,)


def test_a_block_that_does_not_record_sets_a_flag_twice():
    with Listed() as mode, torch.no_grad():
        pass
    assert mode.seen == [recorded(False), recorded(True)]
    with torch.no_grad(), Listed() as mode, torch.enable_grad():
        assert torch.is_grad_enabled()
    assert mode.seen == [recorded(True), recorded(False)]


def test_so_does_a_function_that_is_decorated():
    decorated = torch.no_grad()(torch.is_grad_enabled)
    with Listed() as mode:
        assert not decorated()
    assert mode.seen == [recorded(False), recorded(True)]


def test_a_flag_that_is_set_by_a_call_is_shown_when_it_is_set():
    with Listed() as mode:
        torch.set_grad_enabled(True)
        with torch.set_grad_enabled(False):
            pass
    assert mode.seen == [recorded(True), recorded(False), recorded(False), recorded(True)]
    with Listed() as mode, torch.autograd.set_multithreading_enabled(True):
        pass
    assert mode.seen == [("_set_multithreading_enabled", (True,))] * 2


def test_what_the_call_is_shown_with():
    class Shown(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((func, types, args, kwargs))
            return func(*args)

    seen = []
    with Shown():
        torch._C._set_grad_enabled(True)
    assert seen == [(torch._C._set_grad_enabled, (), (True,), None)]


def test_inference_mode_is_not_shown():
    with Listed() as mode, torch.inference_mode():
        pass
    assert mode.seen == []


def test_a_mode_that_does_not_make_the_call_leaves_the_flag_as_it_is():
    with Answers(7), torch.no_grad():
        assert torch.is_grad_enabled()
    with (
        raises(TypeError, "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not int"),
        Answers(7),
    ):
        torch._C._set_grad_enabled(3)


def test_a_mode_that_fails_or_declines_fails_the_block():
    with raises(ValueError, "no"), Answers(ValueError("no")), torch.no_grad():
        pass
    declined = "Multiple dispatch failed for 'torch._C.set_grad_enabled'; all __torch_function__ handlers"
    with raises(TypeError, declined), Answers(NotImplemented), torch.no_grad():
        pass
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("reentrant", [False, True])
def test_the_state_of_random_numbers_is_kept_without_a_call(reentrant):
    x = torch.ones(2, requires_grad=True)
    with Listed() as mode:
        checkpoint(torch.sin, x, use_reentrant=reentrant).sum().backward()
    assert not {"get_rng_state", "set_rng_state"} & {name for name in mode.seen if isinstance(name, str)}


def test_an_edge_is_found_by_a_view():
    x = torch.ones(2, requires_grad=True)
    with Listed() as mode:
        torch.autograd.graph.get_gradient_edge(x)
    assert [name for name in mode.seen if name != "__get__"] == [recorded(True), "view_as", recorded(True)]
