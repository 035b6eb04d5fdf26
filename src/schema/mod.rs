//! How an operation is called, as data: names, signatures in torch's notation, documentation, the function of the
//! arguments, how results are written to tensors that exist, and what torch's dispatcher calls it. An `Entry` stands
//! beside the block of its operation; hosts make their functions and methods of them, tests walk them.

mod arguments;
mod creation;
mod elementwise;
mod operators;
pub(crate) mod signatures;
mod types;
mod written;

pub use arguments::{
    Arguments, IntoReply, Ints, Reply, receiver, receiver_in_own_order, warn, warn_repeated,
};
pub(crate) use arguments::{joined, of, pair, warn_once};
pub use creation::Creation;
pub(crate) use creation::{made, made_like, options};
pub use elementwise::{Elementwise2Entry, ElementwiseEntry};
pub(crate) use elementwise::{elementwise, elementwise2};
pub use operators::{Operator, schema_of};
pub use types::Types;
pub use written::{
    Changed, History, Memory, OtherArguments, OutPolicy, Overload, Placed, Shape, UnbatchedTarget,
};

use crate::error::Result;

/// What an entry does with the arguments of a call.
pub type Call = fn(&dyn Arguments) -> Result<Reply>;

/// Reached as `torch.name(...)`.
pub const FUNCTION: u8 = 1;
/// Reached as `tensor.name(...)`.
pub const METHOD: u8 = 2;
/// Reached from the modules of the package only: `nn.functional`, `linalg`, `special`.
pub const INNER: u8 = 4;

/// A function or method of the host, or both.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// The overloads, tried in order.
    pub signatures: &'static [&'static str],
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// What it does.
    pub call: Call,
    /// From where it is reached: `FUNCTION`, `METHOD`, `INNER`, or several with `|`.
    pub reach: u8,
    /// How it writes to tensors that it is given.
    pub policy: &'static OutPolicy,
    /// What torch's dispatcher calls the operators behind it: what interceptors see of it, and `torch.ops` has.
    pub operators: &'static [Operator],
}

impl Entry {
    /// The entry, with its way to write to tensors that it is given.
    pub const fn written(self, policy: &'static OutPolicy) -> Entry {
        Entry { policy, ..self }
    }

    /// The entry, with what torch's dispatcher calls its operators.
    pub const fn operators(self, operators: &'static [Operator]) -> Entry {
        Entry { operators, ..self }
    }
}

/// The kinds of entries, a function each that makes one.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $reach:expr;)*) => {
        $($(#[$doc])*
        pub(crate) const fn $name(
            name: &'static str,
            signatures: &'static [&'static str],
            doc: &'static str,
            call: Call,
        ) -> Entry {
            Entry { name, signatures, doc, call, reach: $reach, policy: &OutPolicy::PLAIN, operators: &[] }
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
    shared: FUNCTION | INNER;
    /// An entry that the package reaches by modules of its own.
    inner: INNER;
}

/// Entries of an operation of two operands and of its form in place, which write in one way. The latter answers
/// with `receiver` unless it is told otherwise: `forms!(BOTH IN_PLACE, "eq", "eq_", eq, eq_, "…", &OutPolicy::COMPARED)`.
macro_rules! forms {
    ($signatures:ident $in_place:ident, $name:literal, $underscored:literal, $call:expr, $change:expr, $doc:literal, $policy:expr) => {
        $crate::schema::forms!(
            $signatures $in_place, $name, $underscored, $call, $change, $doc, $policy, $crate::schema::receiver
        )
    };
    ($signatures:ident $in_place:ident, $name:literal, $underscored:literal, $call:expr, $change:expr, $doc:literal, $policy:expr, $answer:path) => {
        [
            $crate::schema::both($name, $signatures, $doc, |a| {
                $crate::schema::IntoReply::reply($call(a.operand(0)?, a.operand(1)?))
            })
            .written($policy),
            $crate::schema::method($underscored, $in_place, concat!($doc, " In place."), |a| {
                $answer(a, $change(a.tensor(0)?, a.operand(1)?))
            })
            .written($policy),
        ]
    };
}
pub(crate) use forms;

/// `forms` of an operation of one tensor.
macro_rules! one {
    ($name:literal, $underscored:literal, $call:expr, $change:expr, $doc:literal, $policy:expr) => {
        $crate::schema::one!($name, $underscored, $call, $change, $doc, $policy, $crate::schema::receiver)
    };
    ($name:literal, $underscored:literal, $call:expr, $change:expr, $doc:literal, $policy:expr, $answer:path) => {
        [
            $crate::schema::both($name, $crate::schema::signatures::ONE_OUT, $doc, |a| {
                $crate::schema::IntoReply::reply($call(a.tensor(0)?))
            })
            .written($policy),
            $crate::schema::both(
                $underscored,
                $crate::schema::signatures::ONE,
                concat!($doc, " In place."),
                |a| $answer(a, $change(a.tensor(0)?)),
            ),
        ]
    };
}
pub(crate) use one;

/// `one` of an operation under another name, whose messages tell of the operation itself.
macro_rules! renamed {
    ($name:literal, $underscored:literal, $operation:ident, $in_place:ident, $doc:literal) => {
        $crate::schema::one!(
            $name,
            $underscored,
            $crate::ops::$operation,
            $crate::ops::$in_place,
            $doc,
            &$crate::schema::OutPolicy::ALIGNED.refused_as(stringify!($operation))
        )
    };
}
pub(crate) use renamed;

/// `forms` of an elementwise operation that has parameters, which `$operation` reads of the arguments.
macro_rules! units {
    ($kind:ident, $signatures:expr, $name:literal, $underscored:literal, $doc:literal, $operation:expr) => {
        [
            $crate::schema::$kind($name, $signatures, $doc, |a| {
                $crate::schema::IntoReply::reply($crate::dispatch::unary::apply($operation(a)?, a.tensor(0)?))
            }),
            $crate::schema::$kind($underscored, $signatures, concat!($doc, " In place."), |a| {
                $crate::schema::receiver(
                    a,
                    $crate::dispatch::unary::apply_in_place($operation(a)?, a.tensor(0)?),
                )
            }),
        ]
    };
}
pub(crate) use units;
