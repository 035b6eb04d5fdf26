"""The warning that storages of elements are deprecated: once in a process, unless more is asked for."""

from __future__ import annotations

import warnings

from .._rushlight import is_warn_always_enabled

__all__: list[str] = []

_DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only "
    "storage class. This should only matter to you if you are using storages directly.  To access "
    "UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)

_said = {"always": False, "before": False}


def _get_always_warn_typed_storage_removal() -> bool:
    return _said["always"]


def _set_always_warn_typed_storage_removal(always_warn: bool) -> None:
    if not isinstance(always_warn, bool):
        raise AssertionError(f"always_warn must be bool, got {type(always_warn).__name__}")
    _said["always"] = always_warn


def _reset_warn_typed_storage_removal() -> None:
    _said["before"] = False


def _warn_typed_storage_removal(stacklevel: int = 2) -> None:
    """Warn whoever called the function that calls this."""
    if _said["always"] or not _said["before"] or is_warn_always_enabled():
        _said["before"] = True
        warnings.warn(_DEPRECATED, UserWarning, stacklevel=stacklevel + 1)
