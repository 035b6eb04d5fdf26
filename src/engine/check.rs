//! The one place where a gradient that a rule returned is looked at: its shape, its type, and the
//! sum that undoes broadcasting.

use crate::error::{Error, Result};
use crate::graph::{FormRef, NodeRef};
use crate::ops::accumulate;
use crate::shape;
use crate::tensor::Tensor;

/// The gradient in the form of the tensor that it belongs to.
pub(super) fn fit(gradient: Tensor, form: FormRef<'_>, node: &NodeRef, index: usize) -> Result<Tensor> {
    if gradient.is_of_form(form) {
        return Ok(gradient);
    }
    let layout = gradient.layout();
    let gradient = if layout.is_alike(&form.layout) {
        gradient
    } else if shape::is_expandable(form.layout.shape(), layout.shape()) {
        accumulate::sum_to(&gradient, form.layout.shape())?
    } else {
        let (got, expected) = (layout.shape().to_vec(), form.layout.shape().to_vec());
        return Err(Error::GradientShape { function: node.name(), index, got, expected }.into());
    };
    accumulate::to_dtype(gradient, form.dtype)
}
