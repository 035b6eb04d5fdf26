"""Observers see which numbers pass, and tell by which steps few bits say them; fakes move them there."""

from __future__ import annotations

from functools import partial
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as types
from .._functions.fake_quantised import fake_quantize_per_channel_affine, fake_quantize_per_tensor_affine
from .._rushlight import Tensor
from ..nn.modules.module import Module

__all__ = [
    "FakeQuantize",
    "FakeQuantizeBase",
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "NoopObserver",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "PlaceholderObserver",
    "UniformQuantizationObserverBase",
]

per_tensor_affine = types._Scheme("per_tensor_affine")
per_tensor_symmetric = types._Scheme("per_tensor_symmetric")
per_channel_affine = types._Scheme("per_channel_affine")
per_channel_symmetric = types._Scheme("per_channel_symmetric")
per_channel_affine_float_qparams = types._Scheme("per_channel_affine_float_qparams")

_SYMMETRIC = (per_tensor_symmetric, per_channel_symmetric)
_BOUNDS = {"qint8": (-128, 127), "int8": (-128, 127), "quint8": (0, 255), "uint8": (0, 255)}


class _Made:
    """What makes observers with some arguments given; more can be given."""

    def __init__(self, kind: Any, **given: Any) -> None:
        self.p = partial(kind, **given)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.p(*args, **kwargs)

    def __repr__(self) -> str:
        return f"{self.p}{{}}"

    def with_args(self, **given: Any) -> _Made:
        """Return one with more arguments given."""
        return _Made(self.p, **given)


