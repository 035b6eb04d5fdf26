"""Linear layers with weights of eight bits, of which each call sees anew in what steps its input lies."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from .. import _rushlight as native
from .._devices.absent_types import qint8, quint8
from .._functions.fake_quantised import fake_quantize_per_tensor_affine
from .._rushlight import Tensor
from ..nn.modules.layers import Linear as FloatLinear
from ..nn.modules.module import Module
from .observers import MinMaxObserver, default_weight_observer

__all__ = ["Linear", "quantize_dynamic"]


class Linear(Module):
    """A linear layer whose weights are integers times a number."""

    int_weight: Tensor
    bias_: Tensor | None

    def __init__(self, in_features: int, out_features: int, bias_: bool = True, dtype: Any = qint8) -> None:
        super().__init__()
        self.in_features, self.out_features, self.dtype = in_features, out_features, dtype
        self.scale, self.version = 1.0, 5
        self.register_buffer("int_weight", native.zeros(out_features, in_features, dtype=native.int8))
        self.register_buffer("bias_", native.zeros(out_features) if bias_ else None)

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Linear:
        """Make one of a layer with ordinary weights."""
        made = cls(mod.in_features, mod.out_features, mod.bias is not None)
        observer = default_weight_observer()
        observer(mod.weight)
        scale, _ = observer.calculate_qparams()
        made.scale = float(scale)
        made.int_weight = (mod.weight.detach() / scale).round().clamp(-128, 127).to(native.int8)
        if mod.bias is not None:
            made.bias_ = mod.bias.detach().clone()
        return made

    def weight(self) -> Tensor:
        """Return the weights as they are multiplied."""
        return self.int_weight.float() * self.scale

    def bias(self) -> Tensor | None:
        """Return what is added."""
        return self.bias_

    def forward(self, x: Tensor) -> Tensor:
        """Move the input to seven bits between its bounds, and apply the layer."""
        observer = MinMaxObserver(dtype=quint8, reduce_range=True)
        observer(x)
        scale, zero = observer.calculate_qparams()
        moved = fake_quantize_per_tensor_affine(x, scale, zero, observer.quant_min, observer.quant_max)
        return native._nn.linear(moved, self.weight(), self.bias_)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, dtype={self.dtype}, "
            "qscheme=torch.per_tensor_affine"
        )


def quantize_dynamic(
    model: Module, qconfig_spec: Any = None, dtype: Any = qint8, mapping: Any = None, inplace: bool = False
) -> Module:
    """Return a model whose linear layers have weights of eight bits.

    >>> import rushlight as torch
    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    >>> torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear})[0].int_weight.dtype
    torch.int8
    """
    if dtype is not qint8:
        raise NotImplementedError(
            f"torch.ao.quantization.quantize_dynamic: {dtype}: weights become qint8 here"
        )
    wanted = {FloatLinear} if qconfig_spec is None else set(qconfig_spec)
    for kind in wanted:
        if isinstance(kind, type) and kind is not FloatLinear:
            raise NotImplementedError(
                f"torch.ao.quantization.quantize_dynamic: {kind.__name__}: only Linear is quantised here"
            )
    made = model if inplace else deepcopy(model)
    if type(made) is FloatLinear:
        return Linear.from_float(made)
    for path, module in list(made.named_modules()):
        for name, child in list(module.named_children()):
            full = f"{path}.{name}" if path else name
            if type(child) is FloatLinear and (FloatLinear in wanted or full in wanted):
                setattr(module, name, Linear.from_float(child))
    return made
