"""Every failure of the engine: its exception class and torch's words for it.

The engine raises facts, a kind and named fields; `render` makes the exception.
`formatting` says how fields are written, as in `{dtype:Float}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .autograd import AUTOGRAD
from .complexes import COMPLEXES
from .composites import COMPOSITES
from .elements import ELEMENTS
from .formatting import spell
from .functions import FUNCTIONS
from .indexing import INDEXING
from .layers import LAYERS
from .making import MAKING
from .mapping import MAPPING
from .matrices import MATRICES
from .notes import notes
from .origins import add_notes
from .reductions import REDUCTIONS
from .shapes import SHAPES
from .units import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping

MESSAGES: dict[str, tuple[type[Exception], str]] = {
    **SHAPES,
    **MATRICES,
    **MAKING,
    **INDEXING,
    **REDUCTIONS,
    **UNITS,
    **ELEMENTS,
    **COMPLEXES,
    **LAYERS,
    **COMPOSITES,
    **AUTOGRAD,
    **FUNCTIONS,
    **MAPPING,
}


def render(kind: str, fields: Mapping[str, Any]) -> Exception:
    """Make the exception of a failure; the caller raises it.

    >>> from rushlight._messages.table import render
    >>> render("NotBroadcastable", {"left": 2, "right": 3, "dim": 0})
    RuntimeError('The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0')
    """
    exception, template = MESSAGES[kind]
    made = exception(template.format_map({name: spell(value) for name, value in fields.items()}))
    add_notes(made, notes(kind, fields))
    return made
