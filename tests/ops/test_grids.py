"""Images at the points of grids, without samples, channels or points; grids of images of one element."""

import pytest
import rushlight as torch
from rushlight.nn import functional


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize(
    ("image", "grid"),
    [
        ((0, 3, 5, 6), (0, 3, 4, 2)),
        ((2, 0, 5, 6), (2, 3, 4, 2)),
        ((2, 3, 5, 6), (2, 0, 4, 2)),
        ((0, 3, 5, 6, 7), (0, 3, 4, 5, 3)),
    ],
)
def test_that_nothing_is_seen_of_nothing(image, grid, mode):
    x, points = torch.randn(image, requires_grad=True), torch.randn(grid, requires_grad=True)
    seen = functional.grid_sample(x, points, mode, align_corners=False)
    assert seen.shape == (*image[:2], *grid[1:-1])
    seen.sum().backward()
    assert (x.grad.shape, points.grad.shape) == (image, grid)


def test_that_aligned_corners_of_one_element_are_a_warning():
    theta = torch.zeros(1, 2, 3)
    with pytest.warns(UserWarning, match="affine_grid behavior has changed for unit-size grids"):
        functional.affine_grid(theta, (1, 1, 2, 1), align_corners=True)


def test_that_sizes_of_images_are_whole_numbers():
    image = torch.ones(1, 1, 3, 3)
    assert functional.interpolate(image, (torch.tensor(5), 4)).shape == (1, 1, 5, 4)
    with pytest.raises(TypeError, match=r"expected size to be one of int or .*'float'>, <class 'int'>"):
        functional.interpolate(image, (5.0, 4))
