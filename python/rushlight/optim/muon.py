"""Muon: momentum whose matrices are made nearly orthogonal before they are stepped along."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Any

from .._rushlight import Tensor, addmm, bfloat16, zeros_like
from .parameterwise import Parameterwise, number

__all__ = ["Muon"]

_DOUBTFUL = 100
"""Steps of an approximation that would not be one."""


class Muon(Parameterwise):
    """Steps along matrices of running gradients of which all singular values are brought near to one.

    >>> import rushlight as torch
    >>> x = torch.eye(2).requires_grad_()
    >>> optimiser = torch.optim.Muon([x], lr=0.1, weight_decay=0.0)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> bool((x.diagonal() < 0.95).all())
    True
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not 0.0 <= value:  # noqa: SIM300 (errors show the order)
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{parameter.size()}".replace("rushlight", "torch")
                    )

    def _update(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        if parameter.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state, momentum = self.state[parameter], group["momentum"]
        if not state:
            state["momentum_buffer"] = zeros_like(gradient)
        running = state["momentum_buffer"].lerp_(gradient, 1 - momentum)
        ahead = gradient.lerp(running, momentum) if group["nesterov"] else running
        step = _orthogonal(ahead, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rate = number(group["lr"])
        parameter.mul_(1 - rate * group["weight_decay"])
        parameter.add_(step, alpha=-rate * _share(parameter, group["adjust_lr_fn"]))


def _share(parameter: Tensor, adjustment: str | None) -> float:
    """Return how much of the rate matrices of this shape take, so that elements move alike."""
    rows, columns = parameter.shape
    if adjustment == "match_rms_adamw":
        return 0.2 * sqrt(max(rows, columns))
    return sqrt(max(1.0, rows / columns))


def _orthogonal(x: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """Return U Vᵀ of x = U S Vᵀ, nearly: an odd polynomial is applied to the singular values again and again.

    Half precision is enough, since they come near to one only.
    """
    if steps >= _DOUBTFUL:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values.")
    first, third, fifth = coefficients
    is_tall = x.shape[0] > x.shape[1]
    y = x.to(bfloat16)
    y = y.t() if is_tall else y
    y = y / y.norm().clamp(min=eps)
    for _ in range(steps):
        squares = y @ y.t()
        y = addmm(y, addmm(squares, squares, squares, beta=third, alpha=fifth), y, beta=first)
    return y.t() if is_tall else y
