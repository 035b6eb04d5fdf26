"""Profiles of a loop: a schedule says which steps are recorded, a callback what becomes of each recording."""

from __future__ import annotations

import os
from enum import Enum
from functools import cache
from warnings import warn

from ..autograd import profiler as one_profile
from ..autograd.profiler import ProfilerActivity, record_function

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from typing_extensions import Self

    from ..autograd.profiler_util import EventList

    Activities = Iterable[ProfilerActivity | dict[ProfilerActivity, list[str]]]

__all__ = ["ProfilerAction", "profile", "schedule", "supported_activities", "tensorboard_trace_handler"]


class ProfilerAction(Enum):
    """Whether the profiler is off, warms up or records in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


_NONE, _WARMUP, _RECORD, _SAVE = (
    ProfilerAction.NONE,
    ProfilerAction.WARMUP,
    ProfilerAction.RECORD,
    ProfilerAction.RECORD_AND_SAVE,
)


def supported_activities() -> set[ProfilerActivity]:
    """Return the activities that profiles can record."""
    return {ProfilerActivity.CPU}


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Return a function of the number of a step: cycles of waiting, warming up and recording.

    >>> from rushlight.profiler import schedule
    >>> when = schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [when(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), "
            f"warmup={warmup} (need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    cycle = wait + warmup + active

    def scheduled(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return _NONE
        step += (wait if skip_first_wait else 0) - skip_first
        within = step % cycle
        if (repeat > 0 and step >= repeat * cycle) or within < wait:
            return _NONE
        if within < wait + warmup:
            return _WARMUP
        return _SAVE if within == cycle - 1 else _RECORD

    return scheduled


def _default_schedule_fn(_: int) -> ProfilerAction:
    return _RECORD


def tensorboard_trace_handler(
    dir_name: str,
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[Any], None]:
    """Return a callback that writes each trace into a directory which TensorBoard reads."""
    import socket
    import time

    worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"

    def handle(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name), use_python_export=use_python_export)

    return handle


def _parsed(activities: Activities) -> tuple[set[ProfilerActivity], dict[ProfilerActivity, set[str]]]:
    parsed: set[ProfilerActivity] = set()
    filters: dict[ProfilerActivity, set[str]] = {}
    for item in activities:
        if not isinstance(item, (ProfilerActivity, dict)):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(item)}")
        if isinstance(item, dict):
            filters.update((key, set(names)) for key, names in item.items())
        for activity in [item] if isinstance(item, ProfilerActivity) else item:
            if activity in parsed:
                raise ValueError(f"Activity {activity} specified more than once")
            parsed.add(activity)
    return parsed, filters


@cache
def _warn_of_cycles() -> None:
    """Warn, once also where others are given every time, that a profile is that of its last cycle."""
    warn(
        "Warning: Profiler clears events at the end of each cycle. "
        "Only events from the current cycle will be reported. "
        "To keep events across cycles, set acc_events=True.",
        stacklevel=3,
    )


class _KinetoProfile:
    """A profile that begins and ends when it is told, and may do so again."""

    def __init__(
        self,
        *,
        activities: Activities | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        given = supported_activities() if activities is None else activities
        self.activities, self.activity_filters = _parsed(given)
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.profiler: one_profile.profile | None = None
        self.use_device = "cuda" if ProfilerActivity.CUDA in self.activities else None
        self.preset_metadata: dict[str, str] = {}
        self._trace_metadata: dict[str, str] = {}

    def start(self) -> None:
        """Begin."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """End."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Make ready to begin."""
        if self.profiler is not None and not self.acc_events:
            _warn_of_cycles()
        if self.profiler is None or not self.acc_events:
            self.profiler = one_profile.profile(
                use_cpu=ProfilerActivity.CPU in self.activities,
                use_device=self.use_device,
                record_shapes=self.record_shapes,
                with_flops=self.with_flops,
                profile_memory=self.profile_memory,
                with_stack=self.with_stack,
                with_modules=self.with_modules,
                use_kineto=True,
                experimental_config=self.experimental_config,
                acc_events=self.acc_events,
                custom_trace_id_callback=self.custom_trace_id_callback,
                post_processing_timeout_s=self.post_processing_timeout_s,
                activity_filters=self.activity_filters,
            )
        self.profiler._prepare_trace()

    def start_trace(self) -> None:
        """Begin to take note."""
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.start()
        self._begun("starting trace")._start_trace()
        for key, value in self.preset_metadata.items():
            self.add_metadata_json(key, value)

    def stop_trace(self) -> None:
        """End taking note."""
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.stop()
        self._begun("stopping trace").__exit__(None, None, None)

    def _begun(self, purpose: str) -> one_profile.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {purpose}")
        return self.profiler

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write what chrome://tracing reads; compressed if the path ends with `.gz`."""
        profiler = self._begun("exporting chrome trace")
        if not path.endswith(".gz"):
            profiler.export_chrome_trace(path, self._trace_metadata)
            return
        import gzip
        import tempfile

        with tempfile.TemporaryDirectory() as directory:
            plain = os.path.join(directory, "trace.json")
            profiler.export_chrome_trace(plain, self._trace_metadata)
            with open(plain, "rb") as source, gzip.open(path, "wb") as target:
                target.writelines(source)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write a line a stack, outermost first, with its metric behind."""
        self._begun("exporting stacks").export_stacks(path, metric)

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Return averages over events of one name; of one name and shapes, stack or overload."""
        profiler = self._begun("getting key averages")
        return profiler.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def events(self) -> EventList:
        """Return everything that ran in the last cycle."""
        return self._begun("accessing events").function_events

    def add_metadata(self, key: str, value: str) -> None:
        """Add a text to the trace."""
        quoted = value.replace('"', '\\"')
        self.add_metadata_json(key, f'"{quoted}"')

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add to the trace what is JSON already."""
        self._trace_metadata[key] = value

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Have JSON added to every trace that begins from now on."""
        self.preset_metadata[key] = value


