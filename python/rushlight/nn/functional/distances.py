"""How far from each other tensors are: differences as losses, and distances between vectors."""

from __future__ import annotations

import warnings

from ... import _rushlight as native
from ..._calls.showing import shown, shown_as_given
from ..._messages.formatting import spell
from ..._rushlight import Tensor
from ...autograd.grad_mode import no_grad
from .reductions import chosen_reduction, reduction_number, weighed

__all__ = [
    "cosine_similarity",
    "huber_loss",
    "l1_loss",
    "mse_loss",
    "pairwise_distance",
    "smooth_l1_loss",
]

_nn = native._nn


def _matched(input: Tensor, target: Tensor) -> tuple[Tensor, ...]:
    """Return the two in one shape, with a warning where they had different ones."""
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
            "same size.",
            stacklevel=3,
        )
    return native.broadcast_tensors([input, target])


@shown
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the squared differences, averaged, added up or as they are.

    >>> import rushlight as torch
    >>> torch.nn.functional.mse_loss(torch.zeros(2), torch.tensor([1.0, 3.0]))
    tensor(5.)
    """
    input, target = _matched(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if weight is None:
        return _nn.mse_loss(input, target, reduction_number(reduction))
    return weighed((input - target) ** 2, weight, reduction)


@shown
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the absolute differences, averaged, added up or as they are.

    >>> import rushlight as torch
    >>> torch.nn.functional.l1_loss(torch.zeros(2), torch.tensor([1.0, 3.0]))
    tensor(2.)
    """
    input, target = _matched(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if weight is None:
        return _nn.l1_loss(input, target, reduction_number(reduction))
    return weighed((input - target).abs(), weight, reduction)


@shown
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return squared differences where they are below `beta`, absolute ones elsewhere.

    >>> import rushlight as torch
    >>> torch.nn.functional.smooth_l1_loss(torch.zeros(2), torch.tensor([1.0, 3.0]))
    tensor(1.5000)
    """
    input, target = _matched(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if beta == 0.0:
        return _nn.l1_loss(input, target, reduction_number(reduction))
    return _nn.smooth_l1_loss(input, target, reduction_number(reduction), beta)


@shown
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Return squared differences up to `delta`, and what grows linearly beyond.

    >>> import rushlight as torch
    >>> torch.nn.functional.huber_loss(torch.zeros(2), torch.tensor([1.0, 3.0]), delta=2.0)
    tensor(2.2500)
    """
    input, target = _matched(input, target)
    if weight is None:
        return _nn.huber_loss(input, target, reduction_number(reduction), delta)
    return weighed(_nn.huber_loss(input, target, 0, delta), weight, reduction)


@shown_as_given
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
    x1, x2 = x1.to(common), x2.to(common)
    if x1.shape != x2.shape:
        shape = native.broadcast_tensors([x1.detach(), x2.detach()])[0].shape
        x1, x2 = x1.expand(shape), x2.expand(shape)
    first, second = (x / _length(x, dim, eps) for x in (x1, x2))
    return (first * second).sum(dim)


def _length(x: Tensor, dim: int, eps: float) -> Tensor:
    """Return norms that are at least `eps`, of which gradients know nothing."""
    length = x.norm(2, dim, keepdim=True).clone()
    with no_grad():
        return length.clamp_min_(eps)


@shown_as_given
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return the norms of differences along the last dimension.

    >>> import rushlight as torch
    >>> torch.nn.functional.pairwise_distance(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """
    return _nn.norm(_nn.add_number(x1 - x2, eps), p, -1, keepdim)
