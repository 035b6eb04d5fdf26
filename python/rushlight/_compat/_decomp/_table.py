"""Which functions stand for operators, by their handles."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._ops import OpOverloadPacket, ops
from ..._rushlight import Tensor
from ...utils._pytree import tree_leaves, tree_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = [
    "aten",
    "get_decompositions",
    "in_float",
    "register_decomposition",
    "remove_decompositions",
    "tables",
]

aten = ops.aten
tables: dict[str, dict[Any, Callable[..., Any]]] = {"post_autograd": {}, "pre_autograd": {}, "meta": {}}

_HALVES = (native.float16, native.bfloat16)


def _table(type: str) -> dict[Any, Callable[..., Any]]:
    if type not in tables:
        raise AssertionError(f"type must be one of post_autograd, pre_autograd, or meta, got {type}")
    return tables[type]


def _overloads(op: Any) -> list[Any]:
    """Return the handles that a handle stands for."""
    if isinstance(op, OpOverloadPacket):
        return [getattr(op, name) for name in op.overloads()]
    return [op]


def register_decomposition(
    aten_op: Any, registry: dict[Any, Any] | None = None, *, type: str = "post_autograd", unsafe: bool = False
) -> Callable[[Function], Function]:
    """Have a function stand for an operator, or for each of several.

    >>> import rushlight as torch
    >>> from rushlight._compat import _decomp
    >>> table = {}
    >>> @_decomp.register_decomposition(torch.ops.aten.square, table)
    ... def square(x):
    ...     return x * x
    >>> list(table)
    [<OpOverload(op='aten.square', overload='default')>]
    """
    known = _table(type) if registry is None else registry

    def register(function: Function) -> Function:
        for one in tree_leaves(aten_op):
            for overload in _overloads(one):
                if overload in known and not unsafe:
                    raise RuntimeError(f"duplicate registrations for {overload}")
                known[overload] = function
        return function

    return register


def get_decompositions(aten_ops: Iterable[Any], type: str = "post_autograd") -> dict[Any, Callable[..., Any]]:
    """Return the functions for these operators, for all overloads where only a name is given."""
    known = _table(type)
    wanted = [overload for op in aten_ops for overload in _overloads(op)]
    return {overload: known[overload] for overload in wanted if overload in known}


def remove_decompositions(decompositions: dict[Any, Callable[..., Any]], aten_ops: Iterable[Any]) -> None:
    """Have no functions for these operators in a table any more."""
    for op in aten_ops:
        for overload in _overloads(op):
            decompositions.pop(overload, None)


def in_float(function: Function) -> Function:
    """Compute a function of halves in float32, as kernels do, and round what it answers."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        types = {
            one.dtype
            for one in tree_leaves((args, kwargs))
            if isinstance(one, Tensor) and one.is_floating_point()
        }
        if len(types) != 1 or not types <= {*_HALVES}:
            return function(*args, **kwargs)
        half = types.pop()

        def wide(one: Any) -> Any:
            return one.float() if isinstance(one, Tensor) and one.dtype is half else one

        def narrow(one: Any) -> Any:
            return one.to(half) if isinstance(one, Tensor) and one.dtype is native.float32 else one

        return tree_map(narrow, function(*tree_map(wide, args), **tree_map(wide, kwargs)))

    return call  # type: ignore[return-value]
