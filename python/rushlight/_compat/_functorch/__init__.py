"""Where programs that look inside of `func` find its parts."""

import sys
from importlib import import_module
from types import ModuleType

from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases

TYPE_CHECKING = False  # `typing` would be loaded for it.
if TYPE_CHECKING:
    from . import autograd_function as autograd_function
    from . import make_functional as make_functional
    from . import pyfunctorch as pyfunctorch

_TREES = "tree_flatten tree_unflatten tree_map tree_map_ _broadcast_to_and_flatten TreeSpec"

add_module_aliases(
    globals(),
    {
        "compilers": {".aot_autograd": "nop"},
        "apis": {"...func": "vmap grad grad_and_value", "._mapping": "chunk_vmap"},
        "batch_norm_replacement": {
            "...func": "replace_all_batch_norm_modules_",
            "...func.modules": "batch_norm_without_running_stats",
        },
        "eager_transforms": {
            "...func": "functionalize grad grad_and_value hessian jacfwd jacrev jvp linearize vjp",
            "._differentiating": "grad_impl grad_and_value_impl argnums_t _slice_argnums _replace_args "
            "_construct_standard_basis_for _chunked_standard_basis_for_ _vjp_with_argnums",
            "._nesting": "_any_differentiable _autograd_grad _create_differentiable _is_differentiable "
            "_set_tensor_requires_grad _undo_create_differentiable _wrap_all_tensors _wrap_tensor_for_grad "
            "enable_inplace_requires_grad grad_increment_nesting jvp_increment_nesting "
            "enter_jvp_nesting=_jvp_increment_nesting exit_jvp_nesting=_jvp_decrement_nesting",
            "...func.jvp": "safe_unpack_dual",
            "...func.debugging": "debug_unwrap",
            "...autograd.gradcheck._tensors": "_as_tuple=as_tuple",
            "...utils._pytree": f"{_TREES} tree_map_only treespec_pprint",
            ".._C._functorch": "_grad_decrement_nesting _grad_increment_nesting _jvp_decrement_nesting "
            "_jvp_increment_nesting _unwrap_for_grad _wrap_for_grad get_inplace_requires_grad_allowed "
            "get_unwrapped is_functorch_wrapped_tensor set_inplace_requires_grad_allowed",
        },
        "functional_call": {
            "...func": "functional_call stack_module_state",
            "...func.modules": "construct_stacked_leaf",
        },
        "utils": {
            "._differentiating": "argnums_t exposed_in",
            ".autograd_function": "enable_single_level_autograd_function",
            "._nesting": "unwrap_dead_wrappers",
            ".._C._functorch": "unwrap_if_dead",
        },
        "vmap": {
            "._mapping": "get_chunk_sizes vmap_impl wrap_batched in_dims_t out_dims_t _as_tuple "
            "_check_randomness_arg _create_batched_inputs _maybe_remove_batch_dim _num_outputs "
            "_process_batched_inputs "
            "_unwrap_batched _validate_and_get_batch_size",
            "..._rushlight": "Tensor",
            "...func.vmap": "restore_vmap unwrap_batched vmap_increment_nesting=level _get_name=_name",
            "...utils._pytree": _TREES,
            ".._C._functorch": "_add_batch_dim _remove_batch_dim _vmap_decrement_nesting "
            "_vmap_increment_nesting is_batchedtensor",
        },
    },
)
__getattr__, __dir__ = on_first_use(
    globals(), rooms={"autograd_function", "config", "make_functional", "pyfunctorch"}
)


class _Steps(ModuleType):
    """The parts of `vmap`, three of which libraries replace: it goes by theirs then."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name in ("_process_batched_inputs", "_create_batched_inputs", "_unwrap_batched"):
            import_module("...func.vmap", __package__).replaced[name] = value


sys.modules[f"{__name__}.vmap"].__class__ = _Steps
