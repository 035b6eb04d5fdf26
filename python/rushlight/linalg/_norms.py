"""Norms of vectors and matrices, and the condition of matrices, which is a quotient or a product of norms."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from .. import _rushlight as native
from .._calls.showing import taking
from .._rushlight import Tensor, dtype
from .._tensors.typename import scalar_name
from ._results import written


def _moved(A: Tensor, dim: Sequence[int]) -> Tensor:
    return native.movedim(A, tuple(dim), (-2, -1))


def _moved_back(values: Tensor, dim: Sequence[int]) -> Tensor:
    """Put the last two dimensions where those of the matrices were."""
    count = values.dim()
    places, others = [number % count for number in dim], iter(range(count - 2))
    return values.permute(
        [count - 2 + places.index(place) if place in places else next(others) for place in range(count)]
    )


def _outcome(found: Tensor, out: Tensor | None, name: str) -> Tensor:
    if out is None:
        return found
    wanted, given = scalar_name(found), scalar_name(out)
    return written(found, out, f"{name} expected out tensor dtype {wanted} but got: {given}")


@taking(
    "(Tensor input, Number ord, int[] dim={-2,-1}, bool keepdim=False, *, dtype? dtype=None, "
    "Tensor? out=None)",
    '(Tensor input, str ord="fro", int[] dim={-2,-1}, bool keepdim=False, *, dtype? dtype=None, '
    "Tensor? out=None)",
)
def matrix_norm(
    input: Tensor,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the norms of matrices: `"fro"`, `"nuc"`, or 1, 2 or infinity of either sign.

    >>> import rushlight as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[3.0, 0.0], [4.0, 0.0]]))
    tensor(5.)
    """
    return _outcome(_matrix_norm(input, ord, dim, keepdim, dtype), out, "linalg.matrix_norm")


def _matrix_norm(A: Tensor, ord: Any, dim: Sequence[int], keepdim: bool, dtype: dtype | None) -> Tensor:
    if ord not in ("fro", "nuc") and (isinstance(ord, str) or abs(ord) not in (1, 2, inf)):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    if A.dim() < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    by_values = ord == "nuc" or ord in (2, -2)
    _check_kind(A, by_values)
    first, second = dim
    _check_apart(first, second, A.dim())
    if ord == "fro":
        return native._nn.linalg_frobenius_norm(A, first, second, keepdim, dtype)
    if by_values:
        values = native._nn.linalg_svdvals(_moved(A if dtype is None else A.to(dtype), (first, second)))
        if ord == "nuc" or (ord == 2 and values.shape[-1] == 0):
            found = values.sum(-1, keepdim=keepdim)
        else:
            found = (native.amax if ord == 2 else native.amin)(values, -1, keepdim=keepdim)
        return _moved_back(found.unsqueeze(-1), (first, second)) if keepdim else found
    return native._nn.linalg_sums_norm(A, float(ord), first, second, keepdim, dtype)


def _check_kind(A: Tensor, by_values: bool) -> None:
    """Refuse integers, and low precision where the norm is one of singular values."""
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(
            f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {scalar_name(A)}"
        )
    if by_values and A.dtype in (native.float16, native.bfloat16):
        raise RuntimeError(f"linalg.matrix_norm: Low precision dtypes not supported. Got {scalar_name(A)}")


def _check_apart(first: int, second: int, ndim: int) -> None:
    first, second = (dim + ndim if dim < 0 else dim for dim in (first, second))
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({first}, {second})")


@taking(
    "(Tensor input, Number? ord=None, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, "
    "Tensor? out=None)",
    "(Tensor input, str ord, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, Tensor? out=None)",
)
def norm(
    input: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the norm of a vector or a matrix, whichever `dim` and `ord` ask for.

    >>> import rushlight as torch
    >>> torch.linalg.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    return _outcome(_norm(input, ord, dim, keepdim, dtype), out, "linalg.norm")


def _norm(A: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: dtype | None) -> Tensor:
    if ord is None:
        return native._nn.linalg_vector_norm(A, 2.0, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.dim() not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                f"{A.dim()}D."
            )
        if A.dim() == 1 and not isinstance(ord, str):
            return native._nn.linalg_vector_norm(A, ord, None, keepdim, dtype=dtype)
        dim = (-2, -1)
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) == 1 and not isinstance(ord, str):
        return native._nn.linalg_vector_norm(A, ord, dims, keepdim, dtype=dtype)
    if len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    return _matrix_norm(A, ord, dims, keepdim, dtype)


@taking(
    "(Tensor input, Number? p=None, *, Tensor? out=None)",
    "(Tensor input, str p, *, Tensor? out=None)",
)
def cond(input: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Return by how much matrices may enlarge relative errors, in the norm `p`.

    >>> import rushlight as torch
    >>> torch.linalg.cond(torch.tensor([[4.0, 0.0], [0.0, 2.0]]))
    tensor(2.)
    """
    return native._written("cond", _condition(input, p), out)


def _condition(A: Tensor, p: Any) -> Tensor:
    if A.dim() < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if not (p is None or p in ("fro", "nuc") or abs(p) in (1, 2, inf)):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p is None or p in (2, -2):
        values = native._nn.linalg_svdvals(A)
        if values.shape[-1] == 0:
            return values.new_zeros(values.shape[:-1])
        most, least = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
        return (least / most if p == -2 else most / least).squeeze(-1)
    if A.numel() == 0:
        return A.real.new_zeros(A.shape[:-2])
    if A.shape[-2] != A.shape[-1]:
        rows, columns = A.shape[-2:]
        raise RuntimeError(
            f"linalg.cond(ord={p}): A must be batches of square matrices, but they are {rows} by {columns} "
            "matrices"
        )
    if p == "nuc":
        values = native._nn.linalg_svdvals(A)
        return values.sum(-1) * values.reciprocal().sum(-1)
    inverse, info = native._nn.linalg_inv_ex(A)
    inverse = inverse.masked_fill((info > 0).unsqueeze(-1).unsqueeze(-1), inf)
    return (matrix_norm(A, p) * matrix_norm(inverse, p)).nan_to_num_(inf, inf, -inf)
