"""Tuples whose elements have names: what `max`, `sort` and their like return.

>>> from rushlight import return_types
>>> result = return_types.max((3.0, 1))
>>> result.values, result[1]
(3.0, 1)
>>> result
torch.return_types.max(
values=3.0,
indices=1)
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self


class _Named(tuple[Any, ...]):
    """A tuple of as many elements as `__match_args__` has names."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def __new__(cls, elements: Iterable[Any]) -> Self:
        try:
            self = super().__new__(cls, elements)
        except TypeError:
            raise TypeError("constructor requires a sequence") from None
        wanted = len(cls.__match_args__)
        if len(self) != wanted:
            name = f"torch.return_types.{cls.__name__}"
            raise TypeError(f"{name}() takes a {wanted}-sequence ({len(self)}-sequence given)")
        return self

    def __repr__(self) -> str:
        pairs = zip(self.__match_args__, self, strict=True)
        lines = ",\n".join(f"{name}={value!r}" for name, value in pairs)
        return f"torch.return_types.{type(self).__name__}(\n{lines})"


class _ValuesIndices(_Named):
    __slots__ = ()
    __match_args__ = ("values", "indices")
    values = property(itemgetter(0))
    indices = property(itemgetter(1))


class aminmax(_Named):
    __slots__ = ()
    __match_args__ = ("min", "max")
    min = property(itemgetter(0))
    max = property(itemgetter(1))


class cummax(_ValuesIndices):
    __slots__ = ()


class cummin(_ValuesIndices):
    __slots__ = ()


class kthvalue(_ValuesIndices):
    __slots__ = ()


class max(_ValuesIndices):
    __slots__ = ()


class median(_ValuesIndices):
    __slots__ = ()


class min(_ValuesIndices):
    __slots__ = ()


class mode(_ValuesIndices):
    __slots__ = ()


class nanmedian(_ValuesIndices):
    __slots__ = ()


class sort(_ValuesIndices):
    __slots__ = ()


class topk(_ValuesIndices):
    __slots__ = ()


class slogdet(_Named):
    __slots__ = ()
    __match_args__ = ("sign", "logabsdet")
    sign = property(itemgetter(0))
    logabsdet = property(itemgetter(1))


class linalg_slogdet(slogdet):
    __slots__ = ()


def _class(name: str, *fields: str) -> type[_Named]:
    """Make the class of tuples with these names."""
    parts: dict[str, Any] = {field: property(itemgetter(place)) for place, field in enumerate(fields)}
    parts.update(__slots__=(), __match_args__=fields, __module__=__name__)
    return type(name, (_Named,), parts)


linalg_cholesky_ex = _class("linalg_cholesky_ex", "L", "info")
geqrf = _class("geqrf", "a", "tau")
histogram = _class("histogram", "hist", "bin_edges")
linalg_eigh = _class("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_inv_ex = _class("linalg_inv_ex", "inverse", "info")
linalg_lstsq = _class("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_lu = _class("linalg_lu", "P", "L", "U")
linalg_lu_factor = _class("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = _class("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_qr = _class("linalg_qr", "Q", "R")
linalg_solve_ex = _class("linalg_solve_ex", "result", "info")
linalg_svd = _class("linalg_svd", "U", "S", "Vh")
lu_unpack = _class("lu_unpack", "P", "L", "U")
qr = _class("qr", "Q", "R")
svd = _class("svd", "U", "S", "V")
triangular_solve = _class("triangular_solve", "solution", "cloned_coefficient")
