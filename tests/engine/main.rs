//! The engine's tests from outside: everything through the crate's public API.

// A test says what went wrong by panicking.
#![allow(clippy::unwrap_used)]

mod backward;
mod gradcheck;
mod samples;
