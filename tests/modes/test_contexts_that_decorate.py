"""Context managers of one's own that decorate, and modes as values."""

import copy
import pickle

import pytest
import rushlight as torch
from rushlight.utils._contextlib import (
    _DecoratorContextManager,
    _NoParamDecoratorContextManager,
    context_decorator,
)


class Noted(_DecoratorContextManager):
    def __init__(self, notes):
        self.notes = notes

    def __enter__(self):
        self.notes.append("in")

    def __exit__(self, *_):
        self.notes.append("out")

    def clone(self):
        return type(self)(self.notes)


def test_one_decorates_functions_and_the_steps_of_generators():
    notes = []

    @Noted(notes)
    def function():
        notes.append("function")

    @Noted(notes)
    def generator():
        yield notes.append("step")

    function()
    for _ in generator():
        notes.append("between")
    assert notes == ["in", "function", "out", "in", "step", "out", "between", "in", "out"]


def test_one_without_parameters_decorates_as_it_is():
    class Quiet(_NoParamDecoratorContextManager):
        def __enter__(self):
            pass

        def __exit__(self, *_):
            pass

    @Quiet
    def function():
        """Documented."""
        return 2

    assert (function(), function.__doc__) == (2, "Documented.")
    assert isinstance(Quiet(), Quiet)


def test_the_modes_are_such_contexts():
    assert isinstance(torch.no_grad(), _NoParamDecoratorContextManager)
    assert issubclass(torch.set_grad_enabled, _DecoratorContextManager)
    assert issubclass(torch.inference_mode, _DecoratorContextManager)


def test_a_context_without_its_ends_is_none():
    with pytest.raises(NotImplementedError):
        _DecoratorContextManager().__enter__()


def test_what_could_be_a_context_or_make_one_is_refused():
    with pytest.raises(AssertionError, match="is both callable and also a valid context manager"):
        context_decorator(torch.no_grad(), print)


@pytest.mark.parametrize("mode", [torch.no_grad(), torch.enable_grad(), torch.inference_mode(False)])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_modes_are_copied_and_pickled(mode, again):
    made = again(mode)
    assert type(made) is type(mode) and made is not mode
    assert getattr(made, "mode", None) == getattr(mode, "mode", None)


def test_what_queued_callbacks_see_is_the_mode_of_the_run():
    engine = torch.autograd.Variable._execution_engine
    x, seen = torch.ones(2, requires_grad=True), []
    x.register_hook(lambda g: engine.queue_callback(lambda: seen.append(torch.is_grad_enabled())))
    x.sum().backward()
    x.exp().sum().backward(retain_graph=True)
    assert seen == [False, False]
