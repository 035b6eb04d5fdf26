"""Names that programs written against torch find in its compiled module, where they extend it."""

from __future__ import annotations

from ... import _rushlight
from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases
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
    "..._operators.schemas": "Argument FunctionSchema parse_schema",
    "..._rushlight": "Generator default_generator device dtype finfo get_default_dtype iinfo layout "
    "memory_format",
    "..._devices.streams": "AcceleratorError Event OutOfMemoryError Stream",
    "...amp._former": "get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_cpu_enabled "
    "set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_gpu_dtype",
    "...amp._state": "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
    "get_autocast_dtype is_autocast_cache_enabled is_autocast_enabled set_autocast_cache_enabled "
    "set_autocast_dtype set_autocast_enabled",
    "...jit": "fork wait",
    "...storage": "StorageBase",
    "...testing": "FileCheck",
    "...futures": "Future",
    "._build": "_GLIBCXX_USE_CXX11_ABI _get_all_dtypes _get_cpu_capability _get_graph_executor_optimize "
    "_has_cuda _has_cudnn _has_cusparselt _has_distributed _has_eigen_sparse _has_kleidiai "
    "_has_magma _has_mkldnn _has_mkldnn_acl _has_mps _has_xpu _is_xnnpack_enabled _llvm_enabled "
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
    "..._machine": "get_num_interop_threads has_lapack has_mkl has_mkldnn has_openmp has_spectral "
    "set_num_interop_threads",
    "..._files.pickles": "_VariableFunctions _VariableFunctionsClass",
    "._mappings": "_debug_only_are_vmap_fallback_warnings_enabled _debug_only_display_vmap_fallback_warnings",
    "._levels": "_enter_dual_level _exit_dual_level",
    "._memory": "_WeakTensorRef _data_address _has_storage _infer_size _is_alias_of _overlaps _set_conj "
    "_set_neg _storage_address _storage_id",
    "._prefixed": "_fft _linalg _special",
    "._registrations": "_dispatch_find_schema_or_throw _dispatch_get_all_op_names "
    "_dispatch_get_backend_keyset_from_autograd _dispatch_has_computed_kernel_for_dispatch_key "
    "_dispatch_has_kernel _dispatch_has_kernel_for_any_dispatch_key "
    "_dispatch_has_kernel_for_dispatch_key _dispatch_is_alias_key _dispatch_key_for_device "
    "_dispatch_key_name _dispatch_key_parse _dispatch_keys "
    "_dispatch_tls_is_dispatch_key_excluded _dispatch_tls_is_dispatch_key_included _get_schema "
    "_parse_dispatch_key",
    "._settings": "_DisableAutocast _autocast_supported_devices _get_blas_preferred_backend "
    "_get_cpu_allow_fp16_reduced_precision_reduction _get_cudnn_allow_tf32 _get_cudnn_benchmark "
    "_get_cudnn_deterministic _get_cudnn_enabled _get_cudnn_sdp_enabled "
    "_get_deterministic_algorithms _get_deterministic_algorithms_warn_only "
    "_get_deterministic_fill_uninitialized_memory _get_flash_sdp_enabled "
    "_get_float32_matmul_precision _get_linalg_preferred_backend _get_math_sdp_enabled "
    "_get_mem_efficient_sdp_enabled _get_mkldnn_enabled _get_qengine _is_any_autocast_enabled "
    "_is_autocast_available _set_blas_preferred_backend "
    "_set_cpu_allow_fp16_reduced_precision_reduction _set_cudnn_allow_tf32 _set_cudnn_benchmark "
    "_set_cudnn_deterministic _set_cudnn_enabled _set_deterministic_algorithms "
    "_set_deterministic_fill_uninitialized_memory _set_float32_matmul_precision "
    "_set_linalg_preferred_backend _set_mkldnn_enabled _set_sdp_use_cudnn _set_sdp_use_flash "
    "_set_sdp_use_math _set_sdp_use_mem_efficient _supported_qengines",
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

add_module_aliases(
    globals(),
    {
        "_distributed_c10d": {
            "...distributed": "FileStore GradBucket HashStore PrefixStore ProcessGroup ReduceOp Store "
            "TCPStore Work",
            "...distributed.distributed_c10d": "Reducer",
        }
    },
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
