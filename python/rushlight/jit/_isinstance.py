"""`isinstance` that looks into lists, dictionaries and tuples."""

from __future__ import annotations

import builtins
import types
from typing import Any, Union, get_args, get_origin

__all__ = ["isinstance"]


def isinstance(obj: Any, target_type: Any) -> bool:
    """Tell whether an object is of a type, which may say what is in a container.

    >>> import rushlight as torch
    >>> torch.jit.isinstance([1, 2], list[int]), torch.jit.isinstance([1, "a"], list[int])
    (True, False)
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    origin, inner = get_origin(target_type), get_args(target_type)
    if origin in (Union, types.UnionType):
        return any(isinstance(obj, one) for one in inner)
    if origin is None:
        if target_type in _BARE:
            raise RuntimeError(_BARE[target_type])
        kind = type(None) if target_type is None else target_type
        return target_type is Any or builtins.isinstance(obj, kind)
    if not builtins.isinstance(obj, origin):
        return False
    if origin is list:
        return all(isinstance(one, inner[0]) for one in obj)
    if origin is dict:
        return all(isinstance(key, inner[0]) and isinstance(one, inner[1]) for key, one in obj.items())
    if origin is tuple:
        return len(inner) == len(obj) and all(map(isinstance, obj, inner))
    return True


_BARE = {
    kind: f"Attempted to use {name} without a contained type. Please add a contained type, e.g. "
    f"{name}[{example}]"
    for kind, name, example in (
        (list, "List", "int"),
        (tuple, "Tuple", "int"),
        (dict, "Dict", "int, int"),
    )
}
