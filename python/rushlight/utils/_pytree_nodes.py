"""The classes of containers that `_pytree` goes into: how each is taken apart, and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import return_types
from .._rushlight import Size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Context = Any


class NodeDef(NamedTuple):
    """How a class of containers is taken apart, and put together again."""

    type: type[Any]
    flatten_fn: Callable[[Any], tuple[list[Any], Context]]
    unflatten_fn: Callable[[Iterable[Any], Context], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None = None


class SequenceKey(NamedTuple):
    """Where a child stands in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return the child."""
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """Where a child stands in a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Return the child."""
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """Where a child stands in an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, owner: Any) -> Any:
        """Return the child."""
        return getattr(owner, self.name)


class Serialized(NamedTuple):
    """What a class of containers is called in texts, and how what else it needs is written and read."""

    name: str | None
    write: Callable[[Context], Any] | None
    read: Callable[[Any], Context] | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SERIALIZED: dict[Any, Serialized] = {}


def register_pytree_node(
    cls: type[Any],
    flatten_fn: Callable[[Any], tuple[list[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Context], Any] | None = None,
    from_dumpable_context: Callable[[Any], Context] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None = None,
) -> None:
    """Makes a class a class of containers.

    `flatten_fn` takes a container apart into its children and whatever else is needed to put it together;
    `unflatten_fn` puts it together. The rest says what it is called in texts (`treespec_dumps`), and how what
    else is needed is written and read.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered."
        )
    SERIALIZED[cls] = Serialized(serialized_type_name, to_dumpable_context, from_dumpable_context)
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def _deregister_pytree_node(cls: type[Any]) -> None:
    del SUPPORTED_NODES[cls]
    SERIALIZED.pop(cls, None)


def _items(keys: Iterable[Any], children: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(MappingKey(key), child) for key, child in zip(keys, children, strict=True)]


def _entries(children: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(SequenceKey(index), child) for index, child in enumerate(children)]


def _fields(container: Any) -> list[tuple[Any, Any]]:
    return [(GetAttrKey(name), getattr(container, name)) for name in type(container)._fields]


def _default_context(container: defaultdict[Any, Any]) -> Context:
    return [container.default_factory, list(container)]


def _default_dict(children: Iterable[Any], context: Context) -> defaultdict[Any, Any]:
    return defaultdict(context[0], zip(context[1], children, strict=True))


register_pytree_node(
    tuple,
    lambda node: (list(node), None),
    lambda children, _: tuple(children),
    serialized_type_name="builtins.tuple",
    flatten_with_keys_fn=lambda node: (_entries(node), None),
)
register_pytree_node(
    list,
    lambda node: (list(node), None),
    lambda children, _: list(children),
    serialized_type_name="builtins.list",
    flatten_with_keys_fn=lambda node: (_entries(node), None),
)
register_pytree_node(
    dict,
    lambda node: (list(node.values()), list(node)),
    lambda children, keys: dict(zip(keys, children, strict=True)),
    serialized_type_name="builtins.dict",
    flatten_with_keys_fn=lambda node: (_items(node, node.values()), list(node)),
)
register_pytree_node(
    namedtuple,  # type: ignore[arg-type]
    lambda node: (list(node), type(node)),
    lambda children, cls: cls(*children),
    flatten_with_keys_fn=lambda node: (_fields(node), type(node)),
)
register_pytree_node(
    OrderedDict,
    lambda node: (list(node.values()), list(node)),
    lambda children, keys: OrderedDict(zip(keys, children, strict=True)),
    serialized_type_name="collections.OrderedDict",
    flatten_with_keys_fn=lambda node: (_items(node, node.values()), list(node)),
)
register_pytree_node(
    Size,
    lambda node: (list(node), None),
    lambda children, _: tuple(children),
    serialized_type_name="torch.Size",
    flatten_with_keys_fn=lambda node: (_entries(node), None),
)
register_pytree_node(
    defaultdict,
    lambda node: (list(node.values()), _default_context(node)),
    _default_dict,
    flatten_with_keys_fn=lambda node: (_items(node, node.values()), _default_context(node)),
)
register_pytree_node(
    deque,
    lambda node: (list(node), node.maxlen),
    lambda children, maxlen: deque(children, maxlen=maxlen),
    serialized_type_name="collections.deque",
    flatten_with_keys_fn=lambda node: (_entries(node), node.maxlen),
)

_DICTIONARIES = (dict, OrderedDict, defaultdict)
_BUILT_IN = (*_DICTIONARIES, tuple, list, namedtuple, deque)
BUILTIN_TYPES: frozenset[Any] = frozenset(_BUILT_IN)
_NAMED_RESULTS = frozenset(
    cls for cls in vars(return_types).values() if isinstance(cls, type) and issubclass(cls, tuple)
)


def is_namedtuple_class(cls: type) -> bool:
    """Whether `namedtuple` or `NamedTuple` made a class."""
    if not issubclass(cls, tuple):
        return False
    fields = getattr(cls, "_fields", None)
    return isinstance(fields, tuple) and all(type(name) is str for name in fields)


def is_namedtuple_instance(node: object) -> bool:
    """Whether an object is of a class that `namedtuple` or `NamedTuple` made."""
    return is_namedtuple_class(type(node))


def _definition(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> NodeDef | None:
    """Return how a container is taken apart; `None` for what is none, or is said to be none."""
    if is_leaf is not None and is_leaf(tree):
        return None
    cls = type(tree)
    found = SUPPORTED_NODES.get(cls)
    if found is not None or not issubclass(cls, tuple):
        return found
    if cls in _NAMED_RESULTS:
        register_pytree_node(cls, lambda node: (list(node), None), lambda children, _: cls(children))
        return SUPPORTED_NODES[cls]
    return SUPPORTED_NODES.get(namedtuple) if is_namedtuple_class(cls) else None


def _node_type(tree: Any) -> Any:
    definition = _definition(tree)
    if definition is not None:
        return definition.type
    return namedtuple if is_namedtuple_instance(tree) else type(tree)


def _is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    return _definition(tree, is_leaf) is None
