"""How programs are refused that cannot be scripts: none is, as functions stay Python."""

from __future__ import annotations

__all__ = ["FrontendError", "FrontendTypeError", "NotSupportedError", "UnsupportedNodeError"]


class FrontendError(Exception):
    """A program is no script."""


class NotSupportedError(FrontendError):
    """A program has what scripts do not have."""


class UnsupportedNodeError(NotSupportedError):
    """A program has an expression that scripts do not have."""


class FrontendTypeError(FrontendError):
    """A program has a type that scripts do not have."""
