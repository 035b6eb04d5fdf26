"""What functions that are written in Python do in mixed precision: see `amp`."""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native


def exact(*values: Any) -> tuple[Any, ...]:
    """Return arguments in single precision, if mixed precision is asked for."""
    return _cast(values, False)


def lowered(*values: Any) -> tuple[Any, ...]:
    """Return arguments in a half type, if mixed precision is asked for."""
    return _cast(values, True)


def _cast(values: tuple[Any, ...], low: bool) -> tuple[Any, ...]:
    # Who asks for it has a mode beneath all others.
    if native._mode_beneath() is None:
        return values
    from ..amp._state import cast, state

    if not state.enabled:
        return values
    converted: tuple[Any, ...] = cast(values, state.dtype if low else native.float32)
    return converted
