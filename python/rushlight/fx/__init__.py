"""Functions as graphs that programs read and change.

`symbolic_trace` calls a function with what stands for its arguments and records what it does: a `Graph` of
nodes, in a `GraphModule` that does what the graph says and shows its code. `Interpreter` and `Transformer` go
through it, `replace_pattern` exchanges parts, and `experimental.proxy_tensor.make_fx` records what happens
to tensors below autograd.

>>> import rushlight as torch
>>> class Model(torch.nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.linear = torch.nn.Linear(2, 1)
...     def forward(self, x):
...         return self.linear(x).relu()
>>> print(torch.fx.symbolic_trace(Model()).graph)
graph():
    %x : [num_users=1] = placeholder[target=x]
    %linear : [num_users=1] = call_module[target=linear](args = (%x,), kwargs = {})
    %relu : [num_users=1] = call_method[target=relu](args = (%linear,), kwargs = {})
    return relu
"""

from __future__ import annotations

from .._lazy import on_first_use
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import CodeGen as CodeGen
from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
    "PH",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

__getattr__, __dir__ = on_first_use(
    globals(), rooms={"_compatibility", "_utils", "experimental", "passes", "traceback"}
)
