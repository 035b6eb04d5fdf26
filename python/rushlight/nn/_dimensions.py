"""Arguments that are one value for each spatial dimension, or one for all."""

from __future__ import annotations

from typing import Any


def spread(value: Any, count: int) -> tuple[Any, ...]:
    """Return one value for each of `count` dimensions."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count
