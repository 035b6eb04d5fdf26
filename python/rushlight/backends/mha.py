"""The switch of torch's fast path through transformer encoders. Nothing here has such a path."""

from __future__ import annotations

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """Tell whether the fast path is allowed.

    >>> import rushlight as torch
    >>> torch.backends.mha.get_fastpath_enabled()
    True
    """
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Allow or forbid the fast path."""
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
