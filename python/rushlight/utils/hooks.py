"""The handles that registering a hook answers."""

from .._rushlight import RemovableHandle

__all__ = ["RemovableHandle"]
