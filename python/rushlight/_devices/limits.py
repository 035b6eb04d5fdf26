"""The limits of types of elements, those included that torch has and no tensor here."""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .absent_types import _Type

__all__ = ["finfo", "iinfo"]


class _Limits(type):
    """Of types that tensors have, the compiled class knows the limits; what it makes are instances too."""

    compiled: type

    def __call__(cls, type: Any = None) -> Any:
        # A class that is called `type` hides the built-in one, which is not needed here.
        if not isinstance(type, _Type):
            return cls.compiled() if type is None else cls.compiled(type)
        made: Any = object.__new__(cls)  # type: ignore[arg-type]
        made.__init__(type)
        return made

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.compiled) or cls in instance.__class__.__mro__


class _OfAbsent:
    """Limits that are looked up by name."""

    shown: tuple[str, ...] = ()

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in self.shown)
        return f"{type(self).__name__}({numbers}, dtype={self.dtype})"  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


# The distance from one to the next number, the greatest number, the smallest of full precision.
_FLOATS = {
    "float8_e4m3fn": (2.0**-3, 448.0, 2.0**-6),
    "float8_e4m3fnuz": (2.0**-3, 240.0, 2.0**-7),
    "float8_e5m2": (2.0**-2, 57344.0, 2.0**-14),
    "float8_e5m2fnuz": (2.0**-3, 57344.0, 2.0**-15),
    "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127),
}


class finfo(_OfAbsent, metaclass=_Limits):
    """The limits of a floating-point type.

    >>> import rushlight as torch
    >>> torch.finfo(torch.float32).eps, torch.finfo(torch.float8_e5m2).max
    (1.1920928955078125e-07, 57344.0)
    """

    compiled = native.finfo
    shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: Any) -> None:
        if type.name == "complex32":
            type = native.float16
            half = native.finfo(type)
            self.bits, self.resolution = half.bits, half.resolution
            self.eps, self.max, self.tiny = half.eps, half.max, half.tiny
        elif type.name in _FLOATS:
            self.bits, self.resolution = 8, 1.0
            self.eps, self.max, self.tiny = _FLOATS[type.name]
        elif type.is_floating_point:
            raise NotImplementedError(f'"epsilon" not implemented for {type.name.capitalize()!r}')
        else:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        self.dtype = str(type).removeprefix("torch.")
        # The one type without a sign has nothing below its smallest number.
        self.min = self.tiny if self.dtype == "float8_e8m0fnu" else -self.max
        self.smallest_normal = self.tiny


class iinfo(_OfAbsent, metaclass=_Limits):
    """The limits of an integer type.

    >>> import rushlight as torch
    >>> torch.iinfo(torch.int8).max, torch.iinfo(torch.uint16).max
    (127, 65535)
    """

    compiled = native.iinfo
    shown = ("min", "max")

    def __init__(self, type: Any) -> None:
        if type.name.startswith("q"):
            shown = type.name.replace("q", "Q", 1).replace("uint", "UInt").replace("Qint", "QInt")
            raise NotImplementedError(f'"dtype" not implemented for {shown!r}')
        if type.is_floating_point or type.is_complex:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            )
        self.bits, self.dtype = 8 * type.itemsize, type.name
        self.min, self.max = 0, 2**self.bits - 1
