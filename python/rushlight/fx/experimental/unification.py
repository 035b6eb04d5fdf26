"""Equations between sizes that are not known, solved: what stands for each so that both sides are one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from ..tensor_type import TensorType

__all__ = ["Equality", "Var", "unify"]


@dataclass(frozen=True)
class Var:
    """Something that is not known, by a number or a name.

    >>> Var(7)
    ~7
    """

    token: Hashable

    def __repr__(self) -> str:
        return f"~{self.token}"

    __str__ = __repr__


class Equality:
    """Two sides that are one."""

    def __init__(self, lhs: Any, rhs: Any) -> None:
        self.lhs, self.rhs = lhs, rhs

    def __repr__(self) -> str:
        return f"{self.lhs} = {self.rhs}"

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equality) and self.lhs == other.lhs and self.rhs == other.rhs


def _known(value: Any, found: dict[Any, Any]) -> Any:
    while isinstance(value, Var) and value in found:
        value = found[value]
    return value


def unify(u: Any, v: Any, s: dict[Any, Any] | None = None) -> dict[Any, Any] | bool:
    """Return what stands for unknowns so that both sides are one; false if nothing does.

    >>> unify((Var(1), 2), (3, Var(2)))
    {~1: 3, ~2: 2}
    """
    found = dict(s or {})
    pairs = [(u, v)]
    while pairs:
        one, other = (_known(each, found) for each in pairs.pop(0))
        if one == other:
            continue
        if isinstance(one, TensorType) and isinstance(other, TensorType):
            one, other = tuple(one.dims), tuple(other.dims)
        if isinstance(one, Var):
            found[one] = other
        elif isinstance(other, Var):
            found[other] = one
        elif isinstance(one, (tuple, list)) and type(one) is type(other) and len(one) == len(other):
            pairs[:0] = zip(one, other, strict=True)
        else:
            return False
    return found
