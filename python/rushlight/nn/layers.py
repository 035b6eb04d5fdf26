"""Layers: the linear one, and those without parameters."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from .._rushlight import empty
from . import functional, init
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from .._rushlight import Tensor, device, dtype

__all__ = ["Flatten", "Identity", "Linear", "LogSoftmax", "ReLU", "Sigmoid", "Softmax", "Tanh"]


class Linear(Module):
    """`x @ weight.T + bias`.

    >>> import rushlight as torch
    >>> layer = torch.nn.Linear(3, 2)
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    >>> layer(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, both within `1 / sqrt(in_features)`."""
        init.kaiming_uniform_(self.weight, a=sqrt(5))
        if self.bias is not None:
            bound = 1 / sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to the last dimension of `input`."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Show the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


class Identity(Module):
    """Return the input; arguments of the constructor are allowed and ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`."""
        return input


class Flatten(Module):
    """Make the dimensions from `start_dim` to `end_dim` one.

    >>> import rushlight as torch
    >>> torch.nn.Flatten()(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Flatten `input`."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Show the dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class ReLU(Module):
    """Replace negative elements by zero."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply `relu`."""
        return functional.relu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        """Show whether the input is overwritten."""
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    """Hyperbolic tangent of every element."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply `tanh`."""
        return functional.tanh(input)


class Sigmoid(Module):
    """`1 / (1 + exp(-x))` of every element."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply `sigmoid`."""
        return functional.sigmoid(input)


class Softmax(Module):
    """`exp(x)`, scaled to add up to one along `dim`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply `softmax`."""
        return functional.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """Show the dimension."""
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The logarithm of `Softmax`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply `log_softmax`."""
        return functional.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """Show the dimension."""
        return f"dim={self.dim}"
