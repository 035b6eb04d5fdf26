"""Linear algebra: norms, factors, inverses and equations of matrices.

>>> import rushlight as torch
>>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
tensor([1.0000, 0.5000])
"""

from __future__ import annotations

from math import inf, prod
from typing import TYPE_CHECKING, Any

from . import _rushlight as native
from . import return_types
from ._chains import multi_dot
from ._messages.matrices import LinAlgError
from ._rushlight import Tensor
from ._samples import any_of_all, check_mapped
from ._typename import scalar_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._rushlight import dtype

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

_nn = native._nn

cholesky = _nn.linalg_cholesky
cross = _nn.linalg_cross
det = _nn.linalg_det
eig = _nn.linalg_eig
eigh = _nn.linalg_eigh
eigvals = _nn.linalg_eigvals
eigvalsh = _nn.linalg_eigvalsh
inv = _nn.linalg_inv
lu = _nn.linalg_lu
lu_factor = _nn.linalg_lu_factor
lu_factor_ex = _nn.linalg_lu_factor_ex
lu_solve = _nn.linalg_lu_solve
matmul = native.matmul
matrix_exp = native.matrix_exp
matrix_power = _nn.linalg_matrix_power
qr = _nn.linalg_qr
slogdet = _nn.linalg_slogdet
solve = _nn.linalg_solve
solve_triangular = _nn.linalg_solve_triangular
svd = _nn.linalg_svd
svdvals = _nn.linalg_svdvals
vector_norm = _nn.linalg_vector_norm


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return the diagonals of matrices."""
    return native.diagonal(A, offset, dim1, dim2)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Return the products of vectors along a dimension, conjugates of the first with the second."""
    if not (x.is_floating_point() or x.is_complex()):
        name = scalar_name(x)
        raise RuntimeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {name}")
    if x.dtype != y.dtype:
        names = [scalar_name(z) for z in (x, y)]
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {names[0]} and y "
            f"of type {names[1]} instead"
        )
    if x.dim() == y.dim() == 1:
        return native.vdot(x, y)
    return (x.conj() * y).sum(dim)


def _moved(A: Tensor, dim: Sequence[int]) -> Tensor:
    return native.movedim(A, tuple(dim), (-2, -1))


