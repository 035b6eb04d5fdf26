"""Layers and losses as functions: torch's arguments, checked here, computed by the engine."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from .. import _rushlight as native
from . import activations, distances, normalisation, shapes
from .activations import *  # noqa: F403 - each family says what it has
from .activations import implicit_dim
from .distances import *  # noqa: F403
from .normalisation import *  # noqa: F403
from .reductions import chosen_reduction, reduction_number
from .shapes import *  # noqa: F403

if TYPE_CHECKING:
    from .._rushlight import Tensor, dtype

__all__ = [
    *activations.__all__,
    *distances.__all__,
    *normalisation.__all__,
    *shapes.__all__,
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "relu",
    "sigmoid",
    "softmax",
    "tanh",
]

linear = native._nn.linear
sigmoid = native.sigmoid
tanh = native.tanh


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Replace negative elements by zero.

    >>> import rushlight as torch
    >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return native.relu_(input) if inplace else native.relu(input)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Return `exp(input)`, scaled to add up to one along `dim`.

    >>> import rushlight as torch
    >>> torch.nn.functional.softmax(torch.zeros(4), dim=0)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    if dim is None:
        dim = implicit_dim("softmax", input, _stacklevel)
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Return the logarithm of `softmax`, without its loss of precision."""
    if dim is None:
        dim = implicit_dim("log_softmax", input, _stacklevel)
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


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
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. Please "
            "ensure they have the same size.",
            stacklevel=2,
        )
        input, target = native.broadcast_tensors([input, target])
    reduction = chosen_reduction(reduction, size_average, reduce)
    if weight is None:
        return native._nn.mse_loss(input, target, reduction_number(reduction))
    return _weighted_squares(input, target, weight, reduction)


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
    return native._nn.cross_entropy_loss(
        input, target, weight, reduction_number(reduction), ignore_index, label_smoothing
    )


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
    return native._nn.nll_loss_nd(input, target, weight, reduction_number(reduction), ignore_index)


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


def _weighted_squares(input: Tensor, target: Tensor, weight: Tensor, reduction: str) -> Tensor:
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    losses = (input - target) ** 2 * weight
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction == "mean":
        return losses.sum() / weight.sum()
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
