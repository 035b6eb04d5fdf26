"""Functions of shapes, and functions that take tensors in forms that only Python has."""

from __future__ import annotations

import itertools
import math

from .. import _rushlight as native
from .._calls import written as _written
from .._calls.showing import shown_as_given, shown_like, shown_to, taking
from .._rushlight import Size, Tensor
from .._warn_once import warn_once
from .under_vmap import of_all_samples

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "cartesian_prod",
    "combinations",
    "einsum",
    "is_same_size",
    "nonzero_static",
    "norm",
    "norm_except_dim",
    "split",
    "tensordot",
    "unravel_index",
]


norm = shown_like(native.norm, _written.Functions.norm)
split = shown_like(native.split, _written.Functions.split)


def _flattened(operands: tuple[Any, ...]) -> list[Any]:
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return list(operands[0])
    return list(operands)


@shown_to("args")
def einsum(*args: Any) -> Tensor:
    """Sum the products of the elements of the operands along dimensions given in Einstein notation.

    >>> import rushlight as torch
    >>> torch.einsum("i,i->", torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    if len(args) < 2 or (len(args) == 2 and isinstance(args[1], (list, tuple)) and not args[1]):
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, "
            "or at least one operand and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        return _numbered(args)
    if len(args) == 2 and isinstance(args[1], (list, tuple)):
        # Those that are in a list are shown the call as well.
        return einsum(args[0], *args[1])
    return native._nn.einsum(args[0], _flattened(args[1:]))


def _numbered(args: tuple[Any, ...]) -> Tensor:
    """Read operands that alternate with lists of subscripts, and perhaps a list for the result."""

    def letters(subscripts: Sequence[Any]) -> str:
        text = ""
        for subscript in subscripts:
            if subscript is Ellipsis:
                text += "..."
            elif not 0 <= subscript < 52:
                raise ValueError(
                    "einsum(): subscript in subscript list is not within the valid range [0, 52)"
                )
            else:
                text += chr(ord("A") + subscript) if subscript < 26 else chr(ord("a") + subscript - 26)
        return text

    count = len(args) // 2
    equation = ",".join(letters(args[2 * place + 1]) for place in range(count))
    if len(args) % 2 == 1:
        equation += "->" + letters(args[-1])
    return native._nn.einsum(equation, [args[2 * place] for place in range(count)])


@shown_to("a b")
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Return the sums of products over pairs of dimensions.

    >>> import rushlight as torch
    >>> torch.tensordot(torch.ones(2, 3), torch.ones(3, 4), dims=1).shape
    torch.Size([2, 4])
    """
    if isinstance(dims, (tuple, list)):
        first, second = dims
        first = [first] if isinstance(first, int) else list(first)
        second = [second] if isinstance(second, int) else list(second)
    elif isinstance(dims, Tensor) and dims.numel() > 1:
        first, second = dims[0].tolist(), dims[1].tolist()
    else:
        count = int(dims.item()) if isinstance(dims, Tensor) else dims
        if count < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={count}")
        if count > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={count}")
        first, second = list(range(-count, 0)), list(range(count))
    if out is None:
        return native._nn.tensordot(a, b, first, second)
    return native._nn.tensordot(a, b, first, second, out=out)


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that shapes broadcast to together.

    >>> import rushlight as torch
    >>> torch.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    result: list[int] = []
    for number, shape in enumerate(shapes):
        sizes = [shape] if isinstance(shape, int) else list(shape)
        for size in sizes:
            if size < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
        result = [1] * (len(sizes) - len(result)) + result
        for place in range(-1, -len(sizes) - 1, -1):
            if sizes[place] in (1, result[place]):
                continue
            if result[place] != 1:
                shown = shape if isinstance(shape, tuple) else tuple(sizes)
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {sizes[place]} at {place}! Mismatching "
                    f"argument at index {number} had {shown}; but expected shape should be "
                    f"broadcastable to {result}"
                )
            result[place] = sizes[place]
    return Size(result)


