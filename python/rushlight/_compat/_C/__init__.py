"""Names that programs written against torch find in its compiled module, where they extend it."""

from __future__ import annotations

from ... import _rushlight
from ..._lazy import on_first_use
from ..._rushlight import (
    Size,
    TensorBase,
    _current_autograd_node,
    _current_graph_task_execution_order,
    _current_graph_task_id,
    _disabled_torch_dispatch_impl,
    _disabled_torch_function_impl,
    _FunctionBase,
    _increment_version,
    _InferenceMode,
    _is_fwd_grad_enabled,
    _is_grad_layout_enforcement_enabled,
    _is_multithreading_enabled,
    _is_view_replay_enabled,
    _set_fwd_grad_enabled,
    _set_grad_enabled,
    _set_grad_layout_enforcement_enabled,
    _set_multithreading_enabled,
    _set_view_replay_enabled,
    _will_engine_execute_node,
    get_num_threads,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    set_anomaly_enabled,
    set_num_threads,
)
from ..._rushlight import _DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ...autograd.variable import _EngineBase as _ImperativeEngine

_TensorBase = TensorBase

_TensorMeta = type(TensorBase)

_PLACES = {
    "..._schemas": "Argument FunctionSchema parse_schema",
    "..._rushlight": "Generator device dtype finfo iinfo layout memory_format",
    "..._devices.streams": "AcceleratorError OutOfMemoryError",
    "...futures": "Future",
    "._build": "_get_all_dtypes _get_cpu_capability _get_graph_executor_optimize "
    "_set_graph_executor_optimize",
    "._conventions": "Tag _BlasBackend _ConvBackend _LinalgBackend _select_conv_backend",
    "._dispatch": "DispatchKey DispatchKeySet",
    "._types": "AnyType BoolType ClassType ComplexType DeviceObjType DictType EnumType FloatType FutureType "
    "IntType InterfaceType JitType ListType NoneType NumberType OptionalType RRefType StreamObjType "
    "StringType TensorType TupleType UnionType",
    "._scripting": "Block Function Graph Node ScriptDict ScriptFunction ScriptList "
    "ScriptMethod ScriptModule ScriptObject Value _AutoDispatchBelowAutograd _DisableFuncTorch "
    "_ExcludeDispatchKeyGuard _IncludeDispatchKeyGuard _are_functorch_transforms_active "
    "_cuda_clearCublasWorkspaces "
    "_cuda_isInBadFork _get_accelerator _get_default_device _get_privateuse1_backend_name "
    "_get_tracing_state _is_tracing _jit_can_fuse_on_cpu _jit_can_fuse_on_gpu _jit_get_all_schemas "
    "_jit_clear_class_registry _jit_set_emit_hooks "
    "_jit_get_schemas_for_operator _jit_override_can_fuse_on_cpu _jit_override_can_fuse_on_gpu "
    "_jit_pass_inline _jit_set_autocast_mode _jit_set_bailout_depth _jit_set_fusion_strategy "
    "_jit_set_num_profiled_runs _jit_set_nvfuser_enabled _jit_set_nvfuser_guard_mode "
    "_jit_set_nvfuser_single_node_mode _jit_set_profiling_executor _jit_set_profiling_mode "
    "_jit_set_texpr_fuser_enabled _log_api_usage_metadata _log_api_usage_once "
    "_set_math_sdp_allow_fp16_bf16_reduction _set_tracing_state",
    "...__config__": "_show_config",
    "..._messages.matrices": "_LinAlgError",
    "..._files.archives": "PyTorchFileReader",
    "..._files.writing": "PyTorchFileWriter",
    "..._machine": "has_lapack has_mkl has_mkldnn has_openmp has_spectral",
    "..._files.pickles": "_VariableFunctions _VariableFunctionsClass",
    "._mappings": "_debug_only_are_vmap_fallback_warnings_enabled _debug_only_display_vmap_fallback_warnings",
    "._levels": "_enter_dual_level _exit_dual_level",
    "._memory": "_data_address _has_storage _infer_size _is_alias_of _overlaps _set_conj _set_neg "
    "_storage_address _storage_id",
    "._prefixed": "_fft _linalg _special",
    "._stacks": "DisableTorchFunction _EnableTorchFunction _TorchFunctionState _get_dispatch_stack_at "
    "_get_function_stack_at _get_torch_function_state _has_torch_function _has_torch_function_unary "
    "_has_torch_function_variadic _is_torch_function_all_disabled _is_torch_function_enabled "
    "_is_torch_function_mode_enabled _len_torch_dispatch_stack _len_torch_function_stack "
    "_pop_torch_dispatch_stack _pop_torch_function_stack _push_on_torch_dispatch_stack "
    "_push_on_torch_function_stack _set_torch_function_state",
    "._thread_objects": "_get_obj_in_tls _is_key_in_tls _remove_obj_from_tls _stash_obj_in_tls",
}

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import _autograd as _autograd
    from . import _functions as _functions
    from . import _functorch as _functorch
    from . import _nn as _nn
    from . import _onnx as _onnx
    from . import _profiler as _profiler
else:
    __getattr__, __dir__ = on_first_use(
        globals(),
        rooms={"_autograd", "_functions", "_functorch", "_nn", "_onnx", "_profiler"},
        places=_PLACES,
    )

__all__ = [
    "DisableTorchFunctionSubclass",
    "Size",
    "TensorBase",
    "_DisableTorchDispatch",
    "_FunctionBase",
    "_ImperativeEngine",
    "_InferenceMode",
    "_TensorBase",
    "_autograd",
    "_current_autograd_node",
    "_current_graph_task_execution_order",
    "_current_graph_task_id",
    "_disabled_torch_dispatch_impl",
    "_disabled_torch_function_impl",
    "_functions",
    "_increment_version",
    "_is_fwd_grad_enabled",
    "_is_grad_layout_enforcement_enabled",
    "_is_multithreading_enabled",
    "_is_view_replay_enabled",
    "_set_fwd_grad_enabled",
    "_set_grad_enabled",
    "_set_grad_layout_enforcement_enabled",
    "_set_multithreading_enabled",
    "_set_view_replay_enabled",
    "_will_engine_execute_node",
    "get_num_threads",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "set_anomaly_enabled",
    "set_num_threads",
]


class _DisableTorchDispatch:
    """In the block, or as long as it lives outside of one, no class is shown operations on its tensors."""

    def __init__(self) -> None:
        self._ends = 1
        _rushlight._set_dispatching_to_subclasses(False)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self._end()

    def __del__(self) -> None:
        self._end()

    def _end(self) -> None:
        if self._ends:
            self._ends = 0
            _rushlight._set_dispatching_to_subclasses(True)
