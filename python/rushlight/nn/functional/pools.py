"""Pooling: averages and maxima of windows of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _rushlight as native
from ..._calls.showing import shown, shown_with
from ..._rushlight import Tensor

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
]

_nn = native._nn

avg_pool1d = native.avg_pool1d
avg_pool2d = _nn.avg_pool2d
avg_pool3d = _nn.avg_pool3d
adaptive_avg_pool1d = native.adaptive_avg_pool1d


def _max_pool(
    function: Callable[..., Any], name: str, plain: Callable[..., Any] | None = None
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make `name`, which returns indices only if it is asked to, and the form that always does."""

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return function(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)

    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        if plain is not None and not return_indices:
            return plain(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)
        found = with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return found if return_indices else found[0]

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = "Return the greatest elements of windows, with `return_indices` also where they are."
    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    with_indices.__doc__ = "Return the greatest elements of windows, and where they are."
    with_indices = shown(with_indices)
    return shown_with(with_indices)(pool), with_indices


max_pool1d, max_pool1d_with_indices = _max_pool(
    native.max_pool1d_with_indices, "max_pool1d", native.max_pool1d
)
max_pool2d, max_pool2d_with_indices = _max_pool(_nn.max_pool2d_with_indices, "max_pool2d")
max_pool3d, max_pool3d_with_indices = _max_pool(_nn.max_pool3d_with_indices, "max_pool3d")


def _whole(input: Tensor, output_size: Any) -> Any:
    """Refuse more sizes than there are dimensions to have them."""
    if isinstance(output_size, (tuple, list)) and input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return output_size


@shown
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return the averages over as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(4.0).view(1, 2, 2), 1)
    tensor([[[1.5000]]])
    """
    return _nn.adaptive_avg_pool2d(input, _whole(input, output_size))


@shown
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Return the averages over as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_avg_pool3d(torch.arange(8.0).view(1, 2, 2, 2), 1).item()
    3.5
    """
    return _nn.adaptive_avg_pool3d(input, _whole(input, output_size))


@shown
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the greatest elements of as many windows as `output_size` says, and where they are.

    >>> import rushlight as torch
    >>> x = torch.arange(4.0).view(1, 4)
    >>> torch.nn.functional.adaptive_max_pool1d_with_indices(x, 2)[1].flatten()
    tensor([1, 3])
    """
    return native.adaptive_max_pool1d(input, output_size)


@shown
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the greatest elements of as many windows as `output_size` says, and where they are.

    >>> import rushlight as torch
    >>> x = torch.arange(8.0).view(1, 2, 4)
    >>> torch.nn.functional.adaptive_max_pool2d_with_indices(x, (1, 2))[1].flatten()
    tensor([5, 7])
    """
    return _nn.adaptive_max_pool2d(input, _whole(input, output_size))


@shown
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the greatest elements of as many windows as `output_size` says, and where they are.

    >>> import rushlight as torch
    >>> x = torch.arange(16.0).view(1, 2, 2, 4)
    >>> torch.nn.functional.adaptive_max_pool3d_with_indices(x, (1, 1, 2))[1].flatten()
    tensor([13, 15])
    """
    return _nn.adaptive_max_pool3d(input, _whole(input, output_size))


@shown_with(adaptive_max_pool1d_with_indices)
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the greatest elements of as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_max_pool1d(torch.arange(4.0).view(1, 4), 2)
    tensor([[1., 3.]])
    """
    found = adaptive_max_pool1d_with_indices(input, output_size)
    return found if return_indices else found[0]


@shown_with(adaptive_max_pool2d_with_indices)
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the greatest elements of as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_max_pool2d(torch.arange(4.0).view(1, 2, 2), 1)
    tensor([[[3.]]])
    """
    found = adaptive_max_pool2d_with_indices(input, output_size)
    return found if return_indices else found[0]


@shown_with(adaptive_max_pool3d_with_indices)
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the greatest elements of as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_max_pool3d(torch.arange(8.0).view(1, 2, 2, 2), 1).item()
    7.0
    """
    found = adaptive_max_pool3d_with_indices(input, output_size)
    return found if return_indices else found[0]
