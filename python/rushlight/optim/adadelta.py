"""Adadelta: steps as large as those of late, over gradients as large as those of late."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor, zeros_like
from .adaptive import Adaptive, checked
from .parameterwise import decayed, number, stepped

__all__ = ["Adadelta"]


class Adadelta(Adaptive):
    """Gradients over the root of their mean square, times that of the steps.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimiser = torch.optim.Adadelta([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> x
    tensor([0.9997], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checked(lr=lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        checked(eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        state["square_avg"] = zeros_like(parameter)
        state["acc_delta"] = zeros_like(parameter)

    def _descent(self, group: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        return "adadelta", (number(group["lr"]), group["rho"], group["eps"])

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        rho, eps = group["rho"], group["eps"]
        gradient = decayed(parameter, gradient, group)
        squares, steps = state["square_avg"], state["acc_delta"]
        squares.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
        move = steps.add(eps).sqrt() / squares.add(eps).sqrt() * gradient
        steps.mul_(rho).addcmul_(move, move, value=1 - rho)
        parameter.add_(move, alpha=-number(group["lr"]))


def adadelta(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """Take a step of `Adadelta` with listed states."""
    states = {"step": state_steps, "square_avg": square_avgs, "acc_delta": acc_deltas}
    group = {
        "lr": lr,
        "rho": rho,
        "eps": eps,
        "weight_decay": weight_decay,
        "maximize": maximize,
        "differentiable": differentiable,
    }
    stepped(Adadelta, params, grads, states, group)
