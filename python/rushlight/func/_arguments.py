"""Which arguments of a function are differentiated: `argnums`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Argnums = int | tuple[int, ...]


def positions(argnums: Any, count: int) -> Argnums:
    """Return `argnums` counted from the front, after checking them against `count` arguments."""
    if isinstance(argnums, int):
        return _position(argnums, count)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = tuple(_position(argnum, count) for argnum in argnums)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def _position(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def chosen(args: Sequence[Any], argnums: Argnums) -> Any:
    """Return the argument that `argnums` names, or a tuple of those that it names."""
    if isinstance(argnums, int):
        return args[argnums]
    return tuple(args[argnum] for argnum in argnums)


def replaced(args: Sequence[Any], argnums: Argnums, values: Any) -> list[Any]:
    """Return `args` with `values`, of the form that `chosen` gives, in the places of `argnums`."""
    result = list(args)
    if isinstance(argnums, int):
        result[argnums] = values
    else:
        for argnum, value in zip(argnums, values, strict=True):
            result[argnum] = value
    return result
