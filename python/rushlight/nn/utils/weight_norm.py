"""Weights as a direction times a length, made anew before every call of a layer."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from ... import _rushlight as native
from ..._functions import composites as _composites
from ..._rushlight import Tensor
from ..parameter import Parameter
from ._replacing import refuse_second, refuse_shapeless, taken_out

if TYPE_CHECKING:
    from ..modules.module import Module

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

M = TypeVar("M", bound="Module")


def of_direction(direction: Tensor, length: Tensor, dim: int) -> Tensor:
    """Return the weight that has these lengths and directions."""

    def made(direction: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
        norm = _composites.norm_except_dim(direction, 2, dim)
        return direction * (length / norm), norm

    if dim not in (0, direction.dim() - 1):
        return made(direction, length)[0]
    names = ("_weight_norm_interface", "WeightNormInterfaceBackward0", "v g - result1")
    weight: Tensor = native._as_one(made, names, (2, 0, 2), {"dim": dim}, direction, length)[0]
    return weight


class WeightNorm:
    """The hook that makes a weight of its direction (`_v`) and its length (`_g`)."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """Return the weight of a layer."""
        direction, length = (getattr(module, self.name + part) for part in ("_v", "_g"))
        return of_direction(direction, length, self.dim)

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Replace a weight by its length and its direction; each slice of `dim` has a length of its own.

    >>> import warnings
    >>> import rushlight as torch
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight_g', 'weight_v']
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    refuse_second(module, WeightNorm, name, "weight_norm")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    refuse_shapeless(weight, WeightNorm, "weight")
    del module._parameters[name]
    length = _composites.norm_except_dim(weight, 2, hook.dim)
    module.register_parameter(name + "_g", Parameter(length.data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Make a weight that was replaced a parameter again."""
    return taken_out(module, WeightNorm, name, "weight_norm")
