"""Rprop, which goes by the signs of gradients alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor, where, zeros_like
from .adaptive import Adaptive, checked, filled
from .parameterwise import stepped

__all__ = ["Rprop"]


class Rprop(Adaptive):
    """Steps that grow while the sign of the gradient stays, and shrink when it turns.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimiser = torch.optim.Rprop([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> x
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checked(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        state["prev"] = zeros_like(parameter)
        state["step_size"] = filled(parameter, group["lr"])

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        shrink, grow = group["etas"]
        turned = (gradient * state["prev"]).sign()
        factor = where(turned > 0, grow, where(turned < 0, shrink, 1.0)).to(parameter.dtype)
        state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        gradient = gradient.masked_fill(turned < 0, 0)
        parameter.addcmul_(gradient.sign(), state["step_size"], value=-1)
        state["prev"].copy_(gradient)


def rprop(
    params: list[Tensor],
    grads: list[Tensor],
    prevs: list[Tensor],
    step_sizes: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """Take a step of `Rprop` with listed states."""
    states = {"step": state_steps, "prev": prevs, "step_size": step_sizes}
    group = {
        "etas": (etaminus, etaplus),
        "step_sizes": (step_size_min, step_size_max),
        "maximize": maximize,
        "differentiable": differentiable,
    }
    stepped(Rprop, params, grads, states, group)