class profile(_KinetoProfile):
    """Take note of what runs in a loop, whose steps are told by `step`.

    `schedule` says for each step what happens; `on_trace_ready` is called with the profile at the end of
    every cycle. Without a schedule everything in the block is one cycle.
    """

    def __init__(
        self,
        *,
        activities: Activities | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        if use_cuda is not None:
            warn(
                "`use_cuda` is deprecated, use `activities` argument instead",
                FutureWarning,
                stacklevel=2,
            )
        activities = None if activities is None else list(activities)
        kinds = (ProfilerActivity, dict)
        if activities is not None and not any(one for one in activities if isinstance(one, kinds)):
            raise AssertionError("No valid profiler activities found")
        super().__init__(
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
        )
        self.schedule = schedule or _default_schedule_fn
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.step_rec_fn: record_function | None = None
        self.current_action = self._scheduled(0)

    def _scheduled(self, step: int) -> ProfilerAction:
        action = self.schedule(step)
        if action == ProfilerAction.DEVICE_STOPPED:
            raise ValueError(
                "ProfilerAction.DEVICE_STOPPED is set internally by the "
                "profiler and must not be returned by a user-provided schedule"
            )
        return action

    def __enter__(self) -> Self:
        """Begin."""
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """End."""
        self.stop()
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.cleanup()

    def start(self) -> None:
        """Begin with the first step."""
        self._pass_over(_NONE, self.current_action)
        self._label_step()

    def stop(self) -> None:
        """End the step that is under way, and with it the profile."""
        self._end_step()
        self._pass_over(self.current_action, None)

    def step(self) -> None:
        """Say that the next step begins."""
        self._end_step()
        before, self.current_action = self.current_action, self._scheduled(self.step_num + 1)
        self.step_num += 1
        self._pass_over(before, self.current_action)
        self._label_step()

    def _label_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _pass_over(self, before: ProfilerAction, now: ProfilerAction | None) -> None:
        """Do what has to be done between two steps; `None` is the end."""
        recorded, recording = before in (_RECORD, _SAVE), now in (_RECORD, _SAVE)
        ends_cycle = before == _SAVE or (before == _RECORD and now is None)
        if before == _WARMUP and now in (_NONE, None):
            if now == _NONE:
                warn("Incorrect schedule: WARMUP followed by NONE", stacklevel=3)
            self.start_trace()
            self.stop_trace()
        elif before == _RECORD and now in (_NONE, _WARMUP):
            warn(f"Incorrect schedule: RECORD followed by {now.name}", stacklevel=3)
            self.stop_trace()
        elif ends_cycle:
            self.stop_trace()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        if now is None or now == _NONE:
            return
        if before == _NONE or (before == _SAVE and (recording or now == _WARMUP)):
            self.prepare_trace()
        if recording and not (recorded and not ends_cycle):
            self.start_trace()

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Have traces named by `callback`."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self) -> str | None:
        """Return the name of the trace."""
        return None if self.profiler is None else self.profiler.trace_id
