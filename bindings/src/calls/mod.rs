//! Calls of functions and methods, from the interpreter to the engine; writes to `out=`.

pub(crate) mod body;
pub(crate) mod callable;
pub(crate) mod fallback;
pub(crate) mod inventory;
pub(crate) mod outputs;
pub(crate) mod table;
pub(crate) mod writes;
