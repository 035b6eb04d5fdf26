"""Adagrad: steps over the root of the sum of squared gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor
from .adaptive import Adaptive, checked, filled
from .parameterwise import decayed, number, stepped

__all__ = ["Adagrad"]


class Adagrad(Adaptive):
    """Gradients over the root of the sum of their squares.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimiser = torch.optim.Adagrad([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> x
    tensor([0.9000], requires_grad=True)
    """

    _instead_of_sparse = None

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        checked(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay)
        checked(initial_accumulator_value=initial_accumulator_value, eps=eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                self._start(parameter, group)

    def share_memory(self) -> None:
        """Do nothing: the state is in memory that threads share already."""

    def _descent(self, group: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        return "adagrad", (number(group["lr"]), group["lr_decay"], group["eps"])

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        state["sum"] = filled(parameter, group["initial_accumulator_value"])

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        if gradient.is_sparse and number(group["weight_decay"]) != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        gradient = decayed(parameter, gradient, group)
        rate = number(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        total = state["sum"]
        if gradient.is_sparse:
            gradient = gradient.coalesce()
            places, values = gradient.indices(), gradient.values()
            total.index_put_(tuple(places), values * values, accumulate=True)
            steps = values / total[tuple(places)].sqrt().add(group["eps"])
            parameter.index_put_(tuple(places), steps * -rate, accumulate=True)
            return
        total.addcmul_(gradient, gradient, value=1)
        parameter.addcdiv_(gradient, total.sqrt().add(group["eps"]), value=-rate)


def adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Take a step of `Adagrad` with listed states."""
    states = {"step": state_steps, "sum": state_sums}
    group = {
        "lr": lr,
        "lr_decay": lr_decay,
        "eps": eps,
        "weight_decay": weight_decay,
        "maximize": maximize,
        "differentiable": differentiable,
    }
    stepped(Adagrad, params, grads, states, group)
