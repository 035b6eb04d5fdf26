"""What the functions of `fft` make of their arguments: element types, dimensions, sizes, divisors of sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import _rushlight as native
from .._calls.precision import exact
from .._rushlight import Tensor
from .._tensors.typename import scalar_name

if TYPE_CHECKING:
    from typing import Any


_COMPLEX = frozenset((native.complex64, native.complex128))
_READY = _COMPLEX | {native.float32, native.float64}


def divisor(norm: str | None, forward: bool) -> int:
    """Return by what sums are divided: 0 by nothing, 1 by the root of their number, 2 by their number."""
    if norm is None or norm == "backward":
        return 0 if forward else 2
    if norm == "forward":
        return 2 if forward else 0
    if norm == "ortho":
        return 1
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def inexact(input: Tensor, complex: bool) -> Tensor:
    """Return the tensor in a floating-point or complex type, or in a complex one."""
    kind = input.dtype
    if kind in (_COMPLEX if complex else _READY):
        return input
    (input,) = exact(input)
    kind = input.dtype
    if not (kind.is_floating_point or kind.is_complex):
        kind = native.get_default_dtype()
    if kind in (native.float16, native.bfloat16):
        raise RuntimeError(f"Unsupported dtype {scalar_name(input)}")
    return input.to(kind.to_complex() if complex else kind)


def dimension(input: Tensor, dim: int) -> int:
    input.size(dim)  # says so if there is no such dimension
    return dim % input.dim()


def check_size(size: int) -> None:
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")


def points(n: int | None) -> int:
    """Return the size that is asked for, -1 if none is."""
    if n is None:
        return -1
    check_size(n)
    return n


def resized(input: Tensor, dims: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Cut dimensions off, or fill them up with zeros; a size of -1 leaves one as it is."""
    if all(size == -1 for size in sizes):
        return input
    padding = [0] * (2 * input.dim())
    for dim, size in zip(dims, sizes, strict=True):
        if size == -1:
            continue
        check_size(size)
        if input.shape[dim] < size:
            padding[2 * (input.dim() - 1 - dim) + 1] = size - input.shape[dim]
        elif input.shape[dim] > size:
            input = input.narrow(dim, 0, size)
    while padding and padding[-2:] == [0, 0]:
        padding = padding[:-2]
    return native.constant_pad_nd(input, padding) if padding else input


def _listed(numbers: Any) -> list[int]:
    return [int(numbers)] if hasattr(type(numbers), "__index__") else list(numbers)


def dimensions_and_sizes(input: Tensor, s: Any, dim: Any) -> tuple[list[int], list[int]]:
    """Return the dimensions to transform over, and sizes for them."""
    rank = input.dim()
    dims = None if dim is None else [dimension(input, one) for one in _listed(dim)]
    if dims is not None and len(set(dims)) < len(dims):
        raise RuntimeError("FFT dims must be unique")
    if s is None:
        dims = list(range(rank)) if dims is None else dims
        return dims, [-1] * len(dims)
    sizes = _listed(s)
    if dims is not None and len(dims) != len(sizes):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if len(sizes) > rank:
        raise RuntimeError(f"Got shape with {len(sizes)} values but input tensor only has {rank} dimensions.")
    for size in sizes:
        if size != -1:
            check_size(size)
    return list(range(rank - len(sizes), rank)) if dims is None else dims, sizes
