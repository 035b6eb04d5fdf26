"""Nested containers taken apart into leaves, and put together again.

>>> from rushlight.utils._pytree import tree_flatten, tree_map, tree_unflatten
>>> leaves, spec = tree_flatten({"a": 1, "b": (2, [3])})
>>> leaves
[1, 2, 3]
>>> tree_unflatten([10, 20, 30], spec)
{'a': 10, 'b': (20, [30])}
>>> tree_map(lambda x: x + 1, [1, (2, 3)])
[2, (3, 4)]

Tuples, lists, dictionaries, named tuples and deques are containers; everything else, `None` included, is a
leaf. `register_pytree_node` adds a class of containers.
"""

from __future__ import annotations

from collections import defaultdict, deque
from types import UnionType
from typing import TYPE_CHECKING, Any

from .._lazy import on_first_use
from ._pytree_nodes import _BUILT_IN, _DICTIONARIES, SUPPORTED_NODES, _definition, _is_leaf, _node_type
from ._pytree_nodes import BUILTIN_TYPES as BUILTIN_TYPES
from ._pytree_nodes import GetAttrKey as GetAttrKey
from ._pytree_nodes import MappingKey as MappingKey
from ._pytree_nodes import NodeDef as NodeDef
from ._pytree_nodes import SequenceKey as SequenceKey
from ._pytree_nodes import _deregister_pytree_node as _deregister_pytree_node
from ._pytree_nodes import is_namedtuple_class as is_namedtuple_class
from ._pytree_nodes import is_namedtuple_instance as is_namedtuple_instance
from ._pytree_nodes import register_pytree_node as register_pytree_node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ._pytree_classes import register_constant as register_constant
    from ._pytree_classes import register_dataclass as register_dataclass
    from ._pytree_text import treespec_dumps as treespec_dumps
    from ._pytree_text import treespec_loads as treespec_loads
else:
    _PLACES = {
        "._pytree_classes": "CONSTANT_NODES ConstantNode _is_constant_holder _register_pytree_node "
        "_retrieve_constant is_constant_class is_namedtuple is_structseq is_structseq_class "
        "is_structseq_instance register_constant register_dataclass treespec_dict treespec_leaf "
        "treespec_tuple",
        "._pytree_functions": "_defaultdict_flatten _defaultdict_flatten_with_keys _defaultdict_unflatten "
        "_deque_flatten _deque_flatten_with_keys _deque_unflatten _dict_flatten _dict_flatten_with_keys "
        "_dict_unflatten _list_flatten _list_flatten_with_keys _list_unflatten _namedtuple_flatten "
        "_namedtuple_flatten_with_keys _namedtuple_unflatten _odict_flatten _odict_unflatten "
        "_ordereddict_flatten _ordereddict_flatten_with_keys _ordereddict_unflatten _tuple_flatten "
        "_tuple_flatten_with_keys _tuple_unflatten",
        "._pytree_text": "DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL _register_namedtuple pytree_to_str "
        "str_to_pytree treespec_dumps treespec_loads",
    }
    __getattr__, __dir__ = on_first_use(globals(), places=_PLACES)

_get_node_type = _node_type
Context = Any

PyTree = Any

tree_is_leaf = _is_leaf


