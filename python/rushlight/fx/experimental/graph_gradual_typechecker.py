"""Sizes of the nodes of a graph, some of which may be unknown: checked, and related by equations."""

from __future__ import annotations

import itertools
import math
import operator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ...nn import AdaptiveAvgPool2d, BatchNorm2d, Conv2d, Linear, MaxPool2d, ReLU
from ..node import Node, map_arg
from ..tensor_type import Dyn, TensorType, is_consistent, is_more_precise
from .unification import Equality, Var

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..graph_module import GraphModule

__all__ = ["GraphTypeChecker", "Refine", "broadcast_types", "calculate_out_dimension"]

_INFERENCE_RULES: dict[Any, Callable[..., Any]] = {}
_REFINEMENT_RULES: dict[Any, Callable[..., Any]] = {}
_RULES: dict[Any, Callable[..., Any]] = {}


def _registering(rules: dict[Any, Any], what: str) -> Callable[[Any], Callable[[Any], Any]]:
    def register(call_target: Any) -> Callable[[Any], Any]:
        """Return a decorator: the function says the sizes of what a function or a class of modules gives."""

        def decorate(function: Any) -> Any:
            if call_target in rules:
                raise RuntimeError(f"{what} already registered for {call_target}!")
            rules[call_target] = function
            return function

        return decorate

    return register


register_inference_rule = _registering(_INFERENCE_RULES, "Inference rule")
register_refinement_rule = _registering(_REFINEMENT_RULES, "Refinement rule")
register_algebraic_expressions_inference_rule = _registering(_RULES, "Rule")


def expand_to_tensor_dim(t: Any, n: int) -> TensorType:
    """Return a type of so many sizes."""
    if t == Dyn:
        return TensorType((Dyn,) * n)
    if not isinstance(t, TensorType):
        raise TypeError(f"Cannot match the type {t}")
    if len(t.dims) != n:
        raise TypeError(f"Cannot extend tensor. Tensor {t} has rank {len(t.dims)}. It should have rank {n}")
    return t


def broadcast_types(t1: Any, t2: Any) -> tuple[Any, Any]:
    """Return two types as they are after one has been broadcast to the other.

    >>> broadcast_types(TensorType((1, 2)), TensorType((3, 4, 1)))
    (TensorType[(3, 4, 2)], TensorType[(3, 4, 2)])
    """
    if t1 == Dyn or t2 == Dyn or isinstance(t1, Var) or isinstance(t2, Var):
        return t1, t2
    if not isinstance(t1, TensorType) or not isinstance(t2, TensorType):
        raise TypeError(f"Cannot broadcast types {t1} and {t2}")
    length = max(len(t1.dims), len(t2.dims))
    one, other = ([1] * (length - len(each.dims)) + list(each.dims) for each in (t1, t2))
    for at, (left, right) in enumerate(zip(one, other, strict=True)):
        if left == 1:
            one[at] = right
        elif right == 1:
            other[at] = left
    return TensorType(tuple(one)), TensorType(tuple(other))


def get_greatest_upper_bound(type1: Any, type2: Any) -> Any:
    """Return what both types tell together."""
    if type1 == Dyn:
        return type2
    if type2 == Dyn:
        return type1
    if not isinstance(type1, TensorType) or not isinstance(type2, TensorType):
        return None
    if not is_consistent(type1, type2):
        raise TypeError(f"Inconsistent types {type1}, {type2}")
    sizes = zip(type1.dims, type2.dims, strict=True)
    return TensorType(tuple(one if is_more_precise(one, other) else other for one, other in sizes))


@register_inference_rule(native.add)
@register_inference_rule(operator.add)
def _add(n: Node) -> Any:
    operands: Any = n.args
    t1, t2 = (each.type for each in operands)
    for number, other in ((t1, t2), (t2, t1)):
        if number is int and isinstance(other, TensorType):
            return other
    one, other = broadcast_types(t1, t2)
    n.meta["broadcast"] = one != t1 or other != t2
    if n.meta["broadcast"]:
        n.meta[str(operands[0])], n.meta[str(operands[1])] = one, other
    if not is_consistent(one, other):
        raise TypeError(
            f"Cannot add arguments {operands[0]} ({t1}) and {operands[1]} ({t2}) in node {n}. Types should "
            "match "
        )
    return other if is_more_precise(one, other) else one


