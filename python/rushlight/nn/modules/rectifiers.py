"""Activations of straight pieces as modules: what cuts off, bends at zero or shrinks."""

from __future__ import annotations

import warnings
from typing import ClassVar

from ..._rushlight import Tensor, device, dtype, empty
from .. import functional
from ..parameter import Parameter
from ._shown import constructed_by_name
from .units import Unit, UnitInPlace

__all__ = [
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "Softshrink",
    "Threshold",
]


@constructed_by_name
class ReLU(UnitInPlace):
    """Replace negative elements by zero.

    >>> import rushlight as torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `relu`."""
        return functional.relu(input, self.inplace)


@constructed_by_name
class Hardsigmoid(UnitInPlace):
    """`(x + 3) / 6` within 0 and 1.

    >>> import rushlight as torch
    >>> torch.nn.Hardsigmoid()(torch.tensor([-1.0, 1.0]))
    tensor([0.3333, 0.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `hardsigmoid`."""
        return functional.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        """Show nothing."""
        return ""


@constructed_by_name
class Hardswish(UnitInPlace):
    """`x * hardsigmoid(x)`.

    >>> import rushlight as torch
    >>> torch.nn.Hardswish()(torch.tensor([-1.0, 1.0]))
    tensor([-0.3333,  0.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `hardswish`."""
        return functional.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        """Show nothing."""
        return ""


class LeakyReLU(Unit):
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
        return functional.leaky_relu(input, self.negative_slope, self.inplace)


def _renamed(name: str, value: float, former: str, given: float | None) -> float:
    """Return an argument, which may have been given by its former name."""
    if given is None:
        return value
    text = f"keyword argument `{former}` is deprecated and renamed to `{name}`"
    warnings.warn(text, FutureWarning, stacklevel=3)
    return given


class Hardtanh(Unit):
    """The elements within two bounds.

    >>> import rushlight as torch
    >>> torch.nn.Hardtanh()(torch.tensor([-1.0, 1.0]))
    tensor([-1.,  1.])
    """

    arguments: ClassVar[tuple[str, ...]] = ("min_val", "max_val")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        self.min_val = _renamed("min_val", min_val, "min_value", min_value)
        self.max_val = _renamed("max_val", max_val, "max_value", max_value)
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

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


class Threshold(Unit):
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
        return functional.threshold(input, self.threshold, self.value, self.inplace)


class RReLU(Unit):
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


class Softshrink(Unit):
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


@constructed_by_name
class Hardshrink(Softshrink):
    """The elements, those near zero made zero.

    >>> import rushlight as torch
    >>> torch.nn.Hardshrink()(torch.tensor([-1.0, 1.0]))
    tensor([-1.,  1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `hardshrink`."""
        return functional.hardshrink(input, self.lambd)


class PReLU(Unit):
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
