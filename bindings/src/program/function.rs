//! What is called in the place of a function that is compiled: one of the programs that were recorded of it, the function
//! itself where it was given up, or what Python says, which records. No frame stands between a call and its program.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::graph::mode;
use smallvec::SmallVec;

use super::Compiled;

/// Whether programs run wherever there are some, and are recorded where there are none.
static IS_USUAL: AtomicBool = AtomicBool::new(true);

/// Says whether compiled functions do what they usually do, in the whole process.
#[pyfunction]
#[pyo3(name = "_compile_as_usual")]
pub(crate) fn compile_as_usual(usual: bool) {
    IS_USUAL.store(usual, Ordering::Relaxed);
}

/// A compiled function, as far as its calls go.
#[pyclass(name = "_CompiledFunction", module = "rushlight._rushlight", frozen, subclass)]
pub(crate) struct Function {
    function: Py<PyAny>,
    ready: Mutex<Ready>,
    /// How many calls are left until one is verified.
    left: AtomicI64,
}

/// What is run.
#[derive(Default)]
struct Ready {
    programs: SmallVec<[Py<Compiled>; 2]>,
    /// Whether the function was given up where gradients are not recorded, and where they are.
    given_up: [bool; 2],
}

impl Function {
    fn lock(&self) -> MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The programs, and whether the function is called as it is where none of them fits.
    fn ready(&self, py: Python<'_>) -> (SmallVec<[Py<Compiled>; 2]>, bool) {
        let ready = self.lock();
        let programs = ready.programs.iter().map(|program| program.clone_ref(py)).collect();
        (programs, ready.given_up[usize::from(mode::is_grad_enabled())])
    }
}

#[pymethods]
impl Function {
    #[new]
    #[pyo3(signature = (function, *_options, **_named))]
    fn new(
        function: Py<PyAny>,
        _options: &Bound<'_, PyTuple>,
        _named: Option<&Bound<'_, PyDict>>,
    ) -> Function {
        Function { function, ready: Mutex::default(), left: AtomicI64::new(0) }
    }

    /// The function that is compiled.
    #[getter]
    fn _function(&self, py: Python<'_>) -> Py<PyAny> {
        self.function.clone_ref(py)
    }

    /// How many calls are left until one is verified.
    #[getter]
    fn _left(&self) -> i64 {
        self.left.load(Ordering::Relaxed)
    }

    #[setter(_left)]
    fn set_left(&self, left: i64) {
        self.left.store(left, Ordering::Relaxed);
    }

    /// Have these programs run from now on, and the function itself where it was given up: without gradients, and with.
    fn _run(&self, programs: Vec<Py<Compiled>>, given_up: [bool; 2]) {
        let before = std::mem::replace(&mut *self.lock(), Ready { programs: programs.into(), given_up });
        // Who goes with them may call this.
        drop(before);
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        if IS_USUAL.load(Ordering::Relaxed) && this.left.load(Ordering::Relaxed) > 0 {
            let (programs, given_up) = this.ready(py);
            for program in &programs {
                if let Some(answer) = program.get().answer(py, args, kwargs)? {
                    this.left.fetch_sub(1, Ordering::Relaxed);
                    return Ok(answer);
                }
            }
            if given_up {
                return this.function.bind(py).call(args, kwargs);
            }
        }
        let none = kwargs.is_none().then(|| PyDict::new(py));
        slf.call_method1(intern!(py, "_as_written"), (args, kwargs.or(none.as_ref())))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.function)?;
        // Where somebody else is at it, these count as held from outside.
        let Ok(ready) = self.ready.try_lock() else { return Ok(()) };
        ready.programs.iter().try_for_each(|program| visit.call(program))
    }

    fn __clear__(&self) {
        let before = std::mem::take(&mut *self.lock());
        drop(before);
    }
}
