"""The words of failures of linear algebra, and the class of those that lie in the numbers."""

from __future__ import annotations


class LinAlgError(RuntimeError):
    """A matrix whose numbers do not allow what was asked."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"

MATRICES: dict[str, tuple[type[Exception], str]] = {
    "LinearRank": (RuntimeError, "{operation}: The input tensor A must have at least 2 dimensions."),
    "MatrixSquare": (
        RuntimeError,
        "{operation}: A must be batches of square matrices, but they are {rows} by {columns} matrices",
    ),
    "MatrixDType": (
        RuntimeError,
        "{operation}: Expected a floating point or complex tensor as input. Got {dtype:Float}",
    ),
    "InverseSingular": (
        LinAlgError,
        "linalg.inv: {place}The diagonal element {step} is zero, the inversion could not "
        "be completed because the input matrix is singular.",
    ),
    "SolveSingular": (
        LinAlgError,
        "torch.linalg.solve: {place}The solver failed because the input matrix is singular.",
    ),
    "SolveDTypes": (
        RuntimeError,
        "linalg.solve: Expected A and B to have the same dtype, but found A of type "
        "{left:Float} and B of type {right:Float} instead",
    ),
    "SolveShapes": (
        RuntimeError,
        "linalg.solve: Incompatible shapes of A and B for the equation AX = B "
        "({side}x{side} and {rows}x{columns})",
    ),
    "NotPositive": (
        LinAlgError,
        "linalg.cholesky: {place}The factorization could not be completed because the "
        "input is not positive-definite (the leading minor of order {order} is not positive-definite).",
    ),
}