def _each(function: Any, tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return function(tensors[0])
    return tuple(function(tensor) for tensor in _flattened(tensors))


@shown_to("tensors")
def atleast_1d(*tensors: Any) -> Any:
    """Return the tensors with at least one dimension.

    >>> import rushlight as torch
    >>> torch.atleast_1d(torch.tensor(5))
    tensor([5])
    """
    return _each(native.atleast_1d, tensors)


@shown_to("tensors")
def atleast_2d(*tensors: Any) -> Any:
    """Return the tensors with at least two dimensions.

    >>> import rushlight as torch
    >>> torch.atleast_2d(torch.tensor([1, 2]))
    tensor([[1, 2]])
    """
    return _each(native.atleast_2d, tensors)


@shown_to("tensors")
def atleast_3d(*tensors: Any) -> Any:
    """Return the tensors with at least three dimensions.

    >>> import rushlight as torch
    >>> torch.atleast_3d(torch.tensor([1, 2])).shape
    torch.Size([1, 2, 1])
    """
    return _each(native._nn.atleast_3d, tensors)


@shown_to("tensors")
def block_diag(*tensors: Any) -> Tensor:
    """Return the matrices one behind the other on the diagonal of a larger one.

    >>> import rushlight as torch
    >>> torch.block_diag(torch.ones(1, 1), torch.ones(1, 2))
    tensor([[1., 0., 0.],
            [0., 1., 1.]])
    """
    return native._nn.block_diag(_flattened(tensors))


@shown_to("tensors")
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all combinations of an element of each vector.

    >>> import rushlight as torch
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3])).tolist()
    [[1, 3], [2, 3]]
    """
    vectors = _flattened(tensors)
    for vector in vectors:
        if vector.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(vector.shape)}")
    if len(vectors) == 1:
        only: Tensor = vectors[0]
        return only
    grids = native.meshgrid(vectors, indexing="ij")
    return native.stack([grid.flatten() for grid in grids], 1)


@shown_as_given
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all choices of `r` elements of a vector, in order.

    >>> import rushlight as torch
    >>> torch.combinations(torch.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return native.empty(0, dtype=input.dtype)
    count = _choices(len(input), r, with_replacement)
    if count * r > _MOST:
        raise RuntimeError("numel: integer multiplication overflow")
    index = native.empty(count, r, dtype=native.int64)
    if input.requires_grad and not native._vmap_nesting() and (len(input) > 1 or r <= _MOST_DIMS):
        return _chosen(input, r, with_replacement)
    if count and r == 2:
        index = (
            native._nn.triangle_indices(len(input), len(input), int(not with_replacement), True)
            .t()
            .contiguous()
        )
    elif count:
        choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
        rows = choose(range(len(input)), r)
        for part in index.split(_PATIENCE):
            part.copy_(native.tensor(list(itertools.islice(rows, len(part)))))
    return input[index]


# No tensor has more elements.
_MOST = 2**63 - 1
# No grid of more than one element a side has more dimensions.
_MOST_DIMS = 62
# Rows that are made before anybody may interrupt.
_PATIENCE = 1 << 12


def _choices(size: int, r: int, with_replacement: bool) -> int:
    """Return in how many ways `r` of so many elements are chosen, or a number that is too large as well."""
    if with_replacement and size:
        size += r - 1
    count = 1 if r <= size else 0
    for step in range(min(r, size - r)):
        count = count * (size - step) // (step + 1)
        if count > _MOST:
            break
    return count


def _chosen(input: Tensor, r: int, with_replacement: bool) -> Tensor:
    """Return combinations as torch records them: the elements of grids where numbers are in order."""
    if r > _MOST_DIMS:
        raise RuntimeError("numel: integer multiplication overflow")
    numbers = native.meshgrid([native.arange(len(input))] * r, indexing="ij")
    mask = native.ones(numbers[0].shape, dtype=native.bool)
    for one, other in itertools.pairwise(numbers):
        mask &= one <= other if with_replacement else one < other
    grids = native.meshgrid([input] * r, indexing="ij")
    return native.stack([grid.masked_select(mask) for grid in grids], 1)


@shown_as_given
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """Return the norms over all dimensions but one, which stays.

    >>> import rushlight as torch
    >>> torch.norm_except_dim(torch.tensor([[3.0, 4.0], [6.0, 8.0]]))
    tensor([[ 5.],
            [10.]])
    """
    if dim == -1:
        return v.norm(pow)
    v.size(dim)  # says so if there is no such dimension
    others = [other for other in range(v.dim()) if other != dim % v.dim()]
    if not others:
        return v.unsqueeze(-1).norm(pow, -1)
    return v.norm(pow, others, keepdim=True)


_INDEXING = "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument."


@shown_to("tensors")
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return the coordinates of the grid that vectors span, a tensor for each.

    >>> import rushlight as torch
    >>> [x.tolist() for x in torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3]), indexing="ij")]
    [[[1], [2]], [[3], [3]]]
    """
    vectors = _flattened(tensors)
    if indexing is None:
        warn_once(_INDEXING)
        return native.meshgrid(vectors)
    return native.meshgrid(vectors, indexing=indexing)


