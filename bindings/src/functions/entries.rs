//! Short ways to write entries of the tables, and bodies that several of them share.

use crate::arguments::Arguments;
use crate::body::Body;
use crate::callable::{FUNCTION, Function, METHOD, NN};
use crate::error::raise;
use crate::returns::ToPython;
use pyo3::prelude::*;

/// The Rust side of an entry.
pub(super) type Call = for<'a, 'py> fn(&Arguments<'a, 'py>) -> PyResult<Py<PyAny>>;

const fn entry(
    name: &'static str,
    signatures: &'static [&'static str],
    doc: &'static str,
    call: Call,
    kind: u8,
) -> Function {
    Function { name, signatures, doc, body: Body::Any(call), kind }
}

/// An entry that is a function and a method.
pub(super) const fn both(
    name: &'static str,
    signatures: &'static [&'static str],
    doc: &'static str,
    call: Call,
) -> Function {
    entry(name, signatures, doc, call, FUNCTION | METHOD)
}

/// An entry that is a method only.
pub(super) const fn method(
    name: &'static str,
    signatures: &'static [&'static str],
    doc: &'static str,
    call: Call,
) -> Function {
    entry(name, signatures, doc, call, METHOD)
}

/// An entry that is a function only.
pub(super) const fn function(
    name: &'static str,
    signatures: &'static [&'static str],
    doc: &'static str,
    call: Call,
) -> Function {
    entry(name, signatures, doc, call, FUNCTION)
}

/// An entry that the package reaches by modules of its own: `nn.functional`, `linalg`.
pub(super) const fn inner(
    name: &'static str,
    signatures: &'static [&'static str],
    doc: &'static str,
    call: Call,
) -> Function {
    entry(name, signatures, doc, call, NN)
}

/// What an operation in place answers: the object that it was given first.
pub(super) fn in_place(arguments: &Arguments<'_, '_>, result: rushlight::Result<()>) -> PyResult<Py<PyAny>> {
    result.map_err(raise)?;
    arguments.object(0).answer(arguments.py())
}
