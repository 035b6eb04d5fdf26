//! Reductions: many elements to one, over all dimensions or some.

use std::sync::Arc;

use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, apply_one, one, records, single, tangent};
use super::{copy, view};
use crate::dtype::{Bool, DType};
use crate::error::Result;
use crate::graph::{At, Gradients};
use crate::kernels::reduce as kernels;
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Array, Tensor};

/// Which dimensions go, and whether ones stay in their place.
#[derive(Clone)]
pub(super) struct Over {
    pub(super) dims: Dims,
    pub(super) keepdim: bool,
    /// Whether the caller named dimensions, which decides torch's name of the node.
    pub(super) named: bool,
}

impl Over {
    pub(super) fn new(
        dims: Option<&[i64]>,
        keepdim: bool,
        x: &Tensor,
        operation: &'static str,
    ) -> Result<Over> {
        let named = dims.is_some();
        let dims = shape::normalize_dims(dims.unwrap_or(&[]), x.ndim(), operation)?;
        Ok(Over { dims, keepdim, named })
    }

    pub(super) fn shape(&self, shape: &[usize]) -> Dims {
        shape::reduced_shape(shape, &self.dims, self.keepdim)
    }

    /// Puts ones in the place of the dimensions that went, so that a result broadcasts against the
    /// input.
    pub(super) fn aligned(&self, result: &Tensor, input: &[usize]) -> Result<Tensor> {
        if self.keepdim || self.dims.is_empty() {
            return Ok(result.clone());
        }
        view::reshape_to(result, &shape::reduced_shape(input, &self.dims, true))
    }

    /// A result repeated along the dimensions that went.
    pub(super) fn spread(&self, result: &Tensor, input: &[usize]) -> Result<Tensor> {
        if !records(&[result]) {
            // The common case, a gradient on its way back: no view that anybody sees.
            let array = result.array();
            let mut strides = Dims::from_elem(0, input.len());
            let mut kept = array.layout.strides().iter();
            for (dim, stride) in strides.iter_mut().enumerate() {
                let reduced = self.dims.contains(&dim);
                if (self.keepdim || !reduced)
                    && let Some(&own) = kept.next()
                    && !reduced
                {
                    *stride = own;
                }
            }
            let layout = Layout::strided(input.into(), strides, array.layout.offset());
            return Ok(Tensor::from_array(array.with_layout(layout)));
        }
        view::expand_to(&self.aligned(result, input)?, input)
    }
}

/// y = Σ x
///
/// dy = Σ dx, x̄ is ȳ repeated
pub struct Sum {
    over: Over,
    dtype: Option<DType>,
}

impl Op for Sum {
    type Saved = Arc<Layout>;

    fn name(&self) -> &'static str {
        if self.over.named { "SumBackward1" } else { "SumBackward0" }
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let x = inputs[0].array();
        let dtype = self.dtype.unwrap_or(if x.dtype.is_float() { x.dtype } else { DType::Int64 });
        let shape = self.over.shape(x.layout.shape());
        let x = copy::as_type(&x, dtype)?;
        let mut y = Array::uninit_shape(&shape, dtype)?;
        dispatch!(number dtype, T => kernels::sum::<T, T>(x.view::<T>(), &self.over.dims, y.fresh::<T>()), else {
            kernels::any::<Bool>(x.view::<Bool>(), &self.over.dims, y.fresh())
        });
        Ok(smallvec![Tensor::from_array(y)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, input: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(self.over.spread(single(gradients), input.shape())?)
    }

    fn jvp(&self, _input: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(Sum { over: self.over.clone(), dtype: self.dtype }, &[tangent(tangents)])?)
    }
}

/// The sum over some dimensions, or all.
pub fn sum(x: &Tensor, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    apply_one(Sum { over: Over::new(dims, keepdim, x, "sum")?, dtype }, &[x])
}
