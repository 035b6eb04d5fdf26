"""A view that was made larger than its base: the gradient of the base has no room for its window."""

import pytest
import rushlight as torch

BASES = {
    "one row for all": (lambda: torch.zeros(1, 4).expand(3, 4), 0, 36, 16),
    "the first half": (lambda: torch.zeros(8)[:4], 0, 36, 32),
    "the second half": (lambda: torch.zeros(4)[2:], 2, 44, 16),
}


@pytest.mark.parametrize("name", BASES)
def test_backward_refuses_the_window(name):
    base, offset, needed, size = BASES[name]
    x = torch.ones(3, 3, requires_grad=True)
    view = base().resize_(3, 3).copy_(x)
    words = (
        rf"^setStorage: sizes \[3, 3\], strides \[3, 1\], storage offset {offset}, and itemsize 4 requiring a "
        rf"storage size of {needed} are out of bounds for storage of size {size}$"
    )
    with pytest.raises(RuntimeError, match=words):
        torch.autograd.grad(view.sum(), x)


def test_backward_refuses_a_window_that_begins_before_its_base():
    x = torch.ones(3, requires_grad=True)
    base = torch.empty(0).set_(torch.zeros(8), 2, (4,), (1,))
    base.as_strided((3,), (1,), 0).copy_(x)
    with pytest.raises(RuntimeError, match=r"^Tensor: invalid storage offset -2$"):
        torch.autograd.grad(base.sum(), x)


def test_a_tangent_may_have_less_memory_than_what_it_is_of():
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        dual = forward.make_dual(torch.arange(8.0)[:2], torch.ones(2))
        tangent = forward.unpack_dual(dual.as_strided((8,), (1,), 0)).tangent
    assert tangent.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_what_is_still_to_be_conjugated_or_negated_grows():
    x = torch.tensor([1 + 2j, 3 - 1j]).conj()
    x.resize_(3)
    assert x.is_conj() and x[:2].tolist() == [1 - 2j, 3 + 1j]
    y = torch._neg_view(torch.tensor([1.0, 2.0]))
    y.resize_(2, 2)
    assert y.is_neg() and y[0].tolist() == [-1.0, -2.0]
