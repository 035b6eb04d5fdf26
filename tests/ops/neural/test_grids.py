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


# What torch sees by polynomials of the third degree, the gradient of the points, and the squares of that of the image.
CUBIC = {
    ("zeros", False): (
        [0.0, 2.24414, -0.069768, 0.927581, 0.0, 1.137163, -0.030039, 0.116343],
        [14.1175, 0.0, -8.691143, -12.43166, 0.943154, 0.123662, -3.340848, -5.528073],
        6.89915,
    ),
    ("zeros", True): (
        [0.200689, 3.185161, 0.620838, 1.016844, 2.109336, 1.623785, 0.280692, 0.405446],
        [15.990951, -3.524107, -10.67439, -0.535972, -4.20828, 4.968135, -5.950927, -3.98594],
        11.653118,
    ),
    ("border", False): (
        [0.5715, 3.078597, 1.912109, 0.927581, 3.460917, 1.54876, 0.912109, 0.116343],
        [0.0, -1.5, -12.145947, 0.223535, 2.460938, 0.0, -3.340848, -5.528073],
        19.694151,
    ),
    ("border", True): (
        [0.477818, 2.939583, 1.854962, 1.016844, 3.365203, 1.495252, 0.871, 0.405446],
        [0.034054, -5.449072, -9.903844, 2.716425, -4.02948, -0.80019, -5.950927, -3.98594],
        20.041027,
    ),
    ("reflection", False): (
        [0.5715, 3.116188, 2.099949, 0.927581, 3.460917, 1.58026, 0.889671, 0.116343],
        [1.042656, -1.5, -12.044434, 1.277344, 1.557891, -4.004766, -3.340848, -5.528073],
        18.808251,
    ),
    ("reflection", True): (
        [1.412844, 3.000924, 2.276643, 1.016844, 2.999798, 1.54944, 1.343171, 0.405446],
        [-1.39676, -4.02174, -9.778671, 1.618267, 3.80196, -3.59982, -5.950927, -3.98594],
        13.673933,
    ),
}


@pytest.mark.parametrize(("beyond", "align_corners"), CUBIC)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_images_between_four_elements_in_each_dimension_are_as_torch_has_them(beyond, align_corners, dtype):
    image = ((torch.arange(2 * 4 * 5) * 7 % 11).to(dtype) / 3).view(1, 2, 4, 5).requires_grad_()
    places = [[-1.2, -0.3], [0.1, 0.9], [1.05, -1.4], [0.33, 0.21]]
    points = torch.tensor(places, dtype=dtype).view(1, 2, 2, 2).requires_grad_()
    seen = functional.grid_sample(image, points, "bicubic", beyond, align_corners)
    (seen * torch.tensor([1.0, 2.0], dtype=dtype).view(1, 2, 1, 1)).sum().backward()
    values, slopes, squares = CUBIC[beyond, align_corners]
    near = 2e-6 if dtype == torch.float64 else 1e-4
    assert seen.flatten().tolist() == pytest.approx(values, abs=near)
    assert points.grad.flatten().tolist() == pytest.approx(slopes, abs=10 * near)
    assert image.grad.square().sum().item() == pytest.approx(squares, abs=10 * near)


def test_derivatives_of_cubic_images_have_derivatives():
    torch.manual_seed(4)
    image = torch.randn(1, 1, 3, 4, dtype=torch.float64, requires_grad=True)
    points = (torch.rand(1, 2, 2, 2, dtype=torch.float64) * 1.6 - 0.8).requires_grad_()

    def seen(image, points):
        return functional.grid_sample(image, points, "bicubic", "zeros", True)

    assert torch.autograd.gradcheck(seen, (image, points))
    assert torch.autograd.gradgradcheck(seen, (image, points))
