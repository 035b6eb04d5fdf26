"""The annotations from which schemas of operators are made, and what each becomes."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import _rushlight
from ..._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SUPPORTED_PARAM_TYPES", "SUPPORTED_RETURN_TYPES"]

_NUMBERS: dict[Any, str] = {int: "SymInt", float: "float", bool: "bool"}
_ANY_NUMBER: Any = int | float | bool


def _lists_of(kind: Any) -> tuple[Any, ...]:
    return typing.Sequence[kind], typing.List[kind], Sequence[kind], list[kind]  # noqa: UP006


def _pairs() -> Iterator[tuple[Any, str]]:
    kinds = {Tensor: "Tensor", **_NUMBERS, _ANY_NUMBER: "Scalar"}
    for kind, name in kinds.items():
        yield kind, name
        yield typing.Optional[kind], f"{name}?"  # noqa: UP045
        yield from ((made, f"{name}[]") for made in _lists_of(kind))
        if kind is Tensor:
            yield from ((made, "Tensor?[]") for made in _lists_of(typing.Optional[Tensor]))  # noqa: UP045
        if kind in _NUMBERS:
            yield from ((typing.Optional[made], f"{name}[]?") for made in _lists_of(kind))  # noqa: UP045
    for kind, name in {str: "str", _rushlight.dtype: "ScalarType", _rushlight.device: "Device"}.items():
        yield kind, name
        yield typing.Optional[kind], f"{name}?"  # noqa: UP045


SUPPORTED_PARAM_TYPES: dict[Any, str] = dict(_pairs())
SUPPORTED_RETURN_TYPES: dict[Any, str] = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    **_NUMBERS,
    _ANY_NUMBER: "Scalar",
}
