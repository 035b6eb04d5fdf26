//! The table of native functions and methods: an entry each, and the Python objects that are made of it.

use std::sync::OnceLock;

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rushlight::schema::{Operator, OutPolicy};

use crate::calls::body::Body;
use crate::signature::{Form, Signature, grammar};

/// Reached as `rushlight.name(...)`.
pub(crate) const FUNCTION: u8 = 1;
/// Reached as `tensor.name(...)`.
pub(crate) const METHOD: u8 = 2;
/// Reached from `rushlight.nn.functional` only.
pub(crate) const NN: u8 = 4;

/// A line of the table of native operations.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    /// The name in Python.
    pub(crate) name: &'static str,
    /// The overloads, tried in order; see `signature::grammar`.
    pub(crate) signatures: &'static [&'static str],
    /// The docstring.
    pub(crate) doc: &'static str,
    /// What it does.
    pub(crate) body: Body,
    /// From where it is reached: `FUNCTION`, `METHOD`, `NN`, or several with `|`.
    pub(crate) kind: u8,
    /// How it writes to tensors that it is given.
    pub(crate) policy: &'static OutPolicy,
    /// What torch's dispatcher calls the operators behind it.
    pub(crate) operators: &'static [Operator],
    /// To whom its calls are shown.
    pub(crate) seen: Seen,
}

/// To whom calls of a function are shown before they are answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// To arguments whose class wants to see them, and to modes.
    ByAll,
    /// To modes alone: a tensor is made of anything, which has no say in that.
    InModes,
    /// To nobody.
    ByNobody,
}

impl Function {
    /// Whether it writes to its first argument.
    #[inline]
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self.name.as_bytes(), [.., before, b'_'] if *before != b'_')
    }

    /// The entry, with its way to write to tensors that it is given.
    pub(crate) const fn written(self, policy: &'static OutPolicy) -> Function {
        Function { policy, ..self }
    }

    /// The entry, with those to whom its calls are shown.
    pub(crate) const fn seen(self, seen: Seen) -> Function {
        Function { seen, ..self }
    }

    /// The entry, with what torch's dispatcher calls its operators.
    pub(crate) const fn operators(self, operators: &'static [Operator]) -> Function {
        Function { operators, ..self }
    }
}

/// One Python object made from an entry: an entry that is function and method makes two.
pub(crate) struct Callable {
    pub(super) function: Function,
    pub(super) form: Form,
    signatures: PyOnceLock<Vec<Signature>>,
    /// Itself, for those who want to see what is called.
    object: PyOnceLock<Py<PyAny>>,
}

static CALLABLES: OnceLock<Vec<Callable>> = OnceLock::new();

/// Makes all of them, without their objects.
pub(super) fn make(table: impl Iterator<Item = Function>) -> &'static [Callable] {
    CALLABLES.get_or_init(|| table.flat_map(callables).collect())
}

/// Those of one entry.
fn callables(function: Function) -> impl Iterator<Item = Callable> {
    let forms = [(FUNCTION | NN, Form::Function), (METHOD, Form::Method)];
    let reached = forms.into_iter().filter(move |(kind, _)| function.kind & kind != 0);
    reached.map(move |(_, form)| Callable {
        function,
        form,
        signatures: PyOnceLock::new(),
        object: PyOnceLock::new(),
    })
}

impl Callable {
    /// All of them, in the order of the table.
    pub(crate) fn all() -> &'static [Callable] {
        CALLABLES.get().map_or(&[], Vec::as_slice)
    }

    /// The entry it was made from.
    pub(crate) fn function(&self) -> &Function {
        &self.function
    }

    /// Whether it is a function or a method.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// The overloads in this form, read at the first call.
    pub(crate) fn signatures(&self, py: Python<'_>) -> PyResult<&[Signature]> {
        self.signatures.get_or_try_init(py, || self.read(py)).map(Vec::as_slice)
    }

    /// Says which its object is.
    pub(super) fn install(&self, object: Bound<'_, PyAny>) {
        let py = object.py();
        // It is installed once.
        let _ = self.object.set(py, object.unbind());
    }

    /// The Python object.
    pub(super) fn itself<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let missing = || PySystemError::new_err("a native function was called before it was installed");
        self.object.get(py).map(|object| object.bind(py).clone()).ok_or_else(missing)
    }

    #[cold]
    fn read(&self, py: Python<'_>) -> PyResult<Vec<Signature>> {
        let texts = self.function.signatures.iter().enumerate();
        let read =
            texts.filter_map(|(overload, text)| grammar::parse(py, text, self.form, overload).transpose());
        read.collect::<Result<_, _>>().map_err(PySystemError::new_err)
    }
}
