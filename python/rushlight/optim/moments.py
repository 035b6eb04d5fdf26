"""Adamax, NAdam and RAdam: Adam with another measure of size, with momentum, with care at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, maximum, ones, zeros_like
from .adaptive import Adaptive, checked
from .parameterwise import number

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Adamax", "NAdam", "RAdam"]


class _Moments(Adaptive):
    """What keeps running means of gradients and of their sizes."""

    second = "exp_avg_sq"

    def __init__(self, params: Iterable[Any], **options: Any) -> None:
        checked(lr=options["lr"], eps=options["eps"])
        for index, beta in enumerate(options["betas"]):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        checked(weight_decay=options["weight_decay"])
        super().__init__(params, options)

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        state["exp_avg"] = zeros_like(parameter)
        state[self.second] = zeros_like(parameter)

    def _decayed(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> Tensor:
        """Apply the weight decay: to the parameter itself, or by way of the gradient."""
        decay = group["weight_decay"]
        if decay == 0:
            return gradient
        if group.get("decoupled_weight_decay"):
            parameter.mul_(1 - number(group["lr"]) * decay)
            return gradient
        return gradient.add(parameter, alpha=decay)


class Adamax(_Moments):
    """Steps of the running mean of gradients over the greatest of late, which fades."""

    second = "exp_inf"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        gradient = self._decayed(parameter, gradient, group)
        first, second = group["betas"]
        mean, most = state["exp_avg"], state["exp_inf"]
        mean.lerp_(gradient, 1 - first)
        most.copy_(maximum(most * second, gradient.abs() + group["eps"]))
        rate = number(group["lr"]) / (1 - first ** state["step"].item())
        parameter.addcdiv_(mean, most, value=-rate)


class NAdam(_Moments):
    """Adam that looks ahead along its momentum."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        checked(momentum_decay=momentum_decay)
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
        )

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        state["mu_product"] = ones(())
        super()._begin(parameter, group, state)

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        gradient = self._decayed(parameter, gradient, group)
        rate, (first, second), step = number(group["lr"]), group["betas"], state["step"].item()

        def momentum(step: float) -> float:
            return float(first * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"])))

        now, then = momentum(step), momentum(step + 1)
        state["mu_product"] *= now
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(gradient, 1 - first)
        square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        spread = square.div(1 - second**step).sqrt().add(group["eps"])
        product = state["mu_product"].item()
        parameter.addcdiv_(gradient, spread, value=-rate * (1.0 - now) / (1.0 - product))
        parameter.addcdiv_(mean, spread, value=-rate * then / (1.0 - product * then))


class RAdam(_Moments):
    """Adam that divides by the size of gradients only when enough of them were seen."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            decoupled_weight_decay=decoupled_weight_decay,
            differentiable=differentiable,
        )

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        gradient = self._decayed(parameter, gradient, group)
        rate, (first, second), step = number(group["lr"]), group["betas"], state["step"].item()
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(gradient, 1 - first)
        square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        move = mean / (1 - first**step) * rate
        rest = 1 - second**step
        most = 2 / (1 - second) - 1
        seen = most - 2 * step * second**step / rest
        if seen > 5.0:
            share = (seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen)
            move = move * (rest**0.5 / square.sqrt().add(group["eps"])) * share**0.5
        parameter.add_(move, alpha=-1.0)
