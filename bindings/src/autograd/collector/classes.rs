//! The classes whose objects hold things of the engine, and what an object of each holds.

use std::collections::HashMap;
use std::ptr;

use pyo3::prelude::*;
use pyo3::types::PyType;
use rushlight::graph::references::Holding;

use crate::autograd::function::FunctionBase;
use crate::autograd::node::GraphNode;
use crate::autograd::saved::SavedTensor;
use crate::tensor::object::TensorBase;

/// A class whose objects hold things of the engine.
#[derive(Clone, Copy)]
pub(super) enum Class {
    Tensor,
    Node,
    Context,
    Saved,
}

impl Class {
    fn of(class: &Bound<'_, PyType>) -> Option<Class> {
        let py = class.py();
        let is = |above: Bound<'_, PyType>| class.is_subclass(&above).unwrap_or(false);
        if is(py.get_type::<TensorBase>()) {
            Some(Class::Tensor)
        } else if is(py.get_type::<GraphNode>()) {
            Some(Class::Node)
        } else if is(py.get_type::<FunctionBase>()) {
            Some(Class::Context)
        } else if is(py.get_type::<SavedTensor>()) {
            Some(Class::Saved)
        } else {
            None
        }
    }

    /// Shows what an object of the class holds; answers where its Rust part lies.
    pub(super) fn visit(self, object: &Bound<'_, PyAny>, visit: &mut dyn FnMut(Holding<'_>)) -> usize {
        // SAFETY: `of` has looked at the object's class.
        unsafe {
            match self {
                Class::Tensor => {
                    let body = object.cast_unchecked::<TensorBase>().get();
                    visit(Holding::Tensor(body.tensor()));
                    address(body)
                }
                Class::Node => {
                    let node = object.cast_unchecked::<GraphNode>().get();
                    node.visit_holdings(visit);
                    address(node)
                }
                Class::Context => {
                    let context = object.cast_unchecked::<FunctionBase>().get();
                    context.visit_holdings(visit);
                    address(context)
                }
                Class::Saved => {
                    let saved = object.cast_unchecked::<SavedTensor>().get();
                    saved.visit_holdings(visit);
                    address(saved)
                }
            }
        }
    }
}

/// Classes that were met, by their address.
#[derive(Default)]
pub(super) struct Classes {
    met: HashMap<usize, Option<Class>>,
    last: (usize, Option<Class>),
}

impl Classes {
    pub(super) fn of(&mut self, object: &Bound<'_, PyAny>) -> Option<Class> {
        let address = object.get_type_ptr().addr();
        if self.last.0 != address {
            let class = *self.met.entry(address).or_insert_with(|| Class::of(&object.get_type()));
            self.last = (address, class);
        }
        self.last.1
    }
}

/// By what a snapshot knows an object: where its Rust part lies.
pub(super) fn address<T>(part: &T) -> usize {
    ptr::from_ref(part).addr()
}
