"""Matrices whose columns are orthogonal, as maps from matrices that need not be."""

from __future__ import annotations

from enum import Enum, auto

from ... import _rushlight as native
from ... import linalg
from ..._rushlight import Tensor
from ...autograd.grad_mode import no_grad
from ..modules.module import Module


class _OrthMaps(Enum):
    """How a matrix is made orthogonal."""

    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """Makes a matrix, or each of several, orthogonal.

    Half of the numbers of a square matrix are enough to say which orthogonal one it is; `matrix_exp` and
    `cayley` read those below the diagonal as a matrix A that is its own negative transpose, and make exp(A)
    and (I - A/2)⁻¹(I + A/2) of it. `householder` reads columns as mirrors. The product with `base`, if there
    is one, lets each of the maps begin anywhere.
    """

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """Return the orthogonal matrix that a matrix stands for."""
        is_wide = X.shape[-2] < X.shape[-1]
        tall = X.mT if is_wide else X
        made = self._mirrored(tall) if self.orthogonal_map is _OrthMaps.householder else self._turned(tall)
        if hasattr(self, "base"):
            made = self.base @ made
        return made.mT if is_wide else made

    def _turned(self, X: Tensor) -> Tensor:
        rows, columns = X.shape[-2:]
        lower = X.tril()
        if rows != columns:
            rest = X.new_zeros(rows, rows - columns).expand(*X.shape[:-2], -1, -1)
            lower = native.cat([lower, rest], dim=-1)
        A = lower - lower.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            made: Tensor = native.matrix_exp(A)
        else:
            one = native.eye(rows, dtype=A.dtype)
            made = linalg.solve(native.add(one, A, alpha=-0.5), native.add(one, A, alpha=0.5))
        return made if rows == columns else made[..., :columns]

    def _mirrored(self, X: Tensor) -> Tensor:
        mirrors = X.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (mirrors * mirrors).sum(dim=-2))
        # The diagonal holds signs, which are not learnt.
        signs = X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        made: Tensor = linalg.householder_product(mirrors, tau) * signs
        return made

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        """Return a matrix that stands for an orthogonal one, or for the nearest to it in direction."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. "
                f"Got a tensor of shape {Q.shape}."
            )
        is_wide = Q.shape[-2] < Q.shape[-1]
        tall = Q.mT if is_wide else Q
        if hasattr(self, "base"):
            self.base = _completed(tall)
            # The negative identity: of it, every map makes the identity.
            start = native.zeros_like(Q)
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential "
                "or the Cayley parametrizations when use_trivialization=False."
            )
        mirrors: Tensor
        mirrors, tau = native.geqrf(tall)
        signs = mirrors.diagonal(dim1=-2, dim2=-1)
        signs.sign_()
        # A column that needed no mirror is recorded with the other sign.
        signs[tau == 0.0] *= -1
        return mirrors.mT if is_wide else mirrors


def _completed(Q: Tensor) -> Tensor:
    """Return an orthogonal square matrix that begins with the columns of a tall one."""
    rows, columns = Q.shape[-2:]
    if rows != columns:
        rest = native.randn(*Q.shape[:-2], rows, rows - columns, dtype=Q.dtype)
        return _made_orthogonal(native.cat([Q, rest], dim=-1))
    exactness = 10.0 * rows * native.finfo(Q.dtype).eps
    if native.allclose(Q.mH @ Q, native.eye(columns, dtype=Q.dtype), atol=exactness):
        return Q.clone()
    return _made_orthogonal(Q)


def _made_orthogonal(A: Tensor) -> Tensor:
    """Return the orthogonal factor of a square matrix whose other factor has a positive diagonal."""
    mirrors, tau = native.geqrf(A)
    signs = mirrors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    made: Tensor = linalg.householder_product(mirrors, tau).mul_(signs)
    return made
