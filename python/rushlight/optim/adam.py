"""Adam and AdamW: steps along the running mean of gradients, over the root of that of their squares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor, _advance, _is_recording, maximum, zeros_like
from .moments import Moments, advance
from .parameterwise import decayed, decoupled, number, stepped

__all__ = ["Adam", "AdamW"]


class Adam(Moments):
    """Steps of the running mean of gradients, over the root of the running mean of their squares.

    `foreach`, `fused` and `capturable` choose between implementations of the same step elsewhere;
    there is one here.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.Adam([x], lr=0.5)
    >>> (x * 3).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([0.5000], requires_grad=True)
    """

    _instead_of_sparse = "SparseAdam"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            amsgrad=amsgrad,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=decoupled_weight_decay,
        )

    def _check(self, options: dict[str, Any]) -> None:
        at_once = options["foreach"] and not options["capturable"]
        if isinstance(options["lr"], Tensor) and at_once:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        super()._check(options)
        betas = options["betas"]
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        for index, beta in enumerate(betas):
            if isinstance(beta, Tensor) and at_once:
                raise ValueError(
                    f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True"
                )

    def _descent(self, group: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        rate, *betas = map(number, (group["lr"], *group["betas"]))
        return "adam", (rate, *betas, group["eps"], decoupled(group), group["amsgrad"])

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        super()._begin(parameter, group, state)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(parameter)

    def _change(
        self, parameter: Tensor, gradient: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        gradient = decayed(parameter, gradient, group)
        rate, (first, second) = number(group["lr"]), map(number, group["betas"])
        mean, square = self._means(gradient, (first, second), state)
        if _is_recording() and not (group["amsgrad"] or isinstance(rate, Tensor)):
            # Numbers of the program's would stay as they are when the step is taken again without it.
            means = (mean, square, state["step"])
            _advance(parameter, means, rate, (first, second), group["eps"])
            return
        step = state["step"].item()
        if group["amsgrad"]:
            most = state["max_exp_avg_sq"]
            before = most.clone() if group.get("differentiable") else most  # what is compared is saved
            square = most.copy_(maximum(before, square))
        spread = (square.sqrt() / (1 - second**step) ** 0.5).add_(group["eps"])
        advance(parameter, mean, spread, rate / (1 - first**step))


class AdamW(Adam):
    """Adam whose weight decay does not go through the running means.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimiser = torch.optim.AdamW([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimiser.step()
    >>> x
    tensor([0.8990], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


def adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Take a step of `Adam` with listed states; `max_exp_avg_sqs` is looked at for `amsgrad` only."""
    states = {
        "step": state_steps,
        "exp_avg": exp_avgs,
        "exp_avg_sq": exp_avg_sqs,
        "max_exp_avg_sq": max_exp_avg_sqs,
    }
    group = {
        "lr": lr,
        "betas": (beta1, beta2),
        "eps": eps,
        "weight_decay": weight_decay,
        "amsgrad": amsgrad,
        "maximize": maximize,
        "differentiable": differentiable,
        "decoupled_weight_decay": decoupled_weight_decay,
    }
    stepped(Adam, params, grads, states, group)


def adamw(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Take a step of `AdamW` with listed states."""
    adam(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        differentiable=differentiable,
        decoupled_weight_decay=True,
        amsgrad=amsgrad,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=weight_decay,
        eps=eps,
        maximize=maximize,
    )
