"""Numbers that a compiler knows by name alone: here every size is a number, and none of these is made."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["SymBool", "SymFloat", "SymInt"]


class _Symbol:
    """A number that is not known."""

    def __init__(self, node: object) -> None:
        self.node = node

    def _unknown(self, *others: object) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__}: there are no symbolic numbers here; sizes are numbers"
        )

    __bool__ = __int__ = __float__ = __index__ = _unknown
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = _unknown


class SymInt(_Symbol):
    """An integer that is not known."""


class SymFloat(_Symbol):
    """A real number that is not known."""


class SymBool(_Symbol):
    """Whether something is, which is not known."""
