"""Tensors of few elements: what they are made of, what is seen of them, and how they are printed.

A sparse tensor has the form of a tensor and no numbers of its own: these are in `Pieces`, tensors of places
and of values. Functions are shown to its class, which answers by calculating with the pieces (`_functions`);
what the engine calls by itself, to add gradients and in rules of its own, is answered beneath the graph
(`_operators`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._functions.uniques import unique
from .._rushlight import Tensor
from .._tensors.wrappers import make_wrapper_subclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BY_ROWS = (layouts.sparse_csr, layouts.sparse_bsr)
BY_COLUMNS = (layouts.sparse_csc, layouts.sparse_bsc)
IN_BLOCKS = (layouts.sparse_bsr, layouts.sparse_bsc)
_IN_WORDS = {
    layouts.sparse_coo: "Sparse",
    layouts.sparse_csr: "SparseCsr",
    layouts.sparse_csc: "SparseCsc",
    layouts.sparse_bsr: "SparseBsr",
    layouts.sparse_bsc: "SparseBsc",
}


@dataclass(frozen=True)
class Pieces:
    """What a sparse tensor is made of.

    In the layout of coordinates `places` has a row for each sparse dimension and a column for each value. In
    the compressed ones it says of each value in which column (or row) it is, and `ends` where in the values
    rows (or columns) begin and end.
    """

    places: Tensor
    values: Tensor
    layout: Any = layouts.sparse_coo
    ends: Tensor | None = None
    is_coalesced: bool = False

    @property
    def batches(self) -> int:
        """How many dimensions there are before the rows: samples of matrices."""
        return 0 if self.ends is None else self.ends.dim() - 1

    @property
    def block(self) -> tuple[int, ...]:
        """The size of blocks, if values are blocks."""
        first = self.places.dim()
        return tuple(self.values.shape[first : first + 2]) if self.layout in IN_BLOCKS else ()

    @property
    def values_from(self) -> int:
        """The dimension of `values` where a single value, or a block, begins."""
        return 1 if self.ends is None else self.places.dim()

    @property
    def dense_dims(self) -> int:
        """How many dimensions each value has, or each element of a block."""
        return self.values.dim() - self.values_from - len(self.block)


class SparseTensor(Tensor):
    """A tensor of which only some elements are kept; the others are zero."""

    _pieces: Pieces

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        from ._functions import answer

        return answer(func, args, kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        from ._operators import answer

        return answer(func, args, kwargs or {})

    layout = property(lambda self: self._pieces.layout)
    is_sparse = property(lambda self: self._pieces.layout is layouts.sparse_coo)
    is_sparse_csr = property(lambda self: self._pieces.layout is layouts.sparse_csr)
    is_contiguous = lambda self, *_, **__: False  # noqa: E731

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        from .._utils import _rebuild_sparse_tensor

        return _rebuild_sparse_tensor, (self.layout, taken_apart(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        from copy import deepcopy

        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
                "the moment.  If you were attempting to deepcopy a module, this may be because of a "
                "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
            )
        if id(self) not in memo:
            pieces = self._pieces
            own: dict[str, Any] = {
                "places": deepcopy(pieces.places, memo),
                "values": deepcopy(pieces.values, memo),
            }
            if pieces.ends is not None:
                own["ends"] = deepcopy(pieces.ends, memo)
            made = sparse(replace(pieces, **own), self.shape)
            attributes = {name: one for name, one in vars(self).items() if name != "_pieces"}
            vars(made).update(deepcopy(attributes, memo))
            memo[id(self)] = made.requires_grad_(self.requires_grad)
            if self.grad is not None:
                memo[id(self)].grad = deepcopy(self.grad, memo)
        return memo[id(self)]

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return shown(self)

    __str__ = __repr__

    def __format__(self, format_spec: str) -> str:
        return object.__format__(self, format_spec)


SparseTensor.__name__ = SparseTensor.__qualname__ = "Tensor"


def sparse(pieces: Pieces, size: Sequence[int]) -> SparseTensor:
    """Make a sparse tensor."""
    # Nobody reads the memory beneath it, which is one element whatever the size.
    made: Any = make_wrapper_subclass(
        SparseTensor, tuple(size), strides=(0,) * len(size), dtype=pieces.values.dtype
    )
    made._pieces = replace(pieces, places=pieces.places.detach(), values=pieces.values.detach())
    result: SparseTensor = made
    return result


def pieces_of(tensor: Any) -> Pieces:
    """Return what a sparse tensor is made of."""
    found: Pieces = tensor._pieces
    return found


def taken_apart(tensor: Any) -> tuple[Any, ...]:
    """Return what a sparse tensor is made anew of, in the order of files."""
    pieces, size = tensor._pieces, tensor.shape
    if pieces.layout is layouts.sparse_coo:
        return pieces.places, pieces.values, size, pieces.is_coalesced
    return pieces.ends, pieces.places, pieces.values, size


def is_sparse(one: Any) -> bool:
    """Tell whether something is a sparse tensor."""
    return isinstance(one, SparseTensor)


def like(tensor: Any, values: Tensor, **changed: Any) -> SparseTensor:
    """Make a sparse tensor of other values in the same places."""
    return sparse(replace(tensor._pieces, values=values, **changed), tensor.shape)


def in_words(tensor: Tensor) -> str:
    """Return what torch calls the layout of a tensor in messages."""
    return words_of(tensor.layout)


def words_of(layout: Any) -> str:
    """Return what torch calls a layout in messages."""
    return _IN_WORDS.get(layout, "Strided")


def coalesced(tensor: Any) -> SparseTensor:
    """Return a tensor of coordinates without repetitions, in order: beneath the graph."""
    pieces = tensor._pieces
    if pieces.is_coalesced:
        same: SparseTensor = tensor
        return same
    if pieces.values.shape[0] < 2:
        return like(tensor, pieces.values, is_coalesced=True)
    shape = tensor.shape[: len(pieces.places)]
    flat = flattened(pieces.places, shape)
    numbers, of_which = unique(flat, sorted=True, return_inverse=True)
    values = pieces.values
    empty = values.new_zeros((len(numbers), *values.shape[1:]))
    if values.dtype is native.bool:
        summed = empty.to(native.uint8).index_add(0, of_which, values.to(native.uint8)) > 0
    else:
        summed = empty.index_add(0, of_which, values)
    return like(tensor, summed, places=spread(numbers, shape), is_coalesced=True)


def flattened(places: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the places as numbers, counted through all dimensions."""
    numbers = native.zeros(places.shape[1], dtype=native.int64)
    for row, length in zip(places, shape, strict=True):
        numbers = numbers * length + row
    return numbers


