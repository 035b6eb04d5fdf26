"""A linear layer and the cross entropy of what it makes, as one module."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor
from ..functional.heads_with_losses import linear_cross_entropy
from .layers import Linear
from .losses import _WeightedLoss

if TYPE_CHECKING:
    from ..functional.heads_with_losses import LinearCrossEntropyOptions

__all__ = ["LinearCrossEntropyLoss"]

_SHOWN = (
    "in_features",
    "num_classes",
    "out_features",
    "bias",
    "reduction",
    "ignore_index",
    "label_smoothing",
    "options",
)


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of what a linear layer of its own makes of the input.

    >>> import rushlight as torch
    >>> loss = torch.nn.LinearCrossEntropyLoss(3, 2)
    >>> loss(torch.zeros(1, 3), torch.tensor([1]))
    tensor(0.6931, grad_fn=<NllLossBackward0>)
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        super().__init__(weight, None, None, reduction)
        self.in_features = in_features
        self.num_classes = num_classes
        self.out_features = out_features
        self.bias = bias
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options
        self.linear = Linear(
            in_features, num_classes * prod(out_features), bias=bias, device=device, dtype=dtype
        )

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Apply `linear_cross_entropy`."""
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return linear_cross_entropy(
            input,
            self.linear.weight.view(*shape, self.in_features),
            target,
            linear_bias=None if bias is None else bias.view(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        """Show what it was made with."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in _SHOWN)
