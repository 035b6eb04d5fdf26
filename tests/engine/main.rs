//! The engine's tests from outside: everything through the crate's public API.

mod backward;
