"""What nodes keep of where they come from, while graphs are made of graphs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .node import Node

__all__ = ["annotate", "format_stack", "get_current_meta", "has_preserved_node_meta", "preserve_node_meta"]

_meta: dict[str, Any] = {}
_preserving = False


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Have new nodes keep what those knew of which they are made."""
    global _preserving
    before, _preserving = _preserving, enable
    try:
        yield
    finally:
        _preserving = before


def has_preserved_node_meta() -> bool:
    """Tell whether new nodes keep it."""
    return _preserving


def get_current_meta() -> dict[str, Any]:
    """Return what new nodes keep at present."""
    return _meta


@contextmanager
def set_current_meta(node: Node) -> Iterator[None]:
    """Have new nodes keep what one knows."""
    global _meta
    before, _meta = _meta, dict(node.meta) if _preserving else _meta
    try:
        yield
    finally:
        _meta = before


@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Have new nodes keep something of one's own."""
    global _meta
    before, _meta = _meta, {**_meta, "custom": {**_meta.get("custom", {}), **annotation_dict}}
    try:
        yield
    finally:
        _meta = before


def format_stack() -> list[str]:
    """Return where the present node comes from."""
    return [_meta["stack_trace"]] if _preserving and "stack_trace" in _meta else []
