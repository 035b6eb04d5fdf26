"""How operators are called, as signatures of Python, and calls with every argument in its place."""

from __future__ import annotations

import inspect
import numbers
import types
import typing
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _rushlight as native
from .._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._operators.schemas import FunctionSchema

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call: by position, and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


_MEANING: dict[str, Any] = {
    **{name: getattr(typing, name) for name in ("Any", "Dict", "List", "Optional", "Tuple", "Union")},
    "Device": native.device,
    "Generator": native.Generator,
    "NoneType": type(None),
    "Tensor": Tensor,
    "number": numbers.Number,
    "t": Any,
}


def _torchscript_type_to_python_type(ts_type: Any) -> Any:
    """Return what a type of a schema is in Python."""
    return eval(ts_type.annotation_str, {**_MEANING}, typing.cast("Any", _Unknown()))


class _Unknown(dict[str, Any]):
    """Types that have no class here stand for anything."""

    def __missing__(self, name: str) -> Any:
        import builtins

        if name in _MEANING or hasattr(builtins, name):
            raise KeyError(name)
        return Any


def _signature(schema: FunctionSchema) -> inspect.Signature:
    """Return how an operator is called from Python; the first tensor is `input` there."""
    parameters = [
        inspect.Parameter(
            "input" if one.name == "self" else one.name,
            inspect.Parameter.KEYWORD_ONLY if one.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=one.default_value if one.has_default_value() else inspect.Parameter.empty,
            annotation=_torchscript_type_to_python_type(one.type),
        )
        for one in schema.arguments
        if one.name != "from"  # A word of the language.
    ]
    returns: list[Any] = [_torchscript_type_to_python_type(one.type) for one in schema.returns]
    answer = returns[0] if len(returns) == 1 else tuple(returns) if returns else None
    by_kind = sorted(parameters, key=lambda one: one.kind)
    return inspect.Signature(by_kind, return_annotation=answer)


def _schemas_of(op: Callable[..., Any]) -> list[FunctionSchema] | None:
    from .._ops import OpOverload, OpOverloadPacket, table

    if isinstance(op, OpOverload):
        return [op._schema]
    if isinstance(op, OpOverloadPacket):
        return [overload._schema for overload in op._overloads.values()]
    if not isinstance(op, (types.BuiltinFunctionType, type(native.add))):
        return None
    name = getattr(op, "__name__", "")
    packet = table()[1].get(name)
    if packet is not None:
        return [overload._schema for overload in packet._overloads.values()]
    return _compiled().get(name)


# What types of parameters of compiled functions are in schemas, where they are called otherwise.
_IN_SCHEMAS = {
    "Int": "int",
    "Bool": "bool",
    "Float": "float",
    "Number": "Scalar",
    "Operand": "Tensor",
    "DType": "ScalarType",
    "Text": "str",
    "Tensors": "Tensor[]",
    "Ints(0)": "int[]",
}


@cache
def _compiled() -> dict[str, list[FunctionSchema]]:
    """Return how compiled functions are called, as their signatures say."""
    from .._operators.schemas import FunctionSchema

    return {
        name: [FunctionSchema(_text(name, given, answer), "aten") for given, answer in overloads]
        for place, name, overloads in native._signatures()
        if place != "method"
    }


def _text(name: str, given: Any, answer: str) -> str:
    """Return a signature as it is written in schemas; results that are written to `out` are others there."""
    declared: list[str] = []
    for place, (parameter, kind, is_nullable, is_named, default) in enumerate(given):
        if parameter == "out" and is_named:
            continue
        if is_named and "*" not in declared:
            declared.append("*")
        known = _IN_SCHEMAS.get(kind, kind.replace("Ints(", "int[").replace(")", "]"))
        own = "self" if (place, parameter) == (0, "input") else parameter
        value = "" if default is None else f"={default}"
        declared.append(f"{known}{'?' * is_nullable} {own}{value}")
    several = answer.startswith(("tuple", "return_types"))
    return f"{name}({', '.join(declared)}) -> {'Tensor[]' if several else 'Tensor'}"


def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """Return the signatures of an operator, one an overload; None for what is none.

    >>> import rushlight as torch
    >>> from rushlight.fx.operator_schemas import get_signature_for_torch_op
    >>> [list(one.parameters) for one in get_signature_for_torch_op(torch.tril)]
    [['input', 'diagonal']]
    """
    schemas = _schemas_of(op)
    signatures = None if schemas is None else [_signature(schema) for schema in schemas]
    return (signatures, schemas) if return_schemas else signatures


