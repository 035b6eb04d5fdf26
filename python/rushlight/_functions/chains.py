"""Products of many matrices, multiplied in the order that costs least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _rushlight as native
from .._calls.showing import shown_as_given, shown_to
from .._formatting import name_in_c
from .._rushlight import Tensor
from .._warn_once import warn_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._rushlight import Size

__all__ = ["chain_matmul", "multi_dot"]

_CHAIN = (
    "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
    "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than multiple "
    "parameters."
)


@shown_to("matrices")
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Return the product of several matrices."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    warn_once(_CHAIN)
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.dim()}, expected 2 instead.")
    found = matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices)
    return native._written("chain_matmul", found, out)


@shown_as_given
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Return the product of several matrices, of which the first and the last may be vectors.

    >>> import rushlight as torch
    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 1), torch.ones(1, 2)])
    tensor([[3., 3.],
            [3., 3.]])
    """
    shapes = _checked(tensors)
    first, last = shapes[0], shapes[-1]
    matrices = list(tensors)
    if len(first) == 1:
        matrices[0] = tensors[0].unsqueeze(0)
    if len(last) == 1:
        matrices[-1] = tensors[-1].unsqueeze(-1)
    # What is between two matrices is the number of columns of the one and of rows of the other.
    inner = [shape[0] for shape in shapes[1:]]
    sizes = [first[0] if len(first) == 2 else 1, *inner, last[1] if len(last) == 2 else 1]
    found = _product(matrices, _splits(sizes), 0, len(matrices) - 1).view([*first[:-1], *last[1:]])
    if out is None:
        return found
    from ..linalg._results import written

    names = [name_in_c(tensor.dtype) for tensor in (found, out)]
    refusal = f"multi_dot(): expected out tensor to have dtype {names[0]} but got {names[1]}"
    return written(found, out, refusal, "mm")


def _product(matrices: list[Tensor], splits: dict[tuple[int, int], int], start: int, end: int) -> Tensor:
    if start == end:
        return matrices[start]
    split = splits[start, end]
    left = _product(matrices, splits, start, split)
    return native.mm(left, _product(matrices, splits, split + 1, end))


def _checked(tensors: Sequence[Tensor]) -> list[Size]:
    """Return the shapes of tensors that can be multiplied."""
    for number, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            found = type(tensor).__name__
            raise TypeError(f"expected Tensor as element {number} in argument 0, but got {found}")
    last = len(tensors) - 1
    if last < 1:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {last + 1}")
    shapes = [tensor.shape for tensor in tensors]
    for name, end in (("first", shapes[0]), ("last", shapes[last])):
        if len(end) not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {name} tensor must be 1D or 2D but got {len(end)}D")
    dtype = tensors[0].dtype
    for number, tensor in enumerate(tensors):
        if 0 < number < last and len(shapes[number]) != 2:
            raise RuntimeError(f"multi_dot(): tensor {number} must be 2D but got {len(shapes[number])}D")
        if tensor.dtype != dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{name_in_c(dtype)} and tensor {number} {name_in_c(tensor.dtype)}"
            )
    for number in range(1, last + 1):
        before, shape = shapes[number - 1], shapes[number]
        if before[-1] != shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {number - 1} and {number} with shapes {list(before)} and "
                f"{list(shape)} cannot be multiplied"
            )
    return shapes


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Say for each stretch of matrices, whose sizes follow each other, after which one it is best divided."""
    count = len(sizes) - 1
    if count == 2:
        return {(0, 1): 0}
    if count == 3:  # Of equals the first two are multiplied first; of more matrices, the first ones alone.
        a, b, c, d = sizes
        return {(0, 1): 0, (1, 2): 1, (0, 2): 0 if (b * c + a * b) * d < (b * c + c * d) * a else 1}
    costs = {(place, place): 0 for place in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for start in range(count - length):
            end = start + length

            def cost(split: int, start: int = start, end: int = end) -> int:
                product = sizes[start] * sizes[split + 1] * sizes[end + 1]
                return costs[start, split] + costs[split + 1, end] + product

            best = splits[start, end] = min(range(start, end), key=cost)
            costs[start, end] = cost(best)
    return splits
