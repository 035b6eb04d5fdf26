"""Operators that calculate the gradients of others: `torch.ops.aten.silu_backward`.

The engine's rules are written in operations and need none of them. Programs call them by their handles, in
derivatives that they write themselves; what they are given may have a history, and what they return has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight
from .._rushlight import Tensor
from . import package

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["GRADIENTS", "layer_norm"]

_REDUCTIONS = ("none", "mean", "sum")


def _pulled_back(function: Callable[..., Tensor], grad: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    """Return the gradients of the inputs of a function, of whose result this is the gradient."""
    found: tuple[Tensor, ...] = package().func.vjp(function, *inputs)[1](grad)
    return found


def _of(name: str) -> Callable[..., Tensor]:
    """Return the gradient of a function in `nn.functional`, which takes what the function does."""

    def backward(grad: Tensor, x: Tensor, *rest: Any, **options: Any) -> Tensor:
        function = getattr(package().nn.functional, name)
        return _pulled_back(lambda x: function(x, *rest, **options), grad, x)[0]

    return backward


def _of_loss(name: str, *parameters: str) -> Callable[..., Tensor]:
    """Return the gradient of a loss, which is told by a number how it is reduced, and then its parameters."""

    def backward(grad: Tensor, x: Tensor, target: Tensor, reduction: int, *values: float) -> Tensor:
        options = dict(zip(parameters, values, strict=True), reduction="none")
        return _of(name)(_spread(grad, x, reduction), x, target, **options)

    return backward


def _spread(grad: Tensor, x: Tensor, reduction: int) -> Tensor:
    """Return the gradient of the losses of all elements, given that of what they are reduced to."""
    return (grad / x.numel() if reduction == _REDUCTIONS.index("mean") else grad).expand(x.shape)


def _of_padding(mode: str) -> Callable[..., Tensor]:
    return lambda grad, x, padding: _of("pad")(grad, x, padding, mode)


def _elu(grad: Tensor, alpha: float, scale: float, input_scale: float, is_result: bool, x: Tensor) -> Tensor:
    low = alpha * scale
    slope = x + low if is_result else low * (x * input_scale).exp()
    return _rushlight.where(x <= 0, grad * input_scale * slope, grad * scale)


def _log_sigmoid(grad: Tensor, x: Tensor, buffer: Tensor) -> Tensor:
    return _of("logsigmoid")(grad, x)


def _log_softmax(grad: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    return (grad - output.exp() * grad.sum(dim, keepdim=True)).to(input_dtype)


def _binary_cross_entropy(
    grad: Tensor, x: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    return _of("binary_cross_entropy")(_spread(grad, x, reduction), x, target, weight, reduction="none")


def _nll_loss(
    grad: Tensor,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    options = {"ignore_index": ignore_index, "reduction": _REDUCTIONS[reduction]}
    return _of("nll_loss")(grad, x, target, weight, **options)


def layer_norm(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """Return the gradients of the input, the weight and the bias, as many as are asked for and there."""
    inner = tuple(range(-len(normalized_shape), 0))
    outer = tuple(range(input.ndim - len(normalized_shape)))
    scaled = (input - mean) * rstd
    weighted = grad_out if weight is None else grad_out * weight
    along = (weighted * scaled).mean(inner, keepdim=True)
    found: tuple[Callable[[], Tensor], ...] = (
        lambda: rstd * (weighted - weighted.mean(inner, keepdim=True) - scaled * along),
        lambda: _summed(grad_out * scaled, outer),
        lambda: _summed(grad_out, outer),
    )
    wanted = (output_mask[0], output_mask[1] and weight is not None, output_mask[2] and bias is not None)
    return tuple(made() if is_wanted else None for made, is_wanted in zip(found, wanted, strict=True))


def _summed(x: Tensor, dims: tuple[int, ...]) -> Tensor:
    return x.sum(dims) if dims else x


def _embedding(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    table = grad.new_zeros(num_weights, grad.shape[-1])
    skipped = padding_idx if padding_idx >= 0 else None

    def chosen(table: Tensor) -> Tensor:
        found: Tensor = package().nn.functional.embedding(
            indices, table, skipped, scale_grad_by_freq=scale_grad_by_freq
        )
        return found

    return _pulled_back(chosen, grad, table)[0]


def _convolution(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    rest = (None, stride, padding, dilation, transposed, output_padding, groups)
    of_x, of_weight = _pulled_back(lambda x, weight: package().convolution(x, weight, *rest), grad, x, weight)
    found = (of_x, of_weight, grad.sum((0, *range(2, grad.ndim))))
    return tuple(one if is_wanted else None for one, is_wanted in zip(found, output_mask, strict=True))


def _of_max_pool(dims: int) -> Callable[..., Tensor]:
    """Return the gradient of the largest in each window: it arrives where the index says."""

    def backward(grad: Tensor, x: Tensor, *window: Any) -> Tensor:
        indices: Tensor = window[-1]
        places = x.new_zeros(x.shape).flatten(-dims)
        return places.scatter_add(-1, indices.flatten(-dims), grad.flatten(-dims)).view(x.shape)

    return backward


def _of_adaptive_pool(dims: int) -> Callable[..., Tensor]:
    return lambda grad, x: _of(f"adaptive_avg_pool{dims}d")(grad, x, grad.shape[-dims:])


def _of_view(name: str) -> Callable[..., Tensor]:
    """Return the gradient of a view: it in its place among zeros."""
    return lambda grad, sizes, *place: getattr(grad.new_zeros(sizes), name)(grad, *place)


# By the name of the operator, what computes it.
GRADIENTS: dict[str, Callable[..., Any]] = {
    "_adaptive_avg_pool2d_backward": _of_adaptive_pool(2),
    "_adaptive_avg_pool3d_backward": _of_adaptive_pool(3),
    "_log_softmax_backward_data": _log_softmax,
    "avg_pool2d_backward": _of("avg_pool2d"),
    "avg_pool3d_backward": _of("avg_pool3d"),
    "binary_cross_entropy_backward": _binary_cross_entropy,
    "convolution_backward": _convolution,
    "diagonal_backward": _of_view("diagonal_scatter"),
    "elu_backward": _elu,
    "embedding_dense_backward": _embedding,
    "gelu_backward": _of("gelu"),
    "glu_backward": _of("glu"),
    "hardsigmoid_backward": _of("hardsigmoid"),
    "hardswish_backward": _of("hardswish"),
    "hardtanh_backward": lambda grad, x, low, high: grad.masked_fill((x <= low) | (x >= high), 0),
    "huber_loss_backward": _of_loss("huber_loss", "delta"),
    "leaky_relu_backward": lambda grad, x, slope, is_result: _rushlight.where(x > 0, grad, grad * slope),
    "log_sigmoid_backward": _log_sigmoid,
    "logit_backward": lambda grad, x, eps=None: _pulled_back(lambda x: x.logit(eps), grad, x)[0],
    "max_pool2d_with_indices_backward": _of_max_pool(2),
    "max_pool3d_with_indices_backward": _of_max_pool(3),
    "mish_backward": _of("mish"),
    "mse_loss_backward": _of_loss("mse_loss"),
    "native_layer_norm_backward": layer_norm,
    "nll_loss_backward": _nll_loss,
    **{f"reflection_pad{dims}d_backward": _of_padding("reflect") for dims in (1, 2, 3)},
    **{f"replication_pad{dims}d_backward": _of_padding("replicate") for dims in (1, 2, 3)},
    "select_backward": _of_view("select_scatter"),
    "sigmoid_backward": lambda grad, output: grad * (output * (1 - output)).conj(),
    "silu_backward": _of("silu"),
    "slice_backward": _of_view("slice_scatter"),
    "smooth_l1_loss_backward": _of_loss("smooth_l1_loss", "beta"),
    "softplus_backward": _of("softplus"),
    "tanh_backward": lambda grad, output: grad * (1 - output * output).conj(),
    "threshold_backward": lambda grad, x, threshold: grad.masked_fill(x <= threshold, 0),
}
