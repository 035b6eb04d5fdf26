//! The extension module `rushlight._rushlight`: converts and delegates.
//!
//! `tensor` is the object and what it can do; `dtype`, `device` and `size` are what its attributes
//! show; `node` and `hooks` are the graph's side, and `backward` runs it; `mode` switches recording;
//! `error` words failures. `functions` lists the functions and methods: `signature` says what a call
//! of one may pass, `callable` makes the call, `arguments` and `returns` are its two ends.

use pyo3::prelude::*;

mod arguments;
mod backward;
mod body;
mod border;
mod callable;
mod convert;
mod device;
mod dtype;
mod error;
mod function;
mod functions;
mod generator;
mod hooks;
mod inventory;
mod limits;
mod mode;
mod node;
mod outputs;
mod returns;
mod saved;
mod signature;
mod size;
mod tensor;

// Free-threaded interpreters are untested: importing the module switches their lock back on.
#[pymodule(gil_used = true)]
mod _rushlight {
    use super::*;

    #[pymodule_export]
    use super::backward::{current_run, run_backward, will_execute};
    #[pymodule_export]
    use super::dtype::{can_cast, get_default_dtype, promote_types, set_default_dtype};
    #[pymodule_export]
    use super::error::error_kinds;
    #[pymodule_export]
    use super::function::{FunctionBase, refuse};
    #[pymodule_export]
    use super::hooks::RemovableHandle;
    #[pymodule_export]
    use super::inventory::signatures;
    #[pymodule_export]
    use super::mode::{get_num_threads, is_grad_enabled, set_grad_enabled, set_num_threads};
    #[pymodule_export]
    use super::node::GraphNode;
    #[pymodule_export]
    use super::saved::{
        SavedTensor, increment_version, memory_of, packers_refusal, pop_packer, push_packer, refuse_packers, set_version,
        watch_writes,
    };
    #[pymodule_export]
    use super::tensor::text::set_printoptions;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        dtype::install(module)?;
        device::install(module)?;
        limits::install(module)?;
        generator::install(module)?;
        size::install(module)?;
        tensor::object::install(module)?;
        functions::install(module)
    }
}
