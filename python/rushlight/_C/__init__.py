"""Names that programs written against torch find in its compiled module, where they extend it."""

from __future__ import annotations

from .. import _rushlight
from .._lazy import on_first_use
from .._rushlight import (
    Size,
    TensorBase,
    _current_graph_task_id,
    _disabled_torch_dispatch_impl,
    _disabled_torch_function_impl,
    _FunctionBase,
    _is_fwd_grad_enabled,
    _is_multithreading_enabled,
    _is_view_replay_enabled,
    _set_fwd_grad_enabled,
    _set_grad_enabled,
    _set_multithreading_enabled,
    _set_view_replay_enabled,
    _will_engine_execute_node,
)
from .._rushlight import _DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ..autograd.variable import _EngineBase as _ImperativeEngine
from . import _autograd, _functions

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import _functorch as _functorch
else:
    __getattr__, __dir__ = on_first_use(globals(), rooms={"_functorch"})

__all__ = [
    "DisableTorchFunctionSubclass",
    "Size",
    "TensorBase",
    "_DisableTorchDispatch",
    "_FunctionBase",
    "_ImperativeEngine",
    "_autograd",
    "_current_graph_task_id",
    "_disabled_torch_dispatch_impl",
    "_disabled_torch_function_impl",
    "_functions",
    "_is_fwd_grad_enabled",
    "_is_multithreading_enabled",
    "_is_view_replay_enabled",
    "_set_fwd_grad_enabled",
    "_set_grad_enabled",
    "_set_multithreading_enabled",
    "_set_view_replay_enabled",
    "_will_engine_execute_node",
]


class _DisableTorchDispatch:
    """In the block, or as long as it lives outside of one, no class is shown operations on its tensors."""

    def __init__(self) -> None:
        self._ends = 1
        _rushlight._set_minding(False)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self._end()

    def __del__(self) -> None:
        self._end()

    def _end(self) -> None:
        if self._ends:
            self._ends = 0
            _rushlight._set_minding(True)
