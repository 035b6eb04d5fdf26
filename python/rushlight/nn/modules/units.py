"""Activations of single elements as modules; each calls the function of its name. Those of straight pieces
are in `rectifiers`."""

from __future__ import annotations

from typing import ClassVar

from ..._rushlight import Tensor, sigmoid, tanh
from .. import functional
from ._shown import constructed_by_name, shown
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "LogSigmoid",
    "Mish",
    "SiLU",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
]


class Unit(Module):
    """An activation, whose arguments are shown."""

    arguments: ClassVar[tuple[str, ...]] = ()
    inplace: bool

    def extra_repr(self) -> str:
        """Show the arguments."""
        text = shown(self, *self.arguments)
        if vars(self).get("inplace"):
            return f"{text}, inplace=True" if text else "inplace=True"
        return text


class UnitInPlace(Unit):
    """An activation that may write to its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


@constructed_by_name
class SELU(UnitInPlace):
    """`elu` with the factors that keep mean and variance.

    >>> import rushlight as torch
    >>> torch.nn.SELU()(torch.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `selu`."""
        return functional.selu(input, self.inplace)


@constructed_by_name
class SiLU(UnitInPlace):
    """`x * sigmoid(x)`.

    >>> import rushlight as torch
    >>> torch.nn.SiLU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `silu`."""
        return functional.silu(input, self.inplace)


@constructed_by_name
class Mish(UnitInPlace):
    """`x * tanh(softplus(x))`.

    >>> import rushlight as torch
    >>> torch.nn.Mish()(torch.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `mish`."""
        return functional.mish(input, self.inplace)


class ELU(Unit):
    """`alpha * (exp(x) - 1)` for negative elements.

    >>> import rushlight as torch
    >>> torch.nn.ELU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """

    arguments: ClassVar[tuple[str, ...]] = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply `elu`."""
        return functional.elu(input, self.alpha, self.inplace)


@constructed_by_name
class CELU(ELU):
    """`alpha * (exp(x / alpha) - 1)` for negative elements.

    >>> import rushlight as torch
    >>> torch.nn.CELU(2.0)(torch.tensor([-1.0, 1.0]))
    tensor([-0.7869,  1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `celu`."""
        return functional.celu(input, self.alpha, self.inplace)


class GELU(Unit):
    """The elements times their normal distribution.

    >>> import rushlight as torch
    >>> torch.nn.GELU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.1587,  0.8413])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply `gelu`."""
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Show which formula it is."""
        return f"approximate={self.approximate!r}"


class Softplus(Unit):
    """A smooth form of `relu`.

    >>> import rushlight as torch
    >>> torch.nn.Softplus()(torch.tensor([-1.0, 1.0]))
    tensor([0.3133, 1.3133])
    """

    arguments: ClassVar[tuple[str, ...]] = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply `softplus`."""
        return functional.softplus(input, self.beta, self.threshold)


class Tanh(Module):
    """Hyperbolic tangent of every element.

    >>> import rushlight as torch
    >>> torch.nn.Tanh()(torch.tensor([-1.0, 1.0]))
    tensor([-0.7616,  0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `tanh`."""
        return tanh(input)


class Sigmoid(Module):
    """`1 / (1 + exp(-x))` of every element.

    >>> import rushlight as torch
    >>> torch.nn.Sigmoid()(torch.tensor([-1.0, 1.0]))
    tensor([0.2689, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `sigmoid`."""
        return sigmoid(input)


class Softsign(Unit):
    """`x / (1 + |x|)`.

    >>> import rushlight as torch
    >>> torch.nn.Softsign()(torch.tensor([-1.0, 1.0]))
    tensor([-0.5000,  0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `softsign`."""
        return functional.softsign(input)


class Tanhshrink(Unit):
    """`x - tanh(x)`.

    >>> import rushlight as torch
    >>> torch.nn.Tanhshrink()(torch.tensor([-1.0, 1.0]))
    tensor([-0.2384,  0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `tanhshrink`."""
        return functional.tanhshrink(input)


class LogSigmoid(Unit):
    """The logarithm of `sigmoid`.

    >>> import rushlight as torch
    >>> torch.nn.LogSigmoid()(torch.tensor([-1.0, 1.0]))
    tensor([-1.3133, -0.3133])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `logsigmoid`."""
        return functional.logsigmoid(input)


class GLU(Unit):
    """Half of a dimension, weighed by the other half.

    >>> import rushlight as torch
    >>> torch.nn.GLU()(torch.tensor([2.0, 0.0]))
    tensor([1.])
    """

    arguments: ClassVar[tuple[str, ...]] = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply `glu`."""
        return functional.glu(input, self.dim)
