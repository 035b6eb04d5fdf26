"""The compiler of scripts, as programs set and ask it: nothing is compiled and nothing is traced."""

from __future__ import annotations

from typing import Any

from ..._devices.absent import Switch, idle
from ..._operators.schemas import FunctionSchema
from ..._ops import ops, table
from ..._rushlight import device
from ...autograd.grad_mode import no_grad
from ...library.kernels import below_autograd
from ._interpreters import peek_interpreter_stack

_SETTINGS = (
    "_jit_set_profiling_executor _jit_set_profiling_mode _jit_override_can_fuse_on_cpu "
    "_jit_override_can_fuse_on_gpu _jit_set_texpr_fuser_enabled _jit_set_nvfuser_enabled "
    "_jit_set_autocast_mode _jit_set_nvfuser_guard_mode _jit_can_fuse_on_cpu _jit_can_fuse_on_gpu "
    "_jit_set_nvfuser_single_node_mode _jit_set_bailout_depth _jit_set_num_profiled_runs "
    "_jit_pass_inline _jit_set_fusion_strategy"
)

idle(
    globals(),
    {
        _SETTINGS: False,
        "_is_tracing": False,
        "_get_tracing_state _log_api_usage_once _log_api_usage_metadata _set_tracing_state": None,
        "_jit_clear_class_registry _jit_set_emit_hooks": None,
        "_cuda_clearCublasWorkspaces _cuda_isInBadFork": None,
        "_set_math_sdp_allow_fp16_bf16_reduction": None,
        "_get_privateuse1_backend_name": "privateuseone",
        "_get_default_device": "cpu",
    },
)


class ScriptDict(dict[Any, Any]):
    """A dictionary that a script has: a dictionary."""


class ScriptList(list[Any]):
    """A list that a script has: a list."""


def _get_accelerator() -> device:
    return device("cpu")


def _are_functorch_transforms_active() -> bool:
    return peek_interpreter_stack() is not None


def _jit_get_all_schemas() -> list[FunctionSchema]:
    return [overload._schema for packet in table()[1].values() for overload in packet._overloads.values()]


def _jit_get_schemas_for_operator(name: str) -> list[FunctionSchema]:
    namespace, _, own = name.partition("::")
    packet = getattr(getattr(ops, namespace), own, None)
    return [overload._schema for overload in packet._overloads.values()] if packet is not None else []


class _ExcludeDispatchKeyGuard(Switch):
    """A block in which keys choose nothing, as nowhere."""


class _IncludeDispatchKeyGuard(Switch):
    """A block in which keys choose nothing, as nowhere."""


class _DisableFuncTorch(Switch):
    """A block in which transforms see nothing. What is done in such blocks, no transform sees anywhere."""


class _AutoDispatchBelowAutograd(no_grad):
    """A block in which nothing is recorded, and operators have no kernels for autograd."""

    def __enter__(self) -> None:
        super().__enter__()
        below_autograd.depth += 1

    def __exit__(self, *raised: Any) -> None:
        below_autograd.depth -= 1
        super().__exit__(*raised)


class Graph:
    """The graph of a script. None is ever made."""


class Node(Graph):
    """A node of such a graph."""


class Value(Graph):
    """A value in such a graph."""


class Block(Graph):
    """A part of such a graph."""


class Function:
    """A compiled function. None is ever made."""


class ScriptFunction(Function):
    """A compiled function. None is ever made."""


class ScriptMethod:
    """A method of a compiled module. None is ever made."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        raise NotImplementedError


class ScriptModule:
    """A compiled module. None is ever made."""


class ScriptObject:
    """An instance of a compiled class. None is ever made."""
