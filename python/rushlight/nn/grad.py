"""The gradients of convolutions, from what comes back and the other input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor

if TYPE_CHECKING:
    Sizes = int | Sequence[int]

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]


def _toward(
    place: int,
    convolve: Callable[..., Tensor],
    given: list[Any],
    grad_output: Tensor,
    options: tuple[Any, ...],
) -> Tensor:
    """Return the gradient of the input or the weight, which need not be there: its shape is."""
    from ..autograd import enable_grad, grad

    beside = (grad_output, given[1 - place])
    tracked = native.is_grad_enabled() and any(one.requires_grad for one in beside)
    wanted = given[place] = native.zeros(given[place], dtype=grad_output.dtype, requires_grad=True)
    with enable_grad():
        result = convolve(*given, None, *options)
        found: Any = grad(result, wanted, grad_output, create_graph=tracked)
    toward: Tensor = found[0]
    return toward


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the input of `conv1d`."""
    options = stride, padding, dilation, groups
    return _toward(0, native.conv1d, [input_size, weight], grad_output, options)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the weight of `conv1d`."""
    options = stride, padding, dilation, groups
    return _toward(1, native.conv1d, [input, weight_size], grad_output, options)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the input of `conv2d`.

    >>> import rushlight as torch
    >>> ones = torch.ones(1, 1, 2, 2)
    >>> torch.nn.grad.conv2d_input((1, 1, 2, 3), ones, torch.ones(1, 1, 1, 2))
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    """
    options = stride, padding, dilation, groups
    return _toward(0, native.conv2d, [input_size, weight], grad_output, options)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the weight of `conv2d`."""
    options = stride, padding, dilation, groups
    return _toward(1, native.conv2d, [input, weight_size], grad_output, options)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the input of `conv3d`."""
    options = stride, padding, dilation, groups
    return _toward(0, native.conv3d, [input_size, weight], grad_output, options)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the weight of `conv3d`."""
    options = stride, padding, dilation, groups
    return _toward(1, native.conv3d, [input, weight_size], grad_output, options)
