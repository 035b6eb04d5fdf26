"""Gradients of recorded computations: `backward` accumulates them, `grad` returns them."""

from __future__ import annotations

from .._rushlight import _current_graph_task_id as _current_graph_task_id
from .._rushlight import _is_checkpoint_valid as _is_checkpoint_valid
from .._rushlight import _is_multithreading_enabled as is_multithreading_enabled
from . import forward_ad, function, grad_mode, graph
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .differentiate import backward, grad
from .function import Function, NestedIOFunction
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
from .graph import _unsafe_preserve_version_counter as _unsafe_preserve_version_counter
from .variable import Variable, variable

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any

    from . import functional as functional

_LAZY = frozenset({"functional"})


def __getattr__(name: str) -> Any:
    """Import a room of the package when it is first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"{__name__}.{name}")


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
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
