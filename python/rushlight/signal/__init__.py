"""Signals: windows that they are looked at through."""

from . import windows

__all__ = ["windows"]
