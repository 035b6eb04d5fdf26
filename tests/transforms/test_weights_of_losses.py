"""Derivatives by the weights of a loss, which exist within transforms only."""

import pytest
import rushlight as torch
from rushlight.autograd import forward_ad
from rushlight.func import grad, jacrev, jvp, vmap

F = torch.nn.functional

X, TARGET = torch.tensor([0.3, -0.5]), torch.tensor([0.2, 0.7])
WEIGHT = torch.tensor([1.0, 2.0])
NAMES = ["weight", "pos_weight"]


def loss(name, **options):
    return lambda w: F.binary_cross_entropy_with_logits(X, TARGET, **{name: w}, **options)


def differences(f):
    step = 1e-2
    return [((f(WEIGHT + d) - f(WEIGHT - d)) / (2 * step)).item() for d in torch.eye(2) * step]


@pytest.mark.parametrize("name", NAMES)
def test_a_gradient_by_the_weights_of_logits_agrees_with_differences(name):
    f = loss(name)
    expected = pytest.approx(differences(f), abs=1e-3)
    assert grad(f)(WEIGHT).tolist() == expected
    assert jacrev(f)(WEIGHT).tolist() == expected
    assert vmap(grad(f))(WEIGHT[None])[0].tolist() == expected
    _, tangent = jvp(f, (WEIGHT,), (torch.tensor([0.0, 1.0]),))
    assert tangent.item() == pytest.approx(differences(f)[1], abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_a_mapping_within_the_derivative_is_passed(name):
    f = loss(name, reduction="sum")
    by_both = grad(lambda w: vmap(f)(w).sum())(torch.stack([WEIGHT, WEIGHT]))
    assert by_both[0].tolist() == by_both[1].tolist() == pytest.approx(differences(f), abs=1e-3)
    directions = torch.ones(1, 2)
    _, tangent = jvp(vmap(f), (WEIGHT[None],), (directions,))
    assert tangent[0].item() == pytest.approx(sum(differences(f)), abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_elsewhere_weights_are_constants(name):
    text = f"The function 'binary_cross_entropy_with_logits' is not differentiable with respect to argument '{name}'"
    with pytest.raises(RuntimeError, match=f"^{text}"):
        loss(name)(WEIGHT.clone().requires_grad_())
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(WEIGHT, torch.ones(2))
        loss(name)(dual)
