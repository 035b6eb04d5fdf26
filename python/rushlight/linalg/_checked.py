"""Inverses, solutions and triangles with a number that says whether there are any."""

from __future__ import annotations

from math import inf
from typing import Any

from .. import _rushlight as native
from .. import return_types
from .._messages.matrices import LinAlgError
from .._rushlight import Tensor
from .._samples import any_of_all
from .._showing import shown_as_given


@shown_as_given
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> Any:
    """Return inverse matrices, and zero, or the step at which there turned out to be none.

    >>> import rushlight as torch
    >>> torch.linalg.inv_ex(torch.tensor([[2.0, 0.0], [0.0, 0.0]])).info
    tensor(2, dtype=torch.int32)
    """
    info = _steps("linalg.inv", A)
    if not native._is_batchedtensor(A) and bool(info.any()):
        if check_errors:
            place, step = _failure(info)
            raise LinAlgError(
                f"linalg.inv_ex: {place}The diagonal element {step} is zero, the inversion could not be "
                "completed because the input matrix is singular."
            )
        found = native.full_like(A, inf)
    else:
        found = native._nn.linalg_inv(A)
    return native._written("linalg_inv_ex", return_types.linalg_inv_ex((found, info)), out)


@shown_as_given
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """Return the solutions of linear equations, and zero, or the step at which there were none.

    >>> import rushlight as torch
    >>> torch.linalg.solve_ex(torch.tensor([[2.0]]), torch.tensor([3.0])).result
    tensor([1.5000])
    """
    info = _steps("linalg.solve", A)
    if any_of_all(info):
        if check_errors:
            place, _ = _failure(info)
            raise LinAlgError(
                f"torch.linalg.solve_ex: {place}The solver failed because the input matrix is singular."
            )
        found = native.full_like(B, inf)
    else:
        found = native._nn.linalg_solve(A, B, left=left)
    return native._written("linalg_solve_ex", return_types.linalg_solve_ex((found, info)), out)


@shown_as_given
def cholesky_ex(input: Tensor, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """Return the triangles of `cholesky`, and zero, or the order at which a matrix is not positive.

    >>> import rushlight as torch
    >>> torch.linalg.cholesky_ex(torch.tensor([[4.0, 0.0], [0.0, -1.0]])).info
    tensor(2, dtype=torch.int32)
    """
    try:
        factor = native._nn.linalg_cholesky(input, upper=upper)
    except LinAlgError as error:
        text = str(error)
        if check_errors:
            raise LinAlgError(text.replace("linalg.cholesky:", "linalg.cholesky_ex:")) from None
        flat = input.reshape(-1, *input.shape[-2:])
        parts = [_positive(matrix, upper) for matrix in flat.unbind(0)]
        factor = native.stack([part for part, _ in parts]).view(input.shape)
        info = native.tensor([order for _, order in parts], dtype=native.int32).view(input.shape[:-2])
    else:
        info = native.zeros(input.shape[:-2], dtype=native.int32)
    return native._written("linalg_cholesky_ex", return_types.linalg_cholesky_ex((factor, info)), out)


def _positive(matrix: Tensor, upper: bool) -> tuple[Tensor, int]:
    """Return the triangle of a matrix, or what was given of it, and the order at which it is not positive."""
    try:
        return native._nn.linalg_cholesky(matrix, upper=upper), 0
    except LinAlgError as error:
        order = int(str(error).rpartition("order ")[2].partition(" ")[0])
        return (matrix.triu() if upper else matrix.tril()), order


def _steps(operation: str, A: Tensor) -> Tensor:
    """Return for each matrix the step at which elimination met a zero, or zero."""
    if A.dim() < 2:
        raise RuntimeError(f"{operation}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"{operation}: A must be batches of square matrices, but they are {A.shape[-2]} by "
            f"{A.shape[-1]} matrices"
        )
    _, _, info = native._nn.linalg_lu_factor_ex(A.detach())
    steps: Tensor = info
    return steps


def _failure(info: Tensor) -> tuple[str, int]:
    """Return which of several matrices failed first, in words, and at which step."""
    place = int(info.flatten().ne(0).nonzero()[0].item())
    return (f"(Batch element {place}): " if info.numel() > 1 else ""), int(info.flatten()[place].item())
