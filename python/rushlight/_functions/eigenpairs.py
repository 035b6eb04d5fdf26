"""A few eigenvalues of symmetric matrices, with their vectors."""

from __future__ import annotations

from typing import Any

from .. import linalg
from .._calls.showing import shown
from .._rushlight import Tensor, strided

__all__ = ["lobpcg"]


@shown
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the `k` largest eigenvalues of A x = λ B x, or the smallest, and their vectors.

    All are found and some are returned, so what guides an approximation (`iK`, `niter`, `tol`, `method`, the
    values of `X`) makes no difference: it would come near to these.

    >>> import rushlight as torch
    >>> values, vectors = torch.lobpcg(torch.diag(torch.arange(1.0, 7.0)), 2)
    >>> values
    tensor([6., 5.])
    >>> vectors.shape
    torch.Size([6, 2])
    """
    for name, matrix in (("A", A), ("B", B)):
        if matrix is not None and (matrix.dim() < 2 or matrix.shape[-1] != matrix.shape[-2]):
            shape = str(matrix.shape).replace("rushlight", "torch")
            raise AssertionError(f"{name} must be square, got shape {shape}")
    count = k if k is not None else 1 if X is None else X.shape[-1]
    size = A.shape[-1]
    if size < 3 * count:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={size}) is smaller than 3 x the "
            f"number of requested eigenpairs (={count})"
        )
    A = A if A.layout is strided else A.to_dense()
    if B is not None and B.layout is not strided:
        B = B.to_dense()
    if A.requires_grad:
        A = (A + A.mT) / 2
    if B is None:
        values, vectors = linalg.eigh(A)
    else:
        # With B = L Lᵀ the vectors Lᵀ x are those of L⁻¹ A L⁻ᵀ.
        lower = linalg.cholesky(B)
        half = linalg.solve_triangular(lower, A, upper=False)
        whole = linalg.solve_triangular(lower, half.mT, upper=False)
        values, vectors = linalg.eigh(whole)
        vectors = linalg.solve_triangular(lower.mT, vectors, upper=True)
    if largest is None or largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :count], vectors[..., :count]
