"""Who keeps a tensor alive: nodes of graphs, and what Python holds."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass, field
from types import CellType, FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, _holders_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._messages.origins import Origin

#: How many holders of holders are followed.
DEPTH = 4


@dataclass(frozen=True)
class GraphHolder:
    """A node that keeps the tensor's memory, and the ends of the graphs that keep the node."""

    name: str
    origin: Origin | None
    kept_as: str
    heads: list[tuple[str, Origin | None]] = field(default_factory=list)

    def __str__(self) -> str:
        ends = ", ".join(_named(*head) for head in self.heads if head != (self.name, self.origin))
        reached = f", reached from {ends}" if ends else ""
        return f"{_named(self.name, self.origin)} keeps it as {self.kept_as!r}{reached}"


@dataclass(frozen=True)
class Holders:
    """Everything that was found to keep a tensor alive."""

    nodes: list[GraphHolder]
    python: list[str]

    def __str__(self) -> str:
        lines = ["kept by graphs:", *(f"  {node}" for node in self.nodes)] if self.nodes else []
        lines += ["kept by Python:", *(f"  {holder}" for holder in self.python)] if self.python else []
        return "\n".join(lines) or "nothing else keeps it"


def why_alive(tensor: Tensor) -> Holders:
    """Find out who keeps `tensor`, or its memory, alive: nodes of graphs, variables, containers.

    The caller's own variable is among them.

    >>> import rushlight as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> y = (x * 2).exp()
    >>> print(torch.inspection.why_alive(y).nodes[0].kept_as)
    result
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"why_alive(): argument 'tensor' (position 1) must be Tensor, not {type(tensor).__name__}"
        )
    nodes = [
        GraphHolder(name, origin, kept_as, heads) for (name, origin), kept_as, heads in _holders_of(tensor)
    ]
    nodes = [node for node in nodes if node.kept_as != "variable" or node.heads != [(node.name, node.origin)]]
    return Holders(nodes, _python_holders(tensor))


def _named(name: str, origin: Origin | None) -> str:
    return name if origin is None else f"{name} at {origin}"


def _python_holders(tensor: Tensor) -> list[str]:
    search = _Search()
    found = [*search.locals_of(tensor), *search.holders(tensor, DEPTH)]
    return list(dict.fromkeys(found))


class _Search:
    """A search that leaves out what it holds itself."""

    def __init__(self) -> None:
        own_file = sys._getframe().f_code.co_filename
        self.frames = [frame for frame in _running_frames() if frame.f_code.co_filename != own_file]
        self.modules = {
            id(vars(module)): module.__name__
            for module in list(sys.modules.values())
            if isinstance(module, ModuleType)
        }
        #: Lists that the search made, and the dictionaries that show variables of running functions.
        self.lists: list[list[Any]] = []
        self.own = {id(frame.f_locals) for frame in self.frames} - set(self.modules)

    def locals_of(self, target: object) -> list[str]:
        """Name the variables of running functions that are `target`."""
        found = []
        for frame in self.frames:
            name = None if frame.f_locals is frame.f_globals else _key(frame.f_locals, target)
            if name is not None:
                code = frame.f_code
                found.append(f"variable {name!r} of {code.co_name} ({code.co_filename}:{frame.f_lineno})")
        return found

    def holders(self, target: object, depth: int) -> list[str]:
        """Describe what refers to `target`, each with what refers to that."""
        described = []
        for holder in self._referrers(target):
            if (
                holder is not self.__dict__
                and not isinstance(holder, FrameType)
                and id(holder) not in self.own
            ):
                described += self._describe(holder, target, depth)
        return described

    def _referrers(self, target: object) -> list[Any]:
        referrers = gc.get_referrers(target)
        self.own.add(id(referrers))
        # Kept, so that no other list comes to lie at its address.
        self.lists.append(referrers)
        return referrers

    def _describe(self, holder: object, target: object, depth: int) -> list[str]:
        if isinstance(holder, dict):
            key = _key(holder, target)
            if id(holder) in self.modules:
                return [f"global {key!r} of {self.modules[id(holder)]}"]
            for owner in self._referrers(holder):
                if getattr(owner, "__dict__", None) is holder:
                    return self._with(f"attribute {key!r} of {_kind(owner)}", owner, depth)
            return self._with(f"value of {key!r} in a dict", holder, depth)
        if isinstance(holder, (list, tuple)):
            index = _key(dict(enumerate(holder)), target)
            return self._with(f"element {index} of a {type(holder).__name__}", holder, depth)
        if isinstance(holder, CellType):
            return self._closures(holder) or self._with("a closed-over variable", holder, depth)
        # Objects keep few attributes without a dictionary.
        name = _key(getattr(holder, "__dict__", {}), target)
        what = _kind(holder) if name is None else f"attribute {name!r} of {_kind(holder)}"
        return self._with(what, holder, depth)

    def _closures(self, cell: CellType) -> list[str]:
        """Name the functions that close over a cell."""
        found = []
        for closure in self._referrers(cell):
            for function in self._referrers(closure) if isinstance(closure, tuple) else ():
                if isinstance(function, FunctionType) and function.__closure__ is closure:
                    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
                    name = _key(dict(cells), cell)
                    found.append(f"variable {name!r} closed over by {function.__qualname__}")
        return found

    def _with(self, text: str, holder: Any, depth: int) -> list[str]:
        """Add what holds the holder."""
        further = self.locals_of(holder)
        if depth > 1:
            further += self.holders(holder, depth - 1)
        further = list(dict.fromkeys(further))
        return [f"{text}, {more}" for more in further] or [text]


def _key(values: Mapping[Any, object], target: object) -> Any:
    """Return the first key of `target`. A loop: a generator would close over it, and so hold it."""
    for key, value in list(values.items()):
        if value is target:
            return key
    return None


def _running_frames() -> list[FrameType]:
    frames = []
    for innermost in sys._current_frames().values():
        frame: FrameType | None = innermost
        while frame is not None:
            frames.append(frame)
            frame = frame.f_back
    return frames


def _kind(holder: object) -> str:
    kind = type(holder)
    return f"a {kind.__name__}" if kind.__module__ == "builtins" else f"a {kind.__module__}.{kind.__name__}"
