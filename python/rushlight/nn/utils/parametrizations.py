"""Parametrizations that are often wanted: weights of norm one, of length and direction, orthogonal ones."""

from __future__ import annotations

from typing import Any, TypeVar

from ... import _rushlight as native
from ..._functions import composites as _composites
from ..._rushlight import Tensor
from ...autograd.grad_mode import no_grad
from ..functional import normalize
from ..modules.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ._orthogonal import _OrthMaps, _Orthogonal
from .parametrize import register_parametrization
from .weight_norm import of_direction

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


def _weight_of(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def orthogonal(
    module: M, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> M:
    """Keep a matrix orthogonal, whatever an optimiser does.

    >>> import rushlight as torch
    >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 3))
    >>> torch.dist(layer.weight.T @ layer.weight, torch.eye(3)) < 1e-5
    tensor(True)
    """
    weight = _weight_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        is_turned = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if is_turned else "householder"
    chosen = getattr(_OrthMaps, orthogonal_map, None)
    if chosen is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module


class _WeightNorm(Module):
    """Makes a weight of its length and its direction."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return of_direction(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return _composites.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Replace a weight by its length and its direction; each slice of `dim` has a length of its own.

    >>> import rushlight as torch
    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 3))
    >>> [(name, one.shape) for name, one in layer.parametrizations.named_parameters()]
    [('weight.original0', torch.Size([3, 1])), ('weight.original1', torch.Size([3, 2]))]
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state: dict[str, Any], prefix: str, *_: Any) -> None:
        """Take states that were stored with the form of `weight_norm` that hooks make."""
        old = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state for key in old):
            for number, key in enumerate(old):
                state[f"{prefix}parametrizations.{name}.original{number}"] = state.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """Divides a weight by its greatest singular value, which it gets nearer to at each call in training."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        dims = weight.ndim
        if not -dims <= dim < dims:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{dims}, {dims - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % dims
        self.eps = eps
        if dims > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            # Both are drawn before one is made a unit.
            drawn = [matrix.new_empty(size).normal_(0, 1) for size in matrix.shape]
            for name, vector in zip(("_u", "_v"), drawn, strict=True):
                self.register_buffer(name, normalize(vector, dim=0, eps=self.eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        return (weight if self.dim == 0 else weight.movedim(self.dim, 0)).flatten(1)

    @no_grad()
    def _power_method(self, weight_mat: Tensor, n_power_iterations: int) -> None:
        for _ in range(n_power_iterations):
            self._u.copy_(normalize(native.mv(weight_mat, self._v), dim=0, eps=self.eps))
            self._v.copy_(normalize(native.mv(weight_mat.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Backward wants what they were now, whatever later calls make of them.
        u, v = self._u.clone(), self._v.clone()
        return weight / native.vdot(u, native.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> M:
    """Divide a weight by its greatest singular value.

    >>> import rushlight as torch
    >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(4, 3))
    >>> layer.parametrizations.weight[0].n_power_iterations
    1
    """
    weight = _weight_of(module, name)
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
