"""What Python objects lead to: the tensors and nodes that they keep alive."""

from __future__ import annotations

import gc
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Kept by the program itself, and leading to all of it.
_SHARED = (type, ModuleType, CodeType, FrameType)


def reached(objects: Iterable[Any], seen: set[int]) -> Iterator[Any]:
    """Give the tensors and the nodes among `objects` and what they refer to, but for what was `seen`."""
    open_ = list(objects)
    # Objects that are made while looking must not leave their number to others.
    kept = []
    while open_:
        found = open_.pop()
        if id(found) in seen or isinstance(found, _SHARED):
            continue
        seen.add(id(found))
        kept.append(found)
        if isinstance(found, Tensor) or hasattr(type(found), "next_functions"):
            yield found
        if isinstance(found, FunctionType):
            # What it refers to by name is the module's.
            open_ += [found.__closure__, found.__defaults__, found.__kwdefaults__, found.__dict__]
        else:
            open_ += gc.get_referents(found)
