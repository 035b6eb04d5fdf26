"""What stands in for inverses and solutions; singular values that are nearly zero count as zero."""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .. import return_types
from .._calls.showing import shown_as_given, taking
from .._functions.under_vmap import any_of_all
from .._rushlight import Tensor
from .._tensors.typename import scalar_name


def _tolerances(A: Tensor, atol: Any, rtol: Any) -> tuple[Tensor, Tensor]:
    """Return the bounds below which values count as zero, as tensors."""

    def made(value: Any) -> Tensor:
        return value if isinstance(value, Tensor) else native.tensor(value, dtype=native.float64)

    if rtol is None:
        least = max(A.shape[-2:]) * native.finfo(A.dtype).eps if A.dim() > 1 and _is_inexact(A) else 0.0
        given = made(0.0 if atol is None else atol)
        rtol = native.where(given > 0, 0.0, least).double() if atol is not None else least
    return made(0.0 if atol is None else atol), made(rtol)


def _check_tolerances(function: str, **bounds: Any) -> None:
    for name, bound in bounds.items():
        if isinstance(bound, Tensor) and bound.is_complex():
            raise RuntimeError(
                f"torch.linalg.{function}: {name} tensor of complex type is not supported. Got "
                f"{scalar_name(bound)}"
            )


def _is_inexact(A: Tensor) -> bool:
    return A.is_floating_point() or A.is_complex()


@taking(
    "(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor? out=None)",
    "(Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor? out=None)",
    "(Tensor input, Tensor rcond, bool hermitian=False, *, Tensor? out=None)",
    "(Tensor input, float rcond, bool hermitian=False, *, Tensor? out=None)",
)
def pinv(
    input: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the matrices nearest to inverses; small singular values count as zero.

    >>> import rushlight as torch
    >>> torch.linalg.pinv(torch.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    _check_tolerances("pinv", atol=atol, rtol=rtol, rcond=rcond)
    rtol = rcond if rtol is None else rtol
    for name, bound in (("atol", atol), ("rtol", rtol)):
        if isinstance(bound, Tensor) and bound.requires_grad and native.is_grad_enabled():
            raise RuntimeError(
                f"The function 'linalg_pinv' is not differentiable with respect to argument '{name}'. This "
                "input cannot have requires_grad True."
            )
    absolute, relative = _tolerances(input, atol, rtol)
    found = native._nn.linalg_pinv(input, absolute, relative, hermitian)
    return native._written("linalg_pinv", found, out)


@taking(
    "(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor? out=None)",
    "(Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor? out=None)",
    "(Tensor input, Tensor tol, bool hermitian=False, *, Tensor? out=None)",
    "(Tensor input, float tol, bool hermitian=False, *, Tensor? out=None)",
)
def matrix_rank(
    input: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return how many singular values are not nearly zero.

    >>> import rushlight as torch
    >>> torch.linalg.matrix_rank(torch.ones(3, 3))
    tensor(1)
    """
    if input.dim() < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    if not _is_inexact(input):
        raise RuntimeError("This function doesn't handle types other than float and double")
    _check_tolerances("matrix_rank", atol=atol if tol is None else tol, rtol=rtol)
    if out is not None and not native.can_cast(native.int64, out.dtype):
        raise RuntimeError(
            "torch.linalg.matrix_rank: Expected result to be safely castable from Long dtype, but got result "
            f"with dtype {scalar_name(out)}"
        )
    if 0 in input.shape:
        return native._written("matrix_rank", native.zeros(input.shape[:-2], dtype=native.int64), out)
    if tol is not None:
        absolute, relative = _tolerances(input, tol, 0.0)
    else:
        absolute, relative = _tolerances(input, atol, rtol)
    values = native._nn.linalg_eigvalsh(input).abs() if hermitian else native._nn.linalg_svdvals(input)
    bound = native.maximum(absolute.double(), relative.double() * native.amax(values, -1))
    return native._written("matrix_rank", (values > bound.unsqueeze(-1)).sum(-1), out)


@shown_as_given
def lstsq(
    input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None, out: Any = None
) -> Any:
    """Return what comes nearest to the solutions of linear equations.

    >>> import rushlight as torch
    >>> torch.linalg.lstsq(torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [3.0]])).solution
    tensor([[2.]])
    """
    if input.dim() < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if b.dim() < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if not 0 <= input.dim() - b.dim() <= 1:
        raise RuntimeError(
            "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and "
            "(input.dim() - other.dim()) <= 1"
        )
    if input.dtype != b.dtype:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
            f"{scalar_name(input)} and other's dtype {scalar_name(b)}"
        )
    vector = b.dim() == input.dim() - 1
    # What is a dimension below is a vector only if it has the shape of one for each matrix.
    vector = b.dim() == 1 or (vector and input.shape[:-1] == b.shape)
    if b.shape[-1 if vector else -2] != input.shape[-2]:
        raise RuntimeError(
            f"torch.linalg.lstsq: input.size(-2) should match other.size({-1 if vector else -2})"
        )
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )

    if rcond is None and (not _is_inexact(input) or input.itemsize == 2):
        raise RuntimeError("This function doesn't handle types other than float and double")
    # One driver does not ask for it, and another only where it is a share.
    if driver == "gels" or (driver == "gelsd" and rcond is not None and not 0 < rcond < 1):
        rcond = None
    rows, columns = input.shape[-2:]
    none = native.empty(0, dtype=input.dtype.to_real())
    ranks, values, measured = none.long(), none, rows > columns
    if driver in ("gelsd", "gelss"):
        ranks, values = matrix_rank(input.detach(), rtol=rcond), native._nn.linalg_svdvals(input.detach())
        measured = measured and not any_of_all(ranks != columns)
    elif driver != "gels":
        measured = False

    share = max(rows, columns) * native.finfo(input.dtype).eps if rcond is None else float(rcond)
    solution, residuals, rank = native._nn.linalg_lstsq(input, b, share, measured, vector)
    if driver in (None, "gelsy"):
        ranks = rank if rank.shape == input.shape[:-2] else matrix_rank(input.detach(), rtol=rcond)
    return native._written(
        "linalg_lstsq", return_types.linalg_lstsq((solution, residuals, ranks, values)), out
    )
