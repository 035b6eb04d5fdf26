"""Functions by the names of the operators that torch's modules come to, with all that those give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight as native
from .._calls.showing import shown_as_given, taking
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from .._warn_once import warn_once
from ..nn import functional
from ..nn.functional import bags
from ..nn.functional.lookups import _shorten

_CONVOLUTIONS = (native.conv1d, native.conv2d, native.conv3d)
_TRANSPOSED = (native.conv_transpose1d, native.conv_transpose2d, native.conv_transpose3d)


@shown_as_given
def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: native.dtype
) -> Tensor:
    """Return the gradient of what was given to softmax, by what that gave.

    >>> import rushlight as torch
    >>> torch._softmax_backward_data(torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5]), 0, torch.float32)
    tensor([ 0.2500, -0.2500])
    """
    weighted = grad_output * output
    return (weighted - output * weighted.sum(dim, keepdim=True)).to(input_dtype)


@shown_as_given
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Return a tensor some of whose elements are zero while training, and which are not.

    >>> import rushlight as torch
    >>> torch.native_dropout(torch.ones(2), 0.5, False)
    (tensor([1., 1.]), tensor([True, True]))
    """
    share = 1.0 - p if train is not False else 1.0
    mask = native.empty_like(input, dtype=native.bool).bernoulli_(share)
    scale = 1.0 / share if share else 0.0

    def dropped(x: Tensor, mask: Tensor) -> Tensor:
        return x * mask * scale

    names = ("native_dropout", "NativeDropoutBackward0", "- result1 -")
    parameters = {"p": p, "train": train}
    (result,) = native._as_one(dropped, names, (1, 1, 0), parameters, input, mask)
    return result, mask