class TreeSpec:
    """What is left of a nested container when its leaves are taken out: the structure."""

    __slots__ = ("_children", "_context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        self.type = type
        self._context = context
        self._children = children_specs
        self.num_children = len(children_specs)
        nodes, leaves = 1, 0
        for child in children_specs:
            nodes += child.num_nodes
            leaves += child.num_leaves
        self.num_nodes: int = nodes
        self.num_leaves: int = 1 if type is None else leaves

    @property
    def context(self) -> Context:
        """What else than the children is needed to put the container together."""
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The structures of the children."""
        return self._children

    def children(self) -> list[TreeSpec]:
        """Return the structures of the children, in a list of one's own."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """Return the structure of one child."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Whether this is no container."""
        return self.type is None

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        deeper = indent + 2
        children = (",\n" + " " * deeper).join(child.__repr__(deeper) for child in self._children)
        return f"TreeSpec({self.type.__name__}, {self._context}, [{children}])"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self._context, self._children) == (other.type, other._context, other._children)

    def __hash__(self) -> int:
        context = self._context
        keys = tuple(context) if isinstance(context, list) else context
        return hash((self.type, keys, tuple(self._children)))

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Return a container of this structure with these leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to "
                f"a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> PyTree:
        if self.type is None:
            return next(leaves)
        children = [child._build(leaves) for child in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self._context)

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """Return the parts of a tree that stand where this structure has leaves."""
        if self.type is None:
            return [tree]
        children = self._matching_children(tree)
        return [
            part
            for spec, child in zip(self._children, children, strict=True)
            for part in spec.flatten_up_to(child)
        ]

    def _matching_children(self, tree: PyTree) -> list[Any]:
        node_type = _node_type(tree)
        dictionaries = self.type in _DICTIONARIES and node_type in _DICTIONARIES
        if self.type != node_type and not dictionaries:
            what = "Node type" if self.type in _BUILT_IN else "Type"
            raise ValueError(f"{what} mismatch; expected {self.type!r}, but got {node_type!r}.")
        children, context = SUPPORTED_NODES[node_type].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        if dictionaries:
            return self._in_order_of_keys(tree)
        if self.type not in _BUILT_IN and context != self._context:
            raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
        if self.type is not deque and context != self._context:
            raise ValueError(
                f"Node context mismatch for node type {self.type!r}; "
                f"expected {self._context!r}, but got {context!r}."
            )
        return children

    def _in_order_of_keys(self, tree: dict[Any, Any]) -> list[Any]:
        keys = self._context[1] if self.type is defaultdict else self._context
        missing, extra = set(keys) - set(tree), set(tree) - set(keys)
        if missing or extra:
            of_missing = f"; missing key(s): {missing}" if missing else ""
            of_extra = f"; extra key(s): {extra}" if extra else ""
            raise ValueError(f"Node keys mismatch{of_missing}{of_extra}.")
        return [tree[key] for key in keys]


class LeafSpec(TreeSpec):
    """The structure of what is no container."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


def treespec_pprint(treespec: TreeSpec) -> str:
    """Return the structure as a container of asterisks."""
    return repr(treespec.unflatten([_Asterisk()] * treespec.num_leaves))


class _Asterisk:
    def __repr__(self) -> str:
        return "*"


def tree_flatten(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a nested container, and its structure."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, is_leaf, leaves)


# There is nothing by which two of them differ.
_LEAF = LeafSpec()


def _flatten(node: PyTree, is_leaf: Callable[[PyTree], bool] | None, leaves: list[Any]) -> TreeSpec:
    # No function within a function: one that calls itself is a cycle, which would keep the leaves.
    definition = _definition(node, is_leaf)
    if definition is None:
        leaves.append(node)
        return _LEAF
    children, context = definition.flatten_fn(node)
    return TreeSpec(definition.type, context, [_flatten(child, is_leaf, leaves) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Return the nested container of that structure with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> Iterator[Any]:
    """Return the leaves, one after another."""
    definition = _definition(tree, is_leaf)
    if definition is None:
        yield tree
        return
    for child in definition.flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> list[Any]:
    """Return the leaves in a list."""
    leaves: list[Any] = []
    _collect(tree, is_leaf, leaves)
    return leaves


def _collect(node: PyTree, is_leaf: Callable[[PyTree], bool] | None, leaves: list[Any]) -> None:
    definition = _definition(node, is_leaf)
    if definition is None:
        leaves.append(node)
        return
    for child in definition.flatten_fn(node)[0]:
        _collect(child, is_leaf, leaves)


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """Return the leaves of the arguments of a call."""
    return [*tree_iter(args), *tree_iter(kwargs)]


def tree_structure(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> TreeSpec:
    """Return the structure alone."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any],
    tree: PyTree,
    *rests: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> PyTree:
    """A container of the same structure with what `func` makes of the leaves; further containers give further
    arguments."""
    if not rests and _is_leaf(tree, is_leaf):
        return func(tree)
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests)))


