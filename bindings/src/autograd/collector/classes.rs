//! The classes whose objects hold things of the engine, and what an object of each holds.

use std::collections::HashMap;
use std::ptr;

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::types::PyType;
use rushlight::graph::references::Holding;

use crate::tensor::object::TensorBase;

/// Is shown one by one what something holds.
pub(crate) type Visitor<'a> = dyn FnMut(Holding<'_>) + 'a;

/// What holds things of the engine: the Rust part of an object.
pub(crate) trait Holder: PyClass<Frozen = True> + Sync {
    /// Shows what is held.
    fn visit_holdings(&self, visit: &mut Visitor<'_>);
}

impl Holder for TensorBase {
    fn visit_holdings(&self, visit: &mut Visitor<'_>) {
        visit(Holding::Tensor(self.tensor()));
    }
}

/// A class whose objects hold things of the engine.
pub(crate) struct Class {
    class: for<'py> fn(Python<'py>) -> Bound<'py, PyType>,
    visit: fn(&Bound<'_, PyAny>, &mut Visitor<'_>) -> usize,
}

impl Class {
    pub(crate) const fn of<T: Holder>() -> Class {
        Class { class: |py| py.get_type::<T>(), visit: visit::<T> }
    }

    /// Shows what an object of the class holds; answers where its Rust part lies.
    pub(super) fn visit(&self, object: &Bound<'_, PyAny>, visit: &mut Visitor<'_>) -> usize {
        (self.visit)(object, visit)
    }
}

fn visit<T: Holder>(object: &Bound<'_, PyAny>, visit: &mut Visitor<'_>) -> usize {
    // SAFETY: `Classes` has looked at the object's class.
    let part = unsafe { object.cast_unchecked::<T>() }.get();
    part.visit_holdings(visit);
    address(part)
}

/// Classes that were met, by their address.
pub(super) struct Classes {
    known: &'static [Class],
    met: HashMap<usize, Option<&'static Class>>,
    last: (usize, Option<&'static Class>),
}

impl Classes {
    pub(super) fn new(known: &'static [Class]) -> Classes {
        Classes { known, met: HashMap::new(), last: (0, None) }
    }

    pub(super) fn of(&mut self, object: &Bound<'_, PyAny>) -> Option<&'static Class> {
        let address = object.get_type_ptr().addr();
        if self.last.0 != address {
            let find = || {
                let is_below = |above: &&Class| {
                    object.get_type().is_subclass(&(above.class)(object.py())).unwrap_or(false)
                };
                self.known.iter().find(is_below)
            };
            let class = *self.met.entry(address).or_insert_with(find);
            self.last = (address, class);
        }
        self.last.1
    }
}

/// By what a snapshot knows an object: where its Rust part lies.
pub(super) fn address<T>(part: &T) -> usize {
    ptr::from_ref(part).addr()
}
