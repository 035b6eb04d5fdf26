"""Places in the program, as errors and tracebacks show them.

The compiled module keeps a code object and an instruction for every node; it makes an
`Origin` of them when somebody asks.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Sequence


class Origin:
    """A line of the program.

    >>> from rushlight._messages.origins import Origin
    >>> print(Origin("model.py", 31, "Net.forward"))
    model.py:31, in Net.forward
    """

    __slots__ = ("file", "function", "line")

    def __init__(self, file: str, line: int, function: str) -> None:
        self.file = file
        self.line = line
        self.function = function

    @property
    def source(self) -> str:
        """The text of the line, if it can still be had."""
        import linecache

        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}"
        return where if self.function == "<module>" else f"{where}, in {self.function}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __format__(self, form: str) -> str:
        """Write the place; in the form `line` with the line itself below it."""
        source = self.source if form == "line" else ""
        return str(self) + (f"\n    {source}" if source else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin) and (self.file, self.line) == (other.file, other.line)

    def __hash__(self) -> int:
        return hash((self.file, self.line))


def add_notes(exception: BaseException, notes: Sequence[str]) -> None:
    """Add lines to what a traceback shows of the exception, and none to its text."""
    if notes:
        # What `add_note` does, which Python 3.10 does not have.
        exception.__notes__ = [*getattr(exception, "__notes__", ()), *notes]  # type: ignore[attr-defined]


def format_stack(origins: Sequence[Origin | None]) -> list[str]:
    """Write the lines of a traceback, outermost first."""
    import traceback

    known = (origin for origin in origins if origin is not None)
    rows = [(origin.file, origin.line, origin.function.rpartition(".")[2], None) for origin in known]
    return traceback.StackSummary.from_list(rows).format()


_UNKNOWN = (
    "Error detected in {name}. No forward pass information available. Enable detect anomaly during forward "
    "pass for more information."
)
_CAUSED = "Error detected in {name}. Traceback of forward call that caused the error:\n{stack}"
_INDUCED = (
    "\n\nPrevious calculation was induced by {name}. Traceback of forward call that induced the previous "
    "calculation:\n{stack}"
)


def tell_of_anomaly(
    exception: BaseException,
    generations: Sequence[tuple[str, Sequence[str] | None]],
) -> None:
    """Warn of a node that failed in anomaly mode, and add its traceback to the exception.

    After it come the nodes that it was recorded by, one by the next. The last may be one without a traceback.
    """
    import warnings

    texts: list[str] = []
    for name, stack in generations:
        known = _INDUCED if texts else _CAUSED
        texts.append((_UNKNOWN if stack is None else known).format(name=name, stack="".join(stack or ())))
    add_notes(exception, [text.strip() for text in texts])
    for text in texts:
        warnings.warn(text, UserWarning, stacklevel=2)


def tell_of_unused(exception: BaseException, index: int, tensor: object, origin: Origin | None) -> None:
    """Add to the exception what is known of an input that the outputs do not depend on."""
    names = parameter_names(tensor)
    if names:
        add_notes(exception, [f"The input at index {index} is the parameter {', also '.join(names)}"])
    elif origin is not None:
        add_notes(exception, [f"The input at index {index} was computed at {origin:line}"])
    else:
        add_notes(exception, [f"The input at index {index} has shape {list(getattr(tensor, 'shape', ()))}"])


def parameter_names(tensor: object) -> list[str]:
    """Return under which names modules registered a tensor: `'fc.weight' of Net`.

    Searches all objects that the collector knows, which is nothing to do often.
    """
    import gc
    import sys

    rooms = sys.modules.get("rushlight.nn.modules.module")
    if rooms is None:
        return []
    # Not `isinstance`, which asks the object itself: a proxy of what is gone would raise.
    modules = [found for found in gc.get_objects() if issubclass(type(found), rooms.Module)]
    # Others were not made to the end.
    modules = [module for module in modules if "_modules" in module.__dict__]
    children = {id(child) for module in modules for child in module.children()}
    heads = [module for module in modules if id(module) not in children] or modules
    return [
        f"{name!r} of {type(head).__name__}"
        for head in heads
        for name, parameter in head.named_parameters()
        if parameter is tensor
    ]