@register_inference_rule(getattr)
def _attribute(n: Node) -> Any:
    if n.args[1] != "shape":
        raise TypeError("Not yet implemented")
    return Dyn


@register_inference_rule(native.transpose)
def _transpose(n: Node) -> Any:
    given, first, second = n.args
    t: Any = given.type
    if t == Dyn:
        return Dyn
    if not isinstance(t, TensorType) or not all(0 <= at < len(t.dims) for at in (first, second)):
        raise TypeError(f"Cannot transpose {first} and {second} in type {t} for node {n}")
    sizes: Any = list(t.dims)
    sizes[first], sizes[second] = sizes[second], sizes[first]
    return get_greatest_upper_bound(n.type, TensorType(sizes))


@register_inference_rule(native.reshape)
def _reshape(n: Node) -> TensorType:
    given, wanted = n.args
    t: Any = given.type
    made = TensorType([Dyn if size == -1 else size for size in wanted])
    if t == Dyn:
        return made
    if isinstance(t, TensorType):
        before = math.prod(size for size in t.dims if size != Dyn)
        after = math.prod(wanted)
        if before % after == 0 or after % before == 0:
            return made
    raise TypeError(f"Cannot reshape in node {n} from {t} to {made}")


def _bounds(n: Node, length: int) -> tuple[int, int]:
    """Return between which dimensions a node flattens."""
    start, end = (*n.args[1:], *(1, -1)[len(n.args) - 1 :])[:2]
    start = length if start == -1 else abs(start)
    return start, length + end + 1 if end < 0 else end + 1


@register_inference_rule(native.flatten)
def _flatten(n: Node) -> Any:
    def flat(t: TensorType) -> TensorType:
        sizes = list(t.dims)
        start, end = _bounds(n, len(sizes))
        if not (0 <= start < len(sizes) and start < end <= len(sizes)):
            raise TypeError(f"Incompatible dimensions {start}, {end - 1} in type {t}")
        middle = Dyn if Dyn in sizes[start:end] else math.prod(sizes[start:end])
        return TensorType((*sizes[:start], middle, *sizes[end:]))

    return _by_input(n, flat)


def _by_input(n: Node, result: Callable[[TensorType], TensorType]) -> Any:
    """Return the type of a node by that of its input, which may first be known from the node's own."""
    given: Any = n.args[0]
    if given.type == Dyn and isinstance(n.type, TensorType):
        given.type = expand_to_tensor_dim(given.type, len(n.type.dims))
    if not isinstance(given.type, TensorType):
        return n.type
    return get_greatest_upper_bound(result(given.type), n.type)


def _wrong(n: Node, module: Any, given: Any) -> TypeError:
    return TypeError(f"Cannot apply {module} with input type {given} and existing type {n.type} on {n}")


@register_inference_rule(BatchNorm2d)
def _normalise(n: Node, module: Any) -> Any:
    given: Any = n.args[0]
    given.type, n.type = expand_to_tensor_dim(given.type, 4), expand_to_tensor_dim(n.type, 4)
    is_right = all(is_consistent(t.dims[1], module.num_features) for t in (given.type, n.type))
    if not is_right or not is_consistent(given.type, n.type):
        raise _wrong(n, module, given.type)
    return get_greatest_upper_bound(given.type, n.type)


def calculate_out_dimension(d_in: Any, module_instance: Any, index: int) -> Any:
    """Return the size that a window leaves of another."""

    def of(name: str) -> Any:
        value = getattr(module_instance, name)
        return (value, value) if isinstance(value, int) else value

    if d_in == Dyn:
        return Dyn
    if not isinstance(d_in, int) and not hasattr(d_in, "free_symbols"):
        raise TypeError(f"{d_in} in {module_instance} must be a number or Dyn. Received {type(d_in)}")
    covered = of("dilation")[index] * (of("kernel_size")[index] - 1) + 1
    return (d_in + 2 * of("padding")[index] - covered) // of("stride")[0] + 1


def _moved(t: TensorType, module: Any) -> list[Any]:
    """Return the sizes with the last two of them as a window leaves them."""
    high, wide = (calculate_out_dimension(t.dims[at - 2], module, at) for at in (0, 1))
    return [*t.dims[:-2], high, wide]