def _kept(values: Tensor, A: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """Put dimensions of size one where those of the matrices were."""
    if keepdim:
        for place in sorted(number % A.dim() for number in dim):
            values = values.unsqueeze(place)
    return values


def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return the norms of matrices: `"fro"`, `"nuc"`, or 1, 2 or infinity of either sign.

    >>> import rushlight as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[3.0, 0.0], [4.0, 0.0]]))
    tensor(5.)
    """
    first, second = dim
    if ord == "fro":
        return _nn.linalg_frobenius_norm(A, first, second, keepdim, dtype)
    if ord == "nuc" or ord in (2, -2):
        values = svdvals(_moved(A if dtype is None else A.to(dtype), (first, second)))
        if ord == "nuc" or (ord == 2 and values.shape[-1] == 0):
            found = values.sum(-1)
        else:
            found = native.amax(values, -1) if ord == 2 else native.amin(values, -1)
        return _kept(found, A, (first, second), keepdim)
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
        return vector_norm(A, 2.0, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.dim() not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                f"{A.dim()}D."
            )
        if A.dim() == 1 and not isinstance(ord, str):
            return vector_norm(A, ord, None, keepdim, dtype=dtype)
        dim = (-2, -1)
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) == 1 and not isinstance(ord, str):
        return vector_norm(A, ord, dims, keepdim, dtype=dtype)
    if len(dims) != 2:
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    return matrix_norm(A, ord, dims, keepdim, dtype=dtype)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """Return by how much matrices may enlarge relative errors, in the norm `p`.

    >>> import rushlight as torch
    >>> torch.linalg.cond(torch.tensor([[4.0, 0.0], [0.0, 2.0]]))
    tensor(2.)
    """
    if A.dim() < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p is None or p in (2, -2):
        values = svdvals(A)
        if values.shape[-1] == 0:
            return values.new_zeros(values.shape[:-1])
        most, least = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
        return (least / most if p == -2 else most / least).squeeze(-1)
    if A.numel() == 0:
        return A.new_zeros(A.shape[:-2])
    if p == "nuc":
        values = svdvals(A)
        return values.sum(-1) * values.reciprocal().sum(-1)
    inverse, info = inv_ex(A)
    inverse = inverse.masked_fill((info > 0).unsqueeze(-1).unsqueeze(-1), inf)
    return (matrix_norm(A, p) * matrix_norm(inverse, p)).nan_to_num_(inf, inf, -inf)


def _tolerances(A: Tensor, atol: Any, rtol: Any) -> tuple[Tensor, Tensor]:
    """Return the bounds below which values count as zero, as tensors."""

    def made(value: Any) -> Tensor:
        return value if isinstance(value, Tensor) else native.tensor(value, dtype=native.float64)

    if rtol is None:
        least = max(A.shape[-2:]) * native.finfo(A.dtype).eps if A.dim() > 1 and _is_inexact(A) else 0.0
        given = made(0.0 if atol is None else atol)
        rtol = native.where(given > 0, 0.0, least).double() if atol is not None else least
    return made(0.0 if atol is None else atol), made(rtol)


def _is_inexact(A: Tensor) -> bool:
    return A.is_floating_point() or A.is_complex()


def _symmetric(A: Tensor) -> Tensor:
    """Return the matrices that the lower triangles stand for."""
    below = A.tril(-1)
    return below + native.diag_embed(A.diagonal(0, -2, -1).real) + below.mH


def pinv(
    A: Tensor,
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
    absolute, relative = _tolerances(A, atol, rcond if rtol is None else rtol)
    if hermitian:

        def nearest(A: Tensor) -> Tensor:
            return _nn.linalg_pinv(_symmetric(A), absolute, relative)

        (found,) = native._as_one(
            nearest, ("linalg_pinv", "LinalgPinvBackward0", "self result"), (1, 0, 0), {}, A
        )
    else:
        found = _nn.linalg_pinv(A, absolute, relative)
    return found if out is None else out.copy_(found)


def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """Return how many singular values are not nearly zero.

    >>> import rushlight as torch
    >>> torch.linalg.matrix_rank(torch.ones(3, 3))
    tensor(1)
    """
    if A.dim() < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    if not _is_inexact(A):
        raise RuntimeError("This function doesn't handle types other than float and double")
    if 0 in A.shape:
        return native.zeros(A.shape[:-2], dtype=native.int64)
    if tol is not None:
        absolute, relative = _tolerances(A, tol, 0.0)
    else:
        absolute, relative = _tolerances(A, atol, rtol)
    values = eigvalsh(A).abs() if hermitian else svdvals(A)
    bound = native.maximum(absolute.double(), relative.double() * native.amax(values, -1))
    return (values > bound.unsqueeze(-1)).sum(-1)


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """Return what comes nearest to the solutions of linear equations.

    >>> import rushlight as torch
    >>> torch.linalg.lstsq(torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [3.0]])).solution
    tensor([[2.]])
    """
    if A.dim() < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if B.dim() < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if A.dtype != B.dtype:
        raise RuntimeError("torch.linalg.lstsq: Expected input and other to have the same dtype")
    vector = B.dim() == A.dim() - 1
    if vector and A.shape[:-1] != B.shape:
        raise RuntimeError("torch.linalg.lstsq: input.shape[:-1] should match other.shape")
    right = B.unsqueeze(-1) if vector else B
    if right.shape[-2] != A.shape[-2]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )

    def nearest(A: Tensor, right: Tensor) -> Tensor:
        return pinv(A, rtol=rcond) @ right

    (found,) = native._as_one(
        nearest, ("linalg_lstsq", "LinalgLstsqBackward0", "self b solution"), (2, 0, 0), {}, A, right
    )
    rows, columns = A.shape[-2:]
    none = native.empty(0, dtype=A.dtype.to_real())
    ranks = none.long() if driver == "gels" else matrix_rank(A.detach(), rtol=rcond)
    values = svdvals(A.detach()) if driver in ("gelsd", "gelss") else none
    residuals = found.real.flatten()[:0]
    full = driver in ("gelsd", "gelss") and not any_of_all(ranks != columns)
    if rows > columns and (full or driver == "gels"):
        missing = A @ found - right
        residuals = (missing * missing.conj()).real.sum(-2)
    solution = found.squeeze(-1) if vector else found
    return return_types.linalg_lstsq((solution, residuals, ranks, values))


def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> Any:
    """Return inverse matrices, and zero, or the step at which there turned out to be none."""
    info = _steps("linalg.inv", A)
    if not native._is_batchedtensor(A) and bool(info.any()):
        if check_errors:
            place, step = _failure(info)
            raise LinAlgError(
                f"linalg.inv_ex: {place}The diagonal element {step} is zero, the inversion could not be "
                "completed because the input matrix is singular."
            )
        return return_types.linalg_inv_ex((native.full_like(A, inf), info))
    return return_types.linalg_inv_ex((inv(A), info))


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """Return the solutions of linear equations, and zero, or the step at which there were none."""
    info = _steps("linalg.solve", A)
    if any_of_all(info):
        if check_errors:
            place, _ = _failure(info)
            raise LinAlgError(
                f"torch.linalg.solve_ex: {place}The solver failed because the input matrix is singular."
            )
        return return_types.linalg_solve_ex((native.full_like(B, inf), info))
    return return_types.linalg_solve_ex((solve(A, B, left=left), info))


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """Return the triangles of `cholesky`, and zero, or the order at which a matrix is not positive."""
    try:
        factor = cholesky(A, upper=upper)
    except LinAlgError as error:
        text = str(error)
        if check_errors:
            raise LinAlgError(text.replace("linalg.cholesky:", "linalg.cholesky_ex:")) from None
        flat = A.reshape(-1, *A.shape[-2:])
        parts = [_positive(matrix, upper) for matrix in flat.unbind(0)]
        factor = native.stack([part for part, _ in parts]).view(A.shape)
        info = native.tensor([order for _, order in parts], dtype=native.int32).view(A.shape[:-2])
        return return_types.linalg_cholesky_ex((factor, info))
    return return_types.linalg_cholesky_ex((factor, native.zeros(A.shape[:-2], dtype=native.int32)))


def _positive(matrix: Tensor, upper: bool) -> tuple[Tensor, int]:
    try:
        return cholesky(matrix, upper=upper), 0
    except LinAlgError as error:
        order = int(str(error).rpartition("order ")[2].partition(" ")[0])
        return (matrix.triu() if upper else matrix.tril()), order


def _steps(operation: str, A: Tensor) -> Tensor:
    if A.dim() < 2:
        raise RuntimeError(f"{operation}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"{operation}: A must be batches of square matrices, but they are {A.shape[-2]} by "
            f"{A.shape[-1]} matrices"
        )
    _, _, info = lu_factor_ex(A.detach())
    steps: Tensor = info
    return steps


def _failure(info: Tensor) -> tuple[str, int]:
    """Return which of several matrices failed first, in words, and at which step."""
    place = int(info.flatten().ne(0).nonzero()[0].item())
    return (f"(Batch element {place}): " if info.numel() > 1 else ""), int(info.flatten()[place].item())


def householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the first columns of the products of reflections, as `geqrf` gives them.

    >>> import rushlight as torch
    >>> A, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> torch.linalg.householder_product(A, tau)
    tensor([[-0.6000],
            [-0.8000]])
    """
    name = "torch.linalg.householder_product"
    if A.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if A.shape[-2] < A.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if A.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    (product,) = native._as_one(
        _reflected,
        ("linalg_householder_product", "LinalgHouseholderProductBackward0", "input tau result"),
        (2, 0, 0),
        {},
        A,
        tau,
    )
    return product


