"""A faster way through encoders of transformers, which programs can forbid. None is taken here."""

from __future__ import annotations

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """Tell whether it is allowed.

    >>> import rushlight as torch
    >>> torch.backends.mha.get_fastpath_enabled()
    True
    """
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Allow or forbid it."""
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
