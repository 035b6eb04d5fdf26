"""Objects that a thread keeps under names."""

from __future__ import annotations

from threading import local

from ._called import mismatch

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any


class _Objects(local):
    def __init__(self) -> None:
        self.by_name: dict[str, Any] = {}


_objects = _Objects()


def _stash_obj_in_tls(name: str, value: object) -> None:
    """Keep an object for this thread."""
    if not isinstance(name, str):
        raise mismatch("_stash_obj_in_tls", "(arg0: str, arg1: object) -> None", name, value)
    _objects.by_name[name] = value


def _get_obj_in_tls(name: str) -> Any:
    """Return what this thread keeps under a name."""
    if name not in _objects.by_name:
        raise RuntimeError(
            "Expected py_objects.obj_dict_.count(key) to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    return _objects.by_name[name]


def _is_key_in_tls(name: str) -> bool:
    """Tell whether this thread keeps something under a name."""
    return name in _objects.by_name


def _remove_obj_from_tls(name: str) -> None:
    """Keep nothing under a name any more."""
    _objects.by_name.pop(name, None)
