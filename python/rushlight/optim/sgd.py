"""Stochastic gradient descent, with momentum and weight decay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor
from .parameterwise import Parameterwise, decayed, number, stepped

__all__ = ["SGD"]


class SGD(Parameterwise):
    """`parameter -= lr * gradient`; with momentum, the gradient is a running sum of gradients.

    `foreach` and `fused` choose between implementations of the same step elsewhere; there is
    one here, which both accept.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([x], lr=0.5)
    >>> (x * 3).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([-0.5000], requires_grad=True)
    """

    _instead_of_sparse = None

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _descent(self, group: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        names = ("momentum", "dampening", "nesterov")
        return "sgd", (number(group["lr"]), *(group[name] for name in names))

    def _update(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        gradient = decayed(parameter, gradient, group)
        if group["momentum"] != 0:
            gradient = self._gather_momentum(parameter, gradient, group)
        rate = number(group["lr"])
        if isinstance(rate, Tensor):
            parameter.sub_(gradient * rate)
        else:
            parameter.add_(gradient, alpha=-rate)

    def _gather_momentum(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> Tensor:
        state = self.state[parameter]
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = gradient.detach().clone()
        else:
            buffer.mul_(group["momentum"]).add_(gradient, alpha=1 - group["dampening"])
        return gradient.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """Take a step of `SGD`; buffers of momentum that are None are made, and put into their list."""
    states = {"momentum_buffer": momentum_buffer_list}
    group = {
        "lr": lr,
        "momentum": momentum,
        "dampening": dampening,
        "weight_decay": weight_decay,
        "nesterov": nesterov,
        "maximize": maximize,
    }
    stepped(SGD, params, d_p_list, states, group)
