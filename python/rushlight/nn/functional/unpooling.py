"""Pooling undone: elements put back where the greatest ones were; and pooling by other norms."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._calls.showing import shown, shown_to
from ..._functions.under_vmap import any_of_all
from ..._tensors.typename import scalar_name
from .pools import avg_pool1d, avg_pool2d, avg_pool3d

if TYPE_CHECKING:
    from ..._rushlight import Tensor

__all__ = ["lp_pool1d", "lp_pool2d", "lp_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d"]


def _each(value: Any, count: int) -> list[int]:
    return [value] * count if isinstance(value, int) else list(value)


def _output_size(
    input: Tensor, kernel: list[int], stride: list[int], padding: list[int], wanted: Any
) -> list[int]:
    """Return the sizes before pooling: those wanted, if windows of these could lead here, or the usual."""
    count = len(kernel)
    usual = [
        (size - 1) * step + width - 2 * pad
        for size, step, width, pad in zip(input.shape[-count:], stride, kernel, padding, strict=True)
    ]
    if wanted is None:
        return usual
    sizes = wanted[2:] if len(wanted) == count + 2 else wanted
    if len(sizes) != count:
        raise ValueError(
            f"output_size should be a sequence containing {count} or {count + 2} elements, but it has a "
            f"length of '{len(sizes)}'"
        )
    for place, (size, least, step) in enumerate(zip(sizes, usual, stride, strict=True)):
        if not least - step < size < least + step:
            raise ValueError(
                f'invalid output_size "{sizes}" (dim {place} must be between {least - step} and '
                f"{least + step})"
            )
    return list(sizes)


def _unpooled(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
    count: int,
) -> Tensor:
    kernel = _each(kernel_size, count)
    steps = kernel if stride is None else _each(stride, count)
    sizes = _output_size(input, kernel, steps, _each(padding, count), output_size)
    name = f"max_unpooling{max(count, 2)}d"
    if indices.dtype != native.int64:
        found = scalar_name(indices)
        raise RuntimeError(f"elements in indices should be type int64 but got: {found}")
    # Lines are looked at as images of one column.
    column, rank = ([1], max(count, 2)) if count == 1 else ([], count)
    shape, given = [*input.shape, *column], [*indices.shape, *column]
    if shape != given:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({shape}) but got indices tensor with shape: {given}"
        )
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"Input to {name} should be a {rank + 1}d or {rank + 2}d Tensor, but got a tensor with "
            f"{len(shape)} dimensions."
        )
    lead = list(input.shape[:-count])
    beyond = (indices < 0) | (indices >= prod(sizes))
    if any_of_all(beyond):
        volumes = "x".join(str(size) for size in [*sizes, *column])
        raise RuntimeError(
            f"Found an invalid max index: {int(indices[beyond][0])} (output volumes are of size {volumes})"
        )

    has_channels_last = (
        input.dim() == 4
        and not input.is_contiguous()
        and input.is_contiguous(memory_format=native.channels_last)
    )
    if not input.is_floating_point():
        kernel_name = f"max_unpool{rank}d{'_channels_last' if has_channels_last else ''}"
        raise NotImplementedError(f"\"{kernel_name}\" not implemented for '{scalar_name(input)}'")

    def unpooled(input: Tensor, indices: Tensor) -> Tensor:
        places = indices.reshape(*lead, prod(input.shape[len(lead) :]))
        zeros = native.zeros((*lead, prod(sizes)), dtype=input.dtype)
        found = zeros.scatter(-1, places, input.reshape(places.shape)).view(*lead, *sizes, *column)
        return found.contiguous(memory_format=native.channels_last) if has_channels_last else found

    if column:
        input, indices = input.unsqueeze(-1), indices.unsqueeze(-1)
    (result,) = native._as_one(
        unpooled,
        (f"max_unpool{rank}d", f"MaxUnpool{rank}DBackward0", "- indices -"),
        (1, 1, 0),
        {},
        input,
        indices,
    )
    return result.squeeze(-1) if column else result


@shown_to("input")
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Return zeros with the elements where `max_pool1d` found them.

    >>> import rushlight as torch
    >>> F = torch.nn.functional
    >>> F.max_unpool1d(*F.max_pool1d(torch.tensor([[1.0, 3.0, 4.0, 2.0]]), 2, return_indices=True), 2)
    tensor([[0., 3., 4., 0.]])
    """
    return _unpooled(input, indices, kernel_size, stride, padding, output_size, 1)


@shown_to("input")
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Return zeros with the elements where `max_pool2d` found them.

    >>> import rushlight as torch
    >>> x = torch.arange(4.0).view(1, 2, 2)
    >>> y, places = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    >>> torch.nn.functional.max_unpool2d(y, places, 2)
    tensor([[[0., 0.],
             [0., 3.]]])
    """
    return _unpooled(input, indices, kernel_size, stride, padding, output_size, 2)


@shown_to("input")
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Return zeros with the elements where `max_pool3d` found them.

    >>> import rushlight as torch
    >>> x = torch.arange(8.0).view(1, 2, 2, 2)
    >>> y, places = torch.nn.functional.max_pool3d(x, 2, return_indices=True)
    >>> torch.nn.functional.max_unpool3d(y, places, 2).flatten()
    tensor([0., 0., 0., 0., 0., 0., 0., 7.])
    """
    return _unpooled(input, indices, kernel_size, stride, padding, output_size, 3)


def _normed(average: Tensor, norm_type: float, area: int) -> Tensor:
    """Return the norms of windows, of which the means of powers are given."""
    return (average.sign() * native.relu(average.abs()) * area) ** (1.0 / norm_type)


@shown
def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """Return the norms of windows.

    >>> import rushlight as torch
    >>> torch.nn.functional.lp_pool1d(torch.tensor([[3.0, 4.0]]), 2, 2)
    tensor([[5.]])
    """
    found = avg_pool1d(input**norm_type, kernel_size, () if stride is None else stride, 0, ceil_mode)
    return _normed(found, norm_type, kernel_size)


@shown
def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """Return the norms of windows of images.

    >>> import rushlight as torch
    >>> torch.nn.functional.lp_pool2d(torch.tensor([[[3.0, 4.0]]]), 2.0, (1, 2))
    tensor([[[5.]]])
    """
    found = avg_pool2d(input**norm_type, kernel_size, () if stride is None else stride, 0, ceil_mode)
    return _normed(found, norm_type, prod(_each(kernel_size, 2)))


@shown
def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """Return the norms of windows of volumes.

    >>> import rushlight as torch
    >>> torch.nn.functional.lp_pool3d(torch.ones(1, 1, 2, 2, 4), 2.0, 2).flatten()
    tensor([2.8284, 2.8284])
    """
    found = avg_pool3d(input**norm_type, kernel_size, () if stride is None else stride, 0, ceil_mode)
    return _normed(found, norm_type, prod(_each(kernel_size, 3)))
