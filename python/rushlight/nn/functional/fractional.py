"""Pooling over windows that are spread by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._calls.showing import shown, shown_with
from .._dimensions import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._rushlight import Tensor

__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]


def _starts(samples: Tensor, size: int, count: int, kernel: int) -> Tensor:
    """Return where windows begin: as far apart as there is room, and each rounded by one sample."""
    if count <= 1:
        return native.full((*samples.shape, count), size - kernel)
    samples = samples.double().unsqueeze(-1)
    step = (size - kernel) / (count - 1)
    places = native.arange(count - 1, dtype=native.float64)
    found = ((places + samples) * step).long() - (samples * step).long()
    last = native.full((*found.shape[:-1], 1), size - kernel)
    return native.cat([found, last], -1)


def _sizes(input: Tensor, name: str, count: int, output_size: Any, output_ratio: Any) -> tuple[int, ...]:
    if output_size is not None:
        return spread(output_size, count)
    if output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if len(output_ratio) > count:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
    shape = input.shape[-count:]
    return tuple(int(size * ratio) for size, ratio in zip(shape, output_ratio, strict=True))


def _check(input: Tensor, name: str, kernel: Sequence[int], sizes: Sequence[int]) -> None:
    count = len(sizes)
    if input.dim() not in (count + 1, count + 2):
        raise RuntimeError(
            f"{name}: Expected {count + 1}D or {count + 2}D tensor, but got: {list(input.shape)}"
        )
    names = ("time", "height", "width")[-count:]
    room = 0 if count == 2 else 1
    name = f"{name}()" if count == 2 else f"{name}_out()"
    for dim in range(1, input.dim()):
        if input.shape[dim] == 0:
            raise RuntimeError(
                f"{name}: Expected input to have non-zero size for non-batch dimensions, but "
                f"got{list(input.shape)} with dimension {dim} being empty."
            )
    for side, size, window, result in zip(names, input.shape[-count:], kernel, sizes, strict=True):
        if result + window - 1 + room > size:
            raise RuntimeError(f"{name}: pool {side} {window} too large relative to input {side} {size}")


def _pool(
    count: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Tensor | None
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{count}d"
    sizes = _sizes(input, name, count, output_size, output_ratio)
    kernel = spread(kernel_size, count)
    input.size(-count - 1)  # There have to be channels before anything else is looked at.
    _check(input, name, kernel, sizes)
    batched = input.dim() == count + 2
    x = input if batched else input.unsqueeze(0)
    if samples is None:
        samples = native.rand((x.shape[0], x.shape[1], count), dtype=input.dtype)
    elif samples.dtype != input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    samples = samples[: len(x)]
    # Samples of an image count from the width on.
    order = range(count) if count == 3 else range(count - 1, -1, -1)
    index = None
    for place, at in enumerate(order):
        size, window = x.shape[2 + place], kernel[place]
        starts = _starts(samples[..., at], size, sizes[place], window)
        within = starts.unsqueeze(-1) + native.arange(window)
        shape = [*within.shape[:2], *[1] * (2 * count)]
        shape[2 + place], shape[2 + count + place] = within.shape[2], window
        within = within.view(shape)
        index = within if index is None else index * size + within
    assert index is not None
    index = index.flatten(2 + count)
    windows = index

    def greatest(x: Tensor) -> tuple[Tensor, Tensor]:
        values, places = x.flatten(2).gather(2, windows.flatten(2)).view(windows.shape).max(-1)
        return values, windows.gather(-1, places.unsqueeze(-1)).squeeze(-1)

    values, indices = native._as_one(
        greatest,
        (name, f"FractionalMaxPool{count}DBackward0", "self - result1"),
        (1, 0, 2),
        {"kernel_size": kernel, "output_size": sizes},
        x,
    )
    return (values, indices) if batched else (values.squeeze(0), indices.squeeze(0))


@shown
def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the greatest elements of windows that are spread by chance, and where they are."""
    return _pool(2, input, kernel_size, output_size, output_ratio, _random_samples)


@shown
def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the greatest elements of windows that are spread by chance, and where they are."""
    return _pool(3, input, kernel_size, output_size, output_ratio, _random_samples)


@shown_with(fractional_max_pool2d_with_indices)
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the greatest elements of windows that are spread by chance.

    >>> import rushlight as torch
    >>> torch.nn.functional.fractional_max_pool2d(torch.ones(1, 5, 5), 2, output_size=3).shape
    torch.Size([1, 3, 3])
    """
    found = _pool(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


@shown_with(fractional_max_pool3d_with_indices)
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the greatest elements of windows that are spread by chance."""
    found = _pool(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]
