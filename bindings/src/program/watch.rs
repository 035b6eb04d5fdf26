//! A profile of the code that runs on this thread while a call is recorded: most of what happens has been judged
//! before, and is not shown to Python again.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;

/// What is said of something that was shown.
mod verdict {
    /// The next one is to be shown again.
    pub(super) const AGAIN: u8 = 0;
    /// It is known: whatever happens like it is not shown.
    pub(super) const KNOWN: u8 = 1;
    /// It is known, and so is what this code calls.
    pub(super) const OWN: u8 = 2;
    /// Everything is to be shown from now on, until something else is said.
    pub(super) const ALL: u8 = 3;
}

/// Code that runs, or a compiled function that code calls: where it is, and what it belongs to.
type Key = (usize, usize);

/// What was judged.
#[derive(Default)]
struct Judged {
    /// What is known; code by its address.
    known: HashMap<Key, u8>,
    /// Addresses mean what they did as long as these live.
    kept: Vec<Py<PyAny>>,
}

/// Shows to `see`, which answers with a verdict, what runs on this thread.
#[pyclass(name = "_Watching", module = "rushlight._rushlight", frozen)]
pub(crate) struct Watching {
    see: Py<PyAny>,
    judged: Mutex<Judged>,
    shows_all: AtomicBool,
}

#[pymethods]
impl Watching {
    #[new]
    fn new(see: Py<PyAny>) -> Watching {
        Watching { see, judged: Mutex::default(), shows_all: AtomicBool::new(false) }
    }

    /// Begin to.
    fn begin(watching: &Bound<'_, Watching>) {
        // SAFETY: the function is given the object that it expects, which the interpreter holds.
        unsafe { ffi::PyEval_SetProfile(Some(happened), watching.as_ptr()) };
    }

    /// Let nothing be watched on this thread any longer.
    #[staticmethod]
    fn end() {
        // SAFETY: without a function there is nothing that the object could be given to.
        unsafe { ffi::PyEval_SetProfile(None, ptr::null_mut()) };
    }
}

impl Watching {
    fn judged(&self) -> MutexGuard<'_, Judged> {
        self.judged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something runs, or is about to, or has run, if its name says so.
    fn happened(&self, frame: &Bound<'_, PyAny>, what: c_int, given: *mut ffi::PyObject) -> PyResult<()> {
        let py = frame.py();
        let shows_all = self.shows_all.load(Ordering::Relaxed);
        // SAFETY: it is a frame, and its code is a new reference.
        let code = unsafe { Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(frame.as_ptr().cast()).cast()) };
        // SAFETY: nothing, or an object that lives as long as this call.
        let given = unsafe { Bound::from_borrowed_ptr_or_opt(py, given) };
        let code_key = (code.as_ptr().addr(), 0);
        let (name, key, holder) = match (what, &given) {
            (ffi::PyTrace_CALL, _) => ("call", code_key, Some(code)),
            (ffi::PyTrace_RETURN, _) if shows_all => ("return", (0, 0), None),
            (ffi::PyTrace_C_CALL, Some(function)) => {
                if !shows_all && self.judged().known.get(&code_key) == Some(&verdict::OWN) {
                    return Ok(());
                }
                let (key, holder) = called(function);
                ("c_call", key, holder)
            }
            _ => return Ok(()),
        };
        if !shows_all && self.judged().known.contains_key(&key) {
            return Ok(());
        }
        let said: u8 = self.see.bind(py).call1((frame, name, given))?.extract()?;
        self.shows_all.store(said == verdict::ALL, Ordering::Relaxed);
        match (said, holder) {
            (verdict::KNOWN | verdict::OWN, Some(holder)) => {
                let mut judged = self.judged();
                judged.known.insert(key, said);
                judged.kept.push(holder.unbind());
            }
            (verdict::AGAIN..=verdict::ALL, _) => {}
            _ => return Err(PyTypeError::new_err("what is seen is judged by a verdict")),
        }
        Ok(())
    }
}

/// What a compiled function is, whatever object it is called of: methods of a class are one. What it belongs to has to
/// live for that; nothing says so if there is no telling.
fn called<'py>(function: &Bound<'py, PyAny>) -> (Key, Option<Bound<'py, PyAny>>) {
    let object = function.as_ptr();
    // SAFETY: what these are asked of is a compiled function, which was looked at.
    unsafe {
        if ffi::PyCFunction_Check(object) == 0 {
            return ((0, 0), None);
        }
        let method = (*object.cast::<ffi::PyCFunctionObject>()).m_ml.addr();
        let owner = Bound::from_borrowed_ptr_or_opt(function.py(), ffi::PyCFunction_GetSelf(object));
        let holder = match owner {
            Some(owner)
                if ffi::PyModule_Check(owner.as_ptr()) == 0 && ffi::PyType_Check(owner.as_ptr()) == 0 =>
            {
                owner.get_type().into_any()
            }
            Some(owner) => owner,
            None => function.clone(),
        };
        ((method, holder.as_ptr().addr()), Some(holder))
    }
}

/// What the interpreter calls.
unsafe extern "C" fn happened(
    watching: *mut ffi::PyObject,
    frame: *mut ffi::PyFrameObject,
    what: c_int,
    given: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: the interpreter calls this with its lock held, of the object that it was told, and of a frame.
    let (py, watching, frame) = unsafe {
        let py = Python::assume_attached();
        (py, Bound::from_borrowed_ptr(py, watching), Bound::from_borrowed_ptr(py, frame.cast()))
    };
    let outcome = watching
        .cast::<Watching>()
        .map_err(PyErr::from)
        .and_then(|watching| watching.get().happened(&frame, what, given));
    match outcome {
        Ok(()) => 0,
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}
