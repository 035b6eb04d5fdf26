"""Linear algebra: norms, determinants, inverses and equations of matrices.

>>> import rushlight as torch
>>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
tensor([1.0000, 0.5000])
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from . import _rushlight as native
from ._messages_matrices import LinAlgError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._rushlight import Tensor, dtype

__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "slogdet",
    "solve",
    "vecdot",
    "vector_norm",
]

_nn = native._nn

cholesky = _nn.linalg_cholesky
cross = _nn.linalg_cross
det = _nn.linalg_det
inv = _nn.linalg_inv
matmul = native.matmul
matrix_power = _nn.linalg_matrix_power
slogdet = _nn.linalg_slogdet
solve = _nn.linalg_solve
vector_norm = _nn.linalg_vector_norm


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return the diagonals of matrices."""
    return native.diagonal(A, offset, dim1, dim2)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Return the products of vectors along a dimension."""
    return (x * y).sum(dim)


def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return the norms of matrices: `"fro"`, 1, -1 or infinity of either sign.

    >>> import rushlight as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[3.0, 0.0], [4.0, 0.0]]))
    tensor(5.)
    """
    first, second = dim
    if ord == "fro":
        return _nn.linalg_frobenius_norm(A, first, second, keepdim, dtype)
    if isinstance(ord, str) or abs(ord) not in (1, inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return _nn.linalg_sums_norm(A, float(ord), first, second, keepdim, dtype)


def norm(
    A: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return the norm of a vector or a matrix, whichever `dim` and `ord` ask for.

    >>> import rushlight as torch
    >>> torch.linalg.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.dim() not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                f"{A.dim()}D."
            )
        dim = (0,) if A.dim() == 1 and not isinstance(ord, str) else (-2, -1)
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) == 1 and not isinstance(ord, str):
        return vector_norm(A, ord, dims, keepdim, dtype=dtype)
    if len(dims) != 2:
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    return matrix_norm(A, ord, dims, keepdim, dtype=dtype)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Return the product of several matrices, of which the first and the last may be vectors."""
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    result = tensors[0]
    for number, tensor in enumerate(tensors[1:], 1):
        if result.shape[-1] != tensor.shape[0]:
            shapes = f"{list(tensors[number - 1].shape)} and {list(tensor.shape)}"
            raise RuntimeError(
                f"multi_dot(): tensors {number - 1} and {number} with shapes {shapes} cannot be multiplied"
            )
        result = result @ tensor
    return result
