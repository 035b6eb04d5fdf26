"""What ran and how long it took.

>>> import rushlight as torch
>>> x = torch.ones(2, 3, requires_grad=True)
>>> with torch.autograd.profiler.profile() as prof:
...     with torch.autograd.profiler.record_function("forward"):
...         y = x.exp().sum()
...     y.backward()
>>> [event.name for event in prof.function_events if event.cpu_parent is None][:2]
['forward', 'aten::ones_like']
>>> table = prof.key_averages().table(sort_by="self_cpu_time_total")
"""

from __future__ import annotations

import json
from contextlib import ContextDecorator
from enum import Enum
from time import time_ns
from warnings import warn

from .. import _rushlight
from ._annotations import emit_itt, emit_nvtx
from ._profiler_steps import KinetoStepTracker
from .profiler_util import EventList, FunctionEvent

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Self

    from .profiler_util import FunctionEventAvg

__all__ = [
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "KinetoStepTracker",
    "emit_itt",
    "emit_nvtx",
    "profile",
    "record_function",
]


class ProfilerActivity(Enum):
    """What a profile takes note of; here there is the CPU."""

    CPU = 0
    XPU = 1
    CUDA = 2


_DEVICES = {"cuda": "CUDA", "xpu": "XPU", "hpu": "HPU"}


def kineto_available() -> bool:
    """Tell whether profiles can be exported with everything they know."""
    return True


