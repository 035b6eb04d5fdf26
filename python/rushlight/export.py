"""Modules as graphs that stand alone: `export` records one with the symbolic tracer of `fx`.

What depends on values stays what it was for the tracer; sizes that were read become numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .fx import GraphModule, Tracer
from .nn.modules.module import Module

if TYPE_CHECKING:
    from .fx import Graph

__all__ = ["Dim", "ExportedProgram", "export", "load", "save"]


class _Whole(Tracer):
    """Goes into every module."""

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return False


class Dim:
    """A size that may vary: every size may, here, that the graph does not name."""

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__, self.min, self.max = name, min, max


class ExportedProgram:
    """A module as a graph, with its parameters."""

    def __init__(self, graph_module: GraphModule, example_inputs: Any) -> None:
        self.graph_module, self.example_inputs = graph_module, example_inputs

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.graph_module.graph

    @property
    def state_dict(self) -> dict[str, Any]:
        """The parameters and buffers."""
        return dict(self.graph_module.state_dict())

    def named_parameters(self) -> Any:
        """Walk over the parameters."""
        return self.graph_module.named_parameters()

    def named_buffers(self) -> Any:
        """Walk over the buffers."""
        return self.graph_module.named_buffers()

    def parameters(self) -> Any:
        """Walk over the parameters, without their names."""
        return self.graph_module.parameters()

    def module(self) -> GraphModule:
        """Return the module that computes the graph."""
        return self.graph_module

    def __repr__(self) -> str:
        return f"ExportedProgram:\n{self.graph_module.code}"


def export(
    mod: Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    **options: Any,
) -> ExportedProgram:
    """Record a module as a graph.

    >>> import rushlight as torch
    >>> program = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(1, 2),))
    >>> [node.op for node in program.graph.nodes]
    ['placeholder', 'get_attr', 'get_attr', 'call_function', 'output']
    >>> program.module()(torch.ones(3, 2)).shape
    torch.Size([3, 1])
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    graph = _Whole().trace(mod)
    return ExportedProgram(GraphModule(mod, graph), (args, kwargs or {}))


def save(ep: ExportedProgram, f: Any, **options: Any) -> None:
    """Write a program to a file."""
    from .serialization import save as write

    write(ep, f)


def load(f: Any, **options: Any) -> ExportedProgram:
    """Read a program from a file. It holds code: read none that a stranger gave."""
    from .serialization import load as read

    found = read(f, weights_only=False)
    if not isinstance(found, ExportedProgram):
        raise RuntimeError(f"export.load: the file holds no program but {type(found).__name__}")
    return found
