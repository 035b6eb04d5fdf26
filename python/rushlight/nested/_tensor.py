"""The class of nested tensors: pieces with histories of their own, and what is said of all of them.

A jagged one has one piece, the parts one after another along the dimension in which they differ, and the
offsets of the parts; a strided one has a piece a part. A piece has all dimensions but the first.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._devices.absent_types import jagged
from .._rushlight import Tensor
from ..utils.weak import WeakIdKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NestedTensor", "Ragged", "from_parts", "from_values"]

_NO_SIZES = "Internal error: NestedTensorImpl doesn't support sizes. Please file an issue."
_NOT_JAGGED = (
    "Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged "
    "layout only allows for a single ragged dimension. For example: (B, *, D_0, D_1, ..., D_N), with "
    "ragged * dim."
)
_numbers = count(1)


class Ragged(int):
    """The size of the dimension in which parts differ. It is no number, and equal to itself only."""

    name: str

    def __new__(cls) -> Ragged:
        """Make one that no other is equal to."""
        made = super().__new__(cls, -1)
        made.name = f"j{next(_numbers)}"
        return made

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class NestedTensor(Tensor):
    """Several tensors as one. Operations are made of those of the pieces."""

    _pieces: list[Tensor]
    _offsets: Tensor | None
    _lengths: Tensor | None
    _ragged: Ragged
    # Which dimension differs, of a jagged one.
    _ragged_idx: int

    def __new__(cls, values: Tensor, offsets: Tensor, *, lengths: Tensor | None = None, **kwargs: Any) -> Any:
        """Return the jagged tensor of values and of the places where parts begin."""
        return from_values(values, offsets, lengths, kwargs.get("_ragged_idx", 1))

    def __init__(self, *_: Any, **__: Any) -> None:
        """Nothing is left to do."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from ._functions import answer

        return answer(func, args, kwargs or {})

    # What is the same of all pieces.

    is_nested = property(lambda self: True)
    dtype = property(lambda self: self._dtype)
    device = property(lambda self: native.device("cpu"))
    layout = property(lambda self: jagged if self._offsets is not None else native.strided)
    is_leaf = property(lambda self: all(piece.is_leaf for piece in self._pieces))
    grad_fn = property(lambda self: next((piece.grad_fn for piece in self._pieces), None))
    ndim = property(lambda self: self.dim())
    shape = property(lambda self: self.size())

    @property
    def requires_grad(self) -> bool:
        """Whether a piece takes a gradient."""
        return any(piece.requires_grad for piece in self._pieces)

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        for piece in self._pieces:
            piece.requires_grad_(wanted)

    @property
    def grad(self) -> Any:
        """The gradients of the pieces, if there are any."""
        if all(piece.grad is None for piece in self._pieces):
            return None
        return alike(
            self, [native.zeros_like(piece) if piece.grad is None else piece.grad for piece in self._pieces]
        )

    @grad.setter
    def grad(self, value: Any) -> None:
        for place, piece in enumerate(self._pieces):
            piece.grad = None if value is None else value._pieces[place]

    def dim(self) -> int:
        """Return how many dimensions there are, with that of the parts."""
        return 1 + (self._pieces[0].ndim if self._pieces else 0)

    def __len__(self) -> int:
        return len(self._pieces) if self._offsets is None else len(self._offsets) - 1

    def numel(self) -> int:
        """Return the count of elements."""
        return sum(part.numel() for part in self.parts())

    def size(self, dim: int | None = None) -> Any:
        """Return the sizes; of a strided one only single ones, those that parts have in common."""
        if self._offsets is not None:
            sizes: list[Any] = [len(self), *self._pieces[0].shape]
            sizes[self._ragged_idx] = self._ragged
            return tuple_of(sizes) if dim is None else sizes[dim]
        if dim is None:
            raise RuntimeError(_NO_SIZES)
        dim %= self.dim()
        if dim == 0:
            return len(self)
        found = {piece.shape[dim - 1] for piece in self._pieces}
        if len(found) > 1:
            raise RuntimeError(f"Given dimension {dim} is irregular and does not have a size.")
        return found.pop()

    def offsets(self) -> Tensor:
        """Return where parts begin, and the end."""
        if self._offsets is None:
            raise AttributeError("'Tensor' object has no attribute 'offsets'")
        return self._offsets

    def lengths(self) -> Tensor | None:
        """Return how long parts are, if they do not follow one another without gaps."""
        if self._offsets is None:
            raise AttributeError("'Tensor' object has no attribute 'lengths'")
        return self._lengths

    def values(self) -> Tensor:
        """Return the elements of all parts."""
        if self._offsets is not None:
            return self._pieces[0]
        return native.cat([piece.reshape(-1) for piece in self._pieces])

    def parts(self) -> list[Tensor]:
        """Return the tensors that it is made of."""
        if self._offsets is None:
            return self._pieces
        dim, values = self._ragged_idx - 1, self._pieces[0]
        starts = self._offsets[:-1].tolist()
        lengths = (self._offsets.diff() if self._lengths is None else self._lengths).tolist()
        return [values.narrow(dim, start, length) for start, length in zip(starts, lengths, strict=True)]

    def to_padded_tensor(self, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
        """Return a tensor in which all parts have the size of the largest, filled with `padding`."""
        from ._functions import padded

        return padded(self, padding, output_size)

    @property
    def _max_seqlen(self) -> int:
        return max((part.shape[self._ragged_idx - 1] for part in self.parts()), default=0)

    @property
    def _min_seqlen(self) -> int:
        return min((part.shape[self._ragged_idx - 1] for part in self.parts()), default=0)

    def _nested_tensor_size(self) -> Tensor:
        return native.tensor([list(part.shape) for part in self.parts()])

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Take gradients from now on, or none."""
        self.requires_grad = requires_grad
        return self

    def retain_grad(self) -> None:
        """Keep the gradient of what is no leaf."""
        for piece in self._pieces:
            piece.retain_grad()

    def is_contiguous(self, memory_format: Any = native.contiguous_format) -> bool:
        """Tell whether the elements lie one after another."""
        gaps = self._lengths is not None
        return not gaps and all(piece.is_contiguous(memory_format=memory_format) for piece in self._pieces)

    def stride(self, dim: int | None = None) -> Any:
        """Refuse: the parts have steps of their own."""
        raise RuntimeError(_NO_SIZES.replace("sizes", "strides"))

    def backward(self, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        """Run backward from all pieces, with the pieces of a gradient."""
        from ..autograd import backward

        if gradient is None:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        backward(self._pieces, gradient._pieces, *args, **kwargs)

    def tolist(self) -> Any:
        """Return the lists of the parts; torch refuses that for jagged ones."""
        if self._offsets is not None:
            raise RuntimeError(".tolist() is not supported for tensor subclasses, got NestedTensor")
        return [part.tolist() for part in self.parts()]

    def __bool__(self) -> bool:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")

    def __iter__(self) -> Any:
        return iter(self.parts())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (self._pieces, self._offsets, self._lengths, self._ragged_idx)

    def __deepcopy__(self, memo: Any) -> Any:
        made = alike(self, [piece.detach().clone() for piece in self._pieces])
        return made.requires_grad_(self.requires_grad)

    def __format__(self, format_spec: str) -> str:
        return object.__format__(self, format_spec)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        mark = ""
        if self.grad_fn is not None:
            mark = (
                f", grad_fn={self.grad_fn}"
                if self._offsets is not None
                else f", grad_fn=<{self.grad_fn.name()}>"
            )
        elif self.requires_grad:
            mark = ", requires_grad=True"
        if self._offsets is not None:
            sizes = ", ".join(map(str, self.shape))
            mark += f", contiguous={self.is_contiguous()}"
            return f"NestedTensor(size=({sizes}), offsets={self._offsets}{mark})"
        shown = []
        for part in self.parts():
            text = repr(part.detach().requires_grad_(self.requires_grad and part.is_floating_point()))
            shown.append("\n".join(f"  {line}" for line in text.splitlines()))
        return "nested_tensor([\n" + ",\n".join(shown) + f"\n]{mark})"


def tuple_of(sizes: Sequence[Any]) -> Any:
    """Return sizes of which one is no number, as `Size` shows sizes."""
    return _Sizes(sizes)


class _Sizes(tuple[Any, ...]):
    """Sizes of which one is no number."""

    def numel(self) -> Any:
        raise RuntimeError("numel() of sizes of which one is ragged")

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"


def _made(
    pieces: list[Tensor], offsets: Any, lengths: Any = None, ragged: Ragged | None = None, ragged_idx: int = 1
) -> NestedTensor:
    dtype = pieces[0].dtype if pieces else native.get_default_dtype()
    made: Any = Tensor._make_subclass(NestedTensor, native.empty(0))
    made._pieces, made._offsets, made._lengths, made._dtype = pieces, offsets, lengths, dtype
    made._ragged, made._ragged_idx = ragged if ragged is not None else Ragged(), ragged_idx
    return made  # type: ignore[no-any-return]


def _rebuilt(pieces: list[Tensor], offsets: Any, lengths: Any, ragged_idx: int) -> NestedTensor:
    return _made(pieces, offsets, lengths, None, ragged_idx)


def alike(like: NestedTensor, pieces: list[Tensor], ragged_idx: int | None = None) -> NestedTensor:
    """Return a nested tensor whose parts are as long as those of another."""
    place = like._ragged_idx if ragged_idx is None else ragged_idx
    return _made(pieces, like._offsets, like._lengths, like._ragged, place)


# What says how long parts are also says whether two nested tensors are of one shape.
_RAGGED = WeakIdKeyDictionary()


def from_values(values: Tensor, offsets: Tensor, lengths: Tensor | None, ragged_idx: int = 1) -> NestedTensor:
    """Return the jagged tensor of values and of the places where parts begin."""
    says = offsets if lengths is None else lengths
    ragged = _RAGGED.get(says)
    if ragged is None:
        ragged = _RAGGED[says] = Ragged()
    return _made([values], offsets, lengths, ragged, ragged_idx)


def from_parts(parts: Sequence[Tensor], layout: Any) -> NestedTensor:
    """Return the nested tensor of tensors."""
    if layout is not jagged:
        other = next((place for place, one in enumerate(parts) if one.ndim != parts[0].ndim), None)
        if other is not None:
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension. Found dimension "
                f"{parts[other].ndim} for Tensor at index {other} and dimension {parts[0].ndim} for "
                "Tensor at index 0."
            )
        return _made(list(parts), None)
    if not parts:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    if any(one.ndim == 0 or one.shape[1:] != parts[0].shape[1:] for one in parts):
        raise RuntimeError(_NOT_JAGGED)
    ends = [0]
    for one in parts:
        ends.append(ends[-1] + one.shape[0])
    return from_values(native.cat(list(parts)), native.tensor(ends), None)
