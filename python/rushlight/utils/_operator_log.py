"""A log of the operators that ran, and from where each was called."""

from __future__ import annotations

import os
import sys
import weakref

from .._rushlight import Tensor
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_map

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from typing_extensions import Self

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_MACHINERY = tuple(
    os.path.join(_PACKAGE, name) for name in ("_ops.py", "_operators/calls.py", "utils/_operator_log.py")
)


class OperatorLog(TorchDispatchMode):
    """In the block, writes down every operator: tensors are numbered as they first appear."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[list[str]] = []
        self._numbers: dict[int, tuple[weakref.ref[Tensor], int]] = {}
        self._next = 0

    def __enter__(self) -> Self:
        """Begin anew."""
        self.lines, self.places, self._numbers, self._next = [], [], {}, 0
        return super().__enter__()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Compute it, write it down."""
        result = func(*args, **(kwargs or {}))
        given = [str(tree_map(self._named, value)) for value in args]
        given += [f"{name}={tree_map(self._named, value)}" for name, value in (kwargs or {}).items()]
        got = tree_map(self._described, result)
        self.lines.append(f"{got} = {func.__module__}.{func.__name__}({', '.join(given)})")
        self.places.append(_places())
        return result

    def _named(self, value: Any) -> str:
        if not isinstance(value, Tensor):
            return repr(value)
        reference, number = self._numbers.get(id(value), (None, 0))
        if reference is None or reference() is not value:
            number, self._next = self._next, self._next + 1
            self._numbers[id(value)] = weakref.ref(value), number
        return f"${number}"

    def _described(self, value: Any) -> str:
        if not isinstance(value, Tensor):
            return repr(value)
        kind = str(value.dtype).removeprefix("torch.")
        short = "b8" if kind == "bool" else kind[0] + kind.lstrip("abcdefghijklmnopqrstuvwxyz")
        return f"{self._named(value)}: {short}[{', '.join(map(str, value.shape))}]"

    def traces(self, label: str) -> str:
        """Return every line with the frames that led there, the innermost first."""
        count = len(self.lines)
        told = zip(self.lines, self.places, strict=True)
        return "".join(
            f"{line}   ({index} of {count} in {label})\n\n"
            + "".join(f"{place}\n" for place in places)
            + "\n\n"
            for index, (line, places) in enumerate(told, 1)
        )


def _places() -> list[str]:
    places = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_MACHINERY):
            places.append(f"{frame.f_code.co_filename}:{frame.f_lineno}:{frame.f_code.co_name}")
        frame = frame.f_back
    return places
