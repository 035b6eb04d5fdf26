"""Losses of what is on the wrong side of a margin, or too near to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import _rushlight as native
from .distances import pairwise_distance
from .reductions import chosen_reduction, reduced

if TYPE_CHECKING:
    from ..._rushlight import Tensor

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
]

_nn = native._nn


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
    return reduced(far + near, reduction)


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
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return `log(1 + exp(-target * input))`."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    return reduced((-target * input).exp().log1p(), reduction)


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
    return reduced(losses.sum(input.dim() - 1) / input.shape[input.dim() - 1], reduction)


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
    return reduced(near + far, reduction)


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
    return reduced((margin + near - far).clamp_min(0), reduction)
