"""Images in another size."""

from __future__ import annotations

import warnings
from typing import Any

from ... import _rushlight as native
from ..._calls.showing import shown
from ..._rushlight import Tensor
from .pools import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = [
    "interpolate",
    "pixel_shuffle",
    "pixel_unshuffle",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

_nn = native._nn

pixel_shuffle = native.pixel_shuffle
pixel_unshuffle = native.pixel_unshuffle

_MODES = {3: ("linear",), 4: ("bilinear", "bicubic", "lanczos"), 5: ("trilinear",)}


@shown
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Return images in another size.

    >>> import rushlight as torch
    >>> torch.nn.functional.interpolate(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | "
                "bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    spatial = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    scales = None
    if size is not None:
        sizes = _checked("size", size, input, spatial)
        if isinstance(size, (list, tuple)) and not all(map(_is_whole, size)):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], "
                f"but got size with types {[type(length) for length in size]}"
            )
    else:
        scales = _checked("scale_factor", scale_factor, input, spatial)
        sizes = [int(length * scale) for length, scale in zip(input.shape[2:], scales, strict=True)]
    if recompute_scale_factor:
        if size is not None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        scales = None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
            "tensor as input"
        )
    if mode == "area" and 1 <= spatial <= 3:
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[spatial - 1](input, sizes)
    known = [*_MODES[3], *_MODES[4], *_MODES[5]]
    unfit = mode == "bicubic" and input.dim() != 4
    if unfit or not 3 <= input.dim() <= 5 or mode not in ("nearest", "nearest-exact", *known):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos"
            f" | area | nearest-exact (got {mode})"
        )
    if mode in known and mode not in _MODES[input.dim()]:
        wanted = next(dim for dim, modes in _MODES.items() if mode in modes)
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {wanted}D input")
    if mode == "lanczos" and not antialias:
        raise ValueError("lanczos mode requires antialias=True")
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    return _nn.upsample(input, sizes, f"smooth {mode}" if antialias else mode, bool(align_corners), scales)


def _is_whole(length: Any) -> bool:
    if isinstance(length, Tensor):
        return not (length.is_floating_point() or length.is_complex())
    return isinstance(length, int)


def _checked(argument: str, value: Any, input: Tensor, spatial: int) -> list[Any]:
    """Return one number for each spatial dimension."""
    if not isinstance(value, (list, tuple)):
        return [value] * spatial
    if len(value) != spatial:
        what = "output size" if argument == "size" else "scale_factor"
        sides = "Input and output" if argument == "size" else "Input and scale_factor"
        shape = (
            "output size in (o1, o2, ...,oK)" if argument == "size" else "scale_factor in (s1, s2, ...,sK)"
        )
        raise ValueError(
            f"{sides} must have the same number of spatial dimensions, but got "
            f"input with spatial dimensions of {list(input.shape[2:])} and {what} of "
            f"{'' if argument == 'size' else 'shape '}{value}. "
            f"Please provide input tensor in (N, C, d1, d2, ...,dK) format and {shape} format."
        )
    return list(value)


def _deprecated(name: str) -> None:
    text = f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead."
    warnings.warn(text, UserWarning, stacklevel=3)


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Return images in another size: the older name of `interpolate`."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return images in another size, by the nearest elements."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return images in another size, by lines between neighbours, corners on corners."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
