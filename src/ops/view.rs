//! Views: other geometries of the same memory. Each is linear, and its rule is the view or the copy
//! that goes the other way.

use std::sync::Arc;

use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use super::strided;
use crate::error::{Error, Result};
use crate::graph::{At, Edge, Forms, Gradients, Node, mode};
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Array, Creation, Tensor};

/// A view of `source` in another layout, still without an edge.
pub(super) fn show(source: &Tensor, layout: Layout) -> Tensor {
    show_as(source, layout, if mode::is_grad_enabled() { Creation::Default } else { Creation::NoGrad })
}

pub(super) fn show_as(source: &Tensor, layout: Layout, creation: Creation) -> Tensor {
    Tensor::view_of(source, source.array().with_layout(layout), None, creation, refresh)
}

/// The edge of a view whose base was written to since: a strided window on the base.
fn refresh(view: &Array, base: &Tensor) -> Result<Option<Edge>> {
    let Some(edge) = base.gradient_edge()? else { return Ok(None) };
    let rule = strided::rule(base.layout(), view.layout.clone());
    let forms = Forms::one(crate::graph::Form { layout: view.layout.clone(), dtype: view.dtype });
    Ok(Some(Edge { node: Node::record(rule, smallvec![Some(edge)], forms), output: 0 }))
}

/// The window of `x` with this layout, which the caller derived from that of `x`.
pub(super) fn window(x: &Tensor, layout: Layout) -> Result<Tensor> {
    apply_one(strided::AsStrided { layout: Arc::new(layout) }, &[x])
}

/// y = x in another shape
///
/// dy is dx in that shape; x̄ is ȳ in the shape of x
pub struct View {
    layout: Layout,
}

impl Op for View {
    type Saved = Arc<Layout>;

    fn name(&self) -> &'static str {
        "ViewBackward0"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        Ok(smallvec![show(inputs[0], self.layout.clone())])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, shape: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(reshape_to(single(gradients), shape.shape())?)
    }

    fn jvp(&self, _shape: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(reshape_to(tangent(tangents), self.layout.shape())?)
    }
}

/// The elements in a shape with as many, without moving them.
pub fn view(x: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let layout = x.layout();
    let shape = shape::infer_shape(shape, layout.numel())?;
    let strides =
        shape::view_strides(layout.shape(), layout.strides(), &shape).ok_or(Error::ViewStride {})?;
    apply_one(View { layout: Layout::strided(shape, strides, layout.offset()) }, &[x])
}

/// The elements in a shape with as many: a view where there is one, else a copy.
pub fn reshape(x: &Tensor, shape: &[i64]) -> Result<Tensor> {
    reshape_to(x, &shape::infer_shape(shape, x.numel())?)
}

/// `reshape` to a shape that is known to have as many elements.
pub(super) fn reshape_to(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let layout = x.layout();
    match shape::view_strides(layout.shape(), layout.strides(), shape) {
        Some(strides) => {
            apply_one(View { layout: Layout::strided(shape.into(), strides, layout.offset()) }, &[x])
        }
        None => apply_one(View { layout: Layout::contiguous(shape) }, &[&super::cast::clone(x)?]),
    }
}

/// y = x repeated along new dimensions and those of size one
///
/// dy is dx repeated; x̄ is ȳ summed over the repetitions
pub struct Expand {
    shape: Dims,
}

impl Op for Expand {
    type Saved = Arc<Layout>;

    fn name(&self) -> &'static str {
        "ExpandBackward0"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let layout = inputs[0].layout();
        let strides = shape::expanded_strides(layout.shape(), layout.strides(), &self.shape);
        Ok(smallvec![show(inputs[0], Layout::strided(self.shape.clone(), strides, layout.offset()))])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, input: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(super::accumulate::sum_to(single(gradients), input.shape())?)
    }

    fn jvp(&self, _input: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(expand_to(tangent(tangents), &self.shape)?)
    }
}

/// The tensor in a larger shape; `-1` leaves a size as it is.
pub fn expand(x: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let layout = x.layout();
    let Some(lead) = shape.len().checked_sub(layout.ndim()) else {
        let (expand, ndim) = (shape.to_vec(), layout.ndim());
        let (dtype, wanted, shape) = (x.dtype(), shape.len(), layout.shape().to_vec());
        return Err(Error::ExpandRank { dtype, expand, shape, wanted, ndim }.into());
    };
    let mut sizes = Dims::with_capacity(shape.len());
    for (dim, &wanted) in shape.iter().enumerate() {
        let size = dim.checked_sub(lead).map(|dim| layout.shape()[dim]);
        sizes.push(match (wanted, size) {
            (-1, Some(size)) => size,
            (wanted, Some(size)) if wanted >= 0 && (size == 1 || wanted as usize == size) => wanted as usize,
            (wanted, None) if wanted >= 0 => wanted as usize,
            (wanted, None) => return Err(Error::ExpandLeading { wanted, dim }.into()),
            (wanted, Some(size)) => {
                let (target, shape) = (shape.to_vec(), layout.shape().to_vec());
                return Err(Error::ExpandSize { wanted, size, dim, target, shape }.into());
            }
        });
    }
    shape::checked_shape(&sizes.iter().map(|&size| size as i64).collect::<Vec<_>>())?;
    apply_one(Expand { shape: sizes }, &[x])
}

/// `expand` to a shape that is known to fit; the tensor itself when it has it.
pub(super) fn expand_to(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    if x.layout().shape() == shape {
        return Ok(x.clone());
    }
    apply_one(Expand { shape: shape.into() }, &[x])
}
