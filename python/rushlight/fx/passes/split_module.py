"""A module split into parts that are called in turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import Signature
from typing import TYPE_CHECKING, Any

from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ..proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...nn.modules.module import Module

__all__ = ["split_module"]


@dataclass
class _Part:
    """What a part is given, what others use of it, and which parts those are. Dictionaries are in order."""

    name: str
    inputs: dict[Node, None] = field(default_factory=dict)
    outputs: dict[Node, None] = field(default_factory=dict)
    before: dict[str, None] = field(default_factory=dict)
    after: dict[str, None] = field(default_factory=dict)
    graph: Graph = field(default_factory=Graph)
    known: dict[Node, Node] = field(default_factory=dict)
    targets: dict[str, Any] = field(default_factory=dict)


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool = False,
    keep_original_node_name: bool = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """Return a module that calls parts of another: each has the nodes for which the callback says the same.

    >>> import rushlight as torch
    >>> from rushlight.fx.passes.split_module import split_module
    >>> traced = torch.fx.symbolic_trace(lambda x: (x + 1).relu() * 2)
    >>> split = split_module(traced, traced, lambda node: int(node.name == "mul"))
    >>> print(split.code.strip())
    def forward(self, x):
        submod_0 = self.submod_0(x);  x = None
        submod_1 = self.submod_1(submod_0);  submod_0 = None
        return submod_1
    """
    places = {node: str(split_callback(node)) for node in m.graph.nodes if _is_split(node)}
    parts: dict[str, _Part] = {}
    affix = "" if partition_affix is None else f"{partition_affix}_"
    for place in places.values():
        parts.setdefault(place, _Part(f"submod_{affix}{place}"))
    for node in m.graph.nodes:
        for used in node.all_input_nodes:
            _record(parts, places, used, node)
    order = _ordered(parts)
    for part in (parts[place] for place in order):
        _place_inputs(m, part, keep_original_input_name)
    for node, place in places.items():
        _copy(m, node, parts[place], qualname_map, keep_original_node_name)
    return _joined(m, parts, list(parts) if keep_original_order else order, tuple_return)


def _is_split(node: Node) -> bool:
    return node.op not in ("placeholder", "get_attr", "output")


def _value(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module


def _record(parts: dict[str, _Part], places: dict[Node, str], used: Node, user: Node) -> None:
    """Note that a node uses another, if they are in different parts."""
    made, wanted = places.get(used), places.get(user)
    if made == wanted:
        return
    if made is not None and (wanted is not None or user.op == "output"):
        parts[made].outputs[used] = None
    if wanted is not None:
        parts[wanted].inputs[used] = None
        if made is not None:
            parts[made].after[wanted] = parts[wanted].before[made] = None


def _ordered(parts: dict[str, _Part]) -> list[str]:
    """Return the parts, each after those that it uses."""
    waiting = {place: dict(part.before) for place, part in parts.items()}
    ready, order = [place for place in parts if not waiting[place]], []
    while ready:
        place = ready.pop()
        order.append(place)
        for other in parts[place].after:
            del waiting[other][place]
            if not waiting[other]:
                ready.append(other)
    if len(order) < len(parts):
        raise RuntimeError("cycle exists between partitions!")
    return order


def _place_inputs(m: GraphModule, part: _Part, keep_names: bool) -> None:
    from ...nn.modules.module import Module

    def is_module(node: Node) -> bool:
        return node.op == "get_attr" and isinstance(_value(m, str(node.target)), Module)

    given = [node for node in part.inputs if not is_module(node)]
    for index, node in enumerate(given):
        name = node.name if keep_names else f"arg_{index}"
        part.known[node] = part.graph.placeholder(name, type_expr=node.type)
    for node in part.inputs:
        if is_module(node):
            part.targets[str(node.target)] = _value(m, str(node.target))
            part.known[node] = part.graph.get_attr(str(node.target))
        part.known[node].meta = node.meta.copy()
    part.inputs = dict.fromkeys(given)


def _copy(
    m: GraphModule, node: Node, part: _Part, qualname_map: dict[str, str] | None, keep_name: bool
) -> None:
    target = node.target
    if node.op == "call_module":
        target = str(node.target).replace(".", "_")
        part.targets[target] = _value(m, str(node.target))
        if qualname_map is not None:
            qualname_map[f"{part.name}.{target}"] = str(node.target)
    args, kwargs = (map_arg(each, part.known.__getitem__) for each in (node.args, node.kwargs))
    name = node.name if keep_name else None
    made = part.graph.create_node(node.op, target, args, kwargs, name=name, type_expr=node.type)
    made.meta = node.meta.copy()
    part.known[node] = made


def _joined(m: GraphModule, parts: dict[str, _Part], order: list[str], tuple_return: bool) -> GraphModule:
    """Return the module that calls the parts."""
    graph, known, owned = Graph(), {}, {}
    for node in m.graph.nodes:
        if node.op == "placeholder":
            default = node.args[0] if node.args else Signature.empty
            known[node] = graph.placeholder(str(node.target), type_expr=node.type, default_value=default)
        elif node.op == "get_attr":
            known[node] = graph.get_attr(str(node.target))
            owned[str(node.target)] = _value(m, str(node.target))
        else:
            continue
        known[node].meta = node.meta.copy()
    for part in (parts[place] for place in order):
        results = tuple(part.known[node] for node in part.outputs)
        is_one = len(results) == 1 and not tuple_return
        part.graph.output(results[0] if is_one else results)
        owned[part.name] = GraphModule(part.targets, part.graph)
        call = graph.call_module(part.name, tuple(known[node] for node in part.inputs))
        proxy: Any = Proxy(call)
        for index, node in enumerate(part.outputs):
            known[node] = call if is_one else proxy[index].node
    last = m.graph.output_node()
    graph.output(map_arg(last.args[0], known.__getitem__)).meta = last.meta.copy()
    return GraphModule(owned, graph)
