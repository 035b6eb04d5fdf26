"""What the traceback of a failure says below torch's text: where in the program its causes lie.

Notes are left out where the engine does not know a place that they name. `{saved:}` writes a place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._origins import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTES: dict[str, tuple[str, ...]] = {
    "Modified": (
        "{node} saved the tensor at {saved:}",
        "It was last written to in place at {written:}",
    ),
    "BackwardTwice": (
        "{node} was recorded at {recorded:}",
        "The run that freed it was started at {run:}",
    ),
}


def notes(kind: str, fields: Mapping[str, Any]) -> list[str]:
    """Write the notes of a failure.

    >>> from rushlight._origins import Origin
    >>> from rushlight._messages_notes import notes
    >>> notes("BackwardTwice", {"node": "MulBackward0", "recorded": Origin("a.py", 3, "f"), "run": None})
    ['MulBackward0 was recorded at a.py:3, in f']
    """
    written = []
    for template in NOTES.get(kind, ()):
        used = [fields[name] for name in fields if f"{{{name}:}}" in template]
        if all(isinstance(place, Origin) for place in used):
            written.append(template.format_map(fields))
    return written
