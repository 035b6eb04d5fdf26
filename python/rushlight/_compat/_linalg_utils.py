"""Small steps of linear algebra, of which torch makes functions for low rank and for few eigenvalues."""

from __future__ import annotations

from .. import linalg
from .._functions.deprecated import eig as eig
from .._functions.deprecated import lstsq as lstsq
from .._functions.deprecated import matrix_rank as matrix_rank
from .._functions.deprecated import solve as solve
from .._rushlight import Tensor, dtype, float32

__all__ = ["basis", "bform", "get_floating_dtype", "is_sparse", "matmul", "qform", "symeig"]


def is_sparse(A: Tensor) -> bool:
    """Tell whether a matrix is of places and values."""
    if not isinstance(A, Tensor):
        raise TypeError(f"expected Tensor but got {type(A)}")
    return A.is_sparse


def get_floating_dtype(A: Tensor) -> dtype:
    """Return the type in which one calculates with a matrix."""
    return A.dtype if A.dtype.is_floating_point else float32


def matmul(A: Tensor | None, B: Tensor) -> Tensor:
    """Return the product of two matrices; None stands for the identity."""
    return B if A is None else A @ B


def bform(X: Tensor, A: Tensor | None, Y: Tensor) -> Tensor:
    """Return the bilinear form of matrices.

    >>> import rushlight as torch
    >>> x = torch.tensor([[1.0], [2.0]])
    >>> from rushlight._linalg_utils import bform
    >>> bform(x, torch.eye(2), x)
    tensor([[5.]])
    """
    return X.mT @ matmul(A, Y)


def qform(A: Tensor | None, S: Tensor) -> Tensor:
    """Return the quadratic form of matrices."""
    return bform(S, A, S)


def basis(A: Tensor) -> Tensor:
    """Return orthogonal columns that span what those of a matrix do."""
    found: Tensor = linalg.qr(A).Q
    return found


def symeig(A: Tensor, largest: bool | None = False) -> tuple[Tensor, Tensor]:
    """Return eigenvalues and eigenvectors of a symmetric matrix, the least or the largest first."""
    values, vectors = linalg.eigh(A)
    return (values.flip(-1), vectors.flip(-1)) if largest else (values, vectors)