def check_for_mutable_operation(target: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Refuse a call of an operator that writes to an argument."""
    signatures, schemas = get_signature_for_torch_op(target, return_schemas=True)
    if not signatures or not schemas:
        return
    matching = []
    for signature, schema in zip(signatures, schemas, strict=True):
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            continue
        matching.append(schema)
    if len(matching) == 1 and matching[0].is_mutable:
        raise RuntimeError(
            f"Tried to trace mutable operation {matching[0]}. FX only supports functional code, so "
            "operations that mutate operands in-place (e.g. via `out` arguments) are not supported"
        )


def create_type_hint(x: Any) -> Any:
    """Return the type that nested lists and tuples of types stand for, if it is one.

    >>> from rushlight.fx.operator_schemas import create_type_hint
    >>> create_type_hint([int, int])
    list[int]
    """
    if not isinstance(x, (list, tuple)):
        return x
    if not x:
        return list[Any] if isinstance(x, list) else tuple[Any, ...]
    hints = [create_type_hint(one) for one in x]
    base = hints[0]
    for other in hints[1:]:
        if base is other or not (isinstance(base, type) and isinstance(other, type)):
            base = base if base == other else Any
        elif issubclass(base, other):
            base = other
        elif not issubclass(other, base):
            base = Any
    return list[base] if isinstance(x, list) else tuple[base, ...]  # type: ignore[valid-type]


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Return whether what is of a type can be given where a signature asks for another."""
    origin, parts = typing.get_origin(signature_type), typing.get_args(signature_type)
    if signature_type is argument_type:
        return True
    if origin is typing.Union and signature_type != argument_type:
        return any(type_matches(one, argument_type) for one in parts)
    if origin is list and parts == (int,) and argument_type is int:
        return True
    given, inner = typing.get_origin(argument_type), typing.get_args(argument_type)
    if origin is list:
        if given is list:
            return type_matches(parts[0], inner[0])
        return given is tuple and all(one is Ellipsis or type_matches(parts[0], one) for one in inner)
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    return (
        inspect.isclass(argument_type)
        and inspect.isclass(signature_type)
        and issubclass(argument_type, signature_type)
    )


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], only_kwargs: bool
) -> ArgsKwargsPair | None:
    """Return a call with every argument that a signature has, if it is one."""
    kinds = {one.kind for one in signature.parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for at, (name, parameter) in enumerate(signature.parameters.items()):
        if not only_kwargs and parameter.kind is not inspect.Parameter.KEYWORD_ONLY and at < len(args):
            positional.append(bound.arguments[name])
        else:
            named[name] = bound.arguments[name]
    return ArgsKwargsPair(tuple(positional), named)


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """Return a call of a function with every argument by name, or None where that cannot be said.

    >>> import rushlight as torch
    >>> from rushlight.fx.operator_schemas import normalize_function
    >>> list(normalize_function(torch.mm, (1, 2), normalize_to_only_use_kwargs=True).kwargs)
    ['input', 'mat2']
    """
    given = kwargs or {}
    signatures = get_signature_for_torch_op(target)
    if signatures is None:
        if isinstance(target, (types.BuiltinFunctionType, type(native.add))) or not callable(target):
            return None
        try:
            return _bound(
                inspect.signature(inspect.unwrap(target)), args, given, normalize_to_only_use_kwargs
            )
        except (TypeError, ValueError):
            return None
    fitting = [one for one in signatures if _fits(one, args, given)]
    if len(fitting) > 1 and (arg_types is not None or kwarg_types is not None):
        named = kwarg_types or {}
        fitting = [one for one in fitting if _fits_types(one, arg_types or (), named)]
    elif len(fitting) > 1:
        schemas = "\n".join(str(one) for one in fitting)
        raise RuntimeError(
            f"Tried to normalize arguments to {getattr(target, '__name__', target)} but the schema match was "
            "ambiguous! Please provide argument types to the normalize_arguments() call. Available "
            f"schemas:\n{schemas}"
        )
    return _bound(fitting[0], args, given, normalize_to_only_use_kwargs) if fitting else None


def _fits(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _fits_types(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return False
    asked = signature.parameters
    return all(type_matches(asked[name].annotation, kind) for name, kind in bound.arguments.items())


def normalize_module(
    root: Any,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """Return a call of a module in `root` with every argument by name, if the module is one of torch's."""
    from .. import nn

    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from error
    if getattr(nn, type(module).__name__, None) is not type(module):
        return None
    signature = inspect.signature(module.forward)
    return _bound(signature, args, kwargs or {}, normalize_to_only_use_kwargs)
