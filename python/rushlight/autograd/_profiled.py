"""How what the engine took note of becomes the events of a profile: torch's names, shapes and places."""

from __future__ import annotations

import re
from math import prod

from .._ops import table
from .profiler_util import FunctionEvent

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .._ops import OpOverload

    Shape = list[int] | None

_FUNCTION, _BACKWARD, _USER = 0, 1, 7

# Functions that no operator of torch's is called for.
_SILENT = frozenset(
    {
        "as_subclass",
        "as_tensor",
        "asarray",
        "backward",
        "bool",
        "can_cast",
        "data_ptr",
        "dim",
        "element_size",
        "from_numpy",
        "get_device",
        "has_names",
        "is_complex",
        "is_conj",
        "is_contiguous",
        "is_floating_point",
        "is_inference",
        "is_neg",
        "is_nonzero",
        "is_pinned",
        "is_same_size",
        "is_set_to",
        "is_shared",
        "is_signed",
        "is_tensor",
        "manual_seed",
        "ndimension",
        "nelement",
        "numel",
        "numpy",
        "promote_types",
        "register_hook",
        "register_post_accumulate_grad_hook",
        "requires_grad_",
        "result_type",
        "retain_grad",
        "seed",
        "set_default_dtype",
        "size",
        "storage_offset",
        "stride",
        "tensor",
        "tolist",
        "type",
    }
)
_CASTS = frozenset(
    {"byte", "cdouble", "cfloat", "char", "double", "float", "half", "int", "long", "short", "to", "type_as"}
)


def events(
    raw: Iterable[Sequence[Any]],
    lasted: int,
    *,
    memory: bool = False,
    flops: bool = False,
    use_device: str | None = None,
) -> list[FunctionEvent]:
    """Return events in the order in which they began."""
    named: list[FunctionEvent] = []
    # On which thread the operation ran that a node was recorded for.
    threads: dict[int, int] = {}
    for kind, name, (begin, end, thread, position), shapes, used, stack in raw:
        if kind in ("operation", "operation_"):
            name, shapes = _operation(name, kind == "operation_", shapes)
        elif kind == "function":
            if name in _SILENT or name.startswith("_"):
                continue
            name = f"aten::{'to' if name in _CASTS else name}"
        elif kind == "node":
            name = f"autograd::engine::evaluate_function: {name}"
        node = kind in ("node", "rule")
        if not node and position is not None:
            threads.setdefault(position, thread)
        user = kind == "passage"
        shapes = [list(shape or ()) for shape in shapes]
        event = FunctionEvent(
            id=len(named) + 1,
            name="ProfilerStep*" if name.startswith("ProfilerStep#") else name,
            overload_name="",
            trace_name=name,
            thread=thread,
            start_us=begin / 1000,
            end_us=(lasted if end is None else end) / 1000,
            is_async=end is None,
            fwd_thread=threads.get(position, 0) if node else 0,
            input_shapes=shapes,
            concrete_inputs=[],
            kwinputs={},
            stack=[f"{place.file}({place.line}): {place.function}" for place in stack if place is not None],
            scope=_BACKWARD if kind == "rule" else _USER if user else _FUNCTION,
            use_device=use_device,
            cpu_memory_usage=used if memory else 0,
            sequence_nr=-1 if position is None else position,
            is_user_annotation=user,
            activity_type="user_annotation" if user else "cpu_op",
            flops=_flops(name, shapes) if flops else 0,
        )
        named.append(event)
    return named


def _flops(name: str, shapes: list[list[int]]) -> int:
    """Return how many operations on numbers an operator takes, for the few that torch knows it of."""
    if name in ("aten::add", "aten::mul"):
        return prod(shapes[0])
    first = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}.get(name)
    if first is None:
        return 0
    left, right = shapes[first : first + 2]
    return 2 * prod(left) * right[-1]


def _operation(node: str, in_place: bool, shapes: list[Shape]) -> tuple[str, list[Shape]]:
    """Return the operator that leaves such a node, and the shapes of its arguments."""
    tensors = [shape for shape in shapes if shape is not None]
    operator = _operator(f"{node}_" if in_place else node, len(tensors), len(shapes))
    if operator is None:
        bare = re.sub(r"(Backward\d*|Backwards)$", "", node.rpartition("::")[2])
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower()
        return f"aten::{snake}{'_' if in_place else ''}", shapes
    left = list(tensors) if shapes else None
    given: list[Shape] = []
    for argument in operator._schema.arguments:
        if left and argument.takes_tensors:
            given.append(None if argument.kind.endswith("[]") else left.pop(0))
        elif left is not None:
            given.append(None)
    return operator._schema.name, given


def _operator(key: str, tensors: int, operands: int) -> OpOverload | None:
    """Return the operator of a node that takes so many tensors, or else the first of them."""
    known = table()[0].get(key, [])
    for operator in known:
        wanted = sum(argument.takes_tensors for argument in operator._schema.arguments)
        if wanted == (operands or wanted) or (operands and wanted == tensors):
            return operator
    return known[0] if known else None
