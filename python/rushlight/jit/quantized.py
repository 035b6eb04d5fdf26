"""Layers that scripts once had of their own, and say what has taken their place."""

from __future__ import annotations

from typing import Any, NoReturn

_PLACES = {
    "QuantizedLinear": "torch.ao.nn.quantized.dynamic.Linear",
    "QuantizedLinearFP16": "torch.ao.nn.quantized.dynamic.Linear",
    "QuantizedRNNCellBase": "torch.ao.nn.quantized.dynamic.RNNCell",
    "QuantizedRNNCell": "torch.ao.nn.quantized.dynamic.RNNCell",
    "QuantizedLSTMCell": "torch.ao.nn.quantized.dynamic.LSTMCell",
    "QuantizedGRUCell": "torch.ao.nn.quantized.dynamic.GRUCell",
    "QuantizedRNNBase": "torch.ao.nn.quantized.dynamic.RNN",
    "QuantizedLSTM": "torch.ao.nn.quantized.dynamic.LSTM",
    "QuantizedGRU": "torch.ao.nn.quantized.dynamic.GRU",
}
__all__ = list(_PLACES)


def _former(name: str, place: str) -> type:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"torch.jit.{name} is no longer supported. Please use {place} instead.")

    return type(name, (), {"__init__": __init__, "__module__": __name__, "__doc__": f"Use `{place}`."})


globals().update({name: _former(name, place) for name, place in _PLACES.items()})
