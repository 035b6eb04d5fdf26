"""Images seen at the points of a grid, and grids made of affine maps."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._calls.arguments import require_tensors
from ..._calls.precision import exact
from ..._calls.showing import shown
from ..._tensors.typename import scalar_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._rushlight import Tensor

__all__ = ["affine_grid", "grid_sample"]

# As torch numbers them.
GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}

_UNIT_SIZE = (
    "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
    "is not an intended use case of affine_grid. See the documentation of affine_grid for details."
)
_ALIGNMENT = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
    "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
    "details."
)


def _check(input: Tensor, grid: Tensor, mode: str) -> None:
    sizes, places = input.shape, grid.shape
    rank = len(sizes)

    def seen() -> str:
        return f"input with sizes {list(sizes)} and grid with sizes {list(places)}"

    if input.size(0) != grid.size(0):
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got {seen()}"
        )
    if places[-1] != rank - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {rank - 2} in last dimension, but got grid with "
            f"sizes {list(places)}"
        )
    if rank not in (4, 5) or rank != len(places):
        raise RuntimeError(
            f"grid_sampler(): expected {4 if rank == 4 else 5}D input and grid with same number of "
            f"dimensions, but got {seen()}"
        )
    if 0 in sizes[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
            f"{list(sizes)} with dimension {sizes.index(0, 2)} being empty"
        )
    if mode == "bicubic" and rank == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if not input.is_floating_point():
        kernel = "grid_sampler_2d_cpu_kernel_impl" if rank == 4 else "grid_sampler3d_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(input)}'")
    if input.dtype != grid.dtype:
        names = [scalar_name(x) for x in (input, grid)]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")


def _bounded(at: Tensor, size: int, padding_mode: str, align_corners: bool, lost: bool) -> Tensor:
    """Return places inside of the image for places beyond its edges, unless there are zeros."""
    if padding_mode == "reflection":
        first, span = (0.0, float(size - 1)) if align_corners else (-0.5, float(size))
        if span == 0:
            return native.zeros_like(at)
        distance = (at - first).abs()
        turns = (distance.detach() / span).floor()
        rest = distance - turns * span
        at = native.where(turns % 2 == 0, rest, span - rest) + first
    if padding_mode == "zeros":
        return at
    # On the edge itself nothing moves either. What is no number is there, too.
    inside = (at > 0) & (at < size - 1)
    return native.where(inside, at, at.detach().clamp(0, size - 1).nan_to_num(lost * (size - 1)))


def _cubic(distance: Tensor) -> Tensor:
    """Return what a neighbour counts at a distance of less than two."""
    slope, x = -0.75, distance.abs()
    near = ((slope + 2) * x - (slope + 3)) * x * x + 1
    far = ((slope * x - 5 * slope) * x + 8 * slope) * x - 4 * slope
    return native.where(x <= 1, near, far)


def _neighbours(at: Tensor, size: int, mode: str, bounded: Any) -> list[tuple[Tensor, Tensor]]:
    """Return the elements of a dimension that count at each place, with their weights."""
    if mode == "nearest":
        # Its gradient is zero; it has one.
        nearest = bounded(at).round()
        return [(nearest, 1 + (nearest - nearest.detach()))]
    if mode == "bilinear":
        at = bounded(at)
        low = at.detach().floor()
        return [(low, 1 - (at - low)), (low + 1, at - low)]
    low = at.detach().floor()
    share = at - low
    return [(bounded(low + step), _cubic(share - step)) for step in (-1, 0, 1, 2)]


def _sampled(input: Tensor, grid: Tensor, mode: str, padding_mode: str, align_corners: bool) -> Tensor:
    sizes = input.shape[2:]
    dimensions = []
    for dim, size in enumerate(sizes):
        # The grid names the last dimension first.
        point = grid[..., len(sizes) - 1 - dim]
        at = (point + 1) / 2 * (size - 1) if align_corners else ((point + 1) * size - 1) / 2

        def bounded(at: Tensor, size: int = size) -> Tensor:
            return _bounded(at, size, padding_mode, align_corners, len(sizes) == 3)

        dimensions.append(_neighbours(at, size, mode, bounded))
    lines = input.flatten(2)
    total: Any = None
    for corner in itertools.product(*dimensions):
        index: Any = 0
        weight: Any = None
        inside: Any = True
        for (place, share), size in zip(corner, sizes, strict=True):
            here = (place >= 0) & (place < size)
            inside = here & inside
            index = index * size + native.where(here, place, 0).long()
            weight = share if weight is None else weight * share
        shape = (*input.shape[:2], math.prod(index.shape[1:]))
        picked = lines.gather(2, index.flatten(1).unsqueeze(1).expand(shape)).view(
            *input.shape[:2], *index.shape[1:]
        )
        if len(sizes) == 2:
            # Zeros times what is no number are none.
            term = native.where(inside.unsqueeze(1), picked, 0) * weight.unsqueeze(1)
        else:
            term = picked * native.where(inside, weight, 0).unsqueeze(1)
        total = term if total is None else total + term
    result: Tensor = total
    return result


@shown
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Return images as seen at the points of a grid, of which -1 and 1 are the edges.

    >>> import rushlight as torch
    >>> image, middle = torch.tensor([[[[1.0, 3.0]]]]), torch.zeros(1, 1, 1, 2)
    >>> torch.nn.functional.grid_sample(image, middle, align_corners=False)
    tensor([[[[2.]]]])
    """
    input, grid = exact(input, grid)
    if mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            "but "
            f"got: '{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(_ALIGNMENT, UserWarning, stacklevel=2)
        align_corners = False
    require_tensors("grid_sampler", input=input, grid=grid)
    _check(input, grid, mode)

    def sampled(input: Tensor, grid: Tensor) -> Tensor:
        return _sampled(input, grid, mode, padding_mode, bool(align_corners))

    rank = input.dim() - 2
    (result,) = native._as_one(
        sampled,
        (f"grid_sampler_{rank}d", f"GridSampler{rank}DBackward0", "input grid -"),
        (2, 0, 0),
        {
            "align_corners": bool(align_corners),
            "interpolation_mode": GRID_SAMPLE_INTERPOLATION_MODES[mode],
            "padding_mode": GRID_SAMPLE_PADDING_MODES[padding_mode],
        },
        input,
        grid,
    )
    return result


