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


class frexp(_Named):
    __slots__ = ()
    __match_args__ = ("mantissa", "exponent")
    mantissa = property(itemgetter(0))
    exponent = property(itemgetter(1))


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


class linalg_cholesky_ex(_Named):
    __slots__ = ()
    __match_args__ = ("L", "info")
    L = property(itemgetter(0))
    info = property(itemgetter(1))


class geqrf(_Named):
    __slots__ = ()
    __match_args__ = ("a", "tau")
    a = property(itemgetter(0))
    tau = property(itemgetter(1))


class histogram(_Named):
    __slots__ = ()
    __match_args__ = ("hist", "bin_edges")
    hist = property(itemgetter(0))
    bin_edges = property(itemgetter(1))


class histogramdd(_Named):
    __slots__ = ()
    __match_args__ = ("hist", "bin_edges")
    hist = property(itemgetter(0))
    bin_edges = property(itemgetter(1))


class linalg_eigh(_Named):
    __slots__ = ()
    __match_args__ = ("eigenvalues", "eigenvectors")
    eigenvalues = property(itemgetter(0))
    eigenvectors = property(itemgetter(1))


class linalg_inv_ex(_Named):
    __slots__ = ()
    __match_args__ = ("inverse", "info")
    inverse = property(itemgetter(0))
    info = property(itemgetter(1))


class linalg_lstsq(_Named):
    __slots__ = ()
    __match_args__ = ("solution", "residuals", "rank", "singular_values")
    solution = property(itemgetter(0))
    residuals = property(itemgetter(1))
    rank = property(itemgetter(2))
    singular_values = property(itemgetter(3))


class linalg_lu(_Named):
    __slots__ = ()
    __match_args__ = ("P", "L", "U")
    P = property(itemgetter(0))
    L = property(itemgetter(1))
    U = property(itemgetter(2))


class linalg_lu_factor(_Named):
    __slots__ = ()
    __match_args__ = ("LU", "pivots")
    LU = property(itemgetter(0))
    pivots = property(itemgetter(1))


class linalg_lu_factor_ex(_Named):
    __slots__ = ()
    __match_args__ = ("LU", "pivots", "info")
    LU = property(itemgetter(0))
    pivots = property(itemgetter(1))
    info = property(itemgetter(2))


class linalg_qr(_Named):
    __slots__ = ()
    __match_args__ = ("Q", "R")
    Q = property(itemgetter(0))
    R = property(itemgetter(1))


class linalg_solve_ex(_Named):
    __slots__ = ()
    __match_args__ = ("result", "info")
    result = property(itemgetter(0))
    info = property(itemgetter(1))


class linalg_svd(_Named):
    __slots__ = ()
    __match_args__ = ("U", "S", "Vh")
    U = property(itemgetter(0))
    S = property(itemgetter(1))
    Vh = property(itemgetter(2))


class lu_unpack(_Named):
    __slots__ = ()
    __match_args__ = ("P", "L", "U")
    P = property(itemgetter(0))
    L = property(itemgetter(1))
    U = property(itemgetter(2))


class qr(_Named):
    __slots__ = ()
    __match_args__ = ("Q", "R")
    Q = property(itemgetter(0))
    R = property(itemgetter(1))


class svd(_Named):
    __slots__ = ()
    __match_args__ = ("U", "S", "V")
    U = property(itemgetter(0))
    S = property(itemgetter(1))
    V = property(itemgetter(2))


class triangular_solve(_Named):
    __slots__ = ()
    __match_args__ = ("solution", "cloned_coefficient")
    solution = property(itemgetter(0))
    cloned_coefficient = property(itemgetter(1))


class _lu_with_info(_Named):
    __slots__ = ()
    __match_args__ = ("LU", "pivots", "info")
    LU = property(itemgetter(0))
    pivots = property(itemgetter(1))
    info = property(itemgetter(2))
