"""Lists of the events of a profile: what ran inside of what, averages, tables."""

from __future__ import annotations

from ._profiler_events import DeviceType as DeviceType
from ._profiler_events import FormattedTimesMixin, FunctionEvent, FunctionEventAvg, Interval, Kernel
from ._profiler_table import Table
from ._profiler_table import _bytes as _format_memory
from ._profiler_table import _share as _format_time_share
from ._profiler_table import format_time as _format_time

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

__all__ = [
    "EventList",
    "FormattedTimesMixin",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "_format_memory",
    "_format_time",
    "_format_time_share",
]


class EventList(list):  # type: ignore[type-arg]
    """Events or averages, with what is done with many of them."""

    def __init__(
        self,
        events: Iterable[Any] = (),
        *,
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__(events)
        self._use_device = use_device
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._tree_built = False

    def __str__(self) -> str:
        return self.table()

    def _like(self, events: Iterable[Any]) -> EventList:
        return EventList(
            events,
            use_device=self._use_device,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
        )

    def _build_tree(self) -> None:
        """Find out what ran inside of what; what has the name of the only thing around it is taken out."""
        self._find_parents()
        self._remove_repeated()
        self._give_backward_stacks()
        self._tree_built = True

    def _find_parents(self) -> None:
        around: dict[Any, list[FunctionEvent]] = {}
        begun = sorted(self, key=lambda event: (event.time_range.start, -event.time_range.end))
        for event in begun:
            if event.is_async or event.device_type != DeviceType.CPU:
                continue
            open_events = around.setdefault((event.thread, event.node_id), [])
            time = event.time_range
            while open_events:
                last = open_events[-1].time_range
                if time.start < last.end and time.end <= last.end:
                    break
                open_events.pop()
            if open_events:
                open_events[-1].append_cpu_child(event)
                if event.cpu_parent is not None:
                    raise AssertionError(f"There is already a CPU parent event for {event.key}")
                event.set_cpu_parent(open_events[-1])
            open_events.append(event)

    def _remove_repeated(self) -> None:
        while True:
            kept = []
            for event in self:
                parent = event.cpu_parent
                if parent is None or parent.name != event.name or len(parent.cpu_children) != 1:
                    kept.append(event)
                    continue
                parent.cpu_children, parent.kernels = event.cpu_children, event.kernels
                for child in event.cpu_children:
                    child.cpu_parent = parent
            if len(kept) == len(self):
                return
            self[:] = kept

    def _give_backward_stacks(self) -> None:
        """Nodes of backward ran where the operations that recorded them were called."""
        forward: dict[tuple[int, int], list[str]] = {}
        for event in self:
            if event.stack is not None and _node_around(event) is None:
                forward.setdefault((event.sequence_nr, event.thread), event.stack)
        for event in self:
            node = _node_around(event)
            if node is not None:
                if node.fwd_thread is None:
                    raise AssertionError("Expected fwd_thread to be set for backward parent")
                event.stack = forward.get((node.sequence_nr, node.fwd_thread), [])

    @property
    def self_cpu_time_total(self) -> float:
        """How long all took."""
        total: float = sum(event.self_cpu_time_total for event in self)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """Return a table, a row an event: the first `row_limit` ones, largest `sort_by` first."""
        if not self:
            return ""
        events = self
        if sort_by is not None:
            name = _of_device(sort_by)
            events = self._like(sorted(self, key=lambda event: getattr(event, name), reverse=True))
        widths = max_src_column_width, max_name_column_width, max_shapes_column_width
        table = Table(events, widths, self._profile_memory, self._with_flops, time_unit)
        return table.text(row_limit, header, top_level_events_only)

    def export_chrome_trace(self, path: str) -> None:
        """Write what chrome://tracing reads."""
        import json

        told = [
            {
                "name": event.trace_name,
                "ph": "X",
                "ts": event.time_range.start,
                "dur": event.time_range.elapsed_us(),
                "tid": event.thread,
                "pid": "CPU functions",
                "args": {},
            }
            for event in self
            if event.trace_name is not None
        ]
        with open(path, "w") as file:
            json.dump(told, file)

    def supported_export_stacks_metrics(self) -> list[str]:
        """Name what stacks can be exported with."""
        return [f"self_{device}_time_total" for device in ("cpu", "cuda", "xpu", "privateuse1")]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write a line a stack, outermost first, with its metric behind."""
        supported = self.supported_export_stacks_metrics()
        if metric not in supported:
            raise ValueError(f"metric should be one of: {supported}")
        name = _of_device(metric)
        translated = str.maketrans(" ;\t\n", "____")
        with open(path, "w") as file:
            for event in self:
                if event.stack and (value := int(getattr(event, name))) > 0:
                    stack = ";".join(entry.translate(translated) for entry in reversed(event.stack))
                    file.write(f"{stack} {value}\n")

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Return averages over events of one name; of one name and shapes, stack or overload."""
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        averages: dict[Sequence[Any], FunctionEventAvg] = {}
        for event in self:
            key = (
                event.key,
                event.node_id,
                event.device_type,
                event.is_legacy,
                event.is_user_annotation,
                event.overload_name if group_by_overload_name else None,
                str(event.input_shapes) if group_by_input_shapes else None,
                *(event.stack[:group_by_stack_n] if group_by_stack_n > 0 else ()),
            )
            averages.setdefault(key, FunctionEventAvg()).add(event)
        for average in averages.values():
            average.stack = average.stack[:group_by_stack_n]  # type: ignore[index]
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        return self._like(averages.values())

    def total_average(self) -> FunctionEventAvg:
        """Return everything as one."""
        total = FunctionEventAvg()
        for event in self:
            total += event
            total.key = None
        total.key = "Total"
        return total


def _of_device(name: str) -> str:
    """Return the attribute that says this of whatever device it is."""
    return name.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")


def _node_around(event: FunctionEvent | None) -> FunctionEvent | None:
    """Return the node of backward whose rule an event is part of."""
    while event is not None and event.scope != 1:
        event = event.cpu_parent
    return event
