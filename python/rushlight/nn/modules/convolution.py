"""Convolutional layers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any, ClassVar

from ..._rushlight import Tensor, device, dtype, empty
from .. import functional, init
from .._dimensions import spread
from ..parameter import Parameter
from ._shown import constructed_by_name
from .module import Module

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_PADDINGS = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all have: programs make layers of their own of it, and call its constructor as torch's."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(step != 1 for step in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDINGS:
            modes = {f"'{mode}'" for mode in _PADDINGS}
            raise ValueError(
                f"padding_mode must be one of {{{', '.join(sorted(modes))}}}, but got "
                f"padding_mode='{padding_mode}'"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._around()
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        sizes = (first, second // groups, *kernel_size)
        self.weight = Parameter(empty(sizes, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _around(self) -> Sequence[int]:
        """Return what is added before and behind, from the last dimension on."""
        if isinstance(self.padding, tuple):
            return tuple(side for padding in reversed(self.padding) for side in (padding, padding))
        around: list[int] = []
        for steps, size in zip(reversed(self.dilation), reversed(self.kernel_size), strict=True):
            total = steps * (size - 1) if self.padding == "same" else 0
            around += [total // 2, total - total // 2]
        return around

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, both within one over the root of the inputs of an output."""
        init.kaiming_uniform_(self.weight, a=sqrt(5))
        if self.bias is not None:
            inputs = self.weight.shape[1] * prod(self.kernel_size)
            if inputs != 0:
                bound = 1 / sqrt(inputs)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Show the sizes, and what is not as usual."""
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Plain(_ConvNd):
    spatial: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            spread(kernel_size, self.spatial),
            spread(stride, self.spatial),
            padding if isinstance(padding, str) else spread(padding, self.spatial),
            spread(dilation, self.spatial),
            False,
            (0,) * self.spatial,
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Apply the convolution with a weight of the caller's: subclasses change weights by this name."""
        function: Any = (functional.conv1d, functional.conv2d, functional.conv3d)[self.spatial - 1]
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = functional.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self.spatial
        result: Tensor = function(input, weight, bias, self.stride, padding, self.dilation, self.groups)
        return result

    def forward(self, input: Tensor) -> Tensor:
        """Apply the convolution."""
        return self._conv_forward(input, self.weight, self.bias)


@constructed_by_name
class Conv1d(_Plain):
    """A convolution over one dimension.

    >>> import rushlight as torch
    >>> torch.nn.Conv1d(1, 2, 3)(torch.zeros(5, 1, 8)).shape
    torch.Size([5, 2, 6])
    """

    spatial = 1


@constructed_by_name
class Conv2d(_Plain):
    """A convolution over two dimensions.

    >>> import rushlight as torch
    >>> layer = torch.nn.Conv2d(1, 2, 3)
    >>> layer
    Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))
    >>> layer(torch.zeros(1, 1, 5, 5)).shape
    torch.Size([1, 2, 3, 3])
    """

    spatial = 2


@constructed_by_name
class Conv3d(_Plain):
    """A convolution over three dimensions.

    >>> import rushlight as torch
    >>> torch.nn.Conv3d(1, 2, 3)(torch.zeros(5, 1, 8, 8, 8)).shape
    torch.Size([5, 2, 6, 6, 6])
    """

    spatial = 3


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        if padding_mode != "zeros":
            name = type(self).__name__
            raise ValueError(f'Only "zeros" padding mode is supported for {name}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Sequence[int] | None,
        stride: Sequence[int],
        padding: Sequence[int],
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """Return what is added behind so that the result has these sizes; subclasses ask by this name."""
        if output_size is None:
            return self.output_padding
        count, sizes = num_spatial_dims, output_size
        steps = dilation or (1,) * count
        has_batch = input.dim() == count + 2
        lead = 2 if has_batch else 1
        if len(sizes) == lead + count:
            sizes = sizes[lead:]
        if len(sizes) != count:
            raise ValueError(
                f"ConvTranspose{count}D: for {input.dim()}D input, output_size must have {count} or "
                f"{lead + count} elements (got {len(sizes)})"
            )
        least = [
            (input.shape[dim + lead] - 1) * stride[dim]
            - 2 * padding[dim]
            + steps[dim] * (kernel_size[dim] - 1)
            + 1
            for dim in range(count)
        ]
        most = [size + stride[dim] - 1 for dim, size in enumerate(least)]
        for size, low, high in zip(sizes, least, most, strict=True):
            if size < low or size > high:
                raise ValueError(
                    f"requested an output size of {sizes}, but valid sizes range from {least} to {most} "
                    f"(for an input of {input.shape[2:]})"
                )
        return [size - low for size, low in zip(sizes, least, strict=True)]


class _PlainTransposed(_ConvTransposeNd):
    spatial: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            spread(kernel_size, self.spatial),
            spread(stride, self.spatial),
            spread(padding, self.spatial),
            spread(dilation, self.spatial),
            True,
            spread(output_padding, self.spatial),
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Apply the transposed convolution."""
        functions: tuple[Any, ...] = (
            functional.conv_transpose1d,
            functional.conv_transpose2d,
            functional.conv_transpose3d,
        )
        padding: Any = self.padding
        behind = self._output_padding(
            input, output_size, self.stride, padding, self.kernel_size, self.spatial, self.dilation
        )
        result: Tensor = functions[self.spatial - 1](
            input, self.weight, self.bias, self.stride, self.padding, behind, self.groups, self.dilation
        )
        return result


@constructed_by_name
class ConvTranspose1d(_PlainTransposed):
    """A transposed convolution over one dimension.

    >>> import rushlight as torch
    >>> torch.nn.ConvTranspose1d(2, 1, 3)(torch.zeros(5, 2, 6)).shape
    torch.Size([5, 1, 8])
    """

    spatial = 1


@constructed_by_name
class ConvTranspose2d(_PlainTransposed):
    """A transposed convolution over two dimensions.

    >>> import rushlight as torch
    >>> torch.nn.ConvTranspose2d(2, 1, 3)(torch.zeros(5, 2, 6, 6)).shape
    torch.Size([5, 1, 8, 8])
    """

    spatial = 2


@constructed_by_name
class ConvTranspose3d(_PlainTransposed):
    """A transposed convolution over three dimensions.

    >>> import rushlight as torch
    >>> torch.nn.ConvTranspose3d(2, 1, 3)(torch.zeros(5, 2, 6, 6, 6)).shape
    torch.Size([5, 1, 8, 8, 8])
    """

    spatial = 3