def tree_map_(
    func: Callable[..., Any],
    tree: PyTree,
    *rests: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> PyTree:
    """Calls `func` with every leaf; answers the container itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests)), maxlen=0)
    return tree


def _wanted(type_or_types_or_pred: Any) -> Callable[[Any], bool]:
    if isinstance(type_or_types_or_pred, type | tuple | UnionType):
        return lambda x: isinstance(x, type_or_types_or_pred)
    if callable(type_or_types_or_pred):
        predicate: Callable[..., Any] = type_or_types_or_pred
        return predicate
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Makes a function leave alone what is not of the type, or does not satisfy the predicate."""
    wanted = _wanted(type_or_types_or_pred)

    def wrapper(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: func(x) if wanted(x) else x

    return wrapper


def tree_map_only(
    type_or_types_or_pred: Any,
    /,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> PyTree:
    """`tree_map` that leaves other leaves as they are."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any,
    /,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> PyTree:
    """`tree_map_` of some leaves."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(
    pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> bool:
    """Whether all leaves satisfy the predicate."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(
    pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> bool:
    """Whether a leaf satisfies the predicate."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types_or_pred: Any,
    /,
    pred: Callable[[Any], bool],
    tree: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> bool:
    """`tree_all` of some leaves."""
    wanted = _wanted(type_or_types_or_pred)
    return all(pred(x) for x in tree_iter(tree, is_leaf) if wanted(x))


def tree_any_only(
    type_or_types_or_pred: Any,
    /,
    pred: Callable[[Any], bool],
    tree: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> bool:
    """`tree_any` of some leaves."""
    wanted = _wanted(type_or_types_or_pred)
    return any(pred(x) for x in tree_iter(tree, is_leaf) if wanted(x))


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: Callable[[PyTree], bool] | None = None
) -> list[Any] | None:
    """For each leaf of the structure the leaf of `tree` that is there or above; `None` if they do not fit."""
    if _is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    full = treespec.unflatten([0] * treespec.num_leaves)
    leaves, spec = tree_flatten(tree, is_leaf)
    try:
        parts = spec.flatten_up_to(full)
    except ValueError:
        return None
    counts = (len(tree_leaves(part, is_leaf)) for part in parts)
    return [leaf for leaf, count in zip(leaves, counts, strict=True) for _ in range(count)]


def tree_leaves_with_path(
    tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the leaves, each with the keys that lead to it."""

    def walk(path: tuple[Any, ...], node: PyTree) -> Iterator[tuple[tuple[Any, ...], Any]]:
        definition = _definition(node, is_leaf)
        if definition is None:
            yield path, node
            return
        if definition.flatten_with_keys_fn is None:
            raise ValueError(
                f"Did not find a flatten_with_keys_fn for type: {definition.type}. Please pass a "
                "flatten_with_keys_fn argument to register_pytree_node."
            )
        for key, child in definition.flatten_with_keys_fn(node)[0]:
            yield from walk((*path, key), child)

    return list(walk((), tree))


def tree_flatten_with_path(
    tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """`tree_leaves_with_path`, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any],
    tree: PyTree,
    *rests: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> PyTree:
    """`tree_map` that gives the keys before the leaf."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    paths, leaves = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return spec.unflatten(map(func, paths, leaves, *(spec.flatten_up_to(rest) for rest in rests)))


def keystr(kp: tuple[Any, ...]) -> str:
    """Keys as one would write them behind a name."""
    return "".join(str(key) for key in kp)


def key_get(obj: Any, kp: tuple[Any, ...]) -> Any:
    """What keys lead to."""
    for key in kp:
        obj = key.get(obj)
    return obj
