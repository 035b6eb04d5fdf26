//! The one place that checks a gradient that a rule returned: its shape and its type, and the sum that undoes
//! broadcasting.

use crate::dispatch::accumulate;
use crate::error::{Error, Result};
use crate::graph::{Gradients, NodeRef};
use crate::shape;
use crate::tensor::Tensor;

/// Gives gradients that functions of the host may have written to, resized even, the form that a rule expects.
/// The host's own rules take them as they are.
pub(super) fn arrived(node: &NodeRef, gradients: &mut Gradients) -> Result<()> {
    if node.rule().host().is_some() {
        return Ok(());
    }
    for (output, gradient) in gradients.iter_mut().enumerate().take(node.outputs()) {
        fit(gradient, node, output as u32, node, output)?;
    }
    Ok(())
}

/// Gradients that a node is handed outside of a run, which may have any shape, in the form that its rule expects.
/// Those that are smaller are spread, as most rules do themselves.
pub(super) fn handed(node: &NodeRef, gradients: &Gradients) -> Result<Gradients> {
    let mut gradients = gradients.clone();
    if node.rule().host().is_some() {
        return Ok(gradients);
    }
    for (output, slot) in gradients.iter_mut().enumerate().take(node.outputs()) {
        let shape = node.form(output as u32).layout.shape();
        if let Some(gradient) = slot
            && gradient.layout().shape() != shape
            && shape::is_expandable(gradient.layout().shape(), shape)
        {
            *slot = Some(accumulate::spread_to(gradient, shape)?);
        }
    }
    arrived(node, &mut gradients)?;
    Ok(gradients)
}

/// Brings a gradient into the form of the tensor that it belongs to, which is an output of `target`.
#[inline]
pub(super) fn fit(
    slot: &mut Option<Tensor>,
    target: &NodeRef,
    output: u32,
    node: &NodeRef,
    index: usize,
) -> Result<()> {
    if let Some(gradient) = slot
        && !gradient.is_of_form(target.form(output))
    {
        *slot = Some(made_to_fit(gradient, target, output, node, index)?);
    }
    Ok(())
}

fn made_to_fit(
    gradient: &Tensor,
    target: &NodeRef,
    output: u32,
    node: &NodeRef,
    index: usize,
) -> Result<Tensor> {
    let form = target.form(output);
    let layout = gradient.layout();
    let gradient = if layout.is_alike(form.layout) {
        gradient.clone()
    } else if shape::is_expandable(form.layout.shape(), layout.shape()) {
        accumulate::sum_to(gradient, form.layout.shape())?
    } else {
        let (got, expected) = (layout.shape().to_vec(), form.layout.shape().to_vec());
        return Err(Error::GradientShape { function: node.name(), index, got, expected }.into());
    };
    let takes_any = || target.leaf().is_some_and(|leaf| leaf.grad_dtype().is_none());
    match gradient.dtype().is_float() && form.dtype.is_float() && takes_any() {
        true => Ok(gradient),
        false => accumulate::to_dtype(gradient, form.dtype),
    }
}
