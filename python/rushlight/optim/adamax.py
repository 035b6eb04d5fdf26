"""Adamax: Adam whose measure of size is the greatest gradient of late."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor, maximum
from .moments import Moments
from .parameterwise import decayed, number, stepped

__all__ = ["Adamax"]


class Adamax(Moments):
    """Steps of the running mean of gradients over the greatest of late, which fades.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimiser = torch.optim.Adamax([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> x
    tensor([0.9000], requires_grad=True)
    """

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

    def _descent(self, group: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        return "adamax", (number(group["lr"]), *group["betas"], group["eps"])

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        gradient = decayed(parameter, gradient, group)
        first, second = group["betas"]
        mean, most = state["exp_avg"], state["exp_inf"]
        mean.lerp_(gradient, 1 - first)
        most.copy_(maximum(most * second, gradient.abs() + group["eps"]))
        rate = number(group["lr"]) / (1 - first ** state["step"].item())
        parameter.addcdiv_(mean, most, value=-rate)


def adamax(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
) -> None:
    """Take a step of `Adamax` with listed states."""
    states = {"step": state_steps, "exp_avg": exp_avgs, "exp_inf": exp_infs}
    group = {
        "lr": lr,
        "betas": (beta1, beta2),
        "eps": eps,
        "weight_decay": weight_decay,
        "maximize": maximize,
        "differentiable": differentiable,
    }
    stepped(Adamax, params, grads, states, group)
