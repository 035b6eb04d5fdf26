"""Warnings that are said once, however often there is reason to."""

from __future__ import annotations

import warnings

_said: set[str] = set()


def warn_once(text: str) -> None:
    """Warn whoever has called the function that says so, unless it was said before."""
    if text not in _said:
        _said.add(text)
        warnings.warn(text, stacklevel=3)
