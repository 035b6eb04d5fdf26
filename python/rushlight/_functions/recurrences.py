"""Recurrent layers and their steps as functions of the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._calls.showing import shown_as_given, taking
from .._rushlight import Tensor
from ..nn import functional
from ..nn.modules.cells import STEPS
from ..nn.modules.recurrent import RNNBase

if TYPE_CHECKING:
    from .._calls.showing import Function


class _Layers:
    """Layers whose weights somebody has given."""

    proj_size = 0
    _layers = RNNBase._layers
    _along = RNNBase._along

    def __init__(
        self,
        mode: str,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> None:
        self.mode, self.bias, self.num_layers = mode, has_biases, num_layers
        self.dropout, self.training, self.bidirectional = dropout, train, bidirectional
        each = 4 if has_biases else 2
        self.all_weights = [list(params[start : start + each]) for start in range(0, len(params), each)]


def _along(mode: str, input: Tensor, second: Any, third: Any, *options: Any) -> tuple[Tensor, ...]:
    """Go along a sequence, or along one that is packed: then its sizes come second."""
    state, batch_first, sizes = second, False, None
    if isinstance(third, Tensor) or (mode == "LSTM" and isinstance(second, Tensor)):
        sizes, state = second.tolist(), third
    else:
        *options_, batch_first = options
        options = (third, *options_)
    layers: Any = _Layers(mode, *options)
    if batch_first:
        input = input.transpose(0, 1)
    states = tuple(state) if mode == "LSTM" else (state,)
    output, last = layers._layers(input, sizes, states)
    return output.transpose(0, 1) if batch_first else output, *last


def _taking(states: str) -> Callable[[Function], Function]:
    """Decorate a function that goes along sequences, packed ones too; its states are of this type."""
    options = (
        "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"
    )
    return taking(
        f"(Tensor data, Tensor batch_sizes, {states} hx, {options})",
        f"(Tensor input, {states} hx, {options}, bool batch_first)",
    )


@_taking("Tensor[]")
def lstm(input: Tensor, hx: Any, params: Any, *options: Any) -> tuple[Tensor, ...]:
    """Go along a sequence; return what is shown at every step, and the last states.

    `options` are whether there are biases, how many layers, how many elements are dropped between them, if it
    is for training, whether backward too, and whether the samples come first.
    """
    return _along("LSTM", input, hx, params, *options)


@_taking("Tensor")
def gru(input: Tensor, hx: Any, params: Any, *options: Any) -> tuple[Tensor, ...]:
    """Go along a sequence, as `lstm` does."""
    return _along("GRU", input, hx, params, *options)


@_taking("Tensor")
def rnn_tanh(input: Tensor, hx: Any, params: Any, *options: Any) -> tuple[Tensor, ...]:
    """Go along a sequence, as `lstm` does."""
    return _along("RNN_TANH", input, hx, params, *options)


@_taking("Tensor")
def rnn_relu(input: Tensor, hx: Any, params: Any, *options: Any) -> tuple[Tensor, ...]:
    """Go along a sequence, as `lstm` does."""
    return _along("RNN_RELU", input, hx, params, *options)


def _step(
    mode: str, input: Tensor, state: tuple[Tensor, ...], weights: tuple[Tensor, Tensor], biases: Any
) -> tuple[Tensor, ...]:
    gates = functional.linear(input, weights[0], biases[0])
    found: tuple[Tensor, ...] = STEPS[mode](gates, state, weights[1], biases[1])
    return found


@shown_as_given
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Apply an LSTM cell to one time step: return the next hidden and cell state."""
    return _step("LSTM", input, tuple(hx), (w_ih, w_hh), (b_ih, b_hh))


def _cell_of(mode: str, name: str) -> Callable[..., Tensor]:
    """Return the function of a cell that has a hidden state and no other."""

    def cell(
        input: Tensor,
        hx: Tensor,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None = None,
        b_hh: Tensor | None = None,
    ) -> Tensor:
        """Apply the recurrent cell to one time step: return the next hidden state."""
        return _step(mode, input, (hx,), (w_ih, w_hh), (b_ih, b_hh))[0]

    cell.__name__ = cell.__qualname__ = name
    return shown_as_given(cell)


gru_cell = _cell_of("GRU", "gru_cell")
rnn_tanh_cell = _cell_of("RNN_TANH", "rnn_tanh_cell")
rnn_relu_cell = _cell_of("RNN_RELU", "rnn_relu_cell")