def spread(numbers: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the places that numbers stand for."""
    rows = []
    for length in reversed(shape):
        rows.append(numbers % length)
        numbers = numbers // length
    return native.stack(rows[::-1]) if rows else native.zeros((0, len(numbers)), dtype=native.int64)


def shown(tensor: SparseTensor) -> str:
    """Return the text of a sparse tensor."""
    from .._tensor_str import with_suffixes

    pieces, start = tensor._pieces, len("tensor(")
    if pieces.layout is layouts.sparse_coo:
        listed = {"indices": pieces.places, "values": pieces.values}
    else:
        first, second = ("row", "col") if pieces.layout in BY_ROWS else ("col", "row")
        ends: Any = pieces.ends
        listed = {f"c{first}_indices": ends, f"{second}_indices": pieces.places, "values": pieces.values}
    text = f",\n{' ' * start}".join(_numbers(name, one, start) for name, one in listed.items())
    suffixes = [f"size={tuple(tensor.shape)}", f"nnz={nonzeros(tensor)}"]
    if tensor.dtype not in (native.get_default_dtype(), native.complex64, native.int64, native.bool):
        suffixes.append(f"dtype={tensor.dtype}")
    suffixes.append(f"layout={pieces.layout}")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    text = with_suffixes(f"tensor({text}", suffixes, start, pieces.layout is layouts.sparse_coo)
    text += ")"
    is_parameter = getattr(tensor, "_is_param", False)
    return f"Parameter containing:\n{text}" if is_parameter else text


def _numbers(name: str, numbers: Tensor, start: int) -> str:
    from .._tensor_str import _tensor_str

    begin = f"{name}=tensor("
    if numbers.numel() == 0:
        return f"{begin}[], size={tuple(numbers.shape)})"
    return f"{begin}{_tensor_str(numbers, start + len(begin))})"


def nonzeros(tensor: Any) -> int:
    """Return how many values are kept."""
    pieces = tensor._pieces
    return int(pieces.places.shape[-1])
