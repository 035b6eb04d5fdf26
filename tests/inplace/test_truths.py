"""Truth values written in place: autograd does not see them."""

import pytest
import rushlight as torch
from rushlight.autograd import forward_ad

OPERATIONS = [
    lambda x: x.logical_not_(),
    lambda x: x.logical_and_(torch.ones(2)),
    lambda x: x.logical_or_(torch.ones(2)),
    lambda x: x.logical_xor_(torch.ones(2)),
]


@pytest.mark.parametrize("write", OPERATIONS)
def test_the_history_stays(write):
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    assert write(y) is y
    assert y.grad_fn.name() == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


@pytest.mark.parametrize("write", OPERATIONS)
def test_leaves_and_their_views_may_be_written_to(write):
    x = torch.ones(2, requires_grad=True)
    write(x)
    view = x.view(2)
    write(view)
    assert x._version == 2
    assert view.grad_fn.name() == "AsStridedBackward0"


@pytest.mark.parametrize("write", OPERATIONS)
def test_a_write_of_truths_leaves_tangents_alone(write):
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(2), torch.tensor([2.0, 3.0]))
        write(x)
        assert forward_ad.unpack_dual(x).tangent.tolist() == [2, 3]


def test_the_write_is_noticed():
    y = torch.ones(2, requires_grad=True).exp()
    y.logical_not_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_real_numbers_are_conjugated_in_place_by_a_write():
    x = torch.ones(2)
    x.conj_physical_()
    assert x._version == 1
