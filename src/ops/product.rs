//! Products over all dimensions or one.

use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use super::batch::{Answer, Call, Samples};
use super::conjugate::conj;
use super::reduce::{Over, to_accumulate};
use super::scan::{Way, product_before};
use super::{copy, mul, reshape};
use crate::dtype::{Bool, Complex, DType};
use crate::error::Result;
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::reduce as kernels;
use crate::tensor::{Array, Tensor};

/// y = Π x
///
/// With eₖ the product of all elements but the k-th: dy = Σ e dx, x̄ = e ȳ. It is the product of those
/// before times that of those after, so that zeros are numbers like others.
#[derive(Clone)]
pub struct Prod {
    over: Over,
    dtype: Option<DType>,
}

impl Prod {
    /// The products of all other elements.
    fn others(&self, x: &Tensor) -> Result<Tensor> {
        let layout = x.layout();
        let (lined_up, dim) = match self.over.dims.as_slice() {
            &[dim] => (x.clone(), dim),
            _ => (reshape::reshape_to(x, &[layout.numel()])?, 0),
        };
        let way = Way::forward(dim);
        let others = mul(&product_before(&lined_up, way)?, &product_before(&lined_up, way.turned())?)?;
        reshape::reshape_to(&others, layout.shape())
    }
}

impl Op for Prod {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        if self.over.named() { "ProdBackward1" } else { "ProdBackward0" }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        match self.over.given() {
            Some(dims) => shown! { dim: dims.first().copied(), keepdim: self.over.keepdim },
            None => Attributes::new(),
        }
    }

    fn result(&self) -> Option<DType> {
        self.dtype
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let x = inputs[0].array();
        let x = to_accumulate(&x, self.dtype)?;
        let (dims, dtype) = (&self.over.dims, x.dtype);
        if dtype.is_complex() {
            let x = copy::as_type(&x, DType::Complex128)?;
            let mut y = Array::uninit_shape(&self.over.shape(x.layout.shape()), x.dtype)?;
            kernels::prod::<Complex<f64>, Complex<f64>>(x.view(), dims, y.fresh());
            return Ok(smallvec![Tensor::from_array(copy::as_type(&y, dtype)?.into_owned())]);
        }
        let mut y = Array::uninit_shape(&self.over.shape(x.layout.shape()), dtype)?;
        dispatch!(number dtype, T => kernels::prod::<T, T>(x.view::<T>(), dims, y.fresh::<T>()), else {
            kernels::all::<Bool>(x.view::<Bool>(), dims, y.fresh())
        });
        Ok(smallvec![Tensor::from_array(y)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [x, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let x = conj(at.load(x)?)?;
        // It is of no use here, but must be what it was.
        at.load(y)?;
        let g = self.over.aligned(single(gradients), x.layout().shape())?;
        one(mul(&g, &self.others(&x)?)?)
    }

    fn jvp(&self, [x, _]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(self.over.sum(&mul(tangent(tangents), &self.others(&at.load(x)?)?)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        // The rule for gradients knows one dimension, or all: those of a sample are made one.
        if self.over.dims.len() == 1 {
            return call.front(Prod { over: self.over.deeper(), dtype: self.dtype });
        }
        let (x, shape) = (&call.inputs[0], call.inputs[0].shape());
        let flat = reshape::reshape_to(&x.front(call.size)?, &[call.size, shape.iter().product()])?;
        let y = apply_one(Prod { over: Over::along(1, false, 2), dtype: self.dtype }, &[&flat])?;
        let mut shape = self.over.shape(&shape);
        shape.insert(0, call.size);
        let y = reshape::reshape_to(&y, &shape)?;
        Ok(smallvec![Samples::first(y)])
    }
}

/// The product over one dimension, or all.
pub fn prod(x: &Tensor, dim: Option<i64>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let over = match dim {
        Some(dim) => Over::new(Some(&[dim]), keepdim, x)?,
        None => Over::new(None, keepdim, x)?,
    };
    apply_one(Prod { over, dtype }, &[x])
}