@register_inference_rule(Conv2d)
def _convolve(n: Node, module: Any) -> Any:
    given: Any = n.args[0]
    given.type = expand_to_tensor_dim(given.type, 4)
    own = expand_to_tensor_dim(n.type, 4)
    if not is_consistent(given.type.dims[1], module.in_channels):
        raise _wrong(n, module, given.type)
    count, _, *sizes = _moved(given.type, module)
    return get_greatest_upper_bound(TensorType((count, module.out_channels, *sizes)), own)


@register_inference_rule(ReLU)
def _same(n: Node, module: Any) -> Any:
    return _by_input(n, lambda t: t)


@register_inference_rule(MaxPool2d)
def _pool(n: Node, module: Any) -> Any:
    def pooled(t: TensorType) -> TensorType:
        if len(t.dims) not in (3, 4):
            raise TypeError(f"Wrong size {t} for {module}")
        return TensorType(tuple(_moved(t, module)))

    return _by_input(n, pooled)


@register_inference_rule(AdaptiveAvgPool2d)
def _pool_to(n: Node, module: Any) -> Any:
    def pooled(t: TensorType) -> TensorType:
        if len(t.dims) not in (3, 4):
            raise TypeError(f"Tensor ranks must be 3 or 4. Got {t}")
        size = module.output_size
        high, wide = (size, size) if isinstance(size, int) else size
        return TensorType((*t.dims[:-2], wide if high is None else high, high if wide is None else wide))

    return _by_input(n, pooled)


@register_inference_rule(Linear)
def _linear(n: Node, module: Any) -> Any:
    def mapped(t: TensorType) -> TensorType:
        if len(t.dims) < 2:
            raise TypeError(f"Type {t} must have rank 2 or more.")
        if not is_consistent(module.in_features, t.dims[-1]):
            raise TypeError(f"Inconsistent {module.in_features} and {t.dims[-1]} in {module}")
        return TensorType((*t.dims[:-1], module.out_features))

    return _by_input(n, mapped)


class GraphTypeChecker:
    """Finds the sizes of every node, and refuses those that cannot be.

    >>> import rushlight as torch
    >>> from rushlight.fx.tensor_type import Dyn, TensorType
    >>> traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3)))
    >>> next(iter(traced.graph.nodes)).type = TensorType((Dyn, 2))
    >>> GraphTypeChecker({}, traced).type_check()
    True
    >>> [node.type for node in traced.graph.nodes]
    [TensorType[(Dyn, 2)], TensorType[(Dyn, 3)], TensorType[(Dyn, 3)]]
    """

    def __init__(self, env: dict[str, Any], traced: GraphModule) -> None:
        self.env, self.traced = env, traced

    def type_check(self) -> bool:
        """Check all nodes in turn."""
        for node in self.traced.graph.nodes:
            self.type_check_node(node)
        return True

    def type_check_node(self, n: Node) -> Any:
        """Write to a node which type it has."""
        n.type = Dyn if n.type is None else n.type
        if n.op == "get_attr":
            n.type = TensorType(operator.attrgetter(str(n.target))(self.traced).shape)
        elif n.op == "call_function":
            if n.target not in _INFERENCE_RULES:
                raise RuntimeError(f"No inference rule registered for target {n.target}!")
            n.type = _INFERENCE_RULES[n.target](n)
        elif n.op == "call_module":
            module = self.traced.get_submodule(str(n.target))
            if type(module) not in _INFERENCE_RULES:
                raise RuntimeError(f"No inference rule registered for class {type(module)}!")
            n.type = _INFERENCE_RULES[type(module)](n, module)
        elif n.op == "output":
            n.type = map_arg(n.args[0], lambda one: one.type)
        elif n.op != "placeholder":
            raise NotImplementedError(f"Method {n.op} not yet implemented")
        return n.type


def _equal(n: Node, sizes: slice) -> list[Equality]:
    """Return that sizes of a node are those of its input."""
    given: Any = n.args[0]
    if not isinstance(given.type, TensorType) or not isinstance(n.type, TensorType):
        return []
    return [
        Equality(one, other) for one, other in zip(given.type.dims[sizes], n.type.dims[sizes], strict=False)
    ]


