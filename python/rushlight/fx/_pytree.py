"""Arguments of graphs taken apart as they were where the graph was traced."""

from __future__ import annotations

from typing import Any

from ..utils._pytree import tree_flatten

__all__ = ["tree_flatten_spec"]


def tree_flatten_spec(pytree: Any, spec: Any, *unused: Any) -> list[Any]:
    """Return the leaves of what is nested as `spec` says."""
    leaves, found = tree_flatten(tuple(pytree) if isinstance(pytree, list) else pytree)
    if found.num_leaves != spec.num_leaves:
        raise ValueError(f"Expected {spec.num_leaves} leaves nested as {spec}, but got {found}")
    return leaves
