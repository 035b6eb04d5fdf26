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


NAN, INF = float("nan"), float("inf")
IMAGE, VOLUME = torch.arange(1.0, 17).reshape(1, 1, 4, 4), torch.arange(1.0, 28).reshape(1, 1, 3, 3, 3)

# What is seen at a point: the mode, what is beyond the edges, the coordinates.
LOST = {
    ("bilinear", "zeros", (NAN, 0.5)): NAN,
    ("bilinear", "zeros", (0.5, INF)): NAN,
    ("bilinear", "zeros", (1e30, 0.5)): 0,
    ("bilinear", "border", (0.25, NAN)): 3.0,
    ("bilinear", "border", (INF, -INF)): 4.0,
    ("bilinear", "reflection", (0.25, NAN)): 3.0,
    ("bilinear", "reflection", (0.25, INF)): 3.0,
    ("nearest", "zeros", (NAN, 0.5)): 0,
    ("nearest", "border", (NAN, 0.5)): 9.0,
    ("nearest", "reflection", (NAN, INF)): 1.0,
    ("bicubic", "zeros", (0.5, NAN)): NAN,
    ("bicubic", "border", (NAN, 0.5)): NAN,
    ("bilinear", "zeros", (NAN, 0.0, 0.0)): 0,
    ("bilinear", "border", (NAN, 0.0, 0.0)): 15.0,
    ("bilinear", "reflection", (0.0, 0.0, INF)): 23.0,
    ("nearest", "border", (NAN, NAN, 0.0)): 18.0,
    ("nearest", "zeros", (NAN, 0.0, 0.0)): 0,
}


@pytest.mark.parametrize(("mode", "beyond", "point"), LOST)
def test_a_point_that_is_no_number_sees_an_edge_or_nothing(mode, beyond, point):
    image = VOLUME if len(point) == 3 else IMAGE
    grid = torch.tensor(point).reshape(1, *[1] * len(point), len(point))
    seen = functional.grid_sample(image, grid, mode, beyond, align_corners=False)
    assert torch.equal(
        seen.isnan().flatten(), torch.tensor([LOST[mode, beyond, point] != LOST[mode, beyond, point]])
    )
    assert seen.nan_to_num(0).item() == (0 if seen.isnan() else LOST[mode, beyond, point])


def test_volumes_do_not_move_where_a_point_is_no_number():
    grid = torch.tensor([NAN, 0.2, INF]).reshape(1, 1, 1, 1, 3).requires_grad_()
    x = VOLUME.clone().requires_grad_()
    functional.grid_sample(x, grid, align_corners=False).sum().backward()
    assert grid.grad.flatten().tolist() == [0, 0, 0]
    assert not x.grad.any()
