"""What is asked of operators and of their schemas: which there are, what they write to, what they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._operators.schemas import parse_schema
from ..._ops import ops
from ..._rushlight import Tensor
from ...library.operator import parted as parse_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..._operators.schemas import Argument, FunctionSchema
    from ..._ops import OpOverload

__all__ = [
    "fill_defaults",
    "has_kwarg_only_args",
    "has_kwarg_only_tensors",
    "has_tensor_arg",
    "is_builtin",
    "is_functional_schema",
    "is_tensor_like_type",
    "is_tensorlist_like_type",
    "iter_tensors",
    "lookup_op",
    "mutates_and_returns_first_arg",
    "parse_namespace",
    "zip_schema",
]

_TENSORS = ("Tensor", "Optional[Tensor]")
_LISTS = tuple(kind for inner in _TENSORS for kind in (f"List[{inner}]", f"Optional[List[{inner}]]"))


def lookup_op(qualname: str) -> OpOverload:
    """Return the operator of a name such as `aten::add.Tensor`."""
    namespace, name = parse_namespace(qualname)
    name, _, overload = name.partition(".")
    found: OpOverload = getattr(getattr(getattr(ops, namespace), name), overload or "default")
    return found


def is_builtin(op: OpOverload) -> bool:
    """Tell whether it is an operator of torch itself."""
    return op.namespace in ("aten", "prim", "prims")


def is_functional_schema(schema: FunctionSchema | str, *, allow_valid_view: bool = False) -> bool:
    """Tell whether an operator returns something, writes to nothing and shows none of what it is given.

    With `allow_valid_view` it may show its first argument.
    """
    found = parse_schema(schema) if isinstance(schema, str) else schema
    if found.is_mutable or not found.returns:
        return False
    shown = [one.alias_info for one in found.returns if one.alias_info is not None]
    return not shown or (allow_valid_view and len(found.returns) == 1)


def is_tensor_like_type(typ: Any) -> bool:
    """Tell whether arguments of a type are tensors, or tensors that may be left out."""
    return str(typ) in _TENSORS


def is_tensorlist_like_type(typ: Any) -> bool:
    """Tell whether arguments of a type are lists of tensors, whatever of it may be left out."""
    return str(typ) in _LISTS


def mutates_and_returns_first_arg(op: OpOverload) -> bool:
    """Tell whether an operator writes to its first argument, to nothing else, and returns that."""
    schema = op._schema
    if len(schema.returns) != 1 or (returned := schema.returns[0].alias_info) is None:
        return False
    first, *rest = schema.arguments
    given = first.alias_info
    return (
        given is not None
        and given.is_write
        and given.before_set == returned.before_set
        and not any(one.alias_info is not None and one.alias_info.is_write for one in rest)
    )


def zip_schema(
    schema: FunctionSchema, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[tuple[Argument, Any]]:
    """Yield what is given of the arguments of a schema, each with the argument."""
    for place, argument in enumerate(schema.arguments):
        if argument.kwarg_only or place >= len(args):
            if argument.name in kwargs:
                yield argument, kwargs[argument.name]
        else:
            yield argument, args[place]


def fill_defaults(
    schema: FunctionSchema, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with those that it has left out."""
    placed, named = list(args), dict(kwargs)
    for place, argument in enumerate(schema.arguments):
        if argument.kwarg_only:
            named.setdefault(argument.name, argument.default_value)
        elif place >= len(placed):
            placed.append(named.pop(argument.name, argument.default_value))
    return tuple(placed), named


def iter_tensors(args: tuple[Any, ...], kwargs: dict[str, Any], allowed_nesting: int = 1) -> Iterator[Tensor]:
    """Yield the tensors among arguments, and in lists among them."""
    for one in (*args, *kwargs.values()):
        if isinstance(one, Tensor):
            yield one
        elif allowed_nesting and isinstance(one, (list, tuple)):
            yield from iter_tensors(tuple(one), {}, allowed_nesting - 1)


def has_tensor_arg(schema: FunctionSchema) -> bool:
    """Tell whether any argument is a tensor, or a list of them."""
    return any(_takes_tensors(one) for one in schema.arguments)


def has_kwarg_only_args(schema: FunctionSchema) -> bool:
    """Tell whether any argument can be given by its name only."""
    return any(one.kwarg_only for one in schema.arguments)


def has_kwarg_only_tensors(schema: FunctionSchema) -> bool:
    """Tell whether any tensor can be given by its name only."""
    return any(one.kwarg_only and _takes_tensors(one) for one in schema.arguments)


def _takes_tensors(argument: Argument) -> bool:
    return is_tensor_like_type(argument.type) or is_tensorlist_like_type(argument.type)