def _reflected(A: Tensor, tau: Tensor) -> Tensor:
    rows, columns = A.shape[-2:]
    result = native.eye(rows, columns, dtype=A.dtype).expand(A.shape)
    vectors = A.tril(-1) + native.eye(rows, columns, dtype=A.dtype)
    for step in reversed(range(tau.shape[-1])):
        vector = vectors[..., step : step + 1]
        scale = tau[..., step, None, None]
        result = result - scale * (vector @ (vector.mH @ result))
    return result


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Return the powers of every element, from zero on.

    >>> import rushlight as torch
    >>> torch.linalg.vander(torch.tensor([2.0, 3.0]), N=3)
    tensor([[1., 2., 4.],
            [1., 3., 9.]])
    """
    x = x.unsqueeze(-1)
    count = N if N is not None else x.shape[-2] if x.dim() > 1 else 1
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    x = x if x.dim() > 1 else x.unsqueeze(0)
    if x.dtype == native.bool:
        x = x.long()
    return native.cat([native.ones_like(x), x.expand(*x.shape[:-1], count - 1).cumprod(-1)], -1)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """Return the tensor that undoes the products over the first `ind` dimensions."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    first, last = A.shape[:ind], A.shape[ind:]
    if prod(first) != prod(last):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
            f"but got {prod(last)} != {prod(first)}"
        )
    return inv(A.reshape(prod(last), prod(first))).reshape(*last, *first)


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """Return the solution of linear equations whose unknowns have several dimensions."""
    check_mapped("linalg_tensorsolve", A, B)
    if dims is not None:
        A = native.movedim(A, tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    shape = A.shape[B.dim() :]
    if prod(shape) != prod(A.shape[: B.dim()]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {prod(shape)} != {prod(A.shape[: B.dim()])}"
        )
    return solve(A.reshape(B.numel(), prod(shape)), B.flatten()).reshape(shape)
