"""Losses of what a linear layer makes of its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ... import _rushlight as native
from ..._calls.showing import shown
from ..._rushlight import Tensor
from ..._tensors.typename import scalar_name
from .likelihoods import cross_entropy

__all__ = ["LinearCrossEntropyOptions", "linear_cross_entropy"]

_POLICIES = ("accurate", "balanced", "compact", "auto")
_TYPES = (None, native.float16, native.bfloat16, native.float32, native.float64)


@dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """In which pieces `linear_cross_entropy` may be computed. Here it is computed whole.

    >>> import rushlight as torch
    >>> torch.nn.LinearCrossEntropyOptions().acc_policy
    'auto'
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        size, method = self.batch_chunk_size, self.chunking_method
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size}")
        start, _, ratio = (method or "auto").partition(":")
        if method not in (None, "auto") and not (start == "aspect_ratio" and ratio.isdigit()):
            raise ValueError(f"invalid chunking_method: {method!r}")
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.acc_dtype not in _TYPES:
            names = ", ".join(str(one).replace("rushlight", "torch") for one in _TYPES)
            raise ValueError(
                f"acc_dtype must be one of {{{names}}}, got {self.acc_dtype}. Pass acc_dtype=None to let the "
                "op pick automatically."
            )


@shown
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """Return the cross entropy of what a linear layer makes of `input`. The first dimension of its weight is
    that of classes, the last that of features.

    >>> import rushlight as torch
    >>> x, weight = torch.ones(1, 3), torch.zeros(2, 3)
    >>> torch.nn.functional.linear_cross_entropy(x, weight, torch.tensor([1]))
    tensor(0.6931)
    """
    _check(input, linear_weight, linear_bias)
    *shape, features = linear_weight.shape
    flat = None if linear_bias is None else linear_bias.flatten()
    logits = native._nn.linear(input, linear_weight.reshape(-1, features), flat)
    if len(shape) > 1:
        logits = logits.view(len(input), *shape)
    if target.shape == logits.shape and target.is_floating_point():
        if ignore_index is not None:
            raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    elif target.ndim < logits.ndim and target.dtype not in (native.int64, native.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {scalar_name(target)}")
    return cross_entropy(
        logits,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )


def _check(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    shape = tuple(weight.shape)
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if len(shape) < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {len(shape)}")
    if input.shape[-1] != shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {shape[-1]}, respectively"
        )
    if len(shape) > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {shape} requires batched input, "
            f"(N, {shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    if bias is not None and bias.shape != shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {shape[:-1]}, got {tuple(bias.shape)}")
