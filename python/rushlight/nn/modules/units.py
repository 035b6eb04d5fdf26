"""Activations of single elements as modules; each calls the function of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..._rushlight import empty
from .. import functional
from ..parameter import Parameter
from ._shown import shown
from .module import Module

if TYPE_CHECKING:
    from ..._rushlight import Tensor, device, dtype

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class _Unit(Module):
    """An activation: its attributes are shown, and passed to the function in order."""

    arguments: ClassVar[tuple[str, ...]] = ()
    inplace: bool

    def _call(self, function: Any, input: Tensor) -> Tensor:
        arguments = [getattr(self, name) for name in self.arguments]
        if "inplace" in vars(self):
            arguments.append(self.inplace)
        result: Tensor = function(input, *arguments)
        return result

    def extra_repr(self) -> str:
        """Show the arguments."""
        return shown(self, *self.arguments, *(["inplace"] if vars(self).get("inplace") else []))


class _InPlace(_Unit):
    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(_InPlace):
    """Replace negative elements by zero.

    >>> import rushlight as torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `relu`."""
        return self._call(functional.relu, input)


class SELU(_InPlace):
    """`elu` with the factors that keep mean and variance.

    >>> import rushlight as torch
    >>> torch.nn.SELU()(torch.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `selu`."""
        return self._call(functional.selu, input)


class SiLU(_InPlace):
    """`x * sigmoid(x)`.

    >>> import rushlight as torch
    >>> torch.nn.SiLU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `silu`."""
        return self._call(functional.silu, input)


class Mish(_InPlace):
    """`x * tanh(softplus(x))`.

    >>> import rushlight as torch
    >>> torch.nn.Mish()(torch.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `mish`."""
        return self._call(functional.mish, input)


class Hardsigmoid(_InPlace):
    """`(x + 3) / 6` within 0 and 1.

    >>> import rushlight as torch
    >>> torch.nn.Hardsigmoid()(torch.tensor([-1.0, 1.0]))
    tensor([0.3333, 0.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `hardsigmoid`."""
        return self._call(functional.hardsigmoid, input)


class Hardswish(_InPlace):
    """`x * hardsigmoid(x)`.

    >>> import rushlight as torch
    >>> torch.nn.Hardswish()(torch.tensor([-1.0, 1.0]))
    tensor([-0.3333,  0.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `hardswish`."""
        return self._call(functional.hardswish, input)


class LeakyReLU(_Unit):
    """Negative elements times a small slope.

    >>> import rushlight as torch
    >>> torch.nn.LeakyReLU(0.5)(torch.tensor([-1.0, 1.0]))
    tensor([-0.5000,  1.0000])
    """

    arguments: ClassVar[tuple[str, ...]] = ("negative_slope",)

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply `leaky_relu`."""
        return self._call(functional.leaky_relu, input)


class ELU(_Unit):
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
        return self._call(functional.elu, input)


class CELU(ELU):
    """`alpha * (exp(x / alpha) - 1)` for negative elements.

    >>> import rushlight as torch
    >>> torch.nn.CELU(2.0)(torch.tensor([-1.0, 1.0]))
    tensor([-0.7869,  1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `celu`."""
        return self._call(functional.celu, input)


class Hardtanh(_Unit):
    """The elements within two bounds.

    >>> import rushlight as torch
    >>> torch.nn.Hardtanh()(torch.tensor([-1.0, 1.0]))
    tensor([-1.,  1.])
    """

    arguments: ClassVar[tuple[str, ...]] = ("min_val", "max_val")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise ValueError(
                f"max_val must be larger than min_val, got min_val={min_val} and max_val={max_val}"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Apply `hardtanh`."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """The elements within 0 and 6.

    >>> import rushlight as torch
    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 8.0]))
    tensor([0., 6.])
    """

    arguments: ClassVar[tuple[str, ...]] = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Threshold(_Unit):
    """The elements above a threshold, and a value for the others.

    >>> import rushlight as torch
    >>> torch.nn.Threshold(0.5, 0.0)(torch.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    arguments: ClassVar[tuple[str, ...]] = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply `threshold`."""
        return self._call(functional.threshold, input)


class RReLU(_Unit):
    """Negative elements times a number drawn in training, the mean of the bounds else.

    >>> import rushlight as torch
    >>> torch.nn.RReLU(0.25, 0.25)(torch.tensor([-8.0, 1.0]))
    tensor([-2.,  1.])
    """

    arguments: ClassVar[tuple[str, ...]] = ("lower", "upper")

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply `rrelu`."""
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class GELU(_Unit):
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


class Softplus(_Unit):
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
        return self._call(functional.softplus, input)


class Softshrink(_Unit):
    """The elements moved towards zero.

    >>> import rushlight as torch
    >>> torch.nn.Softshrink()(torch.tensor([-1.0, 1.0]))
    tensor([-0.5000,  0.5000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply `softshrink`."""
        return functional.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Show how far."""
        return str(self.lambd)


class Hardshrink(Softshrink):
    """The elements, those near zero made zero.

    >>> import rushlight as torch
    >>> torch.nn.Hardshrink()(torch.tensor([-1.0, 1.0]))
    tensor([-1.,  1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `hardshrink`."""
        return functional.hardshrink(input, self.lambd)


class Tanh(Module):
    """Hyperbolic tangent of every element.

    >>> import rushlight as torch
    >>> torch.nn.Tanh()(torch.tensor([-1.0, 1.0]))
    tensor([-0.7616,  0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `tanh`."""
        return functional.tanh(input)


class Sigmoid(Module):
    """`1 / (1 + exp(-x))` of every element.

    >>> import rushlight as torch
    >>> torch.nn.Sigmoid()(torch.tensor([-1.0, 1.0]))
    tensor([0.2689, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `sigmoid`."""
        return functional.sigmoid(input)


class Softsign(_Unit):
    """`x / (1 + |x|)`.

    >>> import rushlight as torch
    >>> torch.nn.Softsign()(torch.tensor([-1.0, 1.0]))
    tensor([-0.5000,  0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `softsign`."""
        return functional.softsign(input)


class Tanhshrink(_Unit):
    """`x - tanh(x)`.

    >>> import rushlight as torch
    >>> torch.nn.Tanhshrink()(torch.tensor([-1.0, 1.0]))
    tensor([-0.2384,  0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `tanhshrink`."""
        return functional.tanhshrink(input)


class LogSigmoid(_Unit):
    """The logarithm of `sigmoid`.

    >>> import rushlight as torch
    >>> torch.nn.LogSigmoid()(torch.tensor([-1.0, 1.0]))
    tensor([-1.3133, -0.3133])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `logsigmoid`."""
        return functional.logsigmoid(input)


class GLU(_Unit):
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
        return self._call(functional.glu, input)


class PReLU(_Unit):
    """Negative elements times a weight that is learnt.

    >>> import rushlight as torch
    >>> torch.nn.PReLU()(torch.tensor([-4.0, 8.0])).tolist()
    [-1.0, 8.0]
    """

    arguments: ClassVar[tuple[str, ...]] = ("num_parameters",)

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to what they were in the beginning."""
        self.weight.data.fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply `prelu`."""
        return functional.prelu(input, self.weight)