@shown_as_given
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what `layer_norm` does, and the means and the reciprocals of the deviations.

    >>> import rushlight as torch
    >>> _, mean, _ = torch.native_layer_norm(torch.tensor([[1.0, 3.0]]), [2], None, None, 1e-5)
    >>> mean
    tensor([[2.]])
    """
    result = native.layer_norm(input, normalized_shape, weight, bias, eps)
    dims = list(range(-len(normalized_shape), 0))
    return result, *_statistics(input.detach(), dims, eps, keepdim=True)


@shown_as_given
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what `group_norm` does, and the means and the reciprocals of the deviations of the groups.

    >>> import rushlight as torch
    >>> _, mean, _ = torch.native_group_norm(torch.tensor([[[1.0], [3.0]]]), None, None, 1, 2, 1, 1, 1e-5)
    >>> mean
    tensor([[2.]])
    """
    result = native.group_norm(input, group, weight, bias, eps)
    groups = input.reshape(N, group, C // group * HxW)
    return result, *_statistics(groups, [2], eps)


@shown_as_given
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what `batch_norm` does, and while training the means and the reciprocals of the deviations.

    >>> import rushlight as torch
    >>> x = torch.tensor([[1.0], [3.0]])
    >>> _, mean, _ = torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    >>> mean
    tensor([2.])
    """
    result = native.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)
    if not training:
        return result, input.new_empty(0), input.new_empty(0)
    others = [dim for dim in range(input.ndim) if dim != 1]
    return result, *_statistics(input.detach(), others, eps)


@shown_as_given
def _native_batch_norm_legit(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what `native_batch_norm` does; statistics that are not kept need not be named.

    >>> import rushlight as torch
    >>> x = torch.tensor([[1.0], [3.0]])
    >>> torch._native_batch_norm_legit(x, None, None, True, 0.1, 1e-5)[1]
    tensor([2.])
    """
    kept = rest if len(rest) == 5 else (None, None, *rest)
    return native_batch_norm(input, weight, bias, *kept)


@shown_as_given
def _batch_norm_with_update(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return what `native_batch_norm` does while training, and what else was kept: nothing."""
    found = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *found, input.new_empty(0, dtype=native.uint8)


def _statistics(x: Tensor, dims: list[int], eps: float, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    variance = x.var(dims, correction=0, keepdim=keepdim)
    return x.mean(dims, keepdim=keepdim), (variance + eps).rsqrt()


@shown_as_given
def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Return a tensor with the channels of all groups in turn.

    >>> import rushlight as torch
    >>> torch.native_channel_shuffle(torch.arange(4.0).view(1, 4, 1, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    return functional.channel_shuffle(input, groups)


@shown_as_given
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """Return a convolution of as many dimensions as the weight has behind its channels.

    >>> import rushlight as torch
    >>> x, w = torch.ones(1, 1, 3), torch.ones(1, 1, 2)
    >>> torch.convolution(x, w, None, [1], [0], [1], False, [0], 1)
    tensor([[[2., 2.]]])
    """
    place = weight.ndim - 3
    if not 0 <= place < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if transposed:
        return _TRANSPOSED[place](input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _CONVOLUTIONS[place](input, weight, bias, stride, padding, dilation, groups)


@shown_as_given
def _convolution(*args: Any, **kwargs: Any) -> Tensor:
    """Return a convolution, whatever it is to be computed with."""
    named = ("benchmark", "deterministic", "cudnn_enabled", "allow_tf32")
    return convolution(*args[:9], **{name: value for name, value in kwargs.items() if name not in named})


@taking(
    "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, "
    "Tensor? per_sample_weights, bool include_last_offset, int? padding_idx)",
    "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
    "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False)",
)
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, ...]:
    """Return what rows of a table come to in bags (0: sums, 1: means, 2: maxima), and what backward goes by.

    >>> import rushlight as torch
    >>> table = torch.tensor([[1.0], [2.0], [3.0]])
    >>> torch.embedding_bag(table, torch.tensor([0, 1, 2]), torch.tensor([0, 2]))[0]
    tensor([[3.],
            [3.]])
    """
    if not isinstance(mode, int):
        raise TypeError(f"embedding_bag(): argument 'mode' must be int, not {type(mode).__name__}")
    if weight.dim() != 2:
        raise RuntimeError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if offsets.dim() != 1:
        raise RuntimeError(f"offsets has to be a 1D Tensor, but got Tensor of dimension {offsets.dim()}")
    bags._check_indices(indices, offsets)
    if mode not in (0, 1, 2):
        raise RuntimeError("`mode` must be sum, mean, or max.")
    if per_sample_weights is not None and mode != 0:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    if not weight.is_floating_point():
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, "
            f"BFloat16, Float, Double; but got torch.{scalar_name(weight)}Tensor instead (while checking "
            "arguments for embedding_bag)"
        )
    if per_sample_weights is not None and per_sample_weights.numel() != indices.numel():
        raise RuntimeError(
            "Expected per_sample_weights.value().numel() == indices.numel() to be true, but got false.  "
            "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    bags._check_shares(weight, per_sample_weights)
    if len(offsets) == 0:
        none = indices.new_empty(0)
        return weight.new_empty(0, weight.shape[1]), none, none, none
    options = {"mode": mode, "scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
    padding = bags._padding(padding_idx, weight.shape[0])
    count = len(offsets) - include_last_offset
    found = bags.in_bags(weight, indices, offsets, count, padding, per_sample_weights, options)
    return found[0], *(part.to(indices.dtype) for part in found[1:])


_OLD_NORM = (
    "at::{} is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch "
    "release. Please use `linalg.{}, dim, keepdim)` instead"
)


@shown_as_given
def frobenius_norm(
    input: Tensor, dim: int | Sequence[int], keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return the roots of the sums of squares along a dimension, or along two."""
    warn_once(_OLD_NORM.format("frobenius_norm", "vector_norm(A, 2."))
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    return native.norm(input, 2.0, dims, keepdim, out=out)


@taking(
    "(Tensor input, int[2] dim, bool keepdim=False, *, Tensor? out=None)",
    "(Tensor input, bool keepdim=False, *, Tensor? out=None)",
)
def nuclear_norm(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the sums of the singular values of matrices."""
    from ..linalg import matrix_norm

    warn_once(_OLD_NORM.format("nuclear_norm", "matrix_norm(A, 'nuc'"))
    dims = (-2, -1) if dim is None else (dim, dim) if isinstance(dim, int) else dim
    return matrix_norm(input, "nuc", dims, keepdim, out=out)


@shown_as_given
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows that are named and longer than `max_norm` down to it.

    >>> import rushlight as torch
    >>> torch.embedding_renorm_(torch.tensor([[3.0, 4.0]]), torch.tensor([0]), 1.0, 2.0)
    tensor([[0.6000, 0.8000]])
    """
    _shorten(input, indices, max_norm, norm_type)
    return input


@shown_as_given
def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Return what images have at the places of a grid.

    >>> import rushlight as torch
    >>> image, middle = torch.tensor([[[[1.0, 3.0]]]]), torch.zeros(1, 1, 1, 2)
    >>> torch.grid_sampler_2d(image, middle, 0, 0, False)
    tensor([[[[2.]]]])
    """
    from .losses import grid_sampler

    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@shown_as_given
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Return what bodies have at the places of a grid.

    >>> import rushlight as torch
    >>> body, middle = torch.tensor([[[[[1.0, 3.0]]]]]), torch.zeros(1, 1, 1, 1, 3)
    >>> torch.grid_sampler_3d(body, middle, 0, 0, False)
    tensor([[[[[2.]]]]])
    """
    from .losses import grid_sampler

    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def _shape_as_tensor(self: Tensor) -> Tensor:
    """Return the sizes as numbers."""
    return native.tensor(list(self.shape), dtype=native.int64)


def _in_place(name: str, *others: str) -> Any:
    @taking(*(f"(Tensor input, {other} other)" for other in others))
    def function(input: Tensor, other: Any) -> Tensor:
        found: Tensor = getattr(input, name)(other)
        return found

    function.__name__, function.__qualname__ = name, name
    function.__doc__ = f"Replace elements by what the method `{name}` makes of them."
    return function


gcd_ = _in_place("gcd_", "Tensor")
lcm_ = _in_place("lcm_", "Tensor")
ldexp_ = _in_place("ldexp_", "Tensor")
xlogy_ = _in_place("xlogy_", "Tensor", "Number")
