"""Operations that torch differentiates in reverse only, or not at all, refuse tangents in its words."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from rushlight.nn import functional as F
from support import raises

pytestmark = pytest.mark.filterwarnings("ignore")

HELP = (
    "because it has not been implemented yet.\nPlease file an issue to PyTorch at "
    "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its "
    "implementation"
)
SIGNS = torch.tensor([[1.0, -1.0, 1.0]])
SQUARE = torch.tensor([[2.0, 0.5, 0.1], [0.3, 1.5, 0.2], [0.1, 0.4, 1.0]])
IMAGE = torch.arange(4.0).reshape(1, 1, 2, 2)
PLACES = torch.tensor([0, 1, 2])

REVERSE_ONLY = {
    "_cdist_forward": lambda x: torch.cdist(x, x + 1),
    "_pdist_forward": torch.pdist,
    "_ctc_loss": lambda x: F.ctc_loss(
        x.unsqueeze(1), torch.tensor([[1, 2]]), torch.tensor([3]), torch.tensor([2])
    ),
    "_embedding_bag": lambda x: F.embedding_bag(PLACES.unsqueeze(0), x),
    "cholesky": lambda x: torch.cholesky(x @ x.mT),
    "grid_sampler_2d": lambda x: F.grid_sample(IMAGE, x[None, :, :2].unsqueeze(0), align_corners=False),
    "grid_sampler_3d": lambda x: F.grid_sample(IMAGE[None], x[None, None, None], align_corners=False),
    "igamma": lambda x: torch.igamma(SQUARE, x),
    "igammac": lambda x: torch.igammac(x, SQUARE),
    "index_reduce": lambda x: torch.index_reduce(x, 0, PLACES, SQUARE, "amax"),
    "multi_margin_loss": lambda x: F.multi_margin_loss(x, PLACES),
    "multilabel_margin_loss_forward": lambda x: F.multilabel_margin_loss(x, PLACES.expand(3, 3)),
    "ormqr": lambda x: torch.ormqr(x, SQUARE[0], SQUARE),
    "_pack_padded_sequence": lambda x: (
        torch.nn.utils.rnn.pack_padded_sequence(x.unsqueeze(1), torch.tensor([3])).data
    ),
    "soft_margin_loss_backward": lambda x: torch.func.grad(F.soft_margin_loss)(x, SIGNS.expand(3, 3)),
    "special_zeta": lambda x: torch.special.zeta(x + 1, SQUARE),
}
UNDERIVED = {
    "_unique2": ("Unique2Backward0", torch.unique),
    "unique_dim": ("UniqueDimBackward0", lambda x: torch.unique(x, dim=0)),
    "unique_consecutive": ("UniqueConsecutiveBackward0", torch.unique_consecutive),
    "geqrf": ("GeqrfBackward0", lambda x: torch.geqrf(x).tau),
}
UNKNOWN = {
    "detach_copy": torch.detach_copy,
    "bernoulli": lambda x: torch.bernoulli(x, 0.5),
    "binomial": lambda x: torch.binomial(x.abs(), torch.full((3, 3), 0.5)),
}


def with_tangent(function, x=SQUARE):
    with fwAD.dual_level():
        return function(fwAD.make_dual(x.clone(), torch.ones_like(x)))


@pytest.mark.parametrize("name", REVERSE_ONLY)
def test_what_is_derived_in_reverse_only_refuses_tangents(name):
    text = f"Trying to use forward AD with {name} that does not support it {HELP}"
    with raises(NotImplementedError, f"{text} or submit a PR adding the implementation to derivatives.yaml"):
        with_tangent(REVERSE_ONLY[name])
    x = SQUARE.clone().requires_grad_()
    if name not in ("igammac", "special_zeta"):
        assert torch.autograd.grad(REVERSE_ONLY[name](x).sum(), x)[0].shape == (3, 3)


def test_writes_refuse_them_under_their_own_names():
    with raises(
        NotImplementedError, f"Trying to use forward AD with igamma_ that does not support it {HELP}."
    ):
        with_tangent(lambda x: x.igamma_(SQUARE))
    with raises(NotImplementedError, f"Trying to use forward AD with set_ that does not support it {HELP}."):
        with_tangent(lambda x: x.set_(SQUARE))
    with raises(NotImplementedError, f"Trying to use forward AD with set_ that does not support it {HELP}."):
        with_tangent(lambda x: SQUARE.clone().set_(x))


def test_a_dual_tensor_keeps_its_size():
    with raises(RuntimeError, "cannot resize variables that has a forward grad"):
        with_tangent(lambda x: x.resize_(2))


def test_derivatives_of_second_order_meet_it_too():
    with pytest.raises(NotImplementedError, match="forward AD with _pdist_forward that"):
        torch.func.hessian(lambda x: torch.pdist(x).sum())(SQUARE)
    with pytest.raises(NotImplementedError, match="forward AD with _cdist_forward that"):
        torch.func.jacfwd(lambda x: torch.cdist(x, SQUARE))(SQUARE)


@pytest.mark.parametrize("name", UNDERIVED)
def test_what_has_no_derivative_refuses_in_jacobians(name):
    _, function = UNDERIVED[name]
    with pytest.raises(NotImplementedError, match=f"forward AD with {name} that"):
        torch.func.jacfwd(function)(SQUARE)
    with raises(NotImplementedError, f"the derivative for '{name}' is not implemented."):
        torch.func.jacrev(function)(SQUARE)


@pytest.mark.parametrize("name", UNDERIVED)
def test_what_has_no_derivative_is_recorded_and_refuses(name):
    node, function = UNDERIVED[name]
    x = SQUARE.clone().requires_grad_()
    y = function(x)
    assert y.requires_grad
    assert y.grad_fn.name() == node
    with raises(NotImplementedError, f"the derivative for '{name}' is not implemented."):
        y.sum().backward()
    text = f"Trying to use forward AD with {name} that does not support it {HELP}"
    with raises(NotImplementedError, f"{text} or submit a PR adding the implementation to derivatives.yaml"):
        with_tangent(function)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_formulas_do_not_know_is_recorded_and_refuses(name):
    x = SQUARE.clone().requires_grad_()
    y = UNKNOWN[name](x)
    assert y.grad_fn.name() == "torch::autograd::NotImplemented"
    with raises(RuntimeError, f"derivative for aten::{name} is not implemented"):
        y.sum().backward()
    with raises(NotImplementedError, f"Trying to use forward AD with aten::{name} that does not support it."):
        with_tangent(UNKNOWN[name])


def test_counts_and_places_of_different_elements_have_no_history():
    x = SQUARE.clone().requires_grad_()
    _, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert not inverse.requires_grad
    assert not counts.requires_grad
