"""Pooling as modules.

Each looks for the function of its name in `functional` when it is called: programs that count what a network
computes put others there.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..._rushlight import Tensor
from .. import functional
from .._dimensions import spread
from ._shown import constructed_by_name, shown
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]


class _MaxPoolNd(Module):
    function: ClassVar[str]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """Return the greatest elements of windows."""
        return getattr(functional, self.function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        """Show the arguments."""
        return shown(self, "kernel_size", "stride", "padding", "dilation", "ceil_mode")


class MaxPool1d(_MaxPoolNd):
    """The greatest elements of windows over one dimension.

    >>> import rushlight as torch
    >>> torch.nn.MaxPool1d(2)(torch.arange(4.0).view(1, 4)).flatten()
    tensor([1., 3.])
    """

    function = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """The greatest elements of windows over two dimensions.

    >>> import rushlight as torch
    >>> torch.nn.MaxPool2d(2)(torch.ones(1, 1, 4, 4)).shape
    torch.Size([1, 1, 2, 2])
    """

    function = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """The greatest elements of windows over three dimensions.

    >>> import rushlight as torch
    >>> torch.nn.MaxPool3d(2)(torch.arange(8.0).view(1, 2, 2, 2)).flatten()
    tensor([7.])
    """

    function = "max_pool3d"


class _AvgPoolNd(Module):
    def extra_repr(self) -> str:
        """Show the arguments."""
        return shown(self, "kernel_size", "stride", "padding")


class AvgPool1d(_AvgPoolNd):
    """The averages over windows over one dimension.

    >>> import rushlight as torch
    >>> torch.nn.AvgPool1d(2)(torch.arange(4.0).view(1, 4)).flatten()
    tensor([0.5000, 2.5000])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = spread(kernel_size, 1)
        self.stride = spread(stride if stride is not None else kernel_size, 1)
        self.padding = spread(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Apply `avg_pool1d`."""
        arguments = (self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        return functional.avg_pool1d(input, *arguments)


class _AvgPool(_AvgPoolNd):
    function: ClassVar[str]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Any:
        """Return the averages over windows."""
        return getattr(functional, self.function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


@constructed_by_name
class AvgPool2d(_AvgPool):
    """The averages over windows over two dimensions.

    >>> import rushlight as torch
    >>> torch.nn.AvgPool2d(2)(torch.arange(4.0).view(1, 2, 2)).flatten()
    tensor([1.5000])
    """

    function = "avg_pool2d"


@constructed_by_name
class AvgPool3d(_AvgPool):
    """The averages over windows over three dimensions.

    >>> import rushlight as torch
    >>> torch.nn.AvgPool3d(2)(torch.arange(8.0).view(1, 2, 2, 2)).flatten()
    tensor([3.5000])
    """

    function = "avg_pool3d"


class _AdaptivePoolNd(Module):
    function: ClassVar[str]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Any:
        """Pool over as many windows as are wanted."""
        return getattr(functional, self.function)(input, self.output_size)

    def extra_repr(self) -> str:
        """Show the sizes that are wanted."""
        return shown(self, "output_size")


@constructed_by_name
class _AdaptiveAvgPoolNd(_AdaptivePoolNd):
    """Those of averages."""


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The averages over as many windows over one dimension as are wanted.

    >>> import rushlight as torch
    >>> torch.nn.AdaptiveAvgPool1d(1)(torch.arange(4.0).view(1, 4)).flatten()
    tensor([1.5000])
    """

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The averages over as many windows over two dimensions as are wanted.

    >>> import rushlight as torch
    >>> torch.nn.AdaptiveAvgPool2d(1)(torch.arange(4.0).view(1, 2, 2)).flatten()
    tensor([1.5000])
    """

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The averages over as many windows over three dimensions as are wanted.

    >>> import rushlight as torch
    >>> torch.nn.AdaptiveAvgPool3d(1)(torch.arange(8.0).view(1, 2, 2, 2)).flatten()
    tensor([3.5000])
    """

    function = "adaptive_avg_pool3d"


class _AdaptiveMaxPoolNd(_AdaptivePoolNd):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """Return the greatest elements of as many windows as are wanted."""
        return getattr(functional, self.function)(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The greatest elements of as many windows over one dimension as are wanted.

    >>> import rushlight as torch
    >>> torch.nn.AdaptiveMaxPool1d(1)(torch.arange(4.0).view(1, 4)).flatten()
    tensor([3.])
    """

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The greatest elements of as many windows over two dimensions as are wanted.

    >>> import rushlight as torch
    >>> torch.nn.AdaptiveMaxPool2d(1)(torch.arange(4.0).view(1, 2, 2)).flatten()
    tensor([3.])
    """

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The greatest elements of as many windows over three dimensions as are wanted.

    >>> import rushlight as torch
    >>> torch.nn.AdaptiveMaxPool3d(1)(torch.arange(8.0).view(1, 2, 2, 2)).flatten()
    tensor([7.])
    """

    function = "adaptive_max_pool3d"
