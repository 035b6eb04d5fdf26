"""Activations in place, whose gradients come from their results."""

import pytest
import rushlight as torch
from rushlight.autograd import forward_ad, gradcheck, gradgradcheck
from support import raises

F = torch.nn.functional

LEAKY = "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported."
ELU = "In-place elu backward calculation is triggered with a negative slope which is not supported."


def numbers():
    return torch.tensor([-1.5, -0.5, 0.5, 2.0], dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize(
    "unit",
    [
        lambda x: F.leaky_relu_(x, 0.3),
        lambda x: F.leaky_relu_(x, 0.0),
        lambda x: F.elu_(x, 0.7),
        lambda x: F.celu_(x, 1.3),
        F.selu_,
        lambda x: F.threshold_(x, 0.1, 3.0),
    ],
)
def test_gradients_agree_with_differences(unit):
    assert gradcheck(lambda x: unit(x.clone()), numbers(), check_forward_ad=True)
    assert gradgradcheck(lambda x: unit(x.clone()), numbers())


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (lambda x: F.leaky_relu_(x, -2), LEAKY),
        (lambda x: F.elu_(x, -2), ELU),
        (lambda x: F.celu_(x, -2.0), ELU),
    ],
)
def test_signs_that_are_turned_round_leave_no_derivative(unit, text):
    y = unit(numbers().clone())
    with raises(RuntimeError, text):
        y.sum().backward()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(numbers().detach(), torch.ones(4, dtype=torch.float64))
        with raises(RuntimeError, text):
            unit(dual)


def test_a_result_that_was_written_to_is_an_error():
    y = F.elu_(numbers().clone())
    with torch.no_grad():
        y.mul_(2)
    with raises(RuntimeError, "one of the variables needed for gradient computation has been modified"):
        y.sum().backward()


@pytest.mark.own
@pytest.mark.parametrize("name", ["acosh", "asinh", "atanh"])
def test_inverses_are_differentiated_in_place_from_what_they_leave(name):
    values = [1.5, 2.0] if name == "acosh" else [0.5, -0.3]
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    y = getattr(x.clone(), name + "_")()
    assert y.grad_fn.name() == name.title() + "Backward1"
    assert gradcheck(lambda x: getattr(x.clone(), name + "_")(), x, check_forward_ad=True)
    assert gradgradcheck(lambda x: getattr(x.clone(), name + "_")(), x)