for _kind, _sizes in (
    (Conv2d, slice(1)),
    (Linear, slice(1)),
    (AdaptiveAvgPool2d, slice(2)),
    (MaxPool2d, slice(2)),
    (BatchNorm2d, slice(None)),
    (ReLU, slice(None)),
):
    register_refinement_rule(_kind)(lambda n, sizes=_sizes: _equal(n, sizes))


@register_refinement_rule(native.add)
@register_refinement_rule(operator.add)
def _added(n: Node) -> list[Equality]:
    operands = [each.type for each in n.args if isinstance(each, Node)]
    if len(operands) < 2 or not all(isinstance(each, TensorType) for each in (*operands, n.type)):
        return []
    one, other = broadcast_types(*operands)
    sizes = zip(one.dims, other.dims, n.type.dims, strict=False)
    return [Equality(left, whole) for left, right, whole in sizes if left == right]


@register_refinement_rule(native.flatten)
def _flattened(n: Node) -> list[Equality]:
    given: Any = n.args[0]
    if not isinstance(given.type, TensorType) or not isinstance(n.type, TensorType):
        return []
    start, end = _bounds(n, len(n.type.dims))
    return [
        Equality(one, other)
        for part in (slice(start), slice(end, None))
        for one, other in zip(n.type.dims[part], given.type.dims[part], strict=False)
    ]


@register_algebraic_expressions_inference_rule(Conv2d)
def _convolved(n: Node, module: Any) -> Any:
    given: Any = n.args[0]
    if isinstance(given.type, TensorType) and isinstance(n.type, TensorType):
        return TensorType((*n.type.dims[:2], *_moved(given.type, module)[2:]))
    return n.type


class Refine:
    """Names what is not known in a graph, and collects the equations between that."""

    def __init__(self, traced: GraphModule) -> None:
        self.constraints: list[Equality] = []
        self.traced = traced
        self.symbol_iter = itertools.count()

    def refine(self) -> bool:
        """Collect what holds of all nodes."""
        for node in self.traced.graph.nodes:
            self.refine_node(node)
        return True

    def symbolic_relations(self) -> bool:
        """Write sizes that follow from others as expressions of `sympy`."""
        for node in self.traced.graph.nodes:
            self.infer_symbolic_relations(node)
        return True

    def replace_dyn_with_fresh_var(self, typ: Any) -> Any:
        """Return a type with names for what is not known."""
        return Var(next(self.symbol_iter)) if typ == Dyn else _within(typ, self.replace_dyn_with_fresh_var)

    def convert_to_sympy_symbols(self, typ: Any) -> Any:
        """Return a type with symbols in the place of names."""
        if not isinstance(typ, Var):
            return _within(typ, self.convert_to_sympy_symbols)
        return import_module("sympy").symbols(str(typ))

    def refine_node(self, n: Node) -> Any:
        """Collect what holds of a node."""
        n.type = self.replace_dyn_with_fresh_var(Dyn if n.type is None else n.type)
        rule = self._rule(n, _REFINEMENT_RULES)
        if rule is not None:
            self.constraints += rule(n)
        return self._output(n)

    def infer_symbolic_relations(self, n: Node) -> Any:
        """Write the sizes of a node as expressions."""
        n.type = self.convert_to_sympy_symbols(n.type)
        rule = self._rule(n, _RULES)
        if rule is not None:
            module = [self.traced.get_submodule(str(n.target))] if n.op == "call_module" else []
            n.type = rule(n, *module)
        return self._output(n)

    def _rule(self, n: Node, rules: dict[Any, Any]) -> Any:
        if n.op == "call_module":
            return rules.get(type(self.traced.get_submodule(str(n.target))))
        return rules.get(n.target) if n.op == "call_function" else None

    @staticmethod
    def _output(n: Node) -> Any:
        if n.op == "output":
            n.type = map_arg(n.args[0], lambda one: one.type)
        return n.type


def _within(typ: Any, change: Callable[[Any], Any]) -> Any:
    """Return a type whose parts are changed."""
    if isinstance(typ, TensorType):
        return TensorType(tuple(map(change, typ.dims)))
    return type(typ)(map(change, typ)) if isinstance(typ, (list, tuple)) else typ
