//! `rushlight.Tensor` as Python sees it: the object, its operators, attributes and indexing.

mod attributes;
pub(crate) mod construct;
pub(crate) mod dlpack;
pub(crate) mod history;
mod index;
mod memory_checks;
pub(crate) mod number;
pub(crate) mod numpy;
pub(crate) mod object;
mod operators;
pub(crate) mod shown;
pub(crate) mod text;
pub(crate) mod values;

use pyo3::prelude::*;

use crate::autograd::collector;
use crate::modes::intercept;
use crate::{error, overrides};

/// Makes the type `rushlight.Tensor`, and tells objects of it what the other rooms do in their lives.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let others = object::Others {
        slots: operators::slots,
        add_attributes: shown::install,
        made: overrides::install,
        construct: construct::called,
        derived: overrides::meet,
        is_dispatch_subclass: intercept::is_dispatch_subclass,
        visit: collector::visit_tensor,
        exception: error::panicked,
    };
    object::install(module, others)
}
