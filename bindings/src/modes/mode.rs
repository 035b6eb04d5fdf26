//! Grad mode, inference mode and the other flags of a thread, and the number of threads. The context managers that
//! set the flags are classes here because entering and leaving one is to cost little;
//! `rushlight.autograd.grad_mode` derives from them.

#![allow(unsafe_code)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::PyClass;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::impl_::pymethods::tp_new_impl;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyType};
use rushlight::graph::mode::{self, Flags};
use rushlight::kernels::parallel;

use crate::overrides;
use crate::values::classes::type_name;

/// Tell whether operations on this thread are recorded.
#[pyfunction]
pub(crate) fn is_grad_enabled() -> bool {
    mode::flags().grad
}

/// Record operations on this thread from now on, or not.
#[pyfunction]
#[pyo3(name = "_set_grad_enabled")]
pub(crate) fn set_grad_enabled(enabled: &Bound<'_, PyAny>) -> PyResult<()> {
    let enabled_flag = flag("set_grad_enabled", enabled)?;
    if !overrides::offer_flag(enabled.py(), "set_grad_enabled", enabled_flag)? {
        mode::set_grad_enabled(enabled_flag);
    }
    Ok(())
}

/// The truth value that the function of this name is given.
fn flag(function: &str, enabled: &Bound<'_, PyAny>) -> PyResult<bool> {
    enabled.cast::<PyBool>().map(|enabled| enabled.is_true()).map_err(|_| {
        let found = type_name(enabled);
        PyTypeError::new_err(format!(
            "{function}(): argument 'enabled' (position 1) must be bool, not {found}"
        ))
    })
}

/// Tell whether this thread is in inference mode.
#[pyfunction]
pub(crate) fn is_inference_mode_enabled() -> bool {
    mode::is_inference()
}

/// Tell whether backward may use other threads when this thread calls it.
#[pyfunction]
#[pyo3(name = "_is_multithreading_enabled")]
pub(crate) fn is_multithreading_enabled() -> bool {
    mode::flags().multithreading
}

/// Let backward use other threads when this thread calls it, or not.
#[pyfunction]
#[pyo3(name = "_set_multithreading_enabled")]
pub(crate) fn set_multithreading_enabled(enabled: &Bound<'_, PyAny>) -> PyResult<()> {
    let multithreading = flag("set_multithreading_enabled", enabled)?;
    if !overrides::offer_flag(enabled.py(), "set_multithreading_enabled", multithreading)? {
        mode::set_flags(Flags { multithreading, ..mode::flags() });
    }
    Ok(())
}

/// Tell whether a leaf's first gradient is laid out in memory as the leaf is.
#[pyfunction]
#[pyo3(name = "_is_grad_layout_enforcement_enabled")]
pub(crate) fn is_grad_layout_enforcement_enabled() -> bool {
    mode::flags().gradient_layout
}

/// Whether views find their history by doing again what made them.
#[pyfunction]
#[pyo3(name = "_is_view_replay_enabled")]
pub(crate) fn is_view_replay_enabled() -> bool {
    mode::flags().view_replay
}

/// Has views find their history by doing again what made them, or in one step.
#[pyfunction]
#[pyo3(name = "_set_view_replay_enabled")]
pub(crate) fn set_view_replay_enabled(enabled: bool) {
    mode::set_flags(Flags { view_replay: enabled, ..mode::flags() });
}

/// Lay a leaf's first gradient out in memory as the leaf is, or take it as it comes.
#[pyfunction]
#[pyo3(name = "_set_grad_layout_enforcement_enabled")]
pub(crate) fn set_grad_layout_enforcement_enabled(enabled: &Bound<'_, PyAny>) -> PyResult<()> {
    let gradient_layout = flag("set_grad_layout_enforcement_enabled", enabled)?;
    mode::set_flags(Flags { gradient_layout, ..mode::flags() });
    Ok(())
}

/// The grad mode that a block found and will put back.
#[derive(Default)]
struct Previous(AtomicBool);

impl Previous {
    fn enter(&self, py: Python<'_>, enabled: bool) -> PyResult<()> {
        self.0.store(mode::flags().grad, Ordering::Relaxed);
        Previous::set(py, enabled)
    }

    fn leave(&self, py: Python<'_>) -> PyResult<()> {
        Previous::set(py, self.get())
    }

