"""What of a module depends on nothing that it is given: computed once, before the first call."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, tensor
from ...nn import Parameter, ParameterList
from .._symbolic_trace import symbolic_trace
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ..passes.split_module import split_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...nn.modules.module import Module
    from ..graph import Graph

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]

_CONSTANT, _REST = "submod_0", "submod_1"


class FoldedGraphModule(GraphModule):
    """A module whose constant part is computed when it is called first, and kept in an attribute."""

    def __init__(
        self,
        root: Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self) -> None:
        """Compute the constant part."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        found = self.const_subgraph_module()
        kept = ParameterList(map(self._kept, found)) if isinstance(found, tuple) else self._kept(found)
        setattr(self, self.fx_const_folded_attrs_name, kept)

    def _kept(self, value: Any) -> Parameter:
        if isinstance(value, Tensor):
            return Parameter(value.detach().clone(), requires_grad=value.requires_grad)
        number = tensor([float(value)]).to(self.device_for_folded_attrs)
        return Parameter(number, requires_grad=False)


def get_unique_attr_name_in_module(mod_traced: Module, name: str) -> str:
    """Return a name like this one that a module has no attribute of."""
    name = re.sub("[^0-9a-zA-Z_]+", "_", name)
    if name[0].isdigit():
        name = f"_{name}"
    while hasattr(mod_traced, name):
        counted = re.match(r"(.*)_(\d+)$", name)
        name = f"{counted[1]}_{int(counted[2]) + 1}" if counted else f"{name}_1"
    return name


def _inline_module(gm: GraphModule, inline_mod_name: str, run_dce: bool = True) -> dict[Node, Any]:
    """Put the nodes of a module in the place of its call; return what stands for each of them."""
    inner = dict(gm.named_modules())[inline_mod_name]
    if not isinstance(inner, GraphModule):
        raise AssertionError(f"Expected GraphModule, got {type(inner)}")
    calls = (n for n in gm.graph.nodes if n.op == "call_module" and n.target == inline_mod_name)
    call = next(calls, None)
    if call is None:
        raise AssertionError(f"Could not find call_module node for {inline_mod_name}")
    known: dict[Node, Any] = {}
    given = iter(call.args)

    def standing_in(node: Node) -> Any:
        made = known[node]
        made.meta = node.meta.copy()
        return made

    for node in inner.graph.nodes:
        if node.op == "placeholder":
            known[node] = call.kwargs[node.name] if node.name in call.kwargs else next(given)
        elif node.op == "output":
            _use_instead(gm, call, map_arg(node.args[0], standing_in), known)
        else:
            with gm.graph.inserting_before(call):
                known[node] = gm.graph.node_copy(node, standing_in)
    gm.graph.erase_node(call)
    if run_dce:
        gm.graph.eliminate_dead_code()
    return known


def _use_instead(gm: GraphModule, call: Node, results: Any, known: dict[Node, Any]) -> None:
    """Have whoever uses a call use its results; of several they take one each."""
    takers = []
    if isinstance(results, (list, tuple)):
        takers = [user for user in call.users if user.target is operator.getitem]
    for user in takers:
        known[user] = results[user.args[1]]
        user.replace_all_uses_with(known[user])
        gm.graph.erase_node(user)
    call.replace_all_uses_with(results)


def _is_impure(module: Any) -> bool:
    """Tell whether a traced module does more than compute its result."""
    return isinstance(module, GraphModule) and any(
        node.is_impure() if node.op == "call_function" else _is_impure(module.get_submodule(str(node.target)))
        for node in module.graph.nodes
        if node.op in ("call_function", "call_module")
    )


def _constants(traced: GraphModule, skipped: Callable[[Node], bool] | None) -> set[Node]:
    """Return the nodes that depend on attributes and numbers alone."""
    found: set[Node] = set()
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output") or not found.issuperset(node.all_input_nodes):
            continue
        if (skipped and skipped(node)) or node.is_impure():
            continue
        if node.op != "call_module" or not _is_impure(traced.get_submodule(str(node.target))):
            found.add(node)
    return found


def split_const_subgraphs(
    module: Module,
    skip_folding_node_fn: Callable[[Node], bool] | None = None,
    device_for_folded_attrs: str = "cpu",
) -> FoldedGraphModule:
    """Return a module that computes once what it does not need its arguments for.

    >>> import rushlight as torch
    >>> from rushlight.fx.experimental.const_fold import split_const_subgraphs
    >>> class Scaled(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.scale = torch.nn.Parameter(torch.tensor([3.0]))
    ...     def forward(self, x):
    ...         return x * self.scale.exp()
    >>> folded = split_const_subgraphs(Scaled())
    >>> [node.name for node in folded.graph.nodes]
    ['x', '_fx_const_folded_attrs', 'mul', 'output']
    >>> folded(torch.zeros(1))
    tensor([0.], grad_fn=<MulBackward0>)
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constants = _constants(traced, skip_folding_node_fn)
    if all(node.op == "get_attr" for node in constants):
        return FoldedGraphModule(traced, traced.graph)
    split = split_module(traced, module, lambda node: 0 if node in constants else 1)
    constant, rest = getattr(split, _CONSTANT), getattr(split, _REST, None)
    for part in filter(None, (rest, constant)):
        for node in part.graph.nodes:
            if node.op == "call_module":
                setattr(split, node.target, getattr(part, node.target))
    call = next(n for n in split.graph.nodes if n.op == "call_module" and n.target == _CONSTANT)
    alone = GraphModule(split, constant.graph)
    # What the constant part is given are attributes: it finds them by itself.
    for place, given in zip(alone.graph.find_nodes(op="placeholder"), call.args, strict=True):
        with alone.graph.inserting_before(place):
            attribute = alone.graph.get_attr(given.target)
        attribute.meta = place.meta.copy()
        place.replace_all_uses_with(attribute)
        alone.graph.erase_node(place)
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    is_several = isinstance(alone.graph.output_node().args[0], tuple)
    setattr(split, name, ParameterList() if is_several else Parameter())
    with split.graph.inserting_before(call):
        folded = split.graph.get_attr(name)
    folded.meta = call.meta.copy()
    call.replace_all_uses_with(folded)
    if rest is not None:
        _inline_module(split, _REST)
    split.graph.eliminate_dead_code()
    return FoldedGraphModule(split, split.graph, alone.graph, name, device_for_folded_attrs)
