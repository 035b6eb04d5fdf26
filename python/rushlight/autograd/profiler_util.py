"""What a profile consists of: events, lists of them, and averages over those that have a name in common."""

from __future__ import annotations

import warnings
from collections import namedtuple
from enum import Enum

from ._profiler_table import Table, format_time

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from typing_extensions import Self

__all__ = [
    "EventList",
    "FormattedTimesMixin",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
]


class DeviceType(Enum):
    """Where something ran: here on the CPU, always."""

    CPU = 0
    CUDA = 1


Kernel = namedtuple("Kernel", ["name", "device", "duration"])
Kernel.__doc__ = "What a device ran on behalf of an event."


class Interval:
    """From when to when something ran, in microseconds."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """Return how long it is."""
        return self.end - self.start


def _formatted(name: str) -> Any:
    return property(lambda self: format_time(getattr(self, name)), doc=f"`{name}`, with its unit.")


def _renamed(old: str, new: str) -> Any:
    def read(self: Any) -> Any:
        verb = "" if old == "cuda_time" else "U"
        told = f"please use `{new.lstrip('_')}` instead." if not verb else f"Use `{new}` instead."
        text = f"`{old}` is deprecated{', ' if not verb else '. '}{told}"
        warnings.warn(text, category=FutureWarning, stacklevel=2)
        return getattr(self, new)

    return property(read, doc=f"`{new}` under its former name.")


class FormattedTimesMixin:
    """Times as text, for what has `count` and totals."""

    cpu_time_total: float
    device_time_total: float
    count: int

    cpu_time_str = _formatted("cpu_time")
    device_time_str = _formatted("device_time")
    cpu_time_total_str = _formatted("cpu_time_total")
    device_time_total_str = _formatted("device_time_total")
    self_cpu_time_total_str = _formatted("self_cpu_time_total")
    self_device_time_total_str = _formatted("self_device_time_total")
    cuda_time = _renamed("cuda_time", "device_time")

    @property
    def cpu_time(self) -> float:
        """The time of one call."""
        return 1.0 * self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """The time of one call on a device."""
        return 1.0 * self.device_time_total / self.count if self.count else 0.0


class FunctionEvent(FormattedTimesMixin):
    """Something that ran, once: `name`, `time_range`, `thread`, what was around it and what inside."""

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        overload_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: Any = None,
        stack: list[str] | None = None,
        scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: int = 0,
        device_memory_usage: int = 0,
        is_async: bool = False,
        is_remote: bool = False,
        sequence_nr: int = -1,
        node_id: int = -1,
        device_type: DeviceType = DeviceType.CPU,
        device_index: int = 0,
        device_resource_id: int | None = None,
        is_legacy: bool = False,
        flops: int | None = None,
        trace_name: str | None = None,
        concrete_inputs: list[Any] | None = None,
        kwinputs: dict[str, Any] | None = None,
        is_user_annotation: bool = False,
        is_python_function: bool = False,
        activity_type: str | None = None,
        metadata_json: str | None = None,
    ) -> None:
        self.id = id
        self.node_id = node_id
        self.name = name
        self.overload_name = overload_name
        self.trace_name = trace_name
        self.time_range = Interval(start_us, end_us)
        self.thread = thread
        self.fwd_thread = fwd_thread
        self.kernels: list[Any] = []
        self.count = 1
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.input_shapes = input_shapes
        self.concrete_inputs = concrete_inputs
        self.kwinputs = kwinputs
        self.stack = stack
        self.scope = scope
        self.use_device = use_device
        self.cpu_memory_usage = cpu_memory_usage
        self.device_memory_usage = device_memory_usage
        self.is_async = is_async
        self.is_remote = is_remote
        self.sequence_nr = sequence_nr
        self.device_type = device_type
        self.device_index = device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.is_legacy = is_legacy
        self.flops = flops
        self.is_user_annotation = is_user_annotation
        self.is_python_function = is_python_function
        self.activity_type = activity_type
        self.self_cpu_percent: Any = -1
        self.total_cpu_percent: Any = -1
        self.total_device_percent: Any = -1
        self._metadata_json = metadata_json

    cuda_time_total = _renamed("cuda_time_total", "device_time_total")
    self_cuda_time_total = _renamed("self_cuda_time_total", "self_device_time_total")
    self_cuda_memory_usage = _renamed("self_cuda_memory_usage", "self_device_memory_usage")

    @property
    def key(self) -> str:
        """What it is averaged under."""
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """How long it took, with everything inside."""
        return self.time_range.elapsed_us() if self.device_type == DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self) -> float:
        """How long it took, without what is inside."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def device_time_total(self) -> float:  # type: ignore[override]
        """How long a device took."""
        if self.is_async or not self.use_device:
            return 0
        inside = 0 if self.is_legacy else sum(child.device_time_total for child in self.cpu_children)
        own: float = sum(kernel.duration for kernel in self.kernels)
        return own + inside

    @property
    def self_device_time_total(self) -> float:
        """How long a device took, without what is inside."""
        if self.is_async or not self.use_device:
            return 0
        return self.device_time_total - sum(child.device_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """By how many bytes more are in use, without what is inside."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def self_device_memory_usage(self) -> int:
        """The same on a device."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.device_memory_usage - sum(child.device_memory_usage for child in self.cpu_children)

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Add what a device ran."""
        self._check_cpu(self, "device_type")
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Add what ran directly inside of it."""
        self._check_related(child, "child")
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Say what it ran directly inside of."""
        self._check_related(parent, "parent")
        self.cpu_parent = parent

    def _check_related(self, other: Any, role: str) -> None:
        self._check_cpu(self, "device_type")
        if not isinstance(other, FunctionEvent):
            raise AssertionError(f"Expected {role} to be a FunctionEvent")
        self._check_cpu(other, f"{role} device_type")

    @staticmethod
    def _check_cpu(event: FunctionEvent, what: str) -> None:
        if event.device_type != DeviceType.CPU:
            raise AssertionError(f"Expected {what} to be CPU")

    def __repr__(self) -> str:
        device = self.use_device
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} {device}_time={self.device_time_str} "
            f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage} "
            f"is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} "
            f"is_legacy={self.is_legacy}>"
        )


_SUMMED = (
    "cpu_time_total",
    "device_time_total",
    "self_cpu_time_total",
    "self_device_time_total",
    "cpu_memory_usage",
    "device_memory_usage",
    "self_cpu_memory_usage",
    "self_device_memory_usage",
    "count",
)
# What is taken over from the first of the events.
_SHARED = (
    "key",
    "node_id",
    "is_async",
    "is_remote",
    "cpu_parent",
    "cpu_children",
    "overload_name",
    "input_shapes",
    "stack",
    "scope",
    "device_type",
    "is_legacy",
    "use_device",
    "is_user_annotation",
)


class FunctionEventAvg(FormattedTimesMixin):
    """Events that have their `key` in common: how many there were, and how long all took together."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.node_id = 0
        self.is_async = False
        self.is_remote = False
        self.use_device: str | None = None
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: list[str] | None = None
        self.scope: int | None = None
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.device_type = DeviceType.CPU
        self.is_legacy = False
        self.flops: int | None = 0
        for name in _SUMMED:
            setattr(self, name, 0)

    def add(self, other: Any) -> Self:
        """Add an event, or other averages of the same key."""
        if self.key is None and isinstance(other, (FunctionEvent, FunctionEventAvg)):
            for name in _SHARED:
                setattr(self, name, getattr(other, name))
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in _SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if self.flops is None:
            self.flops = other.flops
        elif other.flops is not None:
            self.flops += other.flops
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str} "
            f"{device}_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} "  # type: ignore[attr-defined]
            f"{device}_memory_usage={self.device_memory_usage}>"  # type: ignore[attr-defined]
        )


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
