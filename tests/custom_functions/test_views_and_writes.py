"""Functions with a backward of their own that return views of their inputs, or write to these."""

import warnings

import pytest
import rushlight as torch
from custom_functions.making import function, leaf
from support import raises


def test_an_input_returned_as_it_is_becomes_a_view():
    x = leaf(1, 2)
    y = function(lambda ctx, x: x, lambda ctx, g: g * 3).apply(x)
    assert y is not x
    assert y._base is x
    (y * 1).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_returned_view_must_not_be_written_to():
    y = function(lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2)).apply(leaf(1, 2) * 1)
    with raises(
        RuntimeError, "Output 0 of Made is a view and is being modified inplace. This view was created"
    ):
        y.add_(1)


def test_a_returned_view_dies_with_a_write_to_its_base():
    x = leaf(1, 2) * 1
    y = function(lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2)).apply(x)
    x.add_(1)
    with raises(RuntimeError, "Output 0 of Made is a view and its base or another view of its base has been"):
        _ = y.grad_fn


def doubling(ctx, x):
    ctx.mark_dirty(x)
    x.mul_(2)
    return x


def test_an_input_may_be_written_to_if_it_is_said():
    x = leaf(1, 2)
    a = x * 1
    y = function(doubling, lambda ctx, g: g * 5).apply(a)
    assert y is a
    assert a.grad_fn.name() == "MadeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_a_write_to_a_view_is_one_to_its_base():
    x = leaf(1, 2, 3)
    a = x * 1
    function(doubling, lambda ctx, g: g * 5).apply(a[:2])
    assert a.grad_fn.name() == "torch::autograd::CopySlices"
    a.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0, 1.0]


def test_writes_that_cannot_be_recorded_are_refused():
    made = function(doubling, lambda ctx, g: g)
    with raises(RuntimeError, "a leaf Variable that requires grad has been used in an in-place operation."):
        made.apply(leaf(1))

    def forgetful(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    with raises(RuntimeError, "Some elements marked as dirty during the forward method were not returned as"):
        function(forgetful, lambda ctx, g: g).apply(leaf(1) * 1)

    def greedy(ctx, x):
        ctx.mark_dirty(x)
        return x, x * 2

    with raises(RuntimeError, "If your Function modifies inplace an input that is a view of another Tensor,"):
        function(greedy, lambda ctx, g, h: g).apply((leaf(1, 2) * 1)[:1])


def _writing(returned):
    class Writing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return returned(x)

        @staticmethod
        def backward(ctx, *gradients):
            return gradients[0]

    return Writing.apply


def test_of_several_mistakes_with_a_view_that_is_written_torch_names_the_first():
    part = (torch.ones(2, requires_grad=True) * 1).unbind()[0]
    with raises(RuntimeError, "Some elements marked as dirty during the forward method were not returned"):
        _writing(lambda x: x * 1)(part)
    part = (torch.ones(2, requires_grad=True) * 1).unbind()[0]
    with raises(RuntimeError, "If your Function modifies inplace an input that is a view of another Tensor"):
        _writing(lambda x: (x, x))(part)


def test_a_stray_mark_is_told_of_only_where_it_matters():
    class Stray(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 1
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Stray.apply(torch.ones(2))
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        Stray.apply(torch.ones(2, requires_grad=True))
