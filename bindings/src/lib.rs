//! The extension module `rushlight._rushlight`: converts and delegates.
//!
//! `tensor` is the Python class of tensors, `functions` the tables of functions and methods. `signature` says what a call
//! may pass, `calls` makes it, `values` has the arguments and results on either side; `overrides` shows calls to classes
//! and modes (`__torch_function__`), `modes` operations (`__torch_dispatch__`) and the flags of a thread. `autograd` is
//! the graph and backward, `transforms` serves `rushlight.func`, `program` compiled functions; `interpreter` is what is
//! asked of Python itself, and `error` makes exceptions of errors.
#![deny(unsafe_code)]

use pyo3::prelude::*;

mod autograd;
mod calls;
mod error;
mod functions;
mod interpreter;
mod modes;
mod overrides;
mod program;
mod signature;
mod tensor;
mod transforms;
mod values;

// The engine leaves it to programs which allocator is theirs; in Python's, this one serves the module.
#[global_allocator]
static ALLOCATOR: rushlight::storage::Allocator = rushlight::storage::Allocator;

// Before 3.14, free-threaded interpreters do not offer what objects need: importing the module switches
// their lock back on.
#[cfg_attr(threads_at_once, pymodule(gil_used = false))]
#[cfg_attr(not(threads_at_once), pymodule(gil_used = true))]
mod _rushlight {
    use super::*;

    #[pymodule_export]
    use super::autograd::anomaly::{is_anomaly_check_nan_enabled, is_anomaly_enabled};
    #[pymodule_export]
    use super::autograd::backward::{
        accumulate, current_node, current_order, current_run, gradients, is_retaining, is_unrestricted,
        run_backward, undefined_gradient, will_execute,
    };
    #[pymodule_export]
    use super::autograd::context::FunctionBase;
    #[pymodule_export]
    use super::autograd::creation::{creation_of, set_creation};
    #[pymodule_export]
    use super::autograd::descent::{descend, drop_gradients};
    #[pymodule_export]
    use super::autograd::function::refuse;
    #[pymodule_export]
    use super::autograd::hooks::RemovableHandle;
    #[pymodule_export]
    use super::autograd::inspect::{
        allocated_bytes, graph_of, holders_of, idle_bytes, look_around, storage_of, trim_memory,
    };
    #[pymodule_export]
    use super::autograd::node::GraphNode;
    #[pymodule_export]
    use super::autograd::packing::{packers_refusal, pop_packer, push_packer, refuse_packers, top_packer};
    #[pymodule_export]
    use super::autograd::saved::{SavedTensor, increment_version, set_version, watch_writes};
    #[pymodule_export]
    use super::calls::inventory::signatures;
    #[pymodule_export]
    use super::calls::outputs::written;
    #[pymodule_export]
    use super::error::error_kinds;
    #[pymodule_export]
    use super::functions::{operators, pointwise_operators};
    #[pymodule_export]
    use super::interpreter::callbacks::queue;
    #[pymodule_export]
    use super::interpreter::module_attributes::look_into_tables;
    #[pymodule_export]
    use super::interpreter::module_calls::call_forward_natively;
    #[pymodule_export]
    use super::interpreter::module_calls::look_for_hooks_in;
    #[pymodule_export]
    use super::interpreter::warnings::{is_warn_always_enabled, set_warn_always};
    #[pymodule_export]
    use super::modes::intercept::{
        Operation, beneath_interceptor, declining as declining_dispatch, has_no_data, interceptors,
        is_dispatching_to_subclasses, make_without_data, pop_interceptor, push_interceptor,
        set_dispatching_to_subclasses,
    };
    #[pymodule_export]
    use super::modes::mode::{
        EnableGrad, InferenceMode, NoGrad, get_num_threads, is_grad_enabled,
        is_grad_layout_enforcement_enabled, is_inference_mode_enabled, is_multithreading_enabled,
        is_view_replay_enabled, set_grad_enabled, set_grad_layout_enforcement_enabled,
        set_multithreading_enabled, set_num_threads, set_view_replay_enabled,
    };
    #[pymodule_export]
    use super::modes::profile::{Passage, profiler_enabled, start_profile, stop_profile};
    #[pymodule_export]
    use super::overrides::{
        Disabling, beneath, declining, exchange_beneath, exchange_state, handle_torch_function,
        has_torch_function, modes, pop_mode, push_mode, redispatch, shown, shown_as_method,
    };
    #[pymodule_export]
    use super::program::{
        Compiled, Exported, Function, Recording, RunApart, Watching, advance, begin as begin_recording,
        compile_as_usual, is_recording,
    };
    #[pymodule_export]
    use super::tensor::dlpack::{from_capsule, to_capsule};
    #[pymodule_export]
    use super::tensor::text::{options as print_options, set_printoptions};
    #[pymodule_export]
    use super::transforms::forward::{
        enter_dual_level, enter_jvp_level, exit_forward_level, is_fwd_grad_enabled, make_dual,
        set_fwd_grad_enabled, unpack_dual,
    };
    #[pymodule_export]
    use super::transforms::mapping::{
        alike_in_all, below, close, enter, get_unwrapped, is_batchedtensor, is_innermost, leave,
        maybe_get_level, nesting, open, randomness, unwrap, within,
    };
    #[pymodule_export]
    use super::transforms::transform::{
        admit, allow_requiring, bare, enter_transform, has_escaped, inner_leaf, interpreters,
        is_requiring_allowed, is_tracked_inside, is_unfollowed, kept, layers, leads_out, leave_transform,
        outer, transform_count, transforms_of,
    };
    #[pymodule_export]
    use super::values::checkpointed::as_one;
    #[pymodule_export]
    use super::values::element_types::{can_cast, get_default_dtype, promote_types, set_default_dtype};
    #[pymodule_export]
    use super::values::memory::{
        bytes_of, is_memory_resizable, memory_of, memory_order, on_memory, resize_memory, whole_memory,
        write_bytes,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        autograd::backward::listen();
        interpreter::origin::listen();
        autograd::anomaly::listen();
        super::modes::intercept::listen();
        values::dtype::install(module)?;
        values::device::install(module)?;
        values::limits::install(module)?;
        values::generator::install(module)?;
        values::size::install(module)?;
        tensor::install(module)?;
        autograd::collector::install(module.py(), autograd::HOLDERS)?;
        functions::install(module)
    }
}
