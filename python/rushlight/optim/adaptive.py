"""What optimisers share that scale each element's step by the gradients it has had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, tensor
from ..autograd.grad_mode import enable_grad, set_grad_enabled
from .optimizer import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable


def number(option: Any) -> Any:
    """Return an option's number; a tensor that records stays one, to be differentiated through."""
    return option.item() if isinstance(option, Tensor) and not option.requires_grad else option


def checked(**options: Any) -> None:
    """Refuse options below zero, in the words of each."""
    words = {"lr": "learning rate", "eps": "epsilon value"}
    for name, value in options.items():
        if isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError(f"Tensor {name} must be 1-element")
        if not value >= 0.0:
            raise ValueError(f"Invalid {words.get(name, f'{name} value')}: {value}")


class Adaptive(Optimizer):
    """An optimiser that changes each parameter by itself and counts the steps in its state."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take one step; return what `closure` returns, if there is one."""
        loss = None
        with set_grad_enabled(self.defaults["differentiable"]):
            if closure is not None:
                with enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for parameter in group["params"]:
                    gradient = parameter.grad
                    if gradient is not None:
                        self._one(parameter, -gradient if group["maximize"] else gradient, group)
        return loss

    def _one(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["step"] = tensor(0.0)
            self._begin(parameter, group, state)
        state["step"] += 1
        self._change(parameter, gradient, group, state)

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        raise NotImplementedError

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        raise NotImplementedError
