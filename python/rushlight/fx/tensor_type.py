"""Types of tensors by their sizes, some of which may be unknown.

>>> from rushlight.fx.tensor_type import Dyn, TensorType, is_consistent
>>> is_consistent(TensorType((1, Dyn, 3)), TensorType((1, 2, 3)))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


class TensorType:
    """Tensors of these sizes."""

    def __init__(self, dim: Sequence[Any]) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    @property
    def dims(self) -> Sequence[Any]:
        """The sizes."""
        return self.__args__

    def __repr__(self) -> str:
        return f"TensorType[{self.dims}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and list(self.dims) == list(other.dims)

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def __class_getitem__(*args: Any) -> TensorType:
        return TensorType(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args)


class _DynType:
    """What is not known."""

    __name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DynType)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Dyn"


Dyn = _DynType()


def _each(one: TensorType, other: TensorType, question: Any) -> bool:
    return len(one.dims) == len(other.dims) and all(map(question, one.dims, other.dims))


def is_consistent(t1: object, t2: object) -> bool:
    """Tell whether something can be of both types."""
    if t1 == t2 or Dyn in (t1, t2):
        return True
    both = isinstance(t1, TensorType) and isinstance(t2, TensorType)
    return both and _each(t1, t2, is_consistent)  # type: ignore[arg-type]


def is_more_precise(t1: object, t2: object) -> bool:
    """Tell whether all that is of the first type is of the second."""
    if t1 == t2 or t2 == Dyn:
        return True
    both = isinstance(t1, TensorType) and isinstance(t2, TensorType)
    return both and _each(t1, t2, is_more_precise)  # type: ignore[arg-type]
