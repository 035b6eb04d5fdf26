"""Gradients of gradients at kinks, and tangents of what backward reads again."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from rushlight.nn import functional as F


def test_distances_that_do_not_depend_on_the_rows_have_a_gradient_of_zeros():
    x = torch.tensor([[0.1, 0.7], [0.9, 0.2]], requires_grad=True)
    (gradient,) = torch.autograd.grad(F.pdist(x, 0).sum(), x)
    assert not gradient.any()


def test_gradients_of_huber_losses_have_tangents_where_they_are_mapped():
    x = torch.tensor([0.1, 0.5, 2.5])
    bends = torch.func.hessian(lambda x: F.huber_loss(x, torch.zeros(3), reduction="sum"))
    assert torch.equal(bends(x), torch.diag(torch.tensor([1.0, 1.0, 0.0])))
    assert torch.equal(torch.func.vmap(bends)(torch.stack([x, x]))[1], bends(x))


def test_a_huber_loss_does_not_bend_at_its_bound():
    x = torch.tensor([-1.0, 0.5, 1.0, 2.0], requires_grad=True)
    loss = F.huber_loss(x, torch.zeros(4), reduction="sum")
    (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
    assert gradient.tolist() == [-1.0, 0.5, 1.0, 1.0]
    (second,) = torch.autograd.grad(gradient.sum(), x)
    assert second.tolist() == [0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("function", [torch.sin, torch.exp, lambda x: x * x])
def test_tangents_of_what_hooks_pack_are_kept(function):
    def gradient(pack, unpack):
        with fwAD.dual_level():
            x = fwAD.make_dual(torch.tensor([1.0, -2.0], requires_grad=True), torch.ones(2))
            with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
                y = function(x).sum()
            (found,) = torch.autograd.grad(y, x)
            return fwAD.unpack_dual(found).tangent.tolist()

    plain = gradient(lambda x: x, lambda x: x)
    assert gradient(lambda x: x.detach(), lambda x: x) == plain
    assert gradient(lambda x: x.tolist(), torch.tensor) == plain


def test_tangents_pass_what_backward_computes_again():
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.tensor([1.0, -2.0], requires_grad=True), torch.ones(2))
        y = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)
        (gradient,) = torch.autograd.grad(y.sum(), x)
        found = fwAD.unpack_dual(gradient).tangent
    torch.testing.assert_close(found, -torch.sin(torch.tensor([1.0, -2.0])))
