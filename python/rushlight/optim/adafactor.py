"""Adafactor: squares of gradients remembered as the product of a column and a row."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor
from .adaptive import Adaptive
from .parameterwise import number

__all__ = ["Adafactor"]


class Adafactor(Adaptive):
    """Steps that are scaled as the gradients of a row and of a column have been, and no longer than a limit.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimiser = torch.optim.Adafactor([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> x
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:  # noqa: SIM300 (errors show the order)
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for place, value in enumerate(eps, 1):
            if value is not None and not 0.0 <= value:  # noqa: SIM300 (errors show the order)
                raise ValueError(f"epsilon{place} should be >= 0 but is: {value}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:  # noqa: SIM300 (errors show the order)
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _update(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        if parameter.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        super()._update(parameter, gradient, group)

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        shape = parameter.shape
        if len(shape) > 1:
            state["row_var"] = parameter.new_zeros((*shape[:-1], 1))
            state["col_var"] = parameter.new_zeros((*shape[:-2], 1, shape[-1]))
        else:
            state["variance"] = native.zeros_like(parameter)

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        rate, (least, shortest), count = number(group["lr"]), group["eps"], state["step"].double()
        if least is None:
            least = native.finfo(parameter.dtype).eps
        forgotten = count ** group["beta2_decay"]
        size = _spread(parameter).clamp_(min=shortest) * count.rsqrt().clamp_(max=rate)
        if group["weight_decay"]:
            parameter.mul_(1 - rate * group["weight_decay"])
        squares = _squares(gradient, state, forgotten, least)
        update = squares.clamp_(min=least * least).rsqrt_().mul_(gradient)
        parameter.sub_(update.mul_(size / (_spread(update) / group["d"]).clamp_(min=1.0)))


def _spread(x: Tensor) -> Tensor:
    """Return the root of the mean square, as a tensor: numbers of the program's are not seen to change."""
    return x.norm(2).double() / sqrt(x.numel())


def _squares(gradient: Tensor, state: dict[str, Any], forgotten: Any, least: float) -> Tensor:
    """Remember the squares of a gradient; return what they are of late."""
    if gradient.dtype not in (native.float32, native.float64):
        forgotten = forgotten.item()
    if gradient.dim() <= 1:
        variance: Tensor = state["variance"].lerp_(gradient.square(), forgotten)
        return variance.clone()
    rows: Tensor = state["row_var"]
    columns: Tensor = state["col_var"]
    for held, dim in ((rows, -1), (columns, -2)):
        held.lerp_(gradient.square().mean(dim, keepdim=True), forgotten)
    return (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=least))