@shown_as_given
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Tell whether both have the same shape.

    >>> import rushlight as torch
    >>> torch.is_same_size(torch.ones(2, 1), torch.ones(1, 2))
    False
    """
    return input.shape == other.shape


@taking("(Tensor self, int[] size)")
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Return the sums over the dimensions along which a tensor of that size would broadcast.

    >>> import rushlight as torch
    >>> torch.ones(2, 3).sum_to_size(2, 1)
    tensor([[3.],
            [3.]])
    """
    shape = list(size[0]) if len(size) == 1 and not isinstance(size[0], int) else list(size)
    if not shape:
        return self.sum()
    missing = self.dim() - len(shape)
    fits = missing >= 0 and all(
        wanted in (1, has) for wanted, has in zip(shape, self.shape[max(missing, 0) :], strict=False)
    )
    if not fits:
        raise RuntimeError(f"size {{{shape}}} is not expandable to size {{{list(self.shape)}}}.")
    leading = list(range(missing))
    summed = [
        place + missing
        for place, wanted in enumerate(shape)
        if wanted == 1 and self.shape[place + missing] != 1
    ]
    if leading or summed:
        self = self.sum([*leading, *summed], keepdim=True)
    return self.view(shape) if missing else self


@shown_to("indices")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Return the coordinates of elements that are numbered in row-major order.

    >>> import rushlight as torch
    >>> torch.unravel_index(torch.tensor([5, 2]), (3, 2))
    (tensor([2, 1]), tensor([1, 0]))
    """
    if indices.is_complex() or indices.is_floating_point() or indices.dtype is native.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        got = str(type(shape)).replace("rushlight", "torch")
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {got}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    steps = [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
    coordinates = indices.unsqueeze(-1).div(native.tensor(steps, dtype=native.int64), rounding_mode="floor")
    return (coordinates % native.tensor(sizes, dtype=native.int64)).unbind(-1)


@shown_as_given
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Tensor | None = None) -> Tensor:
    """Return so many places of elements that are not zero, filled up if there are less.

    >>> import rushlight as torch
    >>> torch.nonzero_static(torch.tensor([0, 7, 8]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """

    def places(samples: Tensor) -> list[Tensor]:
        found: Any = samples.nonzero()
        owners = found[:, 0]
        counts = native.bincount(owners, minlength=len(samples))
        numbers = native.arange(len(found)) - (counts.cumsum(0) - counts)[owners]
        kept = numbers < size
        filled = native.full((len(samples), size, samples.dim() - 1), fill_value, dtype=found.dtype)
        return [filled.index_put((owners[kept], numbers[kept]), found[kept, 1:])]

    return native._written("nonzero_static", of_all_samples("nonzero_static", places, [input])[0], out)


METHODS = (is_same_size, nonzero_static, sum_to_size)
