"""RAdam: Adam that is careful while it has seen little."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor
from .moments import Moments
from .parameterwise import decayed, decoupled, number, stepped

__all__ = ["RAdam"]


class RAdam(Moments):
    """Adam that divides by the size of gradients only when enough of them were seen.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimiser = torch.optim.RAdam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> x
    tensor([0.8000], requires_grad=True)
    """

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

    def _descent(self, group: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        return "radam", (number(group["lr"]), *group["betas"], group["eps"], decoupled(group))

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        gradient = decayed(parameter, gradient, group)
        rate, (first, second), step = number(group["lr"]), group["betas"], state["step"].item()
        mean, square = self._means(gradient, (first, second), state)
        move = mean / (1 - first**step) * rate
        rest = 1 - second**step
        most = 2 / (1 - second) - 1
        seen = most - 2 * step * second**step / rest
        if seen > 5.0:
            share = (seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen)
            move = move * (rest**0.5 / square.sqrt().add(group["eps"])) * share**0.5
        parameter.add_(move, alpha=-1.0)


def radam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    eps: float,
) -> None:
    """Take a step of `RAdam` with listed states."""
    states = {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs}
    group = {
        "lr": lr,
        "betas": (beta1, beta2),
        "eps": eps,
        "weight_decay": weight_decay,
        "decoupled_weight_decay": decoupled_weight_decay,
        "maximize": maximize,
        "differentiable": differentiable,
    }
    stepped(RAdam, params, grads, states, group)
