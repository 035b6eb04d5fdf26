//! Short ways to write entries of the tables.

use crate::calls::body::{Body, Call};
use crate::calls::table::{FUNCTION, Function, METHOD, Seen};
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
            Function { name, signatures, doc, body: Body::Any(call), kind: $kind, policy: &OutPolicy::PLAIN, operators: &[], seen: Seen::ByAll }
        })*
    };
}

kinds! {
    /// An entry that is a method only.
    method: METHOD;
    /// An entry that is a function only.
    function: FUNCTION;
}
