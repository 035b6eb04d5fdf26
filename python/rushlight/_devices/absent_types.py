"""Types of elements and layouts that the engine's tensors do not have: libraries name them in tables, and
some are those of tensors that are made of several (`sparse`).
"""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _rushlight as native

__all__: list[str] = []


class _Absent:
    """Something that no tensor of the engine has. It equals itself alone."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class _Type(native.dtype, _Absent):  # type: ignore[misc]
    """A type of elements."""

    def __new__(cls, *_: Any) -> Any:
        """Make one: the engine's class wants nothing."""
        return native.dtype.__new__(cls)

    def __init__(self, name: str, itemsize: int, is_floating_point: bool = False) -> None:
        super().__init__(name)
        self._itemsize, self._is_floating_point = itemsize, is_floating_point

    __repr__, __reduce__ = _Absent.__repr__, _Absent.__reduce__
    itemsize = property(lambda self: self._itemsize)
    is_floating_point = property(lambda self: self._is_floating_point)
    is_complex = False
    is_signed = property(lambda self: not self.name.startswith(("quint", "uint", "bit")))
    title = property(
        lambda self: self.name.replace("float", "Float").replace("qu", "QU").replace("int", "Int")
    )

    def to_real(self) -> NoReturn:
        """Refuse."""
        raise TypeError(f"{self!r} is a type that no tensor has")

    to_complex = to_real


class _Layout(native.layout, _Absent):  # type: ignore[misc]
    """A layout."""

    def __new__(cls, name: str) -> Any:
        """Make one: the engine's class wants nothing."""
        return native.layout.__new__(cls)

    __repr__, __reduce__ = _Absent.__repr__, _Absent.__reduce__


class _Scheme(_Absent):
    """How numbers become few."""


float4_e2m1fn_x2 = _Type("float4_e2m1fn_x2", 1, True)
qint8 = _Type("qint8", 1)
quint8 = _Type("quint8", 1)
qint32 = _Type("qint32", 4)
quint4x2 = _Type("quint4x2", 1)
quint2x4 = _Type("quint2x4", 1)
uint1, uint2, uint3, uint4, uint5, uint6, uint7 = (_Type(f"uint{bits}", 1) for bits in range(1, 8))
int1, int2, int3, int4, int5, int6, int7 = (_Type(f"int{bits}", 1) for bits in range(1, 8))
bits1x8, bits2x4, bits4x2, bits8 = (_Type(name, 1) for name in ("bits1x8", "bits2x4", "bits4x2", "bits8"))
bits16, bit = _Type("bits16", 2), uint1
sparse_coo = _Layout("sparse_coo")
sparse_csr = _Layout("sparse_csr")
sparse_csc = _Layout("sparse_csc")
sparse_bsr = _Layout("sparse_bsr")
sparse_bsc = _Layout("sparse_bsc")
jagged = _Layout("jagged")
