"""Losses that say how unlikely a model finds what it should have found."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from ... import _rushlight as native
from ..._calls.arguments import require_tensors
from ..._calls.precision import exact
from ..._calls.showing import shown
from ..._functions.composites import broadcast_shapes
from ...autograd.grad_mode import no_grad
from .reductions import checked_reduction, chosen_reduction, reduced, reduction_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._rushlight import Tensor

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "gaussian_nll_loss",
    "kl_div",
    "nll_loss",
    "poisson_nll_loss",
]

_nn = native._nn


@shown
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropy of logits and their classes (or the classes' probabilities).

    >>> import rushlight as torch
    >>> torch.nn.functional.cross_entropy(torch.zeros(1, 2), torch.tensor([1]))
    tensor(0.6931)
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    return _nn.cross_entropy_loss(
        input, target, weight, reduction_number(reduction), ignore_index, label_smoothing
    )


@shown
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log-probabilities of the classes in `target`.

    >>> import rushlight as torch
    >>> torch.nn.functional.nll_loss(torch.tensor([[-1.0, -3.0]]), torch.tensor([1]))
    tensor(3.)
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    return _nn.nll_loss_nd(input, target, weight, reduction_number(reduction), ignore_index)


@shown
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the cross entropy of probabilities and those in `target`.

    >>> import rushlight as torch
    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.ones(1))
    tensor(0.6931)
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    number = reduction_number(reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        shape = broadcast_shapes(target.shape, weight.shape)
        weight = weight.expand(shape)
    return _nn.binary_cross_entropy(input, target, weight, number)


@shown
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the cross entropy of logits and the probabilities in `target`.

    >>> import rushlight as torch
    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.zeros(2), torch.ones(2))
    tensor(0.6931)
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    number = reduction_number(reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return native.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


@shown
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return the divergence of distributions, of which `input` is the logarithm.

    >>> import rushlight as torch
    >>> p, q = torch.tensor([0.5, 0.5]), torch.tensor([0.25, 0.75])
    >>> torch.nn.functional.kl_div(p.log(), q, reduction="sum")
    tensor(0.1308)
    """
    input, target = exact(input, target)
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    # Whoever says both is given both: what the old arguments ask for, over the size of the batch.
    by_batch = reduction == "batchmean"
    reduction = chosen_reduction(reduction, size_average, reduce)
    reduction = "sum" if reduction == "batchmean" else checked_reduction(reduction, None, None)
    require_tensors("kl_div", input=input, target=target)
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        difference = target - input
        losses = target.exp() * difference
    else:
        expected = target * input  # Recorded first, as in torch.
        losses = native.xlogy(target, target) - expected
    loss = reduced(losses, reduction)
    return loss / input.shape[0] if by_batch and input.dim() != 0 else loss


@shown
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log-likelihood of counts.

    >>> import rushlight as torch
    >>> torch.nn.functional.poisson_nll_loss(torch.zeros(2), torch.tensor([0.0, 2.0]), reduction="none")
    tensor([1., 1.])
    """
    input, target = exact(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if log_input:
        expected = target * input  # Recorded first, as in torch.
        losses = input.exp() - expected
    else:
        losses = input - target * _nn.add_number(input, eps).log()
    if full:
        half = _nn.mul_number(_nn.mul_number(target, 2 * math.pi).log(), 0.5)
        stirling = target * target.log() - target + half
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced(losses, reduction)


def _is_shared(shape: Sequence[int], whole: Sequence[int]) -> bool:
    """Tell whether one dimension has one element for all of those of the whole."""
    if len(shape) != len(whole):
        return False
    others = [size for size, full in zip(shape, whole, strict=True) if size != full]
    return others == [1]


@shown
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log-likelihood of normal distributions.

    >>> import rushlight as torch
    >>> torch.nn.functional.gaussian_nll_loss(torch.zeros(1), torch.tensor([2.0]), torch.ones(1))
    tensor(2.)
    """
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * native.ones_like(input)
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif not _is_shared(var.shape, input.shape):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses += 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction)