@shown
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Return where the points of images of a size come from by affine maps.

    >>> import rushlight as torch
    >>> still = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> torch.nn.functional.affine_grid(still, (1, 1, 1, 2), align_corners=True)
    tensor([[[[-1.,  0.],
              [ 1.,  0.]]]])
    """
    if align_corners is None:
        warnings.warn(_ALIGNMENT, UserWarning, stacklevel=2)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            "size "
            f"{size}."
        )
    spatial = len(size) - 2
    if theta.dim() != 3 or theta.shape[-2:] != (spatial, spatial + 1):
        raise ValueError(
            f"Expected a batch of {spatial}D affine matrices of shape Nx{spatial}x{spatial + 1} for size "
            f"{size}. "
            f"Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if align_corners and min(size[2:]) == 1:
        warnings.warn(_UNIT_SIZE, UserWarning, stacklevel=2)

    def line(count: int) -> Tensor:
        if count == 1:
            return native.zeros(1, dtype=theta.dtype)
        places = native.linspace(-1, 1, count, dtype=theta.dtype)
        return places if align_corners else places * (count - 1) / count

    grids = native.meshgrid([line(count) for count in size[2:]], indexing="ij")
    points = native.stack([*reversed(grids), native.ones(list(size[2:]), dtype=theta.dtype)], -1)
    flat = points.view(1, -1, spatial + 1).expand(size[0], -1, -1)

    def grid(theta: Tensor) -> Tensor:
        return flat.bmm(theta.transpose(1, 2)).view(size[0], *size[2:], spatial)

    (found,) = native._as_one(
        grid,
        ("affine_grid_generator", "AffineGridGeneratorBackward0", "- -"),
        (1, 1, 0),
        {"align_corners": align_corners, "size": list(size)},
        theta,
    )
    return found
