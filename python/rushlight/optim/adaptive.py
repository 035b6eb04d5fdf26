"""What optimisers share that scale each element's step by the gradients it has had."""

from __future__ import annotations

from typing import Any

from .._rushlight import Tensor, full_like, tensor
from .parameterwise import Parameterwise, parts


def checked(**options: Any) -> None:
    """Refuse options below zero, in the words of each."""
    words = {"lr": "learning rate", "eps": "epsilon value"}
    for name, value in options.items():
        if isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError(f"Tensor {name} must be 1-element")
        if not 0.0 <= value:  # noqa: SIM300 (errors show the order)
            raise ValueError(f"Invalid {words.get(name, f'{name} value')}: {value}")


def filled(parameter: Tensor, option: Any) -> Tensor:
    """Return a state with an option's number for each of the parameter's, for both parts of complex ones."""
    number = option.item() if isinstance(option, Tensor) else option
    return full_like(parameter, complex(number, number) if parameter.is_complex() else number)


class Adaptive(Parameterwise):
    """An optimiser that counts the steps of each parameter in its state, and keeps there what it has seen."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for kept in self.state.values():
            # Files of former times have plain numbers where tensors count.
            for name in ("step", "mu_product"):
                if isinstance(kept.get(name), (int, float)):
                    kept[name] = tensor(float(kept[name]))

    def _update(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            self._start(parameter, group)
        state["step"] += 1
        if group.get("differentiable"):
            # What this step records has to stay as it is when the next one moves the state on.
            state.update({name: value.clone() for name, value in state.items()})
        if parameter.is_complex():
            # Each of a number's two parts has a step of its own size.
            parameter, gradient = parts(parameter), parts(gradient)
            state = {name: parts(value) for name, value in state.items()}
        self._change(parameter, gradient, group, state)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        state["step"] = tensor(0.0)
        self._begin(parameter, group, state)

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        raise NotImplementedError

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        raise NotImplementedError