class _Trace:
    """What was taken note of between a beginning and an end."""

    def __init__(self, raw: list[Any], began: int, lasted: int, name: str) -> None:
        self.raw, self.began, self.lasted, self.name = raw, began, lasted, name

    def save(self, path: str, metadata: dict[str, str]) -> None:
        """Write what chrome://tracing reads."""
        import os

        from ._profiled import events

        process = os.getpid()
        shown = EventList(events(self.raw, self.lasted))
        shown._build_tree()
        told: list[dict[str, Any]] = [
            {
                "ph": "X",
                "cat": event.activity_type,
                "name": event.trace_name,
                "pid": process,
                "tid": event.thread,
                "ts": self.began / 1000 + event.time_range.start,
                "dur": event.time_range.elapsed_us(),
                "args": {
                    "External id": event.id,
                    "Sequence number": event.sequence_nr,
                    "Fwd thread id": event.fwd_thread,
                    "Input Dims": event.input_shapes,
                },
            }
            for event in shown
        ]
        window = {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": ""}
        told.append({**window, "ts": (self.began + self.lasted) / 1000})
        trace = {
            "schemaVersion": 1,
            "deviceProperties": [],
            **{name: json.loads(value) for name, value in metadata.items()},
            "trace_id": self.name,
            "displayTimeUnit": "ms",
            "traceEvents": told,
            "traceName": path,
        }
        with open(path, "w") as file:
            json.dump(trace, file, indent=2)


class profile:
    """In the block, take note of the functions, operations and nodes that run on this thread.

    With `record_shapes` also of the shapes that they are given, with `with_stack` of where they are called,
    with `profile_memory` of what memory they use. `enabled=False` does nothing.

    >>> import rushlight as torch
    >>> with torch.autograd.profiler.profile() as profile:
    ...     _ = torch.ones(2).exp()
    >>> [event.name for event in profile.function_events]
    ['aten::ones', 'aten::empty', 'aten::fill_', 'aten::exp']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: dict[ProfilerActivity, set[str]] | None = None,
    ) -> None:
        self.enabled = enabled
        if not enabled:
            return
        self.use_cuda = use_cuda
        self.use_device = "cuda" if use_cuda else use_device
        if use_cuda:
            warn(
                "The attribute `use_cuda` will be deprecated soon, "
                "please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
                stacklevel=2,
            )
        self._function_events: EventList | None = None
        self._old_function_events: EventList | None = None
        self.entered = False
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.use_cpu = use_cpu
        self.acc_events = acc_events
        self.experimental_config = experimental_config
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.activity_filters = activity_filters or {}
        self.trace_id = ""
        self.kineto_results: _Trace | None = None
        self.profiling_start_time_ns = 0
        self.profiling_end_time_ns = 0
        if not use_cpu and not use_kineto:
            raise AssertionError("Device-only events supported only with Kineto (use_kineto=True)")
        if self.use_device is not None:
            if self.use_device in _DEVICES:
                name = _DEVICES[self.use_device]
                warn(f"{name} is not available, disabling {name} profiling", stacklevel=2)
                self.use_cuda = self.use_cuda and name != "CUDA"
            else:
                warn(f"The {self.use_device} is not a valid device option.", stacklevel=2)
            self.use_device = None
        self.kineto_activities = {ProfilerActivity.CPU} if use_cpu else set()
        if not self.kineto_activities:
            raise AssertionError("No activities specified for the profiler")
        if post_processing_timeout_s is not None and post_processing_timeout_s < 0:
            raise ValueError("post_processing_timeout_s must be non-negative")

    def __enter__(self) -> Self | None:
        """Begin."""
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._prepare_trace()
        self._start_trace()
        return self

    def _prepare_trace(self) -> None:
        self.entered = True
        if self.custom_trace_id_callback is not None:
            self.trace_id = self.custom_trace_id_callback()
            return
        from uuid import uuid4

        self.trace_id = f"{uuid4().int:032X}"

    def _start_trace(self) -> None:
        self.profiling_start_time_ns = time_ns()
        _rushlight._start_profile(self.record_shapes, self.with_stack)

    def __exit__(self, *exception: object) -> bool | None:
        """End it."""
        if not self.enabled:
            return None
        raw, lasted = _rushlight._stop_profile()
        if self.acc_events and self._function_events:
            self._old_function_events = self._function_events
        self._function_events = None
        self.profiling_end_time_ns = self.profiling_start_time_ns + lasted
        self.kineto_results = _Trace(raw, self.profiling_start_time_ns, lasted, self.trace_id)
        if self.acc_events:
            self._ensure_function_events()
        return False

    def _ensure_function_events(self) -> EventList:
        if self._function_events is not None:
            return self._function_events
        from ._profiled import events

        trace = self.kineto_results or _Trace([], 0, 0, "")
        found = EventList(
            events(
                trace.raw,
                trace.lasted,
                memory=self.profile_memory,
                flops=self.with_flops,
                use_device=self.use_device,
            ),
            use_device=self.use_device,
            profile_memory=self.profile_memory,
            with_flops=self.with_flops,
        )
        found._build_tree()
        found.extend(self._old_function_events or ())
        self._old_function_events = None
        self._function_events = found
        return found

    def __repr__(self) -> str:
        if self._is_unfinished():
            return "<unfinished torch.autograd.profile>"
        return repr(self._ensure_function_events())

    def __str__(self) -> str:
        return repr(self) if self._is_unfinished() else self.table()

    def _is_unfinished(self) -> bool:
        return self.kineto_results is None and self._function_events is None

    @property
    def function_events(self) -> EventList:
        """Everything that ran, in the order in which it began."""
        return self._ensure_function_events()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """Return a table, a row an event."""
        return self._ensure_function_events().table(
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
        )

    def export_chrome_trace(
        self, path: str, metadata: dict[str, str] | None = None, use_python_export: bool = False
    ) -> None:
        """Write what chrome://tracing reads."""
        # Without a trace this fails as in torch.
        self.kineto_results.save(path, metadata or {})  # type: ignore[union-attr]

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write a line a stack, outermost first, with its metric behind."""
        events = self._ensure_function_events()
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        events.export_stacks(path, metric)

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Return averages over events of one name; of one name and shapes, stack or overload."""
        events = self._ensure_function_events()
        return events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """Return everything as one."""
        return self._ensure_function_events().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """How long everything took."""
        return self._ensure_function_events().self_cpu_time_total


def _no_text(place: int, role: str, kind: str, found: object) -> RuntimeError:
    """Return the error for a label, or what goes with it, that is no text."""
    return RuntimeError(
        f"profiler::_record_function_enter_new() Expected a value of type '{kind}' for argument '{role}' but "
        f"instead found type '{type(found).__name__}'.\nPosition: {place}\nValue: {found!r}"
    )


class record_function(ContextDecorator):
    """Label a block of code, or every call of a function, in profiles.

    >>> import rushlight as torch
    >>> from rushlight.autograd.profiler import profile, record_function
    >>> with profile() as seen:
    ...     with record_function("twice"):
    ...         _ = torch.ones(2) * 2
    >>> [event.name for event in seen.function_events][:2]
    ['twice', 'aten::ones']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self.run_callbacks_on_exit = True
        self.record: _rushlight._Passage | None = None

    def __enter__(self) -> Self:
        """Begin."""
        if not isinstance(self.name, str):
            raise _no_text(0, "name", "str", self.name)
        if not isinstance(self.args, str | None):
            raise _no_text(1, "args", "Optional[str]", self.args)
        self.record = _rushlight._Passage(self.name)
        return self

    def __exit__(self, *exception: object) -> None:
        """End it."""
        if not self.run_callbacks_on_exit:
            return
        if self.record is None:
            raise AssertionError("Expected record to be set")
        self.record.end()


class EnforceUnique:
    """Raises an error for a key that it has seen before."""

    def __init__(self) -> None:
        self.seen: set[tuple[Any, ...]] = set()

    def see(self, *key: Any) -> None:
        """Look at a key."""
        if key in self.seen:
            raise RuntimeError("duplicate key: " + str(key))
        self.seen.add(key)
