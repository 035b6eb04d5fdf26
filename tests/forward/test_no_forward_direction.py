"""What dual tensors are refused, and what of an operation has no history."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from support import raises

SQUARE = torch.tensor([[2.0, 0.5, 0.1], [0.3, 1.5, 0.2], [0.1, 0.4, 1.0]])


def with_tangent(function, x=SQUARE):
    with fwAD.dual_level():
        return function(fwAD.make_dual(x.clone(), torch.ones_like(x)))


@pytest.mark.parametrize("function", [lambda x: x.set_(SQUARE), lambda x: SQUARE.clone().set_(x)])
def test_a_dual_tensor_does_not_change_its_memory(function):
    text = (
        "Trying to use forward AD with set_ that does not support it because it has not been implemented yet.\n"
        "Please file an issue to PyTorch at "
        "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its "
        "implementation."
    )
    with raises(NotImplementedError, text):
        with_tangent(function)


def test_a_dual_tensor_keeps_its_size():
    with raises(RuntimeError, "cannot resize variables that has a forward grad"):
        with_tangent(lambda x: x.resize_(2))


def test_counts_and_places_of_different_elements_have_no_history():
    x = SQUARE.clone().requires_grad_()
    _, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert not inverse.requires_grad
    assert not counts.requires_grad
