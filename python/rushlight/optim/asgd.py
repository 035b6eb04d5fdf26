"""ASGD, which averages what it passes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor, ones, tensor, zeros_like
from .adaptive import Adaptive, checked
from .parameterwise import decayed, number, stepped

__all__ = ["ASGD"]


class ASGD(Adaptive):
    """Steps along gradients; the state keeps the mean of the parameters on the way.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimiser = torch.optim.ASGD([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> x
    tensor([0.8000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        checked(lr=lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for kept in self.state.values():
            for name in {"step", "eta", "mu"} & kept.keys():
                if not isinstance(kept[name], Tensor):
                    kept[name] = tensor(float(kept[name]))

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        state["eta"] = tensor(float(number(group["lr"])))
        state["mu"] = ones(())
        state["ax"] = zeros_like(parameter)

    def _descent(self, group: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        return "asgd", (number(group["lr"]), group["lambd"], group["alpha"], group["t0"])

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        rate, fade, step = number(group["lr"]), group["lambd"], state["step"].item()
        gradient = decayed(parameter, gradient, group)
        eta, share, mean = state["eta"].item(), state["mu"].item(), state["ax"]
        parameter.mul_(1 - fade * eta)
        parameter.add_(gradient, alpha=-eta)
        if share == 1:
            mean.copy_(parameter)
        else:
            mean.add_(parameter.sub(mean).mul(share))
        state["eta"].fill_(rate / (1 + fade * rate * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))


def asgd(
    params: list[Tensor],
    grads: list[Tensor],
    axs: list[Tensor],
    mus: list[Tensor],
    etas: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """Take a step of `ASGD` with listed states."""
    states = {"step": state_steps, "ax": axs, "mu": mus, "eta": etas}
    group = {
        "lr": lr,
        "lambd": lambd,
        "alpha": alpha,
        "t0": t0,
        "weight_decay": weight_decay,
        "maximize": maximize,
        "differentiable": differentiable,
    }
    stepped(ASGD, params, grads, states, group)
