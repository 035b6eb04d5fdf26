"""Linear algebra: norms, factors, inverses and equations of matrices.

>>> import rushlight as torch
>>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
tensor([1.0000, 0.5000])
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from .. import _rushlight as native
from .._calls.showing import shown_as_given
from .._functions.chains import multi_dot
from .._lazy import on_first_use
from .._messages.matrices import LinAlgError
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from . import _results
from ._nearest import lstsq, matrix_rank, pinv
from ._norms import cond, matrix_norm, norm

if TYPE_CHECKING:
    from ._indefinite import ldl_factor as ldl_factor
    from ._indefinite import ldl_factor_ex as ldl_factor_ex
    from ._indefinite import ldl_solve as ldl_solve

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
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
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
__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        "._indefinite": "ldl_factor ldl_factor_ex ldl_solve",
    },
)

cholesky = _nn.linalg_cholesky
cholesky_ex = _nn.linalg_cholesky_ex
cross = _nn.linalg_cross
det = _nn.linalg_det
eig = _nn.linalg_eig
eigh = _nn.linalg_eigh
eigvals = _nn.linalg_eigvals
eigvalsh = _nn.linalg_eigvalsh
inv = _nn.linalg_inv
inv_ex = _nn.linalg_inv_ex
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
solve_ex = _nn.linalg_solve_ex
solve_triangular = _nn.linalg_solve_triangular
svd = _nn.linalg_svd
svdvals = _nn.linalg_svdvals
vector_norm = _nn.linalg_vector_norm


@shown_as_given
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return the diagonals of matrices.

    >>> import rushlight as torch
    >>> torch.linalg.diagonal(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return native.diagonal(A, offset, dim1, dim2)


@shown_as_given
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Return the products of vectors along a dimension, conjugates of the first with the second.

    >>> import rushlight as torch
    >>> torch.linalg.vecdot(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    if not (x.is_floating_point() or x.is_complex()):
        name = scalar_name(x)
        raise RuntimeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {name}")
    if x.dtype != y.dtype:
        names = [scalar_name(z) for z in (x, y)]
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {names[0]} and y "
            f"of type {names[1]} instead"
        )
    is_one = x.dim() == y.dim() == 1
    found = native.vdot(x, y) if is_one else (x.conj() * y).sum(dim)
    if out is None:
        return found
    refusal = f"linalg.vecdot: Expected out of dtype{scalar_name(x)} but found {scalar_name(out)}"
    return _results.written(found, out, refusal, "vdot" if is_one else "sum")


@shown_as_given
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the first columns of the products of reflections, as `geqrf` gives them.

    >>> import rushlight as torch
    >>> A, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> torch.linalg.householder_product(A, tau)
    tensor([[-0.6000],
            [-0.8000]])
    """
    name = "torch.linalg.householder_product"
    if input.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    _results.check_reflections(name, input, tau)
    _results.check_kernel("orgqr_cpu", input)
    (product,) = native._as_one(
        _reflected,
        ("linalg_householder_product", "LinalgHouseholderProductBackward0", "input tau result"),
        (2, 0, 0),
        {},
        input,
        tau,
    )
    return native._written("linalg_householder_product", product, out)


def _reflected(A: Tensor, tau: Tensor) -> Tensor:
    # Together the reflections are I - V T Vᴴ with a triangle: T = (I + diag(τ) S)⁻¹ diag(τ), where S is Vᴴ V
    # above the diagonal.
    count, unit = tau.shape[-1], native.eye(*A.shape[-2:], dtype=A.dtype)
    vectors = (A.tril(-1) + unit)[..., :count]
    adjoint, scales = vectors.mH, tau.unsqueeze(-1)
    among = scales * (adjoint @ vectors).triu(1)
    turned = _nn.linalg_solve_triangular(among, scales * (adjoint @ unit), upper=True, unitriangular=True)
    return _results.by_columns(unit - vectors @ turned)


@shown_as_given
def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Return the powers of every element, from zero on.

    >>> import rushlight as torch
    >>> torch.linalg.vander(torch.tensor([2.0, 3.0]), N=3)
    tensor([[1., 2., 4.],
            [1., 3., 9.]])
    """
    if x.dtype in (native.bool, native.float16, native.bfloat16):
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {scalar_name(x)}"
        )
    x = x.unsqueeze(-1)
    count = N if N is not None else x.shape[-2] if x.dim() > 1 else 1
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    x = x if x.dim() > 1 else x.unsqueeze(0)
    if x.dtype == native.bool:
        x = x.long()
    return native.cat([native.ones_like(x), x.expand(*x.shape[:-1], count - 1).cumprod(-1)], -1)


@shown_as_given
def tensorinv(input: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """Return the tensor that undoes the products over the first `ind` dimensions.

    >>> import rushlight as torch
    >>> A = torch.tensor([[[2.0], [0.0]], [[0.0], [4.0]]])
    >>> torch.linalg.tensorinv(A.reshape(2, 1, 2), ind=2)
    tensor([[[0.5000],
             [0.0000]],
    <BLANKLINE>
            [[0.0000],
             [0.2500]]])
    """
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    first, last = input.shape[:ind], input.shape[ind:]
    if prod(first) != prod(last):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
            f"but got {prod(last)} != {prod(first)}"
        )
    found = inv(input.reshape(prod(last), prod(first))).reshape(*last, *first)
    return native._written("tensorinv", found, out)


@shown_as_given
def tensorsolve(
    input: Tensor, other: Tensor, dims: Sequence[int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the solution of linear equations whose unknowns have several dimensions.

    >>> import rushlight as torch
    >>> A = torch.tensor([[2.0, 0.0], [0.0, 4.0]]).reshape(2, 1, 2)
    >>> torch.linalg.tensorsolve(A, torch.tensor([2.0, 2.0]).reshape(2, 1))
    tensor([1.0000, 0.5000])
    """
    if dims is not None:
        input = native.movedim(input, tuple(dims), tuple(range(input.dim() - len(dims), input.dim())))
    shape = input.shape[other.dim() :]
    if prod(shape) != other.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {prod(shape)} != {other.numel()}"
        )
    found = solve(input.reshape(other.numel(), prod(shape)), other.flatten()).reshape(shape)
    return native._written("tensorsolve", found, out)
