"""Normalisation, dropout and embeddings as functions, and distances between vectors."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from .. import _rushlight as native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._rushlight import Tensor

__all__ = [
    "alpha_dropout",
    "batch_norm",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "embedding",
    "feature_alpha_dropout",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "one_hot",
    "rms_norm",
]


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise every channel over all else."""
    if training:
        _several(input.shape, "value per channel")
    return native.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def _several(size: Sequence[int], what: str) -> None:
    count = size[0] if what.startswith("value") else 1
    for length in size[2:]:
        count *= length
    if count == 1:
        raise ValueError(f"Expected more than 1 {what} when training, got input size {size}")


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise every channel of every sample by itself."""
    if use_input_stats:
        _several(input.shape, "spatial element")
    batch, channels = input.shape[:2]

    def repeated(values: Tensor | None) -> Tensor | None:
        return None if values is None else values.repeat(batch)

    mean, var = repeated(running_mean), repeated(running_var)
    flat = input.contiguous().view(1, batch * channels, *input.shape[2:])
    result = native.batch_norm(
        flat, repeated(weight), repeated(bias), mean, var, use_input_stats, momentum, eps, False
    )
    if use_input_stats:
        for held, moved in ((running_mean, mean), (running_var, var)):
            if held is not None and moved is not None:
                held.detach().copy_(moved.view(batch, channels).mean(0))
    return result.view(input.shape)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise the last dimensions.

    >>> import rushlight as torch
    >>> torch.nn.functional.layer_norm(torch.tensor([1.0, 3.0]), (2,))
    tensor([-1.0000,  1.0000])
    """
    return native.layer_norm(input, normalized_shape, weight, bias, eps, False)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise groups of channels of every sample."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    size = input.shape
    _several((size[0] * size[1] // num_groups, num_groups, *size[2:]), "value per channel")
    return native.group_norm(input, num_groups, weight, bias, eps, False)


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide the last dimensions by the root of their mean square."""
    return native.rms_norm(input, normalized_shape, weight, eps)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide every element by a power of the mean square of the channels around it."""
    from . import shapes

    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = input.mul(input).unsqueeze(1)
    before, behind = size // 2, (size - 1) // 2
    if input.dim() == 3:
        squares = shapes.pad(squares, (0, 0, before, behind))
        means = shapes.avg_pool2d(squares, (size, 1), stride=1).squeeze(1)
    else:
        length = input.shape
        squares = squares.view(length[0], 1, length[1], length[2], -1)
        squares = shapes.pad(squares, (0, 0, 0, 0, before, behind))
        means = shapes.avg_pool3d(squares, (size, 1, 1), stride=1).squeeze(1).view(length)
    return input / means.mul(alpha).add(k).pow(beta)


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """Divide vectors by their norm.

    >>> import rushlight as torch
    >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else native.div(input, length, out=out)


def _checked(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Leave elements out with probability `p`, and make the others up for it."""
    _checked(p)
    return native.dropout_(input, p, training) if inplace else native.dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Leave elements out so that mean and variance stay."""
    _checked(p)
    function = native.alpha_dropout_ if inplace else native.alpha_dropout
    return function(input, p, training)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Leave channels out so that mean and variance stay."""
    _checked(p)
    function = native.feature_alpha_dropout_ if inplace else native.feature_alpha_dropout
    return function(input, p, training)


def _channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    _checked(p)
    function = native.feature_dropout_ if inplace else native.feature_dropout
    return function(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Leave whole channels out of (N, C, L) or (C, L)."""
    ndim = input.dim()
    _checked(p)
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that "
            f"dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an "
            "optional batch dimension (i.e. 2D or 3D inputs)."
        )
    if ndim == 3:
        return _channels(input, p, training, inplace)
    lifted = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _channels(lifted, p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Leave whole channels out of images."""
    _checked(p)
    ndim = input.dim()
    if ndim not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {ndim}-D input to dropout2d, which is deprecated and will result in an "
            "error in a future release. To retain the behavior and silence this warning, please use dropout "
            "instead. Note that dropout2d exists to provide channel-wise dropout on inputs with 2 spatial "
            "dimensions, a channel dimension, and an optional batch dimension (i.e. 3D or 4D inputs).",
            stacklevel=2,
        )
    if ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
            "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
            "will change in a future release to interpret the input as one without a batch dimension, i.e. "
            "shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using "
            "dropout1d instead.",
            stacklevel=2,
        )
    return _channels(input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Leave whole channels out of volumes."""
    _checked(p)
    ndim = input.dim()
    if ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {ndim}-D input to dropout3d, which is deprecated and will result in an "
            "error in a future release. To retain the behavior and silence this warning, please use dropout "
            "instead. Note that dropout3d exists to provide channel-wise dropout on inputs with 3 spatial "
            "dimensions, a channel dimension, and an optional batch dimension (i.e. 4D or 5D inputs).",
            stacklevel=2,
        )
    if ndim != 4:
        return _channels(input, p, training, inplace)
    lifted = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _channels(lifted, p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return the rows of `weight` that `input` names.

    >>> import rushlight as torch
    >>> torch.nn.functional.embedding(torch.tensor([1, 0]), torch.tensor([[1.0], [2.0]]))
    tensor([[2.],
            [1.]])
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.shape[0]
        assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
        padding_idx %= rows
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return native.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _shorten(weight: Tensor, input: Tensor, most: float, order: float) -> None:
    """Scale the rows that are named and longer than `most` down to it, in place."""
    table = weight.detach()
    for row in sorted(set(input.flatten().tolist())):
        length = table[row].norm(order).item()
        if length > most:
            table[row] *= most / (length + 1e-7)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return rows of zeros with a one at the class.

    >>> import rushlight as torch
    >>> torch.nn.functional.one_hot(torch.tensor([1, 0]))
    tensor([[0, 1],
            [1, 0]])
    """
    if tensor.dtype is not native.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if native._is_batchedtensor(tensor):
        if num_classes <= 0:
            raise RuntimeError(
                "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes "
                "argument."
            )
        return tensor.unsqueeze(-1).eq(native.arange(num_classes)).to(native.int64)
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return native.zeros((*tensor.shape, num_classes), dtype=native.int64)
    if tensor.min().item() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(tensor.max().item()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif tensor.max().item() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    zeros = native.zeros((*tensor.shape, num_classes), dtype=native.int64)
    return zeros.scatter_(-1, tensor.unsqueeze(-1), 1)
