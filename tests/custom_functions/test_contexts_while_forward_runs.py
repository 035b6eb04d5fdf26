"""What the context of a function tells and takes while its forward runs."""

import gc
import weakref

import pytest
import rushlight as torch
from rushlight.autograd import Function


def function(during):
    """A function that doubles, and does something with its context meanwhile."""

    class Double(Function):
        @staticmethod
        def forward(ctx, x, y=None):
            during(ctx)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None

    return Double


def leaf():
    return torch.ones(2, requires_grad=True)


def test_hooks_that_are_put_there_run():
    seen = []

    def during(ctx):
        ctx.register_hook(lambda inputs, outputs: seen.append(("after", inputs[0].tolist())))
        ctx.register_prehook(lambda outputs: seen.append(("before", outputs[0].tolist())))

    function(during).apply(leaf()).sum().backward()
    assert seen == [("before", [1.0, 1.0]), ("after", [2.0, 2.0])]


def test_a_hook_that_is_removed_at_once_does_not_run():
    function(lambda ctx: ctx.register_hook(lambda *_: 1 / 0).remove()).apply(leaf()).sum().backward()


def test_metadata_stays_with_the_node():
    y = function(lambda ctx: ctx.metadata.update(name="double")).apply(leaf())
    assert y.grad_fn.metadata == {"name": "double"}


def test_next_functions_are_known():
    x, seen = leaf(), []
    function(lambda ctx: seen.append(ctx.next_functions)).apply(x, torch.ones(1))
    (((node, number), other),) = seen
    assert (node.name(), number) == ("torch::autograd::AccumulateGrad", 0)
    assert node.variable is x
    assert other == (None, 0)


def test_results_are_not_known_yet():
    seen = []
    y = function(lambda ctx: seen.append(ctx._input_metadata)).apply(leaf())
    assert seen == [()]
    assert [tuple(one.shape) for one in y.grad_fn._input_metadata] == [(2,)]


class Token:
    """A hook that does nothing, of which it can be asked whether it is still there."""

    def __call__(self, *_):
        pass


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_function_that_was_asked_goes_with_its_results(is_recorded):
    gone = []

    def during(ctx):
        token = Token()
        gone.append(weakref.ref(token))
        ctx.register_hook(token)
        ctx.metadata["a"] = 1

    y = function(during).apply(torch.ones(2, requires_grad=is_recorded))
    assert (gone[0]() is not None) is is_recorded
    del y
    gc.collect()
    assert gone[0]() is None


def test_a_function_that_fails_leaves_nothing():
    gone = []

    def during(ctx):
        token = Token()
        gone.append(weakref.ref(token))
        ctx.register_hook(token)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        function(during).apply(leaf())
    gc.collect()
    assert gone[0]() is None


def test_classes_of_functions_are_numbered():
    first, second = function(None), function(None)
    assert second._backward_cls._autograd_function_id > first._backward_cls._autograd_function_id
