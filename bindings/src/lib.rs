//! The extension module `rushlight._rushlight`: converts and delegates.
//!
//! `tensor` is the object and what it can do; `dtype`, `device` and `size` are what its attributes
//! show; `node` and `hooks` are the graph's side, `backward` runs it and `forward` is the other
//! direction; `function` is for rules of one's own, `transform` serves transforms of functions; `mode`
//! switches recording, `mapping` has functions work on samples; `error` words failures. `functions`
//! lists functions and methods: `signature` says what a call of one may pass, `callable` makes the call,
//! `arguments` and `returns` are its two ends; `overrides` shows it to classes that want to see it, and
//! `intercept` shows the operations that it comes to.
#![deny(unsafe_code)]

use pyo3::prelude::*;

mod anomaly;
mod arguments;
mod backward;
mod body;
mod callable;
mod callbacks;
mod checkpointed;
mod classes;
mod collector;
mod convert;
mod creation;
mod declining;
mod descent;
mod device;
mod dtype;
mod elsewhere;
mod error;
mod forward;
mod frame;
mod function;
mod functions;
mod generator;
mod hooks;
mod inspect;
mod intercept;
mod inventory;
mod limits;
mod mapped;
mod mapping;
mod memory;
mod mode;
mod node;
mod origin;
mod outputs;
mod overrides;
mod profile;
mod program;
mod received;
mod returns;
mod saved;
mod signals;
mod signature;
mod size;
mod tensor;
mod transform;
mod unlocked;
mod warnings;
mod writes;

// Before 3.14, free-threaded interpreters do not offer what objects need: importing the module switches
// their lock back on.
#[cfg_attr(threads_at_once, pymodule(gil_used = false))]
#[cfg_attr(not(threads_at_once), pymodule(gil_used = true))]
mod _rushlight {
    use super::*;

    #[pymodule_export]
    use super::anomaly::{is_anomaly_check_nan_enabled, is_anomaly_enabled};
    #[pymodule_export]
    use super::backward::{
        accumulate, current_node, current_order, current_run, is_retaining, is_unrestricted, run_backward,
        undefined_gradient, will_execute,
    };
    #[pymodule_export]
    use super::callbacks::queue;
    #[pymodule_export]
    use super::checkpointed::as_one;
    #[pymodule_export]
    use super::creation::{creation_of, set_creation};
    #[pymodule_export]
    use super::descent::{descend, drop_gradients};
    #[pymodule_export]
    use super::dtype::{can_cast, get_default_dtype, promote_types, set_default_dtype};
    #[pymodule_export]
    use super::error::error_kinds;
    #[pymodule_export]
    use super::forward::{
        enter_dual_level, enter_jvp_level, exit_forward_level, is_fwd_grad_enabled, make_dual,
        set_fwd_grad_enabled, unpack_dual,
    };
    #[pymodule_export]
    use super::function::{FunctionBase, refuse};
    #[pymodule_export]
    use super::hooks::RemovableHandle;
    #[pymodule_export]
    use super::inspect::{
        allocated_bytes, graph_of, holders_of, idle_bytes, look_around, storage_of, trim_memory,
    };
    #[pymodule_export]
    use super::intercept::{
        Operation, beneath_interceptor, declining as declining_dispatch, has_no_data, interceptors,
        is_dispatching_to_subclasses, make_hollow, pop_interceptor, push_interceptor,
        set_dispatching_to_subclasses,
    };
    #[pymodule_export]
    use super::inventory::signatures;
    #[pymodule_export]
    use super::mapping::{
        alike_in_all, below, close, enter, get_unwrapped, is_batchedtensor, is_innermost, leave,
        maybe_get_level, nesting, open, randomness, unwrap, within,
    };
    #[pymodule_export]
    use super::memory::{
        bytes_of, is_memory_resizable, memory_of, memory_order, on_memory, resize_memory, whole_memory,
        write_bytes,
    };
    #[pymodule_export]
    use super::mode::{
        EnableGrad, InferenceMode, NoGrad, get_num_threads, is_grad_enabled,
        is_grad_layout_enforcement_enabled, is_inference_mode_enabled, is_multithreading_enabled,
        is_view_replay_enabled, set_grad_enabled, set_grad_layout_enforcement_enabled,
        set_multithreading_enabled, set_num_threads, set_view_replay_enabled,
    };
    #[pymodule_export]
    use super::node::GraphNode;
    #[pymodule_export]
    use super::outputs::written;
    #[pymodule_export]
    use super::overrides::{
        Disabling, beneath, declining, exchange_beneath, exchange_state, handle_torch_function,
        has_torch_function, modes, pop_mode, push_mode, redispatch, shown, shown_as_method,
    };
    #[pymodule_export]
    use super::profile::{Passage, profiler_enabled, start_profile, stop_profile};
    #[pymodule_export]
    use super::program::{Compiled, Recording, RunApart, advance, begin as begin_recording, is_recording};
    #[pymodule_export]
    use super::saved::{
        SavedTensor, increment_version, packers_refusal, pop_packer, push_packer, refuse_packers,
        set_version, top_packer, watch_writes,
    };
    #[pymodule_export]
    use super::tensor::text::{options as print_options, set_printoptions};
    #[pymodule_export]
    use super::transform::{
        admit, allow_requiring, bare, enter_transform, has_escaped, inner_leaf, interpreters,
        is_requiring_allowed, is_tracked_inside, is_unfollowed, kept, layers, leads_out, leave_transform,
        outer, transform_count, transforms_of,
    };
    #[pymodule_export]
    use super::warnings::{is_warn_always_enabled, set_warn_always};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        backward::listen();
        origin::listen();
        anomaly::listen();
        intercept::listen();
        dtype::install(module)?;
        device::install(module)?;
        limits::install(module)?;
        generator::install(module)?;
        size::install(module)?;
        tensor::install(module)?;
        collector::install(module.py())?;
        functions::install(module)
    }
}
