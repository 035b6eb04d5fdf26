"""Structures of nested containers as text, in torch's form, and read from it."""

from __future__ import annotations

import json
from collections import defaultdict, namedtuple
from enum import Enum
from typing import Any

from ._pytree import LeafSpec, TreeSpec
from ._pytree_nodes import SERIALIZED, SUPPORTED_NODES, Serialized

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1
_HINT = "register a custom serializer using _register_pytree_node."


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Give a class of named tuples the name that it has in texts."""
    SERIALIZED[cls] = Serialized(serialized_type_name, None, None)


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """Return a structure as text.

    >>> from rushlight.utils._pytree import tree_structure, treespec_dumps, treespec_loads
    >>> text = treespec_dumps(tree_structure([1, 2]))
    >>> treespec_loads(text).unflatten([3, 4])
    [3, 4]
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}."
        )
    protocol = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    _check_protocol(protocol)
    return json.dumps((protocol, _as_plain(treespec)))


def treespec_loads(serialized: str) -> TreeSpec:
    """Return the structure that a text stands for."""
    protocol, plain = json.loads(serialized)
    _check_protocol(protocol)
    return _from_plain(plain)


def _check_protocol(protocol: object) -> None:
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        known = [DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL]
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {known}")


def _as_plain(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    if spec.type not in SUPPORTED_NODES:
        raise NotImplementedError(f"Serializing {spec.type} in pytree is not registered.")
    how = SERIALIZED.get(spec.type)
    if how is None or how.name is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your "
            "_register_pytree_node call with a `serialized_type_name` kwarg."
        )
    children = [_as_plain(child) for child in spec.children_specs]
    return {"type": how.name, "context": _context_out(spec, how), "children_spec": children}


def _context_out(spec: TreeSpec, how: Serialized) -> Any:
    if how.write is not None:
        return how.write(spec.context)
    try:
        return json.dumps(spec.context, default=_plain_member)
    except TypeError as error:
        raise TypeError(
            f"Unable to serialize context. Please make the context json dump-able, or {_HINT}"
        ) from error


def _plain_member(value: Any) -> dict[str, Any]:
    """Return a member of an enumeration as something that can be written."""
    if not isinstance(value, Enum):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    cls = type(value)
    return {"__enum__": True, "fqn": f"{cls.__module__}:{cls.__qualname__}", "name": value.name}


def _from_plain(plain: dict[str, Any]) -> TreeSpec:
    name = plain["type"]
    if name is None:
        return LeafSpec()
    cls = next((cls for cls, how in SERIALIZED.items() if how.name == name), None)
    if cls is None:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    context = _context_in(plain["context"], SERIALIZED[cls])
    return TreeSpec(cls, context, [_from_plain(child) for child in plain["children_spec"]])


def _context_in(context: Any, how: Serialized) -> Any:
    if how.read is not None:
        return how.read(context)
    try:
        return json.loads(context, object_hook=_member)
    except TypeError as error:
        raise TypeError(
            f"Unable to deserialize context. Please make the context json load-able, or {_HINT}"
        ) from error


def _named(path: str, separator: str) -> Any:
    """Return what a module has under a name, which may lead through classes."""
    from importlib import import_module

    module, _, names = path.partition(separator)
    found: Any = import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


def _member(plain: dict[str, Any]) -> Any:
    return _named(plain["fqn"], ":")[plain["name"]] if "__enum__" in plain else plain


def _write_named(cls: type[Any]) -> str:
    how = SERIALIZED.get(cls)
    if how is None or how.name is None:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a "
            "serializated_type_name. Please register using `_register_namedtuple`."
        )
    return how.name


def _read_named(name: str) -> type[Any]:
    for cls, how in SERIALIZED.items():
        if how.name == name:
            return cls  # type: ignore[no-any-return]
    raise NotImplementedError(
        f"Can't deserialize TreeSpec of namedtuple class {name} because we couldn't find a serializated name."
    )


def _write_default(context: Any) -> dict[str, Any]:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _read_default(plain: dict[str, Any]) -> list[Any]:
    factory = _named(f"{plain['default_factory_module']}:{plain['default_factory_name']}", ":")
    return [factory, plain["dict_context"]]


SERIALIZED[namedtuple] = Serialized("collections.namedtuple", _write_named, _read_named)
SERIALIZED[defaultdict] = Serialized("collections.defaultdict", _write_default, _read_default)


def pytree_to_str(treespec: TreeSpec) -> str:
    """Return a structure as text, by an old name."""
    _deprecate("pytree_to_str", "treespec_dumps")
    return treespec_dumps(treespec)


def str_to_pytree(json: str) -> TreeSpec:
    """Return the structure that a text stands for, by an old name."""
    _deprecate("str_to_pytree", "treespec_loads")
    return treespec_loads(json)


def _deprecate(old: str, new: str) -> None:
    import warnings

    warnings.warn(f"`{old}` is deprecated. Please use `{new}` instead.", FutureWarning, stacklevel=3)