    fn set(py: Python<'_>, enabled: bool) -> PyResult<()> {
        if !overrides::offer_flag(py, "set_grad_enabled", enabled)? {
            mode::set_grad_enabled(enabled);
        }
        Ok(())
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A new context manager of a class, which may be one that Python derived; or the function that was
/// given instead of parentheses, decorated by one.
fn manager_or_decorated<'py, T>(
    class: &Bound<'py, PyType>,
    manager: T,
    function: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>>
where
    T: PyClass<BaseType = PyAny>,
{
    if let Some(function) = function {
        return class.call0()?.call1((function,));
    }
    let py = class.py();
    let manager = PyClassInitializer::from(manager);
    // SAFETY: `class` is what the interpreter passed to the `__new__` of `T`: that class or one below
    // it. The result is a new reference.
    unsafe {
        let object = tp_new_impl::<_, T>(py, manager, class.as_type_ptr())?;
        Ok(Bound::from_owned_ptr(py, object))
    }
}

/// A block that records or does not, as a class of the interpreter's.
macro_rules! grad_block {
    ($(#[$about:meta])* $block:ident, $name:tt, $records:tt) => {
        $(#[$about])*
        #[pyclass(name = $name, module = "rushlight._rushlight", subclass, frozen)]
        #[derive(Default)]
        pub(crate) struct $block(Previous);

        #[pymethods]
        impl $block {
            #[new]
            #[classmethod]
            #[pyo3(signature = (orig_func = None))]
            fn construct<'py>(
                class: &Bound<'py, PyType>,
                orig_func: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                manager_or_decorated(class, $block::default(), orig_func)
            }

            fn __enter__(&self, py: Python<'_>) -> PyResult<()> {
                self.0.enter(py, $records)
            }

            fn __exit__(
                &self,
                kind: &Bound<'_, PyAny>,
                _value: &Bound<'_, PyAny>,
                _traceback: &Bound<'_, PyAny>,
            ) -> PyResult<()> {
                self.0.leave(kind.py())
            }

            /// The grad mode that the block found.
            #[getter]
            fn prev(&self) -> bool {
                self.0.get()
            }
        }
    };
}

grad_block! {
    /// A block that does not record. `no_grad` derives from it.
    NoGrad, "_NoGrad", false
}

grad_block! {
    /// A block that records. `enable_grad` derives from it.
    EnableGrad, "_EnableGrad", true
}

/// A block in inference mode, or explicitly out of it. `inference_mode` derives from it.
#[pyclass(name = "_InferenceMode", module = "rushlight._rushlight", subclass, frozen)]
pub(crate) struct InferenceMode {
    /// Whether the block is in inference mode.
    #[pyo3(get)]
    mode: bool,
    /// All flags that the block found: inference mode sets most of them.
    before: Mutex<Option<Flags>>,
}

#[pymethods]
impl InferenceMode {
    #[new]
    #[classmethod]
    #[pyo3(signature = (mode = None))]
    fn construct<'py>(
        class: &Bound<'py, PyType>,
        mode: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let on = mode.map_or(Some(true), |mode| mode.cast::<PyBool>().ok().map(|mode| mode.is_true()));
        let manager = InferenceMode { mode: on.unwrap_or(true), before: Mutex::new(None) };
        manager_or_decorated(class, manager, if on.is_none() { mode } else { None })
    }

    fn __enter__(&self) {
        let found = mode::flags();
        let inside = Flags { grad: !self.mode, inference: self.mode, multithreading: !self.mode, ..found };
        if let Ok(mut before) = self.before.lock() {
            *before = Some(mode::set_flags(inside));
        }
    }

    fn __exit__(&self, _kind: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _traceback: &Bound<'_, PyAny>) {
        if let Ok(mut before) = self.before.lock()
            && let Some(before) = before.take()
        {
            mode::set_flags(before);
        }
    }
}

/// Tell on how many threads a computation may run, the calling one included.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    parallel::num_threads()
}

/// Run computations on at most this many threads from now on. Results do not depend on the number.
#[pyfunction]
pub(crate) fn set_num_threads(count: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(number) = count.extract::<i64>() else {
        if count.is_instance_of::<PyInt>() {
            return Err(PyValueError::new_err("Overflow when unpacking long long"));
        }
        let class = count.get_type().name()?;
        return Err(PyRuntimeError::new_err(format!("set_num_threads expects an int, but got {class}")));
    };
    if number <= 0 {
        return Err(PyRuntimeError::new_err("set_num_threads expects a positive integer"));
    }
    parallel::set_num_threads(number as usize);
    Ok(())
}
