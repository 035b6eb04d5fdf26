"""Operations as modules, with places for what quantisation would put there; layers that it would make.

>>> import rushlight as torch
>>> torch.ao.nn.quantized.FloatFunctional().add_relu(torch.tensor([1.0]), torch.tensor([-2.0]))
tensor([0.])
"""

from __future__ import annotations

from typing import Any

from ... import _rushlight as native
from ..._module_aliases import add_module_aliases
from ..._rushlight import Tensor
from ...nn.modules.layers import Identity
from ...nn.modules.module import Module
from ...nn.modules.pools import MaxPool2d as MaxPool2d
from ._absent import absent

__all__ = ["FXFloatFunctional", "FloatFunctional"]


class FloatFunctional(Module):
    """Sums, products and joins, behind which an observer can look at the results."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Any) -> Any:
        """Refuse: the operations are what is called."""
        raise RuntimeError(
            "FloatFunctional is not intended to use the forward. Please use the underlying operation"
        )

    def _shown(self, found: Tensor) -> Any:
        return self.activation_post_process(found)

    def add(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum."""
        return self._shown(x + y)

    def add_scalar(self, x: Tensor, y: float) -> Any:
        """Return the sum with a number, which nobody observes."""
        return x + y

    def mul(self, x: Tensor, y: Tensor) -> Any:
        """Return the product."""
        return self._shown(x * y)

    def mul_scalar(self, x: Tensor, y: float) -> Any:
        """Return the product with a number, which nobody observes."""
        return x * y

    def cat(self, x: list[Tensor], dim: int = 0) -> Any:
        """Return the tensors joined."""
        return self._shown(native.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum without what is negative."""
        return self._shown((x + y).relu())

    def matmul(self, x: Tensor, y: Tensor) -> Any:
        """Return the product of matrices."""
        return self._shown(x @ y)


class FXFloatFunctional(FloatFunctional):
    """The same, without observers."""

    def _shown(self, found: Tensor) -> Any:
        return found


_NAMES = (
    "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d DeQuantize "
    "Dropout ELU Embedding EmbeddingBag GroupNorm Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d "
    "LSTM LayerNorm LeakyReLU Linear MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid Softmax"
)
absent(globals(), _NAMES)
_ALL = f"FloatFunctional FXFloatFunctional {_NAMES}"
add_module_aliases(
    globals(), {"modules": {".quantized": f"{_ALL} MaxPool2d"}, "dynamic": {"..dynamic": "Linear"}}
)
absent(
    vars(globals()["dynamic"]),
    "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d GRU GRUCell LSTM LSTMCell RNNCell",
)
