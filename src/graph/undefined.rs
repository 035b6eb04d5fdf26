//! A node that drops the gradient: what it leads to sees that there is none, which rules have to cope
//! with as they do with zeros.

use smallvec::smallvec;

use super::node::{Edge, Form, Forms, Node};
use super::rule::{At, Gradients, Rule};
use crate::error::Result;
use crate::tensor::Tensor;

pub(super) struct Undefined;

impl Rule for Undefined {
    fn name(&self) -> &str {
        "torch::autograd::UndefinedGradBackward"
    }

    fn vjp(&self, _at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        Ok(smallvec![None])
    }
}

/// The same numbers, whose gradient is lost on the way back.
pub fn undefined_gradient(tensor: &Tensor) -> Result<Tensor> {
    let Some(edge) = tensor.gradient_edge()? else { return Ok(tensor.detach()) };
    let array = tensor.array();
    let form = Form { layout: array.layout.clone(), dtype: array.dtype };
    let node = Node::record(Undefined, smallvec![Some(edge)], Forms::one(form));
    Ok(Tensor::with_history(array, Some(Edge { node, output: 0 })))
}
