"""What may not happen while many gradients are computed at once, in the words of that mapping."""

import pytest
import rushlight as torch


def run(body):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return body(gradient)

    x = torch.ones(3, requires_grad=True)
    return torch.autograd.grad(Double.apply(x), x, torch.eye(3), is_grads_batched=True)


RANDOM = r"^vmap: We do not yet support calling random operations inside of vmap. Please perform random operations o"
NO_RULE = r"^Batching rule not implemented for aten::{}. We could not generate a fallback\."


def no_room(method):
    return rf"^vmap: aten::{method}\(self, \*extra_args\) is not possible because .* at level 1\."


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (lambda g: g * torch.rand(3), RANDOM),
        (lambda g: torch.randn_like(g), RANDOM),
        (lambda g: torch.nn.functional.dropout(g), RANDOM),
        (lambda g: g if g.sum() > 0 else -g, NO_RULE.format("is_nonzero")),
        (lambda g: g * g.sum().item(), NO_RULE.format("item")),
        (lambda g: torch.allclose(g, g), NO_RULE.format("allclose")),
        (lambda g: torch.zeros(3).copy_(g), no_room("copy_")),
        (lambda g: torch.zeros(3).add_(g), no_room("add_")),
        (lambda g: torch.zeros(3).mul_(g), no_room("mul_")),
        (lambda g: torch.zeros(3).index_add_(0, torch.tensor([0]), g[:1]), no_room("index_add_")),
        (lambda g: torch.zeros(3).index_put_((torch.tensor([0]),), g[:1]), no_room("index_put_")),
    ],
)
def test_what_it_has_no_rule_for_is_refused(body, words):
    with pytest.raises(RuntimeError, match=words):
        run(body)


def test_jacobians_in_forward_mode_refuse_so_too():
    with pytest.raises(RuntimeError, match=RANDOM):
        torch.autograd.functional.jacobian(
            lambda x: x * torch.rand(3), torch.ones(3), vectorize=True, strategy="forward-mode"
        )


@pytest.mark.parametrize("root", [torch.ones(()), torch.ones(3)])
def test_a_root_without_history_has_no_gradient_to_map_over(root):
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(
        ValueError, match=r"Got in_dim=0 for an input but the input is of type <class 'NoneType'>"
    ):
        torch.autograd.grad(root, x, is_grads_batched=True)


def test_a_gradient_that_goes_without_saying_has_no_dimension_to_map_over():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(
        ValueError, match=r"Got in_dim=0 for some input, but that input is a Tensor of dimensional"
    ):
        torch.autograd.grad(x.sum(), x, is_grads_batched=True)
    with pytest.raises(RuntimeError, match=r"^grad can be implicitly created only for scalar outputs$"):
        torch.autograd.grad(x * 2, x, is_grads_batched=True)


def test_no_gradients_at_all_are_no_batch():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(IndexError, match="index 0 is out of bounds for dimension 0 with size 0"):
        torch.autograd.grad(x * 2, x, torch.ones(0, 2), is_grads_batched=True)
