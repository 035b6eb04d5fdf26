"""Pooling undone, and pooling by other norms."""

import pytest
import rushlight as torch
from support import raises

F = torch.nn.functional


@pytest.mark.parametrize(
    "pool, undo, shape",
    [
        (F.max_pool1d, F.max_unpool1d, (2, 4)),
        (F.max_pool2d, F.max_unpool2d, (1, 2, 4, 4)),
        (F.max_pool3d, F.max_unpool3d, (1, 2, 2, 2)),
    ],
)
def test_the_greatest_elements_go_back_where_they_were(pool, undo, shape):
    x = torch.arange(torch.Size(shape).numel(), dtype=torch.float64).sin().view(shape) + 2
    found, places = pool(x, 2, return_indices=True)
    back = undo(found, places, 2)
    assert back.shape == x.shape
    assert torch.equal(pool(back, 2), found)
    assert torch.equal(back[back != 0], x[back != 0])
    found = found.requires_grad_()
    assert torch.autograd.gradcheck(lambda y: undo(y, places, 2), (found,))


def test_sizes_that_windows_cannot_lead_to_are_refused():
    x, places = torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 2, 2, dtype=torch.int64)
    assert F.max_unpool2d(x, places, 2, output_size=(5, 4)).shape == (1, 1, 5, 4)
    with raises(ValueError, 'invalid output_size "(9, 4)" (dim 0 must be between 2 and 6)'):
        F.max_unpool2d(x, places, 2, output_size=(9, 4))


def test_windows_are_pooled_by_their_norm():
    assert F.lp_pool1d(torch.tensor([[3.0, 4.0, 6.0, 8.0]]), 2, 2).tolist() == [[5.0, 10.0]]
