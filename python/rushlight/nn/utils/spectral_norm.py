"""Weights over their greatest singular value, which is followed from call to call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ..._rushlight import Tensor
from ...autograd.grad_mode import no_grad
from ..parameter import Parameter
from ._replacing import refuse_second, refuse_shapeless, taken_out

if TYPE_CHECKING:
    from ..modules.module import Module

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

M = TypeVar("M", bound="Module")


def _unit(vector: Tensor, eps: float) -> Tensor:
    return vector / vector.norm().clamp(min=eps)


class SpectralNorm:
    """The hook that divides a weight; in training it first gets nearer to the singular vectors."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Return the weight as a matrix, `dim` by all others."""
        if self.dim != 0:
            weight = weight.movedim(self.dim, 0)
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """Return the weight over its greatest singular value."""
        weight: Tensor = getattr(module, self.name + "_orig")
        u: Tensor = getattr(module, self.name + "_u")
        v: Tensor = getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(_unit(matrix.t().mv(u), self.eps))
                    u.copy_(_unit(matrix.mv(v), self.eps))
            # Backward wants what they were now, whatever later calls make of them.
            u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for name in ("_u", "_v", "_orig"):
            delattr(module, self.name + name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its greatest singular value before every call.

    >>> import rushlight as torch
    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3))
    >>> [name for name, _ in layer.named_buffers()]
    ['weight_u', 'weight_v']
    """
    if dim is None:
        transposed = type(module).__name__ in ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
        dim = 1 if transposed else 0
    refuse_second(module, SpectralNorm, name, "spectral_norm")
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    refuse_shapeless(weight, SpectralNorm, "spectral")
    with no_grad():
        height, width = hook.reshape_weight_to_matrix(weight).shape
        u = _unit(weight.new_empty(height).normal_(0, 1), eps)
        v = _unit(weight.new_empty(width).normal_(0, 1), eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make a weight that was divided a parameter again."""
    return taken_out(module, SpectralNorm, name, "spectral_norm")
