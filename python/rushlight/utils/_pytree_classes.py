"""Classes that become containers or constants of trees, and structures that are put together by hand."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from .. import return_types
from ._pytree import LeafSpec, TreeSpec
from ._pytree_nodes import (
    SUPPORTED_NODES,
    GetAttrKey,
    is_namedtuple_class,
    is_namedtuple_instance,
    register_pytree_node,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclasses.dataclass(frozen=True)
class ConstantNode:
    """An object that is part of a structure."""

    value: Any


CONSTANT_NODES: set[type] = set()


def register_constant(cls: type[Any]) -> None:
    """Have the instances of a class be part of the structure rather than leaves.

    They need to be comparable and hashable.

    >>> from dataclasses import dataclass
    >>> from rushlight.utils._pytree import register_constant, tree_flatten
    >>> @dataclass(frozen=True)
    ... class Setting:
    ...     name: str
    >>> register_constant(Setting)
    >>> tree_flatten([Setting("fast"), 3])[0]
    [3]
    """
    for name in ("__eq__", "__hash__"):
        if getattr(cls, name) in (getattr(object, name), None):
            raise TypeError(
                f"register_constant(cls) expects `cls` to have a non-default `{name}` implementation."
            )
    register_pytree_node(
        cls,
        lambda value: ([], ConstantNode(value)),
        lambda _, context: context.value,
        flatten_with_keys_fn=lambda value: ([], ConstantNode(value)),
    )
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: type[Any]) -> bool:
    """Tell whether the instances of a class are part of structures."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a class with fields a class of containers, whose children are the fields.

    >>> from dataclasses import dataclass
    >>> from rushlight.utils._pytree import register_dataclass, tree_map
    >>> @dataclass
    ... class Point:
    ...     x: float
    ...     y: float
    >>> register_dataclass(Point)
    >>> tree_map(lambda value: value * 2, Point(1.0, 2.0))
    Point(x=2.0, y=4.0)
    """
    if field_names is None:
        if not dataclasses.is_dataclass(cls):
            raise ValueError(
                "field_names must be specified with a list of all fields used to initialize "
                f"{cls}, as it is not a dataclass."
            )
        field_names = [field.name for field in dataclasses.fields(cls) if field.init]
    names = list(field_names)
    dropped = set(drop_field_names or ())
    if dataclasses.is_dataclass(cls):
        _check_fields(cls, set(names), dropped)
    names = [name for name in names if name not in dropped]

    def flatten(value: Any) -> tuple[list[Any], Any]:
        there = [name for name in names if getattr(value, name) is not None]
        nothing = [name for name in names if name not in there]
        return [getattr(value, name) for name in there], [there, nothing]

    def unflatten(children: Iterable[Any], context: Any) -> Any:
        there, nothing = context
        return cls(**dict(zip(there, children, strict=True)), **dict.fromkeys(nothing))

    def flatten_with_keys(value: Any) -> tuple[list[Any], Any]:
        children, context = flatten(value)
        return [(GetAttrKey(name), child) for name, child in zip(context[0], children, strict=True)], context

    _take_the_place_of_what_was_registered(cls)
    register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )


def _check_fields(cls: Any, given: set[str], dropped: set[str]) -> None:
    wanted = {field.name for field in dataclasses.fields(cls) if field.init} - dropped
    missing, unexpected = wanted - given, given - wanted - dropped
    if not missing and not unexpected:
        return
    text = "field_names does not include all dataclass fields.\n"
    if missing:
        text += (
            f"Missing fields in `field_names`: {missing}. If you want to include these fields in the pytree, "
            "please add them to `field_names`, otherwise please add them to `drop_field_names`.\n"
        )
    if unexpected:
        text += (
            f"Unexpected fields in `field_names`: {unexpected}. Please remove these fields, or add them to "
            "`drop_field_names`.\n"
        )
    raise ValueError(text)


def is_namedtuple(obj: object) -> bool:
    """Tell whether an object is a named tuple, or a class of them."""
    return is_namedtuple_class(obj) if isinstance(obj, type) else is_namedtuple_instance(obj)


def is_structseq_class(cls: object) -> bool:
    """Tell whether a class is one of those in which functions return several results."""
    return isinstance(cls, type) and vars(return_types).get(cls.__name__) is cls


def is_structseq_instance(obj: object) -> bool:
    """Tell whether an object is one of several results of a function."""
    return is_structseq_class(type(obj))


def is_structseq(obj: object) -> bool:
    """Tell whether an object is one of several results of a function, or a class of them."""
    return is_structseq_class(obj) if isinstance(obj, type) else is_structseq_instance(obj)


def treespec_leaf() -> LeafSpec:
    """Return the structure of what is no container."""
    return LeafSpec()


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """Return the structure of a tuple of parts of these structures."""
    specs = list(iterable)
    if not all(isinstance(spec, TreeSpec) for spec in specs):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {specs}.")
    return TreeSpec(tuple, None, specs)


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """Return the structure of a dictionary of parts of these structures."""
    specs = dict(mapping, **kwargs)
    if not all(isinstance(spec, TreeSpec) for spec in specs.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {specs}.")
    return TreeSpec(dict, list(specs), list(specs.values()))


def _is_constant_holder(spec: TreeSpec) -> bool:
    """Tell whether a structure is an object that is part of it."""
    return isinstance(spec.context, ConstantNode)


def _retrieve_constant(spec: TreeSpec) -> Any:
    """Return the object that a structure is."""
    if not _is_constant_holder(spec):
        raise AssertionError("spec must be a constant holder")
    return spec.unflatten([])


def _register_pytree_node(cls: type[Any], flatten_fn: Any, unflatten_fn: Any, **options: Any) -> None:
    """Make a class a class of containers, by an old name; again, if it is one."""
    import warnings

    warnings.warn(
        "`torch.utils._pytree._register_pytree_node` is deprecated. Please use "
        "`torch.utils._pytree.register_pytree_node` instead.",
        FutureWarning,
        stacklevel=2,
    )
    _take_the_place_of_what_was_registered(cls)
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def _take_the_place_of_what_was_registered(cls: type[Any]) -> None:
    if cls in SUPPORTED_NODES:
        import warnings

        text = f"{cls} is already registered as pytree node. Overwriting the previous registration."
        warnings.warn(text, stacklevel=3)
        del SUPPORTED_NODES[cls]
