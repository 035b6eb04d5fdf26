"""Layers that do what a normalisation by batch after them would do, once nothing is learnt any more."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, TypeVar

from ..._rushlight import Tensor, ones_like, rsqrt, zeros_like
from ..parameter import Parameter

if TYPE_CHECKING:
    from typing import Any

    Layer = TypeVar("Layer")

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_eval(conv: Layer, bn: Any, transpose: bool = False) -> Layer:
    """Return a convolution that also does what `bn` does after it; `transpose` if it is a transposed one.

    >>> import rushlight as torch
    >>> conv, norm = torch.nn.Conv2d(1, 2, 3).eval(), torch.nn.BatchNorm2d(2).eval()
    >>> fused = torch.nn.utils.fuse_conv_bn_eval(conv, norm)
    >>> x = torch.ones(1, 1, 4, 4)
    >>> torch.allclose(fused(x), norm(conv(x)), atol=1e-6)
    True
    """
    layer, fused = _copied(conv, bn)
    _check_statistics(bn)
    layer.weight, layer.bias = fuse_conv_bn_weights(*_numbers(layer, bn), transpose)
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Return the weight and the bias of a convolution that normalises what it calculates."""
    # The dimension of output channels, which is that of the statistics.
    sizes = [1] * conv_w.ndim
    sizes[1 if transpose else 0] = -1
    bias = zeros_like(bn_rm) if conv_b is None else conv_b
    deviation = rsqrt(bn_rv + bn_eps)
    scale = ones_like(bn_rm) if bn_w is None else bn_w
    shift = zeros_like(bn_rm) if bn_b is None else bn_b
    fused_weight = (conv_w * (scale * deviation).reshape(sizes)).to(conv_w.dtype)
    fused_bias = (bias - bn_rm) * deviation * scale + shift
    return (
        Parameter(fused_weight, conv_w.requires_grad),
        Parameter(fused_bias.to((conv_w if conv_b is None else conv_b).dtype), bias.requires_grad),
    )


def fuse_linear_bn_eval(linear: Layer, bn: Any) -> Layer:
    """Return a linear layer that also does what `bn` does after it.

    >>> import rushlight as torch
    >>> linear, norm = torch.nn.Linear(3, 2).eval(), torch.nn.BatchNorm1d(2).eval()
    >>> fused = torch.nn.utils.fuse_linear_bn_eval(linear, norm)
    >>> x = torch.ones(4, 3)
    >>> torch.allclose(fused(x), norm(linear(x)), atol=1e-6)
    True
    """
    layer, fused = _copied(linear, bn)
    # Other numbers of features would change the shapes of weight and bias.
    if layer.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={layer.out_features} and bn.num_features={bn.num_features}"
        )
    _check_statistics(bn)
    layer.weight, layer.bias = fuse_linear_bn_weights(*_numbers(layer, bn))
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Return the weight and the bias of a linear layer that normalises what it calculates."""
    bias = zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * rsqrt(bn_rv + bn_eps)
    fused_weight = linear_w * scale.unsqueeze(-1).to(linear_w.dtype)
    fused_bias = (bias - bn_rm) * scale + bn_b
    return (
        Parameter(fused_weight, linear_w.requires_grad),
        Parameter(fused_bias.to((linear_w if linear_b is None else linear_b).dtype), bias.requires_grad),
    )


def _copied(layer: Layer, bn: Any) -> tuple[Any, Layer]:
    """Return a copy of a layer: to write to, and as what it is."""
    own: Any = layer
    if own.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    copy = deepcopy(layer)
    return copy, copy


def _check_statistics(bn: Any) -> None:
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def _numbers(layer: Any, bn: Any) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
    return layer.weight, layer.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
