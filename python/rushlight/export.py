"""Modules as graphs that stand alone: `export` records one with the symbolic tracer of `fx`.

A module whose way depends on values, which the tracer does not have, is run with the example instead, and the
operators that it calls are recorded: it then goes the way of the example, in its sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._module_aliases import add_module_aliases
from ._rushlight import Tensor
from .fx import GraphModule, Tracer
from .nn.modules.module import Module
from .utils import _pytree as pytree

if TYPE_CHECKING:
    from .fx import Graph

__all__ = ["Dim", "ExportedProgram", "dims", "export", "load", "save"]

add_module_aliases(globals(), {"exported_program": {__name__: "ExportedProgram"}})


class _Whole(Tracer):
    """Goes into every module."""

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return False


class _DimHint:
    """A size of which the tracer is to find out whether it may vary."""

    def __init__(self, kind: str, min: int | None = None, max: int | None = None) -> None:
        self.type, self.min, self.max = kind, min, max

    def __call__(self, min: int | None = None, max: int | None = None) -> _DimHint:
        return _DimHint(self.type, min, max)

    def __repr__(self) -> str:
        bounds = {"min": self.min, "max": self.max}
        return f"DimHint({', '.join([self.type, *_given(bounds)])})"


class Dim:
    """A size that may vary: every size may, here, that the graph does not name."""

    AUTO, DYNAMIC, STATIC = _DimHint("AUTO"), _DimHint("DYNAMIC"), _DimHint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        least = 0 if min is None else min
        if max is not None and max <= least:
            raise AssertionError(f"Cannot create Dim with inconsistent min={least}, max={max}")
        self.__name__, self.min, self.max = name, least, max

    def __repr__(self) -> str:
        bounds = {"min": None if self.min == 2 else self.min, "max": self.max}
        return f"Dim({', '.join([repr(self.__name__), *_given(bounds)])})"


def _given(bounds: dict[str, int | None]) -> list[str]:
    return [f"{name}={bound}" for name, bound in bounds.items() if bound is not None]


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Return several sizes that may vary.

    >>> import rushlight as torch
    >>> torch.export.dims("batch", "length", max=8)
    (Dim('batch', min=0, max=8), Dim('length', min=0, max=8))
    """
    return tuple(Dim(name, min=min, max=max) for name in names)


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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a program is no module."""
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` instead."
        )

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
    try:
        module = GraphModule(mod, _Whole().trace(mod))
    except Exception:
        # Values are asked for, in whatever way: the example has some.
        module = _recorded(mod, args, kwargs or {})
    return ExportedProgram(module, (args, kwargs or {}))


def _recorded(mod: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> GraphModule:
    """Return the operators that a module calls for an example, as a module with the same parameters."""
    from .fx.experimental.proxy_tensor import make_fx, place_of

    given, structure = pytree.tree_flatten((args, kwargs))
    tensors = [one for one in given if isinstance(one, Tensor)]

    def call(*inputs: Tensor) -> Any:
        left = iter(inputs)
        values = [next(left) if isinstance(one, Tensor) else one for one in given]
        some, named = pytree.tree_unflatten(values, structure)
        return mod(*some, **named)

    module = make_fx(call)(*tensors)
    names = {place_of(tensor): name for name, tensor in [*mod.named_parameters(), *mod.named_buffers()]}
    for node in module.graph.nodes:
        if node.op == "get_attr":
            tensor = getattr(module, str(node.target))
            name = names.get(place_of(tensor))
            if name is None:
                mod.register_buffer(str(node.target), tensor, persistent=False)
            else:
                node.target = name
    found = GraphModule(mod, module.graph)
    for name in [one for one, _ in mod.named_buffers() if one.startswith("_tensor_constant")]:
        delattr(mod, name)
    return found


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
