//! Everything that can go wrong, as data: one variant a failure, fields instead of sentences.
//! Hosts word the failures; the `Display` here is for users of the crate from Rust. Kinds are listed
//! in the files of their families, what a field may be stands in `value`.
//!
//! Note [Families of failures]
//! ----
//! `Error` is one enum, so its kinds have to come from one invocation of `errors!`. Each family is a
//! macro that adds its kinds to those of the families before it and hands them on to the next one;
//! `errors!` is the last in the row. The order is that of the row below the macro.

use std::any::Any;
use std::fmt;

mod autograd;
mod complexes;
mod composites;
mod elements;
mod functions;
mod indexing;
mod layers;
mod making;
mod mapping;
mod matrices;
mod reductions;
mod shapes;
mod units;
mod value;

use crate::dtype::DType;
use crate::origin::Origin;
use autograd::autograd;
use complexes::complexes;
use composites::composites;
use elements::elements;
use functions::functions;
use indexing::indexing;
use layers::layers;
use making::making;
use mapping::mapping;
use matrices::matrices;
use reductions::reductions;
use shapes::shapes;
use units::units;
pub use value::{Field, Value};

/// The result of an engine call. The error is boxed so that the good path stays small.
pub type Result<T> = std::result::Result<T, Box<Error>>;

/// A failure of the host's own making (an exception raised by a hook), passed through unchanged.
pub struct Foreign(pub Box<dyn Any + Send + Sync>);

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Foreign")
    }
}

/// Declares the enum from a list of `Kind { field: Type }`, together with `kind`, `fields` and
/// `KINDS`. `errors! {{ /// … Broken { dim: usize } }}` gives `Error::Broken { dim }`,
/// `"Broken"`, `[("dim", Value::Int(..))]` and `KINDS == [("Broken", ["dim"])]`.
macro_rules! errors {
    ({ $($(#[$doc:meta])* $kind:ident { $($field:ident: $T:ty),* $(,)? }),* $(,)? }) => {
        /// A failure, by kind.
        #[derive(Debug)]
        #[allow(missing_docs)] // the fields are named for what they are
        pub enum Error {
            $($(#[$doc])* $kind { $($field: $T),* },)*
            /// An exception of the host on its way back to it.
            Foreign(Foreign),
        }
        impl Error {
            /// Every kind that needs words, with the names of its fields.
            pub const KINDS: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($kind), &[$(stringify!($field)),*])),*];
            /// The name of the kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Error::$kind { .. } => stringify!($kind),)*
                    Error::Foreign(_) => "Foreign",
                }
            }
            /// The fields by name.
            pub fn fields(&self) -> Vec<(&'static str, Value)> {
                match self {
                    $(Error::$kind { $($field),* } => vec![$((stringify!($field), $field.value())),*],)*
                    Error::Foreign(_) => Vec::new(),
                }
            }
        }
    };
}

shapes! { matrices making indexing reductions units elements complexes layers composites autograd functions mapping errors {} }

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        for (name, value) in self.fields() {
            write!(f, " {name}={value:?}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_itself_and_its_fields() {
        let error = Error::NotBroadcastable { left: 2, right: 3, dim: 0 };
        assert_eq!(error.kind(), "NotBroadcastable");
        assert_eq!(error.fields()[1], ("right", Value::Int(3)));
        assert!(Error::KINDS.contains(&("NotBroadcastable", &["left", "right", "dim"])));
    }
}
