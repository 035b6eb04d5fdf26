"""What the traceback of a failure says below torch's text: where in the program its causes lie.

Notes are left out where the engine does not know a place that they name. `{saved:line}` writes a place
and the line below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .origins import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

_STOPPED = {
    "no_grad": "Its history stopped where nothing was recorded (no_grad, inference_mode), at {stopped:line}",
    "detach": "Its history stopped where a tensor was detached, at {stopped:line}",
    "integer": "Its history stopped where the result was not of floating-point numbers, at {stopped:line}",
    "array": "It was made from an array; a tensor that had a history became an array at {stopped:line}",
    "": "Nothing that it was computed from required grad.",
}

NOTES: dict[str, tuple[str, ...]] = {
    "Modified": (
        "{node} saved the tensor at {saved:line}",
        "It was last written to in place at {written:line}",
    ),
    "BackwardTwice": (
        "{node} was recorded at {recorded:line}",
        "The run that freed it was started at {run:line}",
    ),
}


def notes(kind: str, fields: Mapping[str, Any]) -> list[str]:
    """Write the notes of a failure.

    >>> from rushlight._messages.origins import Origin
    >>> from rushlight._messages.notes import notes
    >>> notes("BackwardTwice", {"node": "MulBackward0", "recorded": Origin("a.py", 3, "f"), "run": None})
    ['MulBackward0 was recorded at a.py:3, in f']
    """
    written = []
    templates = (_STOPPED[fields["reason"]],) if kind == "NoGrad" else NOTES.get(kind, ())
    for template in templates:
        used = [fields[name] for name in fields if f"{{{name}:line}}" in template]
        if all(isinstance(place, Origin) for place in used):
            written.append(template.format_map(fields))
    return written
