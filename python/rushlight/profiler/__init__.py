"""What ran and how long it took, in cycles of a training loop.

>>> import rushlight as torch
>>> from rushlight.profiler import ProfilerActivity, profile, record_function
>>> with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
...     with record_function("model"):
...         y = torch.ones(2, 3).exp()
>>> [event.name for event in prof.events() if event.name != "aten::fill_"]
['model', 'aten::ones', 'aten::empty', 'aten::exp']
"""

from __future__ import annotations

from .._lazy import on_first_use
from ..autograd.profiler import ProfilerActivity, kineto_available, record_function
from ..autograd.profiler_util import DeviceType
from .profiler import ProfilerAction, profile, schedule, supported_activities, tensorboard_trace_handler

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

__getattr__, __dir__ = on_first_use(globals(), rooms={"itt"})
