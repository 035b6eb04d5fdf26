"""Warnings of functions in Python that are given once in the life of a process."""

from __future__ import annotations

from ._rushlight import is_warn_always_enabled

_TOLD: set[str] = set()


def warn_once(text: str, stacklevel: int = 3) -> None:
    """Warn whoever called the function that calls this, unless that was done before.

    >>> import rushlight as torch
    >>> torch.is_warn_always_enabled()
    False
    """
    if text not in _TOLD or is_warn_always_enabled():
        import warnings

        _TOLD.add(text)
        warnings.warn(text, UserWarning, stacklevel=stacklevel)
