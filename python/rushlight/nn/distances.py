"""Losses that are formulas of other operations, and distances between vectors."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from .. import _rushlight as native
from .._spelling import spell
from ..autograd.grad_mode import no_grad
from .reductions import chosen_reduction, reduction_number

if TYPE_CHECKING:
    from .._rushlight import Tensor

__all__ = [
    "binary_cross_entropy",
    "cosine_embedding_loss",
    "cosine_similarity",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "multilabel_soft_margin_loss",
    "pairwise_distance",
    "poisson_nll_loss",
    "scaled_dot_product_attention",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
]

_nn = native._nn


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    """Average losses, add them up, or leave them as they are."""
    number = reduction_number(reduction)
    return losses if number == 0 else losses.mean() if number == 1 else losses.sum()


def _warn_of_sizes(input: Tensor, target: Tensor) -> None:
    if target.shape != input.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
            "same size.",
            stacklevel=3,
        )


def _weighed(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    losses = losses * weight
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction == "mean":
        return losses.sum() / weight.sum()
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the absolute differences, averaged, added up or as they are."""
    _warn_of_sizes(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    input, target = native.broadcast_tensors([input, target])
    if weight is None:
        return _nn.l1_loss(input, target, reduction_number(reduction))
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    return _weighed((input - target).abs(), weight, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return squared differences where they are below `beta`, absolute ones elsewhere."""
    _warn_of_sizes(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    input, target = native.broadcast_tensors([input, target])
    if beta == 0.0:
        return _nn.l1_loss(input, target, reduction_number(reduction))
    return _nn.smooth_l1_loss(input, target, reduction_number(reduction), beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Return squared differences up to `delta`, and what grows linearly beyond."""
    _warn_of_sizes(input, target)
    input, target = native.broadcast_tensors([input, target])
    if weight is None:
        return _nn.huber_loss(input, target, reduction_number(reduction), delta)
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    return _weighed(_nn.huber_loss(input, target, 0, delta), weight, reduction)


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
        weight = weight.expand(native.broadcast_tensors([weight, target])[0].shape)
    return _nn.binary_cross_entropy(input, target, weight, number)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return the divergence of distributions, of which `input` is the logarithm."""
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    reduction = chosen_reduction(reduction, size_average, reduce)
    losses = target.exp() * (target - input) if log_target else native.xlogy(target, target) - target * input
    if reduction != "batchmean":
        return _reduced(losses, reduction)
    total = losses.sum()
    return total / input.shape[0] if input.dim() != 0 else total


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
    """Return the negative log-likelihood of counts."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return _reduced(losses, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log-likelihood of normal distributions."""
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * native.ones_like(input)
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.shape[:-1] != var.shape[:-1] or var.shape[-1] != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses += 0.5 * math.log(2 * math.pi)
    return _reduced(losses, reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return `x` where the target is 1, `max(0, margin - x)` where it is -1."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    zeros = native.zeros_like(input)
    far = native.where(target != 1, (margin - input).clamp_min(0), zeros)
    near = native.where(target != -1, input, zeros)
    return _reduced(far + near, reduction)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return how far two inputs are from the order that the target wants."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return _reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return `log(1 + exp(-target * input))`."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    return _reduced((-target * input).exp().log1p(), reduction)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of the angle between vectors.

    >>> import rushlight as torch
    >>> torch.nn.functional.cosine_similarity(torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 0.0]]))
    tensor([1.])
    """
    common = native.result_type(x1, x2)
    if not common.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {spell(common):Float}"
        )
    x1, x2 = (x.to(common) for x in native.broadcast_tensors([x1, x2]))
    first, second = (x / x.norm(2, dim, keepdim=True).clamp_min(eps) for x in (x1, x2))
    return (first * second).sum(dim)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return the norms of differences along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return one less the cosine where the target is 1, what it exceeds `margin` by where it is -1."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if target.dim() + 1 != input1.dim() or target.dim() + 1 != input2.dim():
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with "
            f"sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    square = 1e-12
    dot = (input1 * input2).sum(-1)
    lengths = ((input1 * input1).sum(-1) + square) * ((input2 * input2).sum(-1) + square)
    cosine = dot / lengths.sqrt()
    zeros = native.zeros_like(cosine)
    near = native.where(target == 1, 1 - cosine, zeros)
    far = native.where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return _reduced(near + far, reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return by how much the anchor is not nearer to what is alike than to what is not."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = native.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduced((margin + near - far).clamp_min(0), reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the cross entropies of labels, averaged over the classes."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    losses = -(target * _nn.log_sigmoid(input) + (1 - target) * _nn.log_sigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return _reduced(losses.sum(input.dim() - 1) / input.shape[input.dim() - 1], reduction)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return the values, weighed by how well the keys answer each query."""
    if is_causal and attn_mask is not None:
        raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * factor
    if is_causal:
        attn_mask = native.ones(query.shape[-2], key.shape[-2], dtype=native.bool).tril()
    if attn_mask is not None:
        if attn_mask.dtype is native.bool:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask
    weights = scores.softmax(-1)
    if dropout_p > 0.0:
        weights = native.dropout(weights, dropout_p, True)
    return weights @ value
