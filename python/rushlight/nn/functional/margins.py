"""Losses of what is on the wrong side of a margin, or too near to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import _rushlight as native
from ..._calls.arguments import require_tensors
from ..._calls.precision import exact
from ..._calls.showing import shown, shown_to
from ..._tensors.typename import scalar_name
from .distances import pairwise_distance
from .reductions import checked_reduction, chosen_reduction, reduced, reduction_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._rushlight import Tensor

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

_nn = native._nn


@shown
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return `x` where the target is 1, `max(0, margin - x)` where it is -1.

    >>> import rushlight as torch
    >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.2, 0.2]), torch.tensor([1.0, -1.0]))
    tensor(0.5000)
    """
    input, target = exact(input, target)
    reduction = checked_reduction(reduction, size_average, reduce)
    zeros = native.zeros_like(input)
    far = native.where(target != 1, (native.full_like(input, margin) - input).clamp_min_(0), zeros)
    near = native.where(target != -1, input, zeros)
    return reduced(far + near, reduction)


@shown
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return how far two inputs are from the order that the target wants.

    >>> import rushlight as torch
    >>> torch.nn.functional.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """
    input1, input2, target = exact(input1, input2, target)
    reduction = checked_reduction(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return reduced(_nn.add_number(-target * (input1 - input2), float(margin)).clamp_min_(0), reduction)


@shown
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return `log(1 + exp(-target * input))`.

    >>> import rushlight as torch
    >>> torch.nn.functional.soft_margin_loss(torch.zeros(1), torch.ones(1))
    tensor(0.6931)
    """
    require_tensors("soft_margin_loss", input=input, target=target)
    input, target = exact(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if input.is_floating_point() and target.is_floating_point():
        # The losses are of the type that the input has.
        target = target.to(input.dtype)

    def losses(input: Tensor, target: Tensor) -> Tensor:
        if input.is_floating_point() and not (target.is_floating_point() or target.is_complex()):
            # Not all of these have negatives.
            target = target.to(input.dtype)
        return reduced((input * -target).exp_().log1p(), reduction)

    (loss,) = native._as_one(
        losses,
        ("soft_margin_loss", "SoftMarginLossBackward0", "self target -"),
        (1, 0, 0),
        {"reduction": reduction_number(reduction)},
        input,
        target,
    )
    return loss


@shown
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the cross entropies of labels, averaged over the classes.

    >>> import rushlight as torch
    >>> torch.nn.functional.multilabel_soft_margin_loss(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    losses = -(target * _nn.log_sigmoid(input) + (1 - target) * _nn.log_sigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return reduced(losses.sum(input.dim() - 1) / input.shape[input.dim() - 1], reduction)


@shown
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return one less the cosine where the target is 1, what it exceeds `margin` by where it is -1.

    >>> import rushlight as torch
    >>> a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> torch.nn.functional.cosine_embedding_loss(a, b, torch.ones(1))
    tensor(1.)
    """
    require_tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    input1, input2, target = exact(input1, input2, target)
    reduction = checked_reduction(reduction, size_average, reduce)
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() + 1 != input1.dim() or target.dim() + 1 != input2.dim():
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with "
            f"sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    dim = target.dim()
    dot = (input1 * input2).sum(dim)
    first, second = (_nn.add_number((x * x).sum(dim), 1e-12) for x in (input1, input2))
    cosine = dot / (first * second).sqrt()
    zeros = native.zeros_like(cosine)
    near = native.where(target == 1, native.ones_like(cosine) - cosine, zeros)
    far = native.where(target == -1, _nn.sub_number(cosine, margin).clamp_min_(0), zeros)
    return reduced(near + far, reduction)


@shown
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
    """Return by how much the anchor is not nearer to what is alike than to what is not.

    >>> import rushlight as torch
    >>> anchor, other = torch.zeros(1, 2), torch.tensor([[0.6, 0.0]])
    >>> torch.nn.functional.triplet_margin_loss(anchor, anchor, other)
    tensor(0.4000)
    """
    require_tensors("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    anchor, positive, negative = exact(anchor, positive, negative)
    reduction = checked_reduction(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    _check_ranks(anchor, positive, negative)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = native.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced((_nn.add_number(near, margin) - far).clamp_min(0), reduction)


@shown
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return how far other classes are from being less likely than the right one by a margin.

    >>> import rushlight as torch
    >>> torch.nn.functional.multi_margin_loss(torch.tensor([[0.5, 1.0]]), torch.tensor([0]))
    tensor(0.7500)
    """
    require_tensors("multi_margin_loss", input=input, target=target)
    input, target = exact(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    _check_matrix(input)
    rows = len(input) if input.dim() > 1 else 1
    if target.dim() > 1 or target.numel() != rows:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples "
            f"(batch size). Expected target size [{rows}], but got {list(target.shape)}. Input has "
            f"shape {list(input.shape)}."
        )
    if target.dtype != native.int64:
        found = scalar_name(target)
        raise RuntimeError(f"expected scalar type Long but found {found}")
    if weight is not None and weight.numel() != _classes(input):
        raise RuntimeError(
            f"inconsistent weight size, expected {_classes(input)} but got {list(weight.shape)}"
        )
    return _nn.multi_margin_loss(input, target, p, margin, weight, reduction_number(reduction))


@shown
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return how far classes are from being less likely than the right ones by one.

    The right classes of each row come first in its target; what follows -1 counts for nothing.

    >>> import rushlight as torch
    >>> torch.nn.functional.multilabel_margin_loss(torch.tensor([0.5, 1.0]), torch.tensor([0, -1]))
    tensor(0.7500)
    """
    require_tensors("multilabel_margin_loss", input=input, target=target)
    input, target = exact(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    _check_matrix(input)
    if target.shape != input.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    if target.dtype != native.int64:
        is_known = target.numel() > 0 and not _symbolic(target)
        if is_known and (int(target.min()) < -1 or int(target.max()) >= _classes(input)):
            raise RuntimeError("argument #2 'target' is out of range")
        raise RuntimeError(f"expected scalar type Long but found {scalar_name(target)}")
    return _nn.multilabel_margin_loss(input, target, reduction_number(reduction))


@shown_to("anchor positive negative")
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return how far `positive` is from being nearer to `anchor` than `negative` is, by a margin.

    >>> import rushlight as torch
    >>> far, near = torch.tensor([[3.0]]), torch.tensor([[1.0]])
    >>> torch.nn.functional.triplet_margin_with_distance_loss(near, near, far)
    tensor(0.)
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    measured = pairwise_distance if distance_function is None else distance_function
    _check_ranks(anchor, positive, negative)
    near, far = measured(anchor, positive), measured(anchor, negative)
    if swap:
        far = native.minimum(far, measured(positive, negative))
    return reduced((margin + near - far).clamp_min(0), reduction)


def _check_ranks(anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D "
            "inputs"
        )


def _symbolic(x: Tensor) -> bool:
    """Tell whether the numbers cannot be read because they stand for many samples."""
    try:
        x.tolist()
    except RuntimeError:
        return True
    return False


def _classes(input: Tensor) -> int:
    return input.shape[-1] if input.dim() > 0 else 1


def _check_matrix(input: Tensor) -> None:
    if input.dim() not in (0, 1, 2) or (input.dim() > 0 and input.shape[-1] == 0):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
