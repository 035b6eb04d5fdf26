"""What a function of one's own keeps, returns and says to have written to, set up apart from its forward."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from rushlight.func import grad, jvp
from support import raises

RETURNED = (
    "An input that has been returned as-is as output is being saved for backward. This is not supported"
)


def made(forward, setup, given=None):
    """A function of that forward and setup, whose jvp puts what it finds saved into `given`."""

    class Made(torch.autograd.Function):
        @staticmethod
        def backward(ctx, gradient):
            return gradient

        @staticmethod
        def jvp(ctx, tangent):
            if given is not None:
                given.append(ctx.saved_tensors)
            return tangent.view_as(tangent)

    Made.forward = staticmethod(forward)
    Made.setup_context = staticmethod(setup)
    return Made.apply


def keep_for_backward(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def keep_for_forward(ctx, inputs, output):
    ctx.save_for_forward(*inputs)


@pytest.mark.parametrize("keep", [keep_for_backward, keep_for_forward])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_an_input_that_is_returned_must_not_be_kept_though_nothing_is_recorded(keep, dtype):
    with raises(RuntimeError, RETURNED):
        made(lambda x: x, keep)(torch.ones(2, dtype=dtype))
    with raises(RuntimeError, RETURNED):
        made(lambda x: x.mul_(2), keep)(torch.ones(2, dtype=dtype))


@pytest.mark.parametrize("keep", [keep_for_backward, keep_for_forward])
def test_an_input_that_is_returned_must_not_be_kept_inside_of_transforms(keep):
    apply = made(lambda x: x, keep)
    with raises(RuntimeError, RETURNED):
        grad(lambda x: apply(x).sum())(torch.ones(2))
    with raises(RuntimeError, RETURNED):
        jvp(apply, (torch.ones(2),), (torch.ones(2),))


def test_an_input_may_be_kept_and_returned_where_its_history_is_left_out():
    with torch.no_grad():
        assert made(lambda x: x, keep_for_backward)(torch.ones(2, requires_grad=True)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_what_is_kept_for_backward_is_not_there_for_tangents(requires_grad):
    given = []
    x = torch.ones(2, requires_grad=requires_grad)
    jvp(made(lambda x: x * 1, keep_for_backward, given), (x,), (torch.ones(2),))
    with fwAD.dual_level():
        made(lambda x: x * 1, keep_for_backward, given)(fwAD.make_dual(x, torch.ones(2)))
        made(lambda x: x * 1, keep_for_forward, given)(fwAD.make_dual(x, torch.ones(2)))
    assert [len(saved) for saved in given] == [0, 0, 1]


def test_what_is_kept_for_backward_is_there_again_for_backward():
    given = []
    x = torch.ones(2, requires_grad=True)
    with fwAD.dual_level():
        y = made(lambda x: x * 1, keep_for_backward, given)(fwAD.make_dual(x, torch.ones(2)))
        assert [saved.tolist() for saved in y.grad_fn.saved_tensors] == [[1.0, 1.0]]


def mark_output(ctx, inputs, output):
    ctx.mark_dirty(output)


def test_where_tangents_pass_only_inputs_are_written_to():
    apply = made(lambda x: x * 1, mark_output)
    text = "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input"
    with raises(RuntimeError, text):
        jvp(apply, (torch.ones(2),), (torch.ones(2),))
    with fwAD.dual_level(), raises(RuntimeError, text):
        apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))


def test_a_leaf_may_be_written_to_by_what_is_constant():
    def setup(ctx, inputs, output):
        ctx.mark_dirty(*inputs)
        ctx.mark_non_differentiable(output)

    x = torch.ones(2, requires_grad=True)
    y = made(lambda x: x.mul_(2), setup)(x)
    assert (y.tolist(), y.requires_grad) == ([2.0, 2.0], False)


def test_of_several_things_that_are_no_tensors_the_saved_one_is_named_first():
    def setup(ctx, inputs, output):
        ctx.mark_dirty(1)
        ctx.mark_non_differentiable(2)
        ctx.save_for_backward(3.0)

    with raises(TypeError, "save_for_backward can only save variables, but argument 0 is of type float"):
        made(lambda x: x * 1, setup)(torch.ones(2, requires_grad=True))
    with raises(RuntimeError, "mark_non_differentiable only accepts variable arguments, but got"):
        made(lambda x: x * 1, setup)(torch.ones(2))


def test_a_view_of_what_is_no_input_is_not_written_to():
    base = torch.zeros(4)
    apply = made(lambda x: base[1:3].copy_(x * 2), mark_output)
    text = (
        "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated"
    )
    with raises(RuntimeError, text):
        apply(torch.ones(2, requires_grad=True))
    assert base.grad_fn is None
    assert base.tolist() == [0.0, 2.0, 2.0, 0.0]
