"""Schemas of operators: what a function's annotations say, and the arguments of a call by them."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Sequence
from typing import Any, NoReturn

from .. import _rushlight
from .._rushlight import Tensor

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .._operators.schemas import Argument, FunctionSchema

__all__ = ["bound", "has_named_tensors", "infer_schema", "written_to"]

_TYPES = {
    Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    int | float | bool: "Scalar",
    _rushlight.dtype: "ScalarType",
    _rushlight.device: "Device",
}
_RETURNS = {kind: _TYPES[kind] for kind in (Tensor, int, float, bool, int | float | bool)}


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """Return the schema that the annotations of a function say.

    >>> import rushlight as torch
    >>> def scaled(x: torch.Tensor, factor: float = 2.5) -> torch.Tensor:
    ...     return x * factor
    >>> torch.library.infer_schema(scaled, mutates_args=())
    '(Tensor x, float factor=2.5) -> Tensor'
    """
    signature = inspect.signature(prototype_function)
    hints: dict[str, Any] = inspect.get_annotations(prototype_function, eval_str=True)

    def fail(what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    if isinstance(mutates_args, str) and mutates_args != "unknown":
        raise ValueError(
            "mutates_args must either be a sequence of the names of the arguments that are mutated or the "
            "string 'unknown'. "
        )
    parameters = []
    star = False
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            fail("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parameters.append("*")
            star = True
        if parameter.annotation is parameter.empty:
            fail(f"Parameter {name} must have a type annotation.")
        kind = _parameter_type(hints[name])
        if kind is None:
            fail(_unsupported(name, hints[name]))
        if name in mutates_args or (mutates_args == "unknown" and kind.startswith("Tensor")):
            if not kind.startswith("Tensor"):
                fail(
                    f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be "
                    "mutated"
                )
            kind = f"Tensor(a{index}!){kind.removeprefix('Tensor')}"
        parameters.append(f"{kind} {name}{_default(name, parameter, fail)}")
    if mutates_args != "unknown":
        unknown = set(mutates_args) - set(signature.parameters)
        if unknown:
            fail(
                f"{unknown} in mutates_args were not found in the function signature. mutates_args should "
                "contain the names of all args that the custom operator mutates, or just the string "
                '"unknown" if you don\'t know.'
            )
    if signature.return_annotation is signature.empty:
        fail("No return type annotation was provided. Please add one.")
    return f"{op_name or ''}({', '.join(parameters)}) -> {_return_type(hints['return'], fail)}"


def _unsupported(name: str, annotation: Any) -> str:
    """Return what is wrong with a parameter of this type, and what to write instead."""
    hint = ""
    if typing.get_origin(annotation) is tuple:
        elements = ", ".join(one.__name__ for one in set(typing.get_args(annotation)))
        hint = (
            "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. For "
            f"example, list[{elements}].\n\n"
        )
    return f"Parameter {name} has unsupported type {annotation}. {hint}The valid types are: {_valid()}."


def _element(annotation: Any) -> tuple[Any, bool]:
    """Return what an optional type is of, and whether it is one."""
    arguments = typing.get_args(annotation)
    if len(arguments) == 2 and type(None) in arguments:
        return next(one for one in arguments if one is not type(None)), True
    return annotation, False


def _parameter_type(annotation: Any) -> str | None:
    inner, optional = _element(annotation)
    mark = "?" if optional else ""
    if typing.get_origin(inner) in (list, Sequence):
        element, nullable = _element(typing.get_args(inner)[0])
        known = _TYPES.get(element) if typing.get_origin(element) is None or element in _TYPES else None
        if known is None or (nullable and known != "Tensor") or (optional and known == "Tensor"):
            return None
        return f"{known}{'?' if nullable else ''}[]{mark}"
    try:
        known = _TYPES.get(inner)
    except TypeError:  # It cannot be looked up.
        return None
    return f"{known}{mark}" if known else None


def _valid() -> str:
    return f"dict_keys({list(_TYPES)})"


def _default(name: str, parameter: inspect.Parameter, fail: Callable[[str], NoReturn]) -> str:
    value = parameter.default
    if value is parameter.empty:
        return ""
    if value is None or isinstance(value, (int, float, bool)):
        return f"={value}"
    if isinstance(value, str):
        return f'="{value}"'
    if isinstance(value, _rushlight.dtype):
        return f"={str(value).rpartition('.')[2]}"
    return fail(
        f"Parameter {name} has an unsupported default value type {type(value)}. Please file an issue on "
        "GitHub so we can prioritize this."
    )


def _return_type(annotation: Any, fail: Callable[[str], NoReturn]) -> str:
    if annotation is None or annotation is type(None):
        return "()"
    if typing.get_origin(annotation) is tuple:
        return f"({', '.join(_return_type(one, fail) for one in typing.get_args(annotation))})"
    if typing.get_origin(annotation) is list and typing.get_args(annotation) == (Tensor,):
        return "Tensor[]"
    if annotation not in _RETURNS:
        fail(f"Return has unsupported type {annotation}. The valid types are: {_RETURNS}.")
    return _RETURNS[annotation]


def written_to(schema: FunctionSchema) -> set[str]:
    """Return the names of the arguments that are written to."""
    return {one.name for one in schema.arguments if one.alias_info and one.alias_info.is_write}


def has_named_tensors(schema: FunctionSchema) -> bool:
    """Tell whether it takes tensors that have names only."""
    return any(one.kwarg_only and one.kind.startswith("Tensor") for one in schema.arguments)


def normal(schema: str) -> str:
    """Return a schema with its numbers as torch writes them."""
    return re.sub(r"(=-?\d+\.)0(?=[,)])", r"\1", schema)


def bound(
    schema: FunctionSchema, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call by position, and those that have names only, defaults included. Tuples
    become lists, which is what schemas have."""
    positional = [one for one in schema.arguments if not one.kwarg_only]
    if len(args) > len(schema.arguments):
        raise RuntimeError(
            f"{schema.name}() expected at most {len(schema.arguments)} argument(s) but received {len(args)} "
            f"argument(s). Declaration: {schema}"
        )
    if len(args) > len(positional):
        raise RuntimeError(
            f"{schema.name}() takes {len(positional)} positional argument(s) but {len(args)} was/were given. "
            f" Declaration: {schema}"
        )
    left = dict(kwargs)
    values = {}
    for index, argument in enumerate(schema.arguments):
        if index < len(args):
            value = args[index]
        elif argument.name in left:
            value = left.pop(argument.name)
        elif argument.has_default_value():
            values[argument.name] = argument.default_value
            continue
        else:
            raise RuntimeError(
                f"{schema.name}() is missing value for argument '{argument.name}'. Declaration: {schema}"
            )
        _check(schema, index, argument, value)
        values[argument.name] = list(value) if isinstance(value, tuple) else value
    if left:
        raise RuntimeError(
            f"Unknown keyword argument '{next(iter(left))}' for operator '{schema.name}'. Schema: {schema}"
        )
    named = {one.name: values.pop(one.name) for one in schema.arguments if one.kwarg_only}
    return tuple(values.values()), named


_ACCEPTED = {"Tensor": Tensor, "SymInt": int, "int": int, "float": (int, float), "bool": bool, "str": str}


def _check(schema: FunctionSchema, index: int, argument: Argument, value: Any) -> None:
    accepted: Any = _ACCEPTED.get(argument.kind)
    if accepted is None or isinstance(value, accepted) or (value is None and accepted is Tensor):
        return
    expected = "int" if argument.kind == "SymInt" else argument.kind
    details = (
        f"Unable to cast {value} to Tensor"
        if argument.kind == "Tensor"
        else f"Unable to cast Python instance of type {type(value)} to C++ type '?' (#define "
        "PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )
    raise RuntimeError(
        f"{schema.name}() Expected a value of type '{expected}' for argument '{argument.name}' but instead "
        f"found type '{type(value).__name__}'.\nPosition: {index}\nValue: {value!r}\n"
        f"Declaration: {schema}\nCast error details: {details}"
    )
