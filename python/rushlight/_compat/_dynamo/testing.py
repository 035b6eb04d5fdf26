"""Backends that count what they are given to compile, and graphs as text that tests compare.

Functions run as they are written, so that nobody is given anything: what is counted stays zero.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...fx import GraphModule

__all__ = [
    "CompileCounter",
    "CompileCounterWithBackend",
    "EagerAndRecordGraphs",
    "normalize_gm",
    "rand_strided",
]


class CompileCounter:
    """A backend that counts graphs and the calls in them.

    >>> import rushlight as torch
    >>> counter = CompileCounter()
    >>> _ = counter(torch.fx.symbolic_trace(lambda x: x.sin() + 1), [])
    >>> counter.frame_count, counter.op_count
    (1, 2)
    """

    def __init__(self) -> None:
        self.frame_count: int | str = 0
        self.op_count: int | str = 0
        self.graphs: list[GraphModule] = []

    def __call__(self, gm: GraphModule, example_inputs: Sequence[Any]) -> Any:
        """Count a graph, and return what computes it."""
        self.frame_count = int(self.frame_count) + 1
        self.op_count = int(self.op_count) + sum("call" in node.op for node in gm.graph.nodes)
        self.graphs.append(gm)
        return gm.forward

    def clear(self) -> None:
        """Count from zero."""
        self.frame_count = self.op_count = 0
        self.graphs.clear()


class CompileCounterWithBackend(CompileCounter):
    """A backend that counts what another is given."""

    def __init__(self, backend: str) -> None:
        super().__init__()
        self.backend = backend


class EagerAndRecordGraphs:
    """A backend that keeps the graphs that it is given."""

    def __init__(self) -> None:
        self.graphs: list[GraphModule] = []

    def __call__(self, gm: GraphModule, example_inputs: Sequence[Any]) -> Any:
        """Keep a graph, and return what computes it."""
        self.graphs.append(gm)
        return gm.forward


def strip_comment(code: str) -> str:
    """Return code without its comments."""
    return re.sub(r"(?m)^ *#.*\n?", "", code)


def remove_trailing_space(code: str) -> str:
    """Return code without blanks at the ends of its lines."""
    return "\n".join(line.rstrip() for line in code.split("\n"))


def normalize_gm(gm_str: str) -> str:
    """Return a graph that was printed without what differs from run to run."""
    return remove_trailing_space(strip_comment(gm_str))


def empty_line_normalizer(code: str) -> str:
    """Return code without empty lines."""
    return re.sub(r"[\r\n]+", "\n", code)


def rand_strided(
    size: Sequence[int],
    stride: Sequence[int],
    dtype: Any = native.float32,
    device: Any = "cpu",
    extra_size: int = 0,
) -> Tensor:
    """Return a tensor of drawn numbers that lie in memory as strides say."""
    needed = 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    room = needed + extra_size if all(size) else extra_size
    if dtype.is_floating_point or dtype.is_complex:
        numbers = native.randn(room, dtype=dtype, device=device)
    else:
        numbers = native.randint(0, 2, (room,), device=device).to(dtype)
    return native.as_strided(numbers, tuple(size), tuple(stride))
