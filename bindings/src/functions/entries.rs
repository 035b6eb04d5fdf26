//! Short ways to write entries of the tables, and bodies that several of them share.

use crate::calls::body::{Body, Call};
use crate::calls::callable::{FUNCTION, Function, METHOD, NN};
use crate::error::raise;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dispatch::in_place::first_refusal;
use rushlight::schema::OutPolicy;

/// The kinds of entries, a function each that makes one.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $kind:expr;)*) => {
        $($(#[$doc])*
        pub(super) const fn $name(
            name: &'static str,
            signatures: &'static [&'static str],
            doc: &'static str,
            call: Call,
        ) -> Function {
            Function { name, signatures, doc, body: Body::Any(call), kind: $kind, policy: &OutPolicy::PLAIN, operators: &[] }
        })*
    };
}

kinds! {
    /// An entry that is a function and a method.
    both: FUNCTION | METHOD;
    /// An entry that is a method only.
    method: METHOD;
    /// An entry that is a function only.
    function: FUNCTION;
    /// An entry that the package reaches by modules of its own: `nn.functional`, `linalg`.
    inner: NN;
}

/// What an operation in place answers: the object that it was given first. Whether that may have another history
/// is told before what is wrong with anything else.
pub(super) fn in_place(arguments: &Arguments<'_, '_>, result: rushlight::Result<()>) -> PyResult<Py<PyAny>> {
    let result = result.map_err(|error| {
        let tensors = (0..arguments.slots.len()).filter_map(|slot| arguments.optional_tensor(slot));
        first_refusal(&tensors.collect::<Vec<_>>(), error)
    });
    in_own_order(arguments, result)
}

/// `in_place` of an operation that is not recorded, or is refused in an order of its own.
pub(super) fn in_own_order(
    arguments: &Arguments<'_, '_>,
    result: rushlight::Result<()>,
) -> PyResult<Py<PyAny>> {
    result.map_err(raise)?;
    arguments.object(0).answer(arguments.py())
}
