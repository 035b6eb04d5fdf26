"""NAdam: Adam that looks ahead along its momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor, ones
from .adaptive import checked
from .moments import Moments, advance
from .parameterwise import decayed, decoupled, number, stepped

__all__ = ["NAdam"]


class NAdam(Moments):
    """Adam that looks ahead along its momentum.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimiser = torch.optim.NAdam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> x
    tensor([0.8944], requires_grad=True)
    """

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

    def _descent(self, group: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        numbers = number(group["lr"]), *group["betas"], group["eps"]
        return "nadam", (*numbers, decoupled(group), group["momentum_decay"])

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        gradient = decayed(parameter, gradient, group)
        rate, (first, second), step = number(group["lr"]), group["betas"], state["step"].item()

        def momentum(step: float) -> float:
            return float(first * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"])))

        now, then = momentum(step), momentum(step + 1)
        state["mu_product"] *= now
        mean, square = self._means(gradient, (first, second), state)
        spread = square.div(1 - second**step).sqrt().add(group["eps"])
        product = state["mu_product"].item()
        advance(parameter, gradient, spread, rate * (1.0 - now) / (1.0 - product))
        advance(parameter, mean, spread, rate * then / (1.0 - product * then))


def nadam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """Take a step of `NAdam` with listed states."""
    states = {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "mu_product": mu_products}
    group = {
        "lr": lr,
        "betas": (beta1, beta2),
        "eps": eps,
        "weight_decay": weight_decay,
        "momentum_decay": momentum_decay,
        "decoupled_weight_decay": decoupled_weight_decay,
        "maximize": maximize,
        "differentiable": differentiable,
    }
    stepped(NAdam, params, grads, states, group)
