"""Gradients that torch computes, and cannot differentiate in turn: whoever asks is refused in its words."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from rushlight.nn import functional as F
from support import raises

pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = torch.tensor([[0.1, 0.7, 0.4], [0.9, 0.2, 0.5], [0.3, 0.6, 0.8]])
PLACES = torch.tensor([0, 1, 2])
SOUND = torch.tensor([[1, 2]])

# The functions, the node of their recorded gradients.
ONCE_ONLY = {
    "hardsigmoid_backward": (F.hardsigmoid, "torch::autograd::NotImplemented"),
    "multi_margin_loss_backward": (
        lambda x: F.multi_margin_loss(x, PLACES, p=2),
        "torch::autograd::NotImplemented",
    ),
    "multilabel_margin_loss_backward": (
        lambda x: F.multilabel_margin_loss(x, PLACES.expand(3, 3)),
        "torch::autograd::NotImplemented",
    ),
    "_ctc_loss_backward": (
        lambda x: F.ctc_loss(x.log_softmax(-1).unsqueeze(1), SOUND, (3,), (2,)),
        "LogSoftmaxBackwardDataBackward0",
    ),
    "_scaled_dot_product_flash_attention_for_cpu_backward": (
        lambda x: F.scaled_dot_product_attention(x[None, None], ROWS[None, None], ROWS[None, None]),
        "SqueezeBackward1",
    ),
}
NAMED = {
    "_cdist_backward": (lambda x: torch.cdist(x, ROWS + 1), "CdistBackwardBackward0"),
    "_pdist_backward": (torch.pdist, "PdistBackwardBackward0"),
}


def recorded_gradient(function):
    x = ROWS.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    return x, gradient


@pytest.mark.parametrize("operation", ONCE_ONLY)
def test_second_derivatives_of_unknown_gradients_are_refused(operation):
    function, node = ONCE_ONLY[operation]
    x, gradient = recorded_gradient(function)
    assert gradient.grad_fn.name() == node
    with raises(RuntimeError, f"derivative for aten::{operation} is not implemented"):
        torch.autograd.grad(gradient.sum(), x)


@pytest.mark.parametrize("operation", NAMED)
def test_second_derivatives_of_distances_of_rows_are_refused(operation):
    function, node = NAMED[operation]
    x, gradient = recorded_gradient(function)
    assert gradient.grad_fn.name() == node
    with raises(NotImplementedError, f"the derivative for '{operation}' is not implemented."):
        torch.autograd.grad(gradient.sum(), x)


def test_distances_that_do_not_depend_on_the_rows_have_a_gradient_of_zeros():
    _, gradient = recorded_gradient(lambda x: F.pdist(x, 0))
    assert gradient.requires_grad
    assert gradient.tolist() == torch.zeros(3, 3).tolist()


@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_of_huber_losses_have_no_tangents(recorded):
    with fwAD.dual_level():
        x = fwAD.make_dual(ROWS.clone().requires_grad_(), torch.ones(3, 3))
        loss = F.huber_loss(x, torch.zeros(3, 3))
        with raises(NotImplementedError, "Trying to use forward AD with huber_loss_backward that does not"):
            torch.autograd.grad(loss, x, create_graph=recorded)


@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_of_hardsigmoid_have_no_tangents(recorded):
    with fwAD.dual_level():
        x = fwAD.make_dual(ROWS.clone().requires_grad_(), torch.ones(3, 3))
        y = F.hardsigmoid(x).sum()
        with raises(
            NotImplementedError,
            "Trying to use forward AD with aten::hardsigmoid_backward that does not support it.",
        ):
            torch.autograd.grad(y, x, create_graph=recorded)


@pytest.mark.parametrize(
    ("operation", "function"),
    [
        ("_euclidean_dist", lambda x: torch.cdist(x, x + 1, compute_mode="use_mm_for_euclid_dist")),
        ("conv_tbc", lambda x: torch.conv_tbc(x[None], torch.ones(1, 3, 2), torch.ones(2))),
        ("_standard_gamma", lambda x: torch.distributions.Gamma(x, torch.ones(3)).rsample()),
    ],
)
def test_these_operations_refuse_tangents(operation, function):
    with fwAD.dual_level():
        x = fwAD.make_dual(ROWS.clone().requires_grad_(), torch.ones(3, 3))
        with raises(NotImplementedError, f"Trying to use forward AD with {operation} that does not"):
            function(x)


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
