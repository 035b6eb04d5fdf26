//! Short ways to write entries of the tables, and bodies that several of them share.

use crate::calls::body::{Body, Call};
use crate::calls::callable::{FUNCTION, Function, METHOD, NN};
use crate::calls::outputs::OutPolicy;
use crate::error::raise;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dispatch::in_place::first_refusal;

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
            Function { name, signatures, doc, body: Body::Any(call), kind: $kind, policy: &OutPolicy::PLAIN }
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
    /// An entry that is a function, and that `nn.functional` has too.
    shared: FUNCTION | NN;
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

/// Entries of an operation of two operands and of its form in place, which write in one way. The latter answers
/// with `in_place` unless it is told otherwise: `forms!(BOTH IN_PLACE, "eq", "eq_", compare::eq, compare::eq_, "…", &OutPolicy::COMPARED)`.
macro_rules! forms {
    ($signatures:ident $in_place:ident, $name:literal, $underscored:literal, $call:expr, $change:expr, $doc:literal, $policy:expr) => {
        forms!($signatures $in_place, $name, $underscored, $call, $change, $doc, $policy, in_place)
    };
    ($signatures:ident $in_place:ident, $name:literal, $underscored:literal, $call:expr, $change:expr, $doc:literal, $policy:expr, $answer:ident) => {
        [
            both($name, $signatures, $doc, |a| $call(a.operand(0)?, a.operand(1)?).answer(a.py()))
                .written($policy),
            method($underscored, $in_place, concat!($doc, " In place."), |a| {
                $answer(a, $change(a.tensor(0)?, a.operand(1)?))
            })
            .written($policy),
        ]
    };
}
pub(super) use forms;
