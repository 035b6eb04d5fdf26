"""The table that a profile is shown as."""

from __future__ import annotations

import math

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_WIDTH = 12
_GAP = 2
_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def format_time(microseconds: float) -> str:
    """Say how long something took, in the unit that suits it."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


def _narrowed(width: int, limit: int | None) -> int:
    return width if limit is None else min(width, limit)


def _share(time: float, total: float) -> str:
    if total == 0:
        if time != 0:
            raise AssertionError(f"Expected time_us == 0 but got {time}")
        return "NaN"
    return f"{time * 100.0 / total:.2f}%"


def _bytes(count: int) -> str:
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(count) >= 1024**power:
            return f"{count / 1024**power:.2f} {unit}"
    return f"{count} B"


class Table:
    """Events, and how wide the columns are that show them."""

    def __init__(
        self,
        events: Sequence[Any],
        widths: tuple[int | None, int | None, int | None],
        memory: bool,
        flops: bool,
        unit: str | None,
    ) -> None:
        self.events, self.memory, self.unit = events, memory, unit
        source, self.name_limit, shapes = widths
        self.name_width = _narrowed(max(len(event.key) for event in events) + 4, self.name_limit)
        self.overloads = any(event.overload_name for event in events)
        self.shapes = any(event.input_shapes for event in events)
        self.shapes_width = _narrowed(max(len(str(event.input_shapes)) for event in events) + 4, shapes)
        entries = [len(entry) for event in events for entry in event.stack or ()]
        self.source_width = _narrowed(max(entries) + 4, source) if entries else None
        counted = [event.flops for event in events if event.flops and event.flops > 0] if flops else []
        self.flops = min(max(int(math.log10(min(counted)) / 3), 0), len(_FLOPS) - 1) if counted else None
        self.nodes = any(event.node_id != -1 for event in events)
        self.total = sum(event.self_cpu_time_total for event in events)

    def columns(self) -> list[tuple[str, int, str]]:
        """Return the headers with their widths and on which side they stand."""
        columns = [("Name", self.name_width, ">")]
        if self.overloads:
            columns.append(("Overload Name", self.name_width, ">"))
        narrow = ["Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
        narrow += ["CPU Mem", "Self CPU Mem"] if self.memory else []
        narrow += ["# of Calls", "Node ID"] if self.nodes else ["# of Calls"]
        columns += [(header, _WIDTH, ">") for header in narrow]
        if self.shapes:
            columns.append(("Input Shapes", self.shapes_width, ">"))
        # As in torch, what is in these two stands the other way round.
        if self.source_width is not None:
            columns.append(("Source Location", self.source_width, "<"))
        if self.flops is not None:
            columns.append((f"Total {_FLOPS[self.flops]}", _WIDTH, ">"))
        return columns

    def text(self, limit: int, header: str | None, top_level_only: bool) -> str:
        """Return the whole."""
        columns = self.columns()
        row = "".join(f"{{: {side}{width}}}" + " " * _GAP for _, width, side in columns)
        line = "".join("-" * width + " " * _GAP for _, width, _ in columns)
        double = "=" * (len(line) - _GAP)
        lines = [] if header is None else [double, header]
        if top_level_only:
            lines += [double, "This report only display top-level ops statistics"]
        lines += [line, row.format(*(header for header, _, _ in columns)), line]
        shown = [event for event in self.events if not (top_level_only and event.cpu_parent is not None)]
        for event in shown if limit < 0 else shown[:limit]:
            lines.append(row.format(*self.cells(event)))
            if self.source_width is not None:
                empty = [""] * (len(columns) - 1)
                further = [self.place(entry) for entry in event.stack[1:]]
                lines += [row.format(*empty, entry) for entry in [*further, ""]]
        lines += [line, f"Self CPU time total: {self.time(self.total)}"]
        return "\n".join(lines) + "\n"

    def cells(self, event: Any) -> list[Any]:
        """Return what stands in an event's row."""
        event.self_cpu_percent = _share(event.self_cpu_time_total, self.total)
        event.total_cpu_percent = 0 if event.is_async else _share(event.cpu_time_total, self.total)
        cells = [self.name(event.key)]
        if self.overloads:
            cells.append(self.name(event.overload_name))
        cells += [
            event.self_cpu_percent,
            self.time(event.self_cpu_time_total),
            event.total_cpu_percent,
            self.time(event.cpu_time_total),
            self.time(event.cpu_time),
        ]
        if self.memory:
            cells += [_bytes(event.cpu_memory_usage), _bytes(event.self_cpu_memory_usage)]
        cells.append(event.count)
        if self.nodes:
            cells.append(event.node_id)
        if self.shapes:
            cells.append(str(event.input_shapes)[: self.shapes_width])
        if self.flops is not None:
            known = event.flops and event.flops > 0
            cells.append(f"{event.flops * 10 ** (-3.0 * self.flops):8.3f}" if known else "--")
        if self.source_width is not None:
            cells.append(self.place(event.stack[0]) if event.stack else "")
        return cells

    def name(self, name: str) -> str:
        """Return a name that fits into its column."""
        if self.name_limit is not None and len(name) >= self.name_limit - 3:
            return name[: self.name_limit - 3] + "..."
        return name

    def place(self, entry: str) -> str:
        """Return the end of a line of a stack that fits into its column."""
        width = self.source_width or 0
        if len(entry) <= width:
            return entry
        entry = entry[len(entry) - width :]
        return "..." + entry[3:] if len(entry) > 3 else entry

    def time(self, microseconds: float) -> str:
        """Return a time in the unit that was asked for, or in one that suits it."""
        if self.unit in _UNITS:
            return f"{microseconds / _UNITS[self.unit]:.3f}{self.unit}"
        return format_time(microseconds)
