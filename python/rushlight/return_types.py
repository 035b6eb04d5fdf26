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
    """A tuple of as many elements as its class has names for them, in the order of the names."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        names = tuple(name for name, value in vars(cls).items() if isinstance(value, property))
        cls.__match_args__ = names or cls.__match_args__  # type: ignore[misc]  # as dataclasses do

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


def _elements(count: int) -> tuple[Any, ...]:
    """Return what reads each element, for a class to name."""
    return tuple(property(itemgetter(position)) for position in range(count))


class _ValuesIndices(_Named):
    __slots__ = ()
    values, indices = _elements(2)


class frexp(_Named):
    __slots__ = ()
    mantissa, exponent = _elements(2)


class aminmax(_Named):
    __slots__ = ()
    min, max = _elements(2)


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
    sign, logabsdet = _elements(2)


class linalg_slogdet(slogdet):
    __slots__ = ()


class linalg_cholesky_ex(_Named):
    __slots__ = ()
    L, info = _elements(2)


class geqrf(_Named):
    __slots__ = ()
    a, tau = _elements(2)


class histogram(_Named):
    __slots__ = ()
    hist, bin_edges = _elements(2)


class histogramdd(_Named):
    __slots__ = ()
    hist, bin_edges = _elements(2)


class linalg_eig(_Named):
    __slots__ = ()
    eigenvalues, eigenvectors = _elements(2)


class linalg_eigh(_Named):
    __slots__ = ()
    eigenvalues, eigenvectors = _elements(2)


class linalg_inv_ex(_Named):
    __slots__ = ()
    inverse, info = _elements(2)


class linalg_ldl_factor(_Named):
    __slots__ = ()
    LD, pivots = _elements(2)


class linalg_ldl_factor_ex(_Named):
    __slots__ = ()
    LD, pivots, info = _elements(3)


class linalg_lstsq(_Named):
    __slots__ = ()
    solution, residuals, rank, singular_values = _elements(4)


class linalg_lu(_Named):
    __slots__ = ()
    P, L, U = _elements(3)


class linalg_lu_factor(_Named):
    __slots__ = ()
    LU, pivots = _elements(2)


class linalg_lu_factor_ex(_Named):
    __slots__ = ()
    LU, pivots, info = _elements(3)


class linalg_qr(_Named):
    __slots__ = ()
    Q, R = _elements(2)


class linalg_solve_ex(_Named):
    __slots__ = ()
    result, info = _elements(2)


class linalg_svd(_Named):
    __slots__ = ()
    U, S, Vh = _elements(3)


class lu_unpack(_Named):
    __slots__ = ()
    P, L, U = _elements(3)


class qr(_Named):
    __slots__ = ()
    Q, R = _elements(2)


class svd(_Named):
    __slots__ = ()
    U, S, V = _elements(3)


class triangular_solve(_Named):
    __slots__ = ()
    solution, cloned_coefficient = _elements(2)


class _lu_with_info(_Named):
    __slots__ = ()
    LU, pivots, info = _elements(3)


class _unpack_dual(_Named):
    __slots__ = ()
    primal, tangent = _elements(2)


def __getattr__(name: str) -> type[_Named]:
    """Make the class of results that were written into tensors which the caller gave."""
    plain = globals().get(name.removesuffix("_out"))
    if not name.endswith("_out") or not isinstance(plain, type) or not issubclass(plain, _Named):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    fields = dict(zip(plain.__match_args__, _elements(len(plain.__match_args__)), strict=True))
    made = type(name, (_Named,), {"__slots__": (), "__module__": __name__, **fields})
    globals()[name] = made
    return made
