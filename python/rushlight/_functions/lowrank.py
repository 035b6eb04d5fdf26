"""Low-rank factorisations (`svd_lowrank`, `pca_lowrank`), and products of Householder reflections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _rushlight as native
from .. import linalg
from .._calls.showing import shown, shown_as_given
from ..linalg._results import by_columns, check_kernel, check_reflections

if TYPE_CHECKING:
    from .._rushlight import Tensor

__all__ = ["orgqr", "ormqr", "pca_lowrank", "svd_lowrank"]


@shown_as_given
def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the first columns of the products of reflections, as `linalg.householder_product` does."""
    found: Tensor = linalg.householder_product(input, input2, out=out)
    return found


def get_approximate_basis(A: Tensor, q: int, niter: int = 2) -> Tensor:
    """Return columns at right angles that span nearly what the first `q` left singular vectors do."""
    drawn = native.randn(A.shape[-1], q, dtype=A.dtype)
    basis: Tensor = linalg.qr(A @ drawn).Q
    for _ in range(niter):
        basis = linalg.qr(A @ linalg.qr(A.mH @ basis).Q).Q
    return basis


@shown
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return nearly the first `q` singular values of a matrix less a matrix `M`, with their vectors.

    >>> import rushlight as torch
    >>> U, S, V = torch.svd_lowrank(torch.ones(4, 3), q=2)
    >>> S.shape, V.shape
    (torch.Size([2]), torch.Size([3, 2]))
    """
    if M is not None:
        A = A - M
    wide = A.shape[-2] < A.shape[-1]
    tall = A.mH if wide else A
    basis = get_approximate_basis(tall, 6 if q is None else q, 2 if niter is None else niter)
    U, S, Vh = linalg.svd(basis.mH @ tall, full_matrices=False)
    U, V = basis @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


@shown
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Return nearly the first `q` principal directions of rows, with how far these go along them."""
    least = min(A.shape[-2:])
    if q is None:
        q = min(6, least)
    elif not 0 <= q <= least:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        # Without its mean a matrix of few elements has many.
        A = A if A.layout is native.strided else A.to_dense()
        A = A - A.mean(-2, keepdim=True)
    return svd_lowrank(A, q, niter)


@shown_as_given
def ormqr(
    input: Tensor,
    input2: Tensor,
    input3: Tensor,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the product of a matrix with reflections as `geqrf` gives them, or with their adjoint.

    >>> import rushlight as torch
    >>> A, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> torch.ormqr(A, tau, torch.tensor([[3.0], [4.0]]), transpose=True).shape
    torch.Size([2, 1])
    """
    for name, matrix in (("input", input), ("other", input3)):
        if matrix.dim() < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    side = -2 if left else -1
    if input3.shape[side] < input2.shape[-1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if input3.shape[side] != input.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if input2.shape[-1] != min(input3.shape[side], input.shape[-1]):
        raise RuntimeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    check_reflections("torch.ormqr", input, input2)
    if input3.dim() != input.dim():
        raise RuntimeError(
            "torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim "
            f"equal to {input3.dim()} and input.ndim is equal to {input.dim()}"
        )
    if input3.shape[:-2] != input.shape[:-2]:
        raise RuntimeError(
            "torch.ormqr: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(input3.shape[:-2])}"
        )
    check_kernel("ormqr_cpu", input)
    adjoint = transpose if left else not transpose

    def product(input: Tensor, tau: Tensor, other: Tensor) -> Tensor:
        found = other if left else other.mH
        rows, columns = input.shape[-2:]
        vectors = input.tril(-1) + native.eye(rows, columns, dtype=input.dtype)
        steps = range(tau.shape[-1])
        for step in steps if adjoint else reversed(steps):
            vector = vectors[..., step : step + 1]
            scale = tau[..., step, None, None]
            found = found - (scale.conj() if adjoint else scale) * (vector @ (vector.mH @ found))
        return by_columns(found if left else found.mH)

    names = ("ormqr", "OrmqrBackward0", "self input2 input3 result")
    parameters = {"left": left, "transpose": transpose}
    (result,) = native._as_one(product, names, (3, 0, 0), parameters, input, input2, input3)
    return native._written("ormqr", result, out)
