//! The engine's tests from outside: everything through the crate's public API.

// A test says what went wrong by panicking.
#![allow(clippy::unwrap_used)]
// One binary: what its files share is public among them.
#![allow(unreachable_pub, clippy::type_complexity)]

mod backward;
mod batched;
mod circles;
mod complex;
mod deep_graph;
mod derivatives;
mod dual;
mod entries;
mod exported;
mod gradcheck;
mod layering;
mod naming;
mod random_graph;
mod samples;
mod tape;
mod threads;
