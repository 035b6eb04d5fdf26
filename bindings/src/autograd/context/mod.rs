//! The context of a function that is written in Python: what it is while the function runs, and in the graph from
//! then on. What it knows and keeps stands in `state`, how a gradient passes it in `rule`. What Python sees of it
//! stands in `function`, above the nodes and saved tensors that may be contexts and parts of them.

mod rule;
mod state;

use std::sync::Mutex;

use pyo3::prelude::*;

pub(crate) use rule::{Custom, context_in, context_of, function_class, user_backward};
pub(crate) use state::{State, Wishes};

/// The context of a function of Python.
#[pyclass(name = "_FunctionBase", module = "rushlight._C", subclass, frozen)]
pub(crate) struct FunctionBase {
    state: Mutex<State>,
}

impl FunctionBase {
    /// A context that knows nothing yet.
    pub(crate) fn empty() -> FunctionBase {
        let state = State { materialize_grads: true, materialize_constants: true, ..State::default() };
        FunctionBase { state: Mutex::new(state) }
    }
}