class ObserverBase(Module):
    """Sees what passes, and returns it as it is."""

    def __init__(self, dtype: Any, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    def forward(self, x: Tensor) -> Tensor:
        """Return what is given."""
        return x

    def calculate_qparams(self, **options: Any) -> Any:
        """Return the size of the steps, and which of them is zero."""
        raise NotImplementedError

    @classmethod
    def with_args(cls, **given: Any) -> _Made:
        """Return what makes such observers, with arguments given."""
        return _Made(cls, **given)

    with_callable_args = with_args


class PlaceholderObserver(ObserverBase):
    """Sees nothing: it says into which type numbers would be converted."""

    def __init__(self, dtype: Any = native.float32, is_dynamic: bool = False, **options: Any) -> None:
        super().__init__(dtype, is_dynamic)
        self.custom_op = options.get("custom_op_name", "")


class NoopObserver(PlaceholderObserver):
    """Sees nothing."""


class UniformQuantizationObserverBase(ObserverBase):
    """Sees between which bounds numbers lie."""

    ch_axis: int | None = None
    min_val: Tensor
    max_val: Tensor

    def __init__(
        self,
        dtype: Any = types.quint8,
        qscheme: Any = per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = native.finfo(native.float32).eps,
        is_dynamic: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(dtype, is_dynamic)
        self.qscheme, self.reduce_range, self.eps = qscheme, reduce_range, eps
        low, high = _BOUNDS.get(str(dtype).removeprefix("torch."), (0, 255))
        if quant_min is not None and quant_max is not None:
            low, high = quant_min, quant_max
        elif reduce_range:
            low, high = low // 2, high // 2
        self.quant_min, self.quant_max = low, high
        self.register_buffer("min_val", native.tensor(float("inf")))
        self.register_buffer("max_val", native.tensor(float("-inf")))

    def _bounds(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the least and the greatest number: of all, or of each slice."""
        x = x.detach().float()
        if self.ch_axis is None:
            return x.amin(), x.amax()
        flat = x.transpose(0, self.ch_axis).flatten(1)
        return flat.amin(1), flat.amax(1)

    def _joined(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """Return the bounds with those that were seen before."""
        return native.minimum(self.min_val, low), native.maximum(self.max_val, high)

    def forward(self, x: Tensor) -> Tensor:
        """See the numbers, and return them."""
        if x.numel():
            self.min_val, self.max_val = self._joined(*self._bounds(x))
        return x

    def calculate_qparams(self, **options: Any) -> tuple[Tensor, Tensor]:
        """Return the size of the steps, and which of them is zero."""
        if bool((self.min_val > self.max_val).any()):
            return native.ones(1), native.zeros(1, dtype=native.int64)
        low, high = self.min_val.clamp(max=0.0), self.max_val.clamp(min=0.0)
        steps = float(self.quant_max - self.quant_min)
        if self.qscheme in _SYMMETRIC:
            scale = (native.maximum(-low, high) / (steps / 2)).clamp(min=self.eps)
            middle = 128 if str(self.dtype).endswith("uint8") else 0
            return scale.reshape(-1), native.full_like(scale, middle, dtype=native.int64).reshape(-1)
        scale = ((high - low) / steps).clamp(min=self.eps)
        zero = (self.quant_min - (low / scale).round().to(native.int64)).clamp(self.quant_min, self.quant_max)
        return scale.reshape(-1), zero.reshape(-1)

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        self.min_val, self.max_val = native.tensor(float("inf")), native.tensor(float("-inf"))

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"


class MinMaxObserver(UniformQuantizationObserverBase):
    """Sees the least and the greatest number of all.

    >>> import rushlight as torch
    >>> observer = torch.ao.quantization.MinMaxObserver()
    >>> _ = observer(torch.tensor([-1.0, 1.55]))
    >>> observer.calculate_qparams()
    (tensor([0.0100]), tensor([100]))
    """


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Sees bounds that follow those of what passes."""

    def __init__(self, averaging_constant: float = 0.01, **options: Any) -> None:
        super().__init__(**options)
        self.averaging_constant = averaging_constant

    def _joined(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        if bool((self.min_val > self.max_val).any()):
            return low, high
        rate = self.averaging_constant
        return self.min_val + rate * (low - self.min_val), self.max_val + rate * (high - self.max_val)


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """Sees the bounds of each slice along a dimension."""

    def __init__(self, ch_axis: int = 0, qscheme: Any = per_channel_affine, **options: Any) -> None:
        super().__init__(qscheme=qscheme, **options)
        self.ch_axis = ch_axis


class MovingAveragePerChannelMinMaxObserver(MovingAverageMinMaxObserver):
    """Sees bounds of each slice that follow those of what passes."""

    def __init__(self, ch_axis: int = 0, qscheme: Any = per_channel_affine, **options: Any) -> None:
        super().__init__(qscheme=qscheme, **options)
        self.ch_axis = ch_axis


class FakeQuantizeBase(Module):
    """Moves numbers to steps, while both of its switches say so."""

    def __init__(self) -> None:
        super().__init__()
        self.fake_quant_enabled, self.observer_enabled = 1, 1

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Choose whether numbers are moved."""
        self.fake_quant_enabled = int(enabled)

    def disable_fake_quant(self) -> None:
        """Leave numbers where they are."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Choose whether numbers are seen."""
        self.observer_enabled = int(enabled)

    def disable_observer(self) -> None:
        """See no more numbers."""
        self.enable_observer(False)

    @classmethod
    def with_args(cls, **given: Any) -> _Made:
        """Return what makes such modules, with arguments given."""
        return _Made(cls, **given)


class FakeQuantize(FakeQuantizeBase):
    """Moves numbers to the steps that an observer tells; gradients pass.

    >>> import rushlight as torch
    >>> fake = torch.ao.quantization.FakeQuantize(quant_min=0, quant_max=3)
    >>> fake(torch.tensor([0.0, 1.1, 3.0]))
    tensor([0., 1., 3.])
    """

    def __init__(self, observer: Any = MovingAverageMinMaxObserver, **options: Any) -> None:
        super().__init__()
        self.activation_post_process = observer(**options)
        self.quant_min = self.activation_post_process.quant_min
        self.quant_max = self.activation_post_process.quant_max
        self.register_buffer("scale", native.ones(1))
        self.register_buffer("zero_point", native.zeros(1, dtype=native.int32))

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Return the size of the steps, and which of them is zero."""
        found: tuple[Tensor, Tensor] = self.activation_post_process.calculate_qparams()
        return found

    def forward(self, x: Tensor) -> Tensor:
        """See the numbers, and return them moved."""
        if self.observer_enabled:
            self.activation_post_process(x.detach())
            scale, zero = self.calculate_qparams()
            self.scale, self.zero_point = scale, zero.to(native.int32)
        if not self.fake_quant_enabled:
            return x
        bounds = self.quant_min, self.quant_max
        axis = self.activation_post_process.ch_axis
        if axis is None:
            return fake_quantize_per_tensor_affine(x, self.scale, self.zero_point, *bounds)
        return fake_quantize_per_channel_affine(x, self.scale, self.zero_point, axis, *bounds)


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_weight_observer = MinMaxObserver.with_args(dtype=types.qint8, qscheme=per_tensor_symmetric)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=types.qint8, qscheme=per_channel_symmetric
)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = PlaceholderObserver
default_dynamic_quant_observer = PlaceholderObserver.with_args(dtype=types.quint8, is_dynamic=True)
default_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=types.quint8, reduce_range=True
)
default_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, dtype=types.qint8, qscheme=per_tensor_symmetric, reduce_range=False
)
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    dtype=types.qint8,
    qscheme=per_channel_symmetric,
    ch_axis=0,
    reduce_range=False,
)
default_dynamic_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=0,
    quant_max=255,
    is_dynamic=True,
    dtype=types.quint8,
    averaging_constant=1,
)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=types.quint8, qscheme=per_channel_affine_float_qparams, ch_axis=0
)
default_embedding_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    qscheme=per_channel_affine_float_qparams,
    dtype=types.quint8,
    quant_min=0,
    quant_max=255,
    ch_axis=0,
    averaging_constant=1,
)
