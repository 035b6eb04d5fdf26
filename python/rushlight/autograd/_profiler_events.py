"""What a profile consists of: what ran, event by event, and averages over events of one name."""

from __future__ import annotations

import warnings
from collections import namedtuple
from enum import Enum

from ._profiler_table import format_time

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

_PUBLIC = "rushlight.autograd.profiler_util"


class DeviceType(Enum):
    """Where something ran: here on the CPU, always."""

    __module__ = _PUBLIC

    CPU = 0
    CUDA = 1


Kernel = namedtuple("Kernel", ["name", "device", "duration"], module=_PUBLIC)
Kernel.__doc__ = "What a device ran on behalf of an event."


class Interval:
    """From when to when something ran, in microseconds."""

    __module__ = _PUBLIC

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

    __module__ = _PUBLIC

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

    __module__ = _PUBLIC

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

    __module__ = _PUBLIC

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
