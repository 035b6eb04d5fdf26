//! One element of every lane: the linear map that reads it, and its transpose, which writes it
//! among zeros. Reductions that choose an element pass their gradients through these.

use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use super::copy;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{At, Gradients};
use crate::kernels::gather;
use crate::shape::{Dims, Layout};
use crate::tensor::{Array, Tensor};

/// Which element of each lane along `dim`: an index that is known to lie inside, in the shape of the
/// tensor with 1 in the place of `dim`.
#[derive(Clone)]
pub(super) struct Choice {
    pub(super) index: Array,
    pub(super) dim: usize,
    /// The shape of the tensor.
    pub(super) shape: Dims,
}

impl Choice {
    /// From an index of another shape with as many elements in the same order.
    pub(super) fn new(index: &Array, dim: usize, shape: &[usize]) -> Result<Choice> {
        let mut kept: Dims = shape.into();
        kept[dim] = 1;
        let index = copy::converted(index, DType::Int64)?;
        Ok(Choice { index: index.with_layout(Layout::contiguous(&kept)), dim, shape: shape.into() })
    }

    /// The chosen elements; the dimension stays with size 1.
    pub(super) fn read(&self, x: &Tensor) -> Result<Tensor> {
        apply_one(Pick { choice: self.clone(), writes: false }, &[x])
    }

    /// `values` where elements were chosen, zeros elsewhere.
    pub(super) fn write(&self, values: &Tensor) -> Result<Tensor> {
        apply_one(Pick { choice: self.clone(), writes: true }, &[values])
    }
}

/// y = the chosen elements of x, or x written in their places among zeros
///
/// Linear, and each is the other's transpose.
struct Pick {
    choice: Choice,
    writes: bool,
}

impl Op for Pick {
    type Saved = ();

    fn name(&self) -> &'static str {
        if self.writes { "ValueSelectingReductionBackward0" } else { "GatherBackward0" }
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let x = inputs[0].array();
        let Choice { index, dim, shape } = &self.choice;
        let y = dispatch!(float x.dtype, T => if self.writes {
            let y = Array::zeroed(&std::sync::Arc::new(Layout::contiguous(shape)), x.dtype)?;
            gather::scatter(y.writable::<T>(), *dim, index.view(), x.view::<T>(), |_, value| value);
            y
        } else {
            let mut y = Array::uninit(&index.layout, x.dtype)?;
            gather::gather(x.view::<T>(), *dim, index.view(), y.fresh::<T>());
            y
        }, else {
            return Err(Error::NotImplementedFor { operation: "gather", dtype: x.dtype }.into())
        });
        Ok(smallvec![Tensor::from_array(y)])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let back = Pick { choice: self.choice.clone(), writes: !self.writes };
        one(apply_one(back, &[single(gradients)])?)
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(Pick { choice: self.choice.clone(), writes: self.writes }, &[tangent(tangents)])?)
    }
}
