"""Layers that follow one another and could be one: they are called in turn."""

from __future__ import annotations

from typing import Any

from ..._module_aliases import add_module_aliases
from ...nn.modules.containers import Sequential
from ...nn.modules.convolution import Conv1d, Conv2d, Conv3d
from ...nn.modules.layers import Linear
from ...nn.modules.module import Module
from ...nn.modules.normalised import BatchNorm1d, BatchNorm2d, BatchNorm3d
from ...nn.modules.rectifiers import LeakyReLU, ReLU
from ...nn.modules.units import Tanh
from ._absent import absent

__all__ = [
    "BNReLU2d",
    "BNReLU3d",
    "ConvAdd2d",
    "ConvAddReLU2d",
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "LinearBn1d",
    "LinearLeakyReLU",
    "LinearReLU",
    "LinearTanh",
]


class _FusedModule(Sequential):
    """Layers of certain classes, called in turn."""

    parts: tuple[type[Module], ...] = ()

    def __init__(self, *layers: Module) -> None:
        found = [type(layer) for layer in layers]
        if len(found) != len(self.parts) or any(a is not b for a, b in zip(found, self.parts, strict=True)):
            names = " and ".join(each.__name__ for each in found)
            raise AssertionError(f"Incorrect types for input modules: {names}")
        super().__init__(*layers)


def _made(name: str, *parts: type[Module]) -> Any:
    text = "Layers that could be one: " + ", ".join(part.__name__ for part in parts) + "."
    return type(name, (_FusedModule,), {"parts": parts, "__module__": __name__, "__doc__": text})


ConvReLU1d, ConvReLU2d, ConvReLU3d = (
    _made(f"ConvReLU{conv.__name__[4:]}", conv, ReLU) for conv in (Conv1d, Conv2d, Conv3d)
)
_PAIRS = ((Conv1d, BatchNorm1d), (Conv2d, BatchNorm2d), (Conv3d, BatchNorm3d))
ConvBn1d, ConvBn2d, ConvBn3d = (_made(f"ConvBn{conv.__name__[4:]}", conv, norm) for conv, norm in _PAIRS)
ConvBnReLU1d, ConvBnReLU2d, ConvBnReLU3d = (
    _made(f"ConvBnReLU{conv.__name__[4:]}", conv, norm, ReLU) for conv, norm in _PAIRS
)
LinearReLU = _made("LinearReLU", Linear, ReLU)
LinearBn1d = _made("LinearBn1d", Linear, BatchNorm1d)
LinearLeakyReLU = _made("LinearLeakyReLU", Linear, LeakyReLU)
LinearTanh = _made("LinearTanh", Linear, Tanh)
BNReLU2d = _made("BNReLU2d", BatchNorm2d, ReLU)
BNReLU3d = _made("BNReLU3d", BatchNorm3d, ReLU)


class ConvAdd2d(Sequential):
    """A convolution, to which something is added."""

    def __init__(self, conv: Module, add: Any) -> None:
        super().__init__(conv)
        self.add = add

    def forward(self, x1: Any, x2: Any) -> Any:  # type: ignore[override]
        """Convolve the first, add the second."""
        return self.add(self[0](x1), x2)


class ConvAddReLU2d(ConvAdd2d):
    """A convolution, to which something is added, without what is negative of it."""

    def __init__(self, conv: Module, add: Any, relu: Module) -> None:
        super().__init__(conv, add)
        self.relu = relu

    def forward(self, x1: Any, x2: Any) -> Any:  # type: ignore[override]
        """Convolve the first, add the second, cut off below zero."""
        return self.relu(super().forward(x1, x2))


add_module_aliases(globals(), {"modules": {".intrinsic": " ".join(__all__)}, "qat": {}, "quantized": {}})
absent(
    vars(globals()["qat"]),
    "ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d "
    "LinearBn1d LinearReLU",
)
absent(
    vars(globals()["quantized"]),
    "BNReLU2d BNReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearReLU LinearLeakyReLU LinearTanh ConvAdd2d "
    "ConvAddReLU2d",
)
add_module_aliases(vars(globals()["quantized"]), {"dynamic": {}})
absent(vars(vars(globals()["quantized"])["dynamic"]), "LinearReLU")
