"""What gradients of gradients come from: the last operation of a recorded derivative has torch's name."""

import pytest
import rushlight as torch

CASES = {
    "quotient": (lambda x, y: x / y, ["DivBackward0", "MulBackward0"]),
    "product": (lambda x, y: x * y, ["MulBackward0", "MulBackward0"]),
    "power": (lambda x, y: x**y, ["WhereBackward0", "MulBackward0"]),
    "transposed product": (lambda x, y: x @ y.t(), ["MmBackward0", "TBackward0"]),
    "new dimension": (lambda x, y: x.unsqueeze(0).sin() * y, ["SqueezeBackward1", "ViewBackward0"]),
    "one number": (lambda x, y: x.sin() * y.sum().exp(), ["MulBackward0", "ExpandBackward0"]),
}


@pytest.mark.parametrize("name", CASES)
def test_recorded_gradients_come_from_these_nodes(name):
    function, expected = CASES[name]
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = torch.tensor([[2.0, 1.0], [1.0, 2.0]], requires_grad=True)
    z = function(x, y)
    gradients = torch.autograd.grad(z, (x, y), torch.ones_like(z, requires_grad=True), create_graph=True)
    assert [gradient.grad_fn.name() for gradient in gradients] == expected


def test_the_gradient_of_a_number_that_was_spread_is_a_sum():
    x, number = torch.ones(2, 3, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    (gradient,) = torch.autograd.grad((x * number).sum(), number, create_graph=True)
    assert gradient.grad_fn.name() == "SumBackward0"
    assert gradient.item() == 6
