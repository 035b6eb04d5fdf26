"""Layers, losses and distances as the package has them: with numbers where `nn.functional` takes words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._calls.showing import shown_as_given, taking
from .._rushlight import Tensor
from ..nn import functional

if TYPE_CHECKING:
    from typing import Any


__all__ = [
    "affine_grid_generator",
    "bilinear",
    "conv_tbc",
    "cosine_embedding_loss",
    "cosine_similarity",
    "ctc_loss",
    "grid_sampler",
    "hinge_embedding_loss",
    "instance_norm",
    "kl_div",
    "margin_ranking_loss",
    "pairwise_distance",
    "poisson_nll_loss",
    "triplet_margin_loss",
]

_REDUCTIONS = ("none", "mean", "sum")

bilinear = functional.bilinear
conv_tbc = functional.conv_tbc
cosine_similarity = functional.cosine_similarity
pairwise_distance = functional.pairwise_distance


@shown_as_given
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """Compute the cosine embedding loss of pairs, whose target is 1 if they are similar and -1 if not.

    >>> import rushlight as torch
    >>> same = torch.ones(1)
    >>> torch.cosine_embedding_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), same, reduction=1)
    tensor(1.)
    """
    return functional.cosine_embedding_loss(
        input1, input2, target, margin=margin, reduction=_REDUCTIONS[reduction]
    )


@taking(
    "(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, "
    "int reduction=at::Reduction::Mean, bool zero_infinity=False)",
    "(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, "
    "int reduction=at::Reduction::Mean, bool zero_infinity=False)",
)
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """Compute the connectionist temporal classification loss, over all alignments of the targets.

    >>> import rushlight as torch
    >>> even = torch.full((2, 1, 2), 0.5).log()
    >>> labels = torch.tensor([[1]])
    >>> torch.ctc_loss(even, labels, torch.tensor([2]), torch.tensor([1])).exp().reciprocal()
    tensor([0.7500])
    """
    return functional.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _REDUCTIONS[reduction], zero_infinity
    )


@shown_as_given
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """Compute the hinge embedding loss: distances where the target is 1, what they lack of a margin at -1.

    >>> import rushlight as torch
    >>> torch.hinge_embedding_loss(torch.tensor([0.2, 0.2]), torch.tensor([1.0, -1.0]))
    tensor([0.2000, 0.8000])
    """
    return functional.hinge_embedding_loss(input, target, margin=margin, reduction=_REDUCTIONS[reduction])


@shown_as_given
def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """Compute the Kullback-Leibler divergence, pointwise, of a target from `input` in log-space.

    >>> import rushlight as torch
    >>> p, q = torch.tensor([0.5, 0.5]), torch.tensor([0.25, 0.75])
    >>> torch.kl_div(p.log(), q, reduction=2)
    tensor(0.1308)
    """
    found = functional.kl_div(input, target, reduction="none", log_target=log_target)
    return (found, found.mean(), found.sum())[reduction] if reduction else found


@shown_as_given
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """Compute the margin ranking loss of two inputs, the first of which ranks higher if the target is 1.

    >>> import rushlight as torch
    >>> torch.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor([2.])
    """
    return functional.margin_ranking_loss(
        input1, input2, target, margin=margin, reduction=_REDUCTIONS[reduction]
    )


@shown_as_given
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """Compute the Poisson negative log likelihood loss of counts.

    >>> import rushlight as torch
    >>> torch.poisson_nll_loss(torch.zeros(2), torch.tensor([0.0, 2.0]), True, False, 1e-8, 0)
    tensor([1., 1.])
    """
    return functional.poisson_nll_loss(
        input, target, log_input=log_input, full=full, eps=eps, reduction=_REDUCTIONS[reduction]
    )


@shown_as_given
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """Compute the triplet margin loss: distance to the positive, less that to the negative, plus a margin.

    >>> import rushlight as torch
    >>> anchor, other = torch.zeros(1, 2), torch.tensor([[0.6, 0.0]])
    >>> torch.triplet_margin_loss(anchor, anchor, other, reduction=1)
    tensor(0.4000)
    """
    return functional.triplet_margin_loss(
        anchor, positive, negative, margin=margin, p=p, eps=eps, swap=swap, reduction=_REDUCTIONS[reduction]
    )


@shown_as_given
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """Apply instance normalisation: to every channel of every sample in the batch.

    >>> import rushlight as torch
    >>> x = torch.tensor([[[1.0, 3.0]]])
    >>> torch.instance_norm(x, None, None, None, None, True, 0.1, 0.0, False)
    tensor([[[-1.,  1.]]])
    """
    return functional.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


@shown_as_given
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """Generate a flow field (sampling grid) of a size, by a batch of affine matrices `theta`.

    >>> import rushlight as torch
    >>> torch.affine_grid_generator(torch.eye(2, 3)[None], (1, 1, 1, 2), False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    return functional.affine_grid(theta, size, align_corners)


@shown_as_given
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Compute the values of `input` at the locations of `grid`, by interpolation.

    >>> import rushlight as torch
    >>> image, middle = torch.tensor([[[[1.0, 3.0]]]]), torch.zeros(1, 1, 1, 2)
    >>> torch.grid_sampler(image, middle, 0, 0, False)
    tensor([[[[2.]]]])
    """
    return functional.grid_sample(
        input,
        grid,
        ("bilinear", "nearest", "bicubic")[interpolation_mode],
        ("zeros", "border", "reflection")[padding_mode],
        align_corners,
    )
