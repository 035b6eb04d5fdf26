"""A module as the list of operators that it calls, for models in the ONNX format.

Sizes that may vary are found by comparing: the module is recorded a second time with inputs that are longer
there, and what differs between the two lists depends on the size.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _rushlight as native
from .._rushlight import Tensor
from ..autograd.grad_mode import no_grad
from ..fx.experimental.proxy_tensor import make_fx, place_of
from ..fx.node import Node
from ..utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..fx import GraphModule

__all__ = ["Recorded", "Varying", "record"]

under_way: list[Any] = []


class Varying(int):
    """A size that was this one when the module was recorded, and may be another."""


class Recorded(NamedTuple):
    """A graph of operators, its inputs and outputs, and the names of the tensors that it reads."""

    module: GraphModule
    arguments: dict[Node, tuple[Any, dict[str, Any]]]
    inputs: list[Node]
    outputs: list[Any]
    names: dict[Any, str]
    varies: bool


@contextmanager
def _not_training(model: Any, training: bool | None) -> Iterator[None]:
    modes = [(module, module.training) for module in model.modules()]
    if training is not None:
        model.train(training)
    under_way.append(model)
    try:
        with no_grad():
            yield
    finally:
        under_way.pop()
        for module, mode in modes:
            module.training = mode


def record(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    varying: Mapping[int, Sequence[int]],
    training: bool | None,
) -> Recorded:
    """Record a module. `varying` says which dimensions of which tensors among its arguments may vary."""
    given, structure = pytree.tree_flatten((tuple(args), dict(kwargs)))
    places = [place for place, value in enumerate(given) if isinstance(value, Tensor)]

    def call(*tensors: Tensor) -> Any:
        values = list(given)
        for place, tensor in zip(places, tensors, strict=True):
            values[place] = tensor
        args, kwargs = pytree.tree_unflatten(values, structure)
        return pytree.tree_flatten(model(*args, **kwargs))[0]

    tensors = [given[place] for place in places]
    with _not_training(model, training):
        module = make_fx(call)(*tensors)
        arguments = {node: (node.args, dict(node.kwargs)) for node in module.graph.nodes}
        if varying:
            longer = [_longer(tensor, varying.get(place, ())) for place, tensor in enumerate(tensors)]
            arguments = _compared(module, make_fx(call)(*longer))
    nodes = list(module.graph.nodes)
    returned = nodes[-1].args[0]
    known = [*model.named_parameters(), *model.named_buffers()]
    return Recorded(
        module,
        arguments,
        [node for node in nodes if node.op == "placeholder"],
        list(returned) if isinstance(returned, (list, tuple)) else [returned],
        {place_of(tensor): name for name, tensor in known},
        bool(varying),
    )


def _longer(tensor: Tensor, dims: Sequence[int]) -> Tensor:
    """Return a tensor that has one more entry, the first one again, along some dimensions."""
    for dim in dims:
        tensor = native.cat((tensor, tensor.narrow(dim, 0, 1)), dim)
    return tensor


def _compared(module: GraphModule, other: GraphModule) -> dict[Node, tuple[Any, dict[str, Any]]]:
    """Return the arguments of the nodes of a graph, with marks where another graph has other sizes."""
    nodes, others = list(module.graph.nodes), list(other.graph.nodes)
    if [node.target for node in nodes if node.op != "get_attr"] != [
        node.target for node in others if node.op != "get_attr"
    ]:
        raise ValueError("the module calls other operators where a size that should vary is another")

    def marked(one: Any, two: Any) -> Any:
        if isinstance(one, (list, tuple)):
            return type(one)(marked(*pair) for pair in zip(one, two, strict=True))
        differs = type(one) is int and one != two
        return Varying(one) if differs else one

    return {
        one: (
            marked(one.args, two.args),
            {name: marked(value, two.kwargs[name]) for name, value in one.kwargs.items()},
        )
        for one, two in zip(nodes, others, strict=True)
    }
