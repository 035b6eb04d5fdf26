"""Operators of one's own by the functions of former times. Use `rushlight.library`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import library
from ..library import infer_schema
from ..library.operator import CustomOpDef, find, forget, parted

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["custom_op", "get_ctx", "impl", "impl_abstract", "impl_backward", "impl_save_for_backward"]

get_ctx = library.get_ctx

RESERVED_NS = {"aten", "at", "prim", "prims", "pytorch", "torch"}
SUPPORTED_DEVICE_TYPE_TO_KEY = {"cpu": "CPU", "cuda": "CUDA"}

_halves: dict[str, dict[str, Callable[..., Any]]] = {}


def custom_op(qualname: str, func_or_schema: Any = None) -> Any:
    """Declare an operator, by a schema or by a function that says its types and does nothing."""

    namespace, name = parted(qualname)
    if namespace in RESERVED_NS:
        raise ValueError(
            f"custom_op(..., ns='{namespace}'): '{namespace}' is a reserved namespace, please choose "
            "something else. "
        )

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        if function.__name__ != name:
            raise ValueError(
                f"custom_op(qualname='{qualname}', ...)(func): expected `func` to have name '{name}' but got "
                f"'{function.__name__}'. Please either change the name of `func` or the qualname that is "
                "passed to `custom_op`"
            )
        _declare(qualname, infer_schema(function, mutates_args=()))
        return function

    if func_or_schema is None:
        return declare
    if isinstance(func_or_schema, str):
        _declare(qualname, func_or_schema)
        return None
    return declare(func_or_schema)


def _declare(qualname: str, schema: str) -> None:
    namespace, name = parted(qualname)
    CustomOpDef(namespace, name, schema, None)


def _destroy(qualname: str) -> None:
    """Forget an operator."""
    try:
        find(qualname)
    except AttributeError:
        raise RuntimeError(
            f'Could not find custom op "{qualname}". Did you register it via the torch._custom_ops API?'
        ) from None
    forget(qualname)
    _halves.pop(qualname, None)


def impl(qualname: str, *, device_types: Any = ("cpu", "cuda"), func: Any = None) -> Any:
    """Have a function compute an operator."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        find(qualname).register_kernel(None, function)
        return function

    return register if func is None else register(func)


def impl_abstract(qualname: str, *, func: Any = None) -> Any:
    """Say what the results of an operator look like."""
    return library.register_fake(qualname, func)


def impl_save_for_backward(qualname: str, *, func: Any = None) -> Any:
    """Say what the derivative of an operator needs: `func(inputs, output)` returns it."""
    return _half(qualname, "save", func)


def impl_backward(qualname: str, output_differentiability: Any = None, *, func: Any = None) -> Any:
    """Say how an operator is differentiated: `func(ctx, saved, *gradients)` returns gradients by name."""
    return _half(qualname, "backward", func)


def _half(qualname: str, which: str, func: Any) -> Any:
    """Register a derivative when both of its halves are there."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        halves = _halves.setdefault(qualname, {})
        halves[which] = function
        if len(halves) == 2:
            _differentiate(qualname, halves)
        return function

    return register if func is None else register(func)


def _differentiate(qualname: str, halves: dict[str, Callable[..., Any]]) -> None:
    from collections import namedtuple

    from .._rushlight import Tensor
    from ..utils._pytree import tree_flatten, tree_unflatten

    definition = find(qualname)
    names = [argument.name for argument in definition._opoverload._schema.arguments]
    given_by_name = namedtuple(f"{definition._name}_args", names)  # type: ignore[misc]

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        leaves, ctx.structure = tree_flatten(halves["save"](given_by_name(*inputs), output))
        ctx.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        ctx.save_for_backward(*(leaves[place] for place in ctx.places))
        ctx.others = [None if place in ctx.places else leaf for place, leaf in enumerate(leaves)]

    def backward(ctx: Any, *gradients: Any) -> Any:
        leaves = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            leaves[place] = tensor
        found = halves["backward"](ctx, tree_unflatten(leaves, ctx.structure), *gradients)
        return tuple(found.get(name) for name in names)

    library.register_autograd(qualname, backward, setup_context=setup_context)
