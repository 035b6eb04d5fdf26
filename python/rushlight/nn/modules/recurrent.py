"""Layers that go along a sequence and remember: plain ones, LSTM and GRU. A step of each is in `cells`."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from .. import functional
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .cells import GATES, STEPS, State, draw
from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "RNNBase"]


class RNNBase(Module):
    """Layers of steps along a sequence, in one direction or in both."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element "
                "being zeroed"
            )
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
                f"expects num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
                stacklevel=3,
            )
        _typed(bias=(bias, bool), batch_first=(batch_first, bool))
        _typed(input_size=(input_size, int))
        _positive("input_size", input_size)
        _typed(hidden_size=(hidden_size, int))
        _positive("hidden_size", hidden_size)
        _positive("num_layers", num_layers)
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                shapes = {f"{name}_l{layer}{suffix}": shape for name, shape in self._shapes(layer).items()}
                for name, shape in shapes.items():
                    setattr(self, name, Parameter(native.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(list(shapes))
        self.reset_parameters()

    def _shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights of one direction of a layer."""
        shown, gates = self.proj_size or self.hidden_size, GATES[self.mode] * self.hidden_size
        width = shown * (2 if self.bidirectional else 1) if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, width), "weight_hh": (gates, shown)}
        if self.bias:
            shapes.update(bias_ih=(gates,), bias_hh=(gates,))
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights, a list for each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [weight for weights in self.all_weights for weight in weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    def __getstate__(self) -> dict[str, Any]:
        # As in torch, for files that both read.
        flat = {"_flat_weights_names": self._flat_weights_names, "_flat_weights": self._flat_weights}
        return {**vars(self), **flat}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = {name: value for name, value in state.items() if not name.startswith("_flat_weight")}
        super().__setstate__(kept)

    def flatten_parameters(self) -> None:
        """Do nothing: the weights are used where they lie."""

    def reset_parameters(self) -> None:
        """Draw all weights uniformly, up to one over the root of the hidden size."""
        draw(self, self.hidden_size)

    def extra_repr(self) -> str:
        """Show the arguments that are not as usual."""
        text = f"{self.input_size}, {self.hidden_size}"
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        for name, value in usual.items():
            if getattr(self, name) != value:
                text += f", {name}={getattr(self, name)}"
        return text

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Return the shape that a state has to have."""
        if batch_sizes is not None:
            count = int(batch_sizes[0])
        else:
            count = input.shape[0 if self.batch_first else 1]
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return layers, count, self.proj_size or self.hidden_size

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse what is no sequence of inputs."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        wanted = 2 if batch_sizes is not None else 3
        if input.dim() != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. "
                f"Expected {self.input_size}, got {input.size(-1)}"
            )

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Refuse a state of another shape."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Go along a sequence; return what is shown at every step, and the last state."""
        if isinstance(input, PackedSequence):
            return self._along_packed(input, hx)
        title = self.mode.partition("_")[0]
        if input.dim() not in (2, 3):
            kind = "D tensor instead" if title == "RNN" else "D instead"
            raise ValueError(f"{title}: Expected input to be 2D or 3D, got {input.dim()}{kind}")
        batched = input.dim() == 3
        if hx is not None:
            self._check_ranks(hx, batched)
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            if hx is not None:
                hx = tuple(part.unsqueeze(1) for part in self._parts(hx))
        states = self._states(input, hx, None)
        if self._is_shown(input, states):
            output, last = self._in_one_call(input, states, self.batch_first)
        else:
            if self.batch_first:
                input = input.transpose(0, 1)
            if len(input) == 0:
                raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
            output, last = self._layers(input, None, states)
            if self.batch_first:
                # In place but for LSTM, as torch names these nodes.
                output = output.transpose(0, 1) if self.mode == "LSTM" else output.transpose_(0, 1)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            last = tuple(part.squeeze(1) for part in last)
        return output, self._answer(last)

    def _along_packed(self, packed: PackedSequence, hx: Any) -> Any:
        data, sizes, order, back = packed
        if hx is not None and order is not None:
            hx = tuple(part.index_select(1, order) for part in self._parts(hx))
        states = self._states(data, hx, sizes)
        if self._is_shown(data, states):
            output, last = self._in_one_call(data, states, sizes=sizes)
        else:
            output, last = self._layers(data, sizes.tolist(), states)
        if back is not None:
            last = tuple(part.index_select(1, back) for part in last)
        return PackedSequence(output, sizes, order, back), self._answer(last)

    def _is_shown(self, input: Tensor, states: State) -> bool:
        """Tell whether somebody wants to see what is called."""
        return self.proj_size == 0 and native._has_torch_function((input, *states, *self._flat_weights))

    def _in_one_call(
        self, input: Tensor, states: State, *first: bool, sizes: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """Go through the layers by a function of the package; `first` is whether the samples come first."""
        from ..._functions import recurrences as _recurrences

        function = getattr(_recurrences, self.mode.lower())
        state = states if self.mode == "LSTM" else states[0]
        begin = (input, state) if sizes is None else (input, sizes, state)
        options = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        output, *last = function(*begin, self._flat_weights, *options, *first)
        return output, tuple(last)

    def _parts(self, hx: Any) -> State:
        return hx if isinstance(hx, tuple) else (hx,)

    def _answer(self, last: State) -> Any:
        return last if self.mode == "LSTM" else last[0]

    def _check_ranks(self, hx: Any, batched: bool) -> None:
        kind, wanted = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
        if self.mode == "LSTM":
            if hx[0].dim() != wanted or hx[1].dim() != wanted:
                raise RuntimeError(
                    f"For {kind} input, hx and cx should also be {wanted}-D but got ({hx[0].dim()}-D, "
                    f"{hx[1].dim()}-D) tensors"
                )
        elif hx.dim() != wanted:
            raise RuntimeError(f"For {kind} input, hx should also be {wanted}-D but got {hx.dim()}-D tensor")

    def _states(self, input: Tensor, hx: Any, sizes: Tensor | None) -> State:
        """Return the state to begin with: the one given, or zeros."""
        if hx is None:
            self.check_input(input, sizes)
            layers, count, shown = self.get_expected_hidden_size(input, sizes)
            widths = (shown, self.hidden_size) if self.mode == "LSTM" else (shown,)
            return tuple(
                native.zeros(layers, count, width, dtype=input.dtype, device=input.device) for width in widths
            )
        parts = self._parts(hx)
        self.check_input(input, sizes)
        wanted = self.get_expected_hidden_size(input, sizes)
        if self.mode != "LSTM":
            self.check_hidden_size(parts[0], wanted)
            return parts
        cell = (*wanted[:2], self.hidden_size)
        self.check_hidden_size(parts[0], wanted, "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(parts[1], cell, "Expected hidden[1] size {}, got {}")
        return parts

    def _layers(self, input: Tensor, sizes: list[int] | None, states: State) -> tuple[Tensor, State]:
        """Go through the layers: along the first dimension, or along the parts of `sizes` if it is packed."""
        directions = 2 if self.bidirectional else 1
        starts = list(zip(*(part.unbind(0) for part in states), strict=True))
        lasts: list[State] = []
        for layer in range(self.num_layers):
            ways = []
            for way in range(directions):
                place = layer * directions + way
                shown, last = self._along(input, sizes, starts[place], self.all_weights[place], way == 1)
                ways.append(shown)
                lasts.append(last)
            input = ways[0] if directions == 1 else native.cat(ways, 2 if sizes is None else -1)
            if self.dropout > 0 and self.training and layer < self.num_layers - 1:
                input = functional.dropout(input, self.dropout, True)
        return input, tuple(native.stack(parts) for parts in zip(*lasts, strict=True))

    def _along(
        self, input: Tensor, sizes: list[int] | None, start: State, weights: list[Parameter], back: bool
    ) -> tuple[Tensor, State]:
        """Go along the steps; those of a packed sequence get smaller as sequences end."""
        step, state = STEPS[self.mode], start
        weight_ih, weight_hh, *others = weights
        bias_ih, bias_hh = others[:2] if self.bias else (None, None)
        projection = weights[-1] if self.proj_size else None
        # Whoever sees calls is shown the steps.
        if sizes is None and projection is None and not native._has_torch_function((input,)):
            biases = others[:2] if self.bias else [native.zeros(len(weight_ih), dtype=input.dtype)] * 2
            whole = getattr(native._nn, self.mode.lower())
            found: Any = whole(input, weight_ih, weight_hh, *biases, *start, back)
            if found is not None:
                return found[0], found[1:]
        # The inputs of all steps at once: one product instead of many.
        gates = _parts(functional.linear(input, weight_ih, bias_ih), sizes)
        count = len(state[0])
        if back and sizes:
            count = sizes[-1]
            state = _narrowed(state, 0, count)
        shown: list[Tensor] = []
        ended: list[State] = []
        for gate in reversed(gates) if back else gates:
            size = len(gate)
            if size < count:
                ended.append(_narrowed(state, size, count))
                state = _narrowed(state, 0, size)
            elif size > count:
                late = _narrowed(start, count, size)
                state = tuple(native.cat(pair) for pair in zip(state, late, strict=True))
            count = size
            state = step(gate, state, weight_hh, bias_hh)
            if projection is not None:
                state = (functional.linear(state[0], projection), *state[1:])
            shown.append(state[0])
        if sizes is not None and not back:
            state = tuple(native.cat(parts) for parts in zip(state, *reversed(ended), strict=True))
        if back:
            shown.reverse()
        return native.stack(shown) if sizes is None else native.cat(shown), state


def _parts(whole: Tensor, sizes: list[int] | None) -> tuple[Tensor, ...]:
    """Return what there is at every step."""
    if sizes is None:
        return whole.unbind(0)
    ends = itertools.accumulate(sizes)
    return tuple(whole.narrow(0, end - size, size) for size, end in zip(sizes, ends, strict=True))


def _narrowed(state: State, start: int, end: int) -> State:
    return tuple(part.narrow(0, start, end - start) for part in state)


def _typed(**arguments: tuple[Any, type]) -> None:
    for name, (value, kind) in arguments.items():
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")


def _positive(name: str, value: int) -> None:
    if value <= 0:
        raise ValueError(f"{name} must be greater than zero")


class RNN(RNNBase):
    """A step: the hyperbolic tangent, or the positive part, of sums of the input and the last state.

    >>> import rushlight as torch
    >>> output, last = torch.nn.RNN(3, 4, batch_first=True)(torch.zeros(2, 5, 3))
    >>> output.shape, last.shape
    (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args, **kwargs)


class LSTM(RNNBase):
    """A step that keeps a memory, and opens and closes ways into it and out of it.

    >>> import rushlight as torch
    >>> output, (last, memory) = torch.nn.LSTM(3, 4, num_layers=2)(torch.zeros(5, 2, 3))
    >>> output.shape, memory.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """A step that decides how much of the last state to keep.

    >>> import rushlight as torch
    >>> output, last = torch.nn.GRU(3, 4, bidirectional=True)(torch.zeros(5, 2, 3))
    >>> output.shape, last.shape
    (torch.Size([5, 2, 8]), torch.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)
