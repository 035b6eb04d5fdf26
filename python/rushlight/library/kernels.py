"""What computes an operator: functions by the keys that torch's dispatcher knows, and who said so."""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Kernels", "below_autograd", "key_of"]

# The keys for whose kernels torch looks if tensors are on the CPU, the first first.
_OF_THE_CPU = (
    "Autograd",
    "AutogradCPU",
    "CPU",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
)
# Those that stand for any device. What is for one of them computes tensors without numbers too.
_OF_ALL_DEVICES = _OF_THE_CPU[3:]
# What functions that have a type of device call these keys.
_KEYS_OF_TYPES = {"default": "CompositeExplicitAutograd", "cpu": "CPU", "meta": "Meta"}


def key_of(name: str) -> str:
    """Return the key that a type of device or a key stands for, or refuse: `cpu` is `CPU`."""
    from .. import _rushlight

    if name in _KEYS_OF_TYPES:
        return _KEYS_OF_TYPES[name]
    if name.islower():
        return _rushlight.device(name).type.upper()
    return checked(name)


def checked(key: str) -> str:
    """Return a key, or refuse what is none. None at all stands for one that comes before devices."""
    from .._compat._C._dispatch import DispatchKey

    if key and key not in DispatchKey.__members__:
        raise RuntimeError(f"could not parse dispatch key: {key}")
    return key or "CompositeImplicitAutograd"


class _Below(local):
    """In how many blocks of this thread keys of autograd choose nothing."""

    depth = 0


below_autograd = _Below()


class Kernels:
    """The functions for an operator by key. Of those for one the last holds, as long as its owner does."""

    def __init__(self) -> None:
        self._functions: dict[str, list[tuple[Callable[..., Any], object]]] = {}
        self._first: Callable[..., Any] | None = None
        self._first_below: Callable[..., Any] | None = None

    @property
    def first(self) -> Callable[..., Any] | None:
        """The function that computes tensors on the CPU."""
        return self._first_below if below_autograd.depth else self._first

    def add(self, key: str, function: Callable[..., Any], owner: object = None) -> None:
        """Have a function for a key, for as long as it is not said that its owner is gone."""
        self._functions.setdefault(key, []).append((function, owner))
        self._choose()

    def forget(self, owner: object) -> None:
        """Have what an owner gave no more."""
        for key, given in list(self._functions.items()):
            self._functions[key] = [one for one in given if one[1] is not owner]
            if not self._functions[key]:
                del self._functions[key]
        self._choose()

    def of(self, key: str) -> Callable[..., Any] | None:
        """Return the function for a key."""
        given = self._functions.get(key)
        return given[-1][0] if given else None

    def without_numbers(self) -> Callable[..., Any] | None:
        """Return what computes tensors that have no numbers: what is for any device."""
        return next((self.of(key) for key in _OF_ALL_DEVICES if key in self._functions), None)

    def has_derivative(self) -> bool:
        """Tell whether autograd is told something: by a key of its own, or by the parts of the operator."""
        return any(key.startswith(("Autograd", "CompositeImplicit")) for key in self._functions)

    def keys(self) -> list[str]:
        """Name the keys that there are functions for."""
        return list(self._functions)

    def __contains__(self, key: str) -> bool:
        return key in self._functions

    def _choose(self) -> None:
        found = [key for key in _OF_THE_CPU if key in self._functions]
        self._first = self.of(found[0]) if found else None
        self._first_below = next((self.of(key) for key in found if not key.startswith("Autograd")), None)
