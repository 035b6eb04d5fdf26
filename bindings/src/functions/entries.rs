//! Short ways to write entries of the tables, and bodies that several of them share.

use crate::arguments::Arguments;
use crate::body::Body;
use crate::callable::{FUNCTION, Function, METHOD, NN};
use crate::error::raise;
use crate::outputs::Way;
use crate::returns::ToPython;
use pyo3::prelude::*;
use rushlight::graph::mode::is_grad_enabled;
use rushlight::ops::in_place::check_history;
use rushlight::{Error, Tensor};

/// The Rust side of an entry.
pub(super) type Call = for<'a, 'py> fn(&Arguments<'a, 'py>) -> PyResult<Py<PyAny>>;

const fn entry(
    name: &'static str,
    signatures: &'static [&'static str],
    doc: &'static str,
    call: Call,
    kind: u8,
) -> Function {
    Function { name, signatures, doc, body: Body::Any(call), kind, way: &Way::PLAIN }
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
    match result {
        Ok(()) => arguments.object(0).answer(arguments.py()),
        Err(error) => Err(raise(first_refusal(arguments).unwrap_or(error))),
    }
}

/// What torch looks at before what an operation in place is given: whether its target may have another history.
#[cold]
fn first_refusal(arguments: &Arguments<'_, '_>) -> Option<Box<Error>> {
    let target = arguments.optional_tensor(0)?;
    let tensors = (0..arguments.slots.len()).filter_map(|slot| arguments.optional_tensor(slot));
    let recorded = is_grad_enabled() && { tensors }.any(Tensor::requires_grad);
    // The first kind is not recorded, the others are refused in words or in an order of their own.
    let apart = ["logical_", "resize_", "set_"].iter().any(|name| arguments.name.starts_with(name));
    if recorded && !apart { check_history(target).err() } else { None }
}
