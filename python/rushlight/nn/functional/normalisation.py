"""Normalisation as functions."""

from __future__ import annotations

from collections.abc import Sequence

from ... import _rushlight as native
from ..._calls.showing import shown
from ..._rushlight import Tensor
from .paddings import pad
from .pools import avg_pool2d, avg_pool3d

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]


@shown
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
    """Normalise every channel over all else.

    >>> import rushlight as torch
    >>> mean, variance = torch.ones(1), torch.full((1,), 4.0)
    >>> torch.nn.functional.batch_norm(torch.tensor([[5.0]]), mean, variance, eps=0.0)
    tensor([[2.]])
    """
    if training:
        _several(input.shape, "value per channel")
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return native.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def _several(size: Sequence[int], what: str) -> None:
    count = size[0] if what.startswith("value") else 1
    for length in size[2:]:
        count *= length
    if count == 1:
        raise ValueError(f"Expected more than 1 {what} when training, got input size {size}")


@shown
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
    """Normalise every channel of every sample by itself.

    >>> import rushlight as torch
    >>> torch.nn.functional.instance_norm(torch.tensor([[[1.0, 3.0]]]), eps=0.0)
    tensor([[[-1.,  1.]]])
    """
    if use_input_stats:
        _several(input.shape, "spatial element")
    elif running_mean is None or running_var is None:
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
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


@shown
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


@shown
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise groups of channels of every sample.

    >>> import rushlight as torch
    >>> torch.nn.functional.group_norm(torch.tensor([[1.0, 3.0]]), 1, eps=0.0)
    tensor([[-1.,  1.]])
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    size = input.shape
    _several([size[0] * size[1] // num_groups, num_groups, *size[2:]], "value per channel")
    return native.group_norm(input, num_groups, weight, bias, eps, False)


@shown
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide the last dimensions by the root of their mean square.

    >>> import rushlight as torch
    >>> torch.nn.functional.rms_norm(torch.tensor([3.0, 3.0]), [2])
    tensor([1., 1.])
    """
    found = native.rms_norm(input, normalized_shape, weight, eps)
    order = {4: native.channels_last, 5: native.channels_last_3d}.get(found.ndim, native.contiguous_format)
    return found if found.is_contiguous(memory_format=order) else found.contiguous()


@shown
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide every element by a power of the mean square of the channels around it.

    >>> import rushlight as torch
    >>> torch.nn.functional.local_response_norm(torch.ones(1, 1, 1), 1, alpha=3.0, beta=1.0)
    tensor([[[0.2500]]])
    """
    if input.dim() < 3:
        gap = " " * 25
        raise ValueError(f"Expected 3D or higher dimensionality {gap}input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    before, behind = size // 2, (size - 1) // 2
    if input.dim() == 3:
        squares = pad(squares.unsqueeze(1), (0, 0, before, behind))
        means = avg_pool2d(squares, (size, 1), stride=1).squeeze(1)
    else:
        length = input.shape
        squares = squares.view(length[0], 1, length[1], length[2], -1)
        squares = pad(squares, (0, 0, 0, 0, before, behind))
        means = avg_pool3d(squares, (size, 1, 1), stride=1).squeeze(1).view(length)
    return input / means.mul(alpha).add(k).pow(beta)


@shown
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
