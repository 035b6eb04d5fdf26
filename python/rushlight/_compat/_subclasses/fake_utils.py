"""Whether results share memory with what they were made of, and with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._rushlight import Tensor
from ...utils._pytree import tree_leaves
from .._C._memory import _has_storage, _storage_id

__all__: list[str] = []


def _tensors(tree: Any) -> Iterator[Tensor]:
    return (leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor))


def _memory(tree: Any) -> list[Any]:
    return [_storage_id(tensor) for tensor in _tensors(tree) if _has_storage(tensor)]


def outputs_alias_inputs(outputs: Any, inputs: Any) -> bool:
    """Tell whether a result has memory of an input."""
    return not set(_memory(inputs)).isdisjoint(_memory(outputs))


def outputs_are_inputs(outputs: Any, inputs: Any) -> bool:
    """Tell whether a result is an input."""
    return not set(map(id, _tensors(inputs))).isdisjoint(map(id, _tensors(outputs)))


def output_alias_each_other(outputs: Any) -> bool:
    """Tell whether two results have the same memory."""
    found = _memory(outputs)
    return len(set(found)) < len(found)
