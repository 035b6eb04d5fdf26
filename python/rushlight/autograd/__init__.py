"""Gradients of recorded computations: `backward` accumulates them, `grad` returns them."""

from __future__ import annotations

from .._lazy import on_first_use
from .._rushlight import _current_graph_task_id as _current_graph_task_id
from .._rushlight import _is_checkpoint_valid as _is_checkpoint_valid
from .._rushlight import _is_multithreading_enabled as is_multithreading_enabled
from .._rushlight import _is_view_replay_enabled as is_view_replay_enabled
from .._rushlight import _pop_saved_tensors_default_hooks as _pop_saved_tensors_default_hooks
from .._rushlight import _profiler_enabled as _profiler_enabled
from .._rushlight import _push_saved_tensors_default_hooks as _push_saved_tensors_default_hooks
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .differentiate import _calculate_shape as _calculate_shape
from .differentiate import _make_grads as _make_grads
from .differentiate import _tensor_or_tensors_to_tuple as _tensor_or_tensors_to_tuple
from .differentiate import backward, grad
from .grad_mode import (
    _force_original_view_tracking as _force_original_view_tracking,
)
from .grad_mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)

# `gradcheck` is the function, as in torch; its module of the same name stays importable.
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable, variable

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from .._compat._C._autograd import SavedTensor as SavedTensor
    from .._compat._C._autograd import _get_sequence_nr as _get_sequence_nr
    from . import forward_ad as forward_ad
    from . import function as function
    from . import functional as functional
    from . import grad_mode as grad_mode
    from . import graph as graph
    from . import profiler as profiler
    from . import profiler_util as profiler_util
    from .function import Function as Function
    from .function import NestedIOFunction as NestedIOFunction
    from .grad_mode import _unsafe_preserve_version_counter as _unsafe_preserve_version_counter
    from .graph import _engine_run_backward as _engine_run_backward
    from .profiler import ProfilerActivity as ProfilerActivity
    from .profiler import kineto_available as kineto_available
    from .profiler_util import DeviceType as DeviceType
else:
    __getattr__, __dir__ = on_first_use(
        globals(),
        rooms={"forward_ad", "function", "functional", "graph", "profiler", "profiler_util"},
        places={
            ".._compat._C._autograd": "SavedTensor _get_sequence_nr",
            ".function": "Function NestedIOFunction",
            ".grad_mode": "_unsafe_preserve_version_counter",
            ".graph": "_engine_run_backward",
            ".profiler": "ProfilerActivity kineto_available",
            ".profiler_util": "DeviceType",
        },
    )

# As torch shows them.
for _function in (backward, grad, variable):
    _function.__module__ = __name__
del _function

__all__ = [
    "Function",
    "GradcheckError",
    "NestedIOFunction",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
