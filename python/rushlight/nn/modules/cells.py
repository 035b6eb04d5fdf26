"""One step along a sequence: what recurrent layers do at every place, and cells that do it once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from .. import functional, init
from ..parameter import Parameter
from .module import Module

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]

State = tuple[Tensor, ...]


def _plain_step(turn: Callable[[Tensor], Tensor]) -> Any:
    def step(gates: Tensor, state: State, weight: Tensor, bias: Any) -> State:
        return (turn(functional.linear(state[0], weight, bias) + gates),)

    return step


def _lstm_step(gates: Tensor, state: State, weight: Tensor, bias: Any) -> State:
    opened = functional.linear(state[0], weight, bias) + gates
    enter, forget, cell, leave = opened.unsafe_chunk(4, 1)
    memory = forget.sigmoid() * state[1] + enter.sigmoid() * cell.tanh()
    return leave.sigmoid() * memory.tanh(), memory


def _gru_step(gates: Tensor, state: State, weight: Tensor, bias: Any) -> State:
    hidden = state[0]
    reset, update, new = gates.unsafe_chunk(3, 1)
    own_reset, own_update, own_new = functional.linear(hidden, weight, bias).unsafe_chunk(3, 1)
    reset = (own_reset + reset).sigmoid()
    update = (own_update + update).sigmoid()
    # The state may be one for all samples of a mapping: it has no room for what differs between them.
    own_new = own_new * reset if native._is_batchedtensor(reset) else own_new.mul_(reset)
    new = (new + own_new).tanh()
    return ((hidden - new).mul_(update) + new,)


# What a layer does at each place of a sequence, by its mode.
STEPS = {
    "RNN_TANH": _plain_step(native.tanh),
    "RNN_RELU": _plain_step(native.relu),
    "LSTM": _lstm_step,
    "GRU": _gru_step,
}
# How many sums of the input and the last state a step needs.
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


def draw(module: Module, size: int) -> None:
    """Draw all weights uniformly, up to one over the root of a size."""
    bound = 1.0 / math.sqrt(size) if size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNCellBase(Module):
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        options, gates = {"device": device, "dtype": dtype}, num_chunks * hidden_size
        self.weight_ih = Parameter(native.empty((gates, input_size), **options))
        self.weight_hh = Parameter(native.empty((gates, hidden_size), **options))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(native.empty(gates, **options)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights uniformly, up to one over the root of the hidden size."""
        draw(self, self.hidden_size)

    def extra_repr(self) -> str:
        """Show the arguments that are not as usual."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _check(self, rows: Tensor, state: State) -> None:
        if rows.size(1) != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {rows.size(1)} expected {self.input_size}"
            )
        for place, part in enumerate(state):
            if part.size(0) != rows.size(0):
                raise RuntimeError(
                    f"Input batch size {rows.size(0)} doesn't match hidden{place} batch size {part.size(0)}"
                )
            if part.size(1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{place} has inconsistent hidden_size: got {part.size(1)}, expected "
                    f"{self.hidden_size}"
                )

    def _step(self, mode: str, input: Tensor, state: State | None) -> State:
        title = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{title}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for place, part in enumerate(state or ()):
            if part.dim() not in (1, 2):
                which = f"hx[{place}]" if mode == "LSTM" else "hidden"
                raise ValueError(f"{title}: Expected {which} to be 1D or 2D, got {part.dim()}D instead")
        batched = input.dim() == 2
        rows = input if batched else input.unsqueeze(0)
        if state is None:
            zeros = native.zeros(rows.shape[0], self.hidden_size, dtype=input.dtype)
            state = (zeros, zeros) if mode == "LSTM" else (zeros,)
        elif not batched:
            state = tuple(part.unsqueeze(0) for part in state)
        self._check(rows, state)
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        found: State
        if native._has_torch_function((rows, *state, *weights)):
            from ..._functions import recurrences as _recurrences

            step = getattr(_recurrences, f"{mode.lower()}_cell")
            found = step(rows, state, *weights) if mode == "LSTM" else (step(rows, *state, *weights),)
        else:
            gates = functional.linear(rows, self.weight_ih, self.bias_ih)
            found = STEPS[mode](gates, state, self.weight_hh, self.bias_hh)
        return found if batched else tuple(part.squeeze(0) for part in found)


class RNNCell(RNNCellBase):
    """One step of an RNN."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, GATES["RNN_TANH"], device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        mode = f"RNN_{self.nonlinearity.upper()}"
        return self._step(mode, input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, GATES["LSTM"], device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> State:
        """Return the next state and the next memory."""
        return self._step("LSTM", input, hx)


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, GATES["GRU"], device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state."""
        return self._step("GRU", input, None if hx is None else (hx,))[0]
