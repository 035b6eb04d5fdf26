//! Products over all dimensions or one.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply_one, one, single, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call, Samples, plumbing};
use crate::dtype::{Bool, DType};
use crate::error::Result;
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, mode};
use crate::kernels::reduction::reduce as kernels;
use crate::ops::conjugate::conj;
use crate::ops::creation::create;
use crate::ops::geometry::{expand, join, part, rearrange, reshape};
use crate::ops::reduction::over::Over;
use crate::ops::reduction::reduce::{accumulated, to_accumulate};
use crate::ops::reduction::{scan, truth};
use crate::ops::{div, mul};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// y = Π x
///
/// With eₖ the product of all elements but the k-th: dy = Σ e dx, x̄ = e ȳ. That is y/x, or with zeros
/// among them the product of those before times that of those after.
#[derive(Clone)]
pub struct Prod {
    over: Over,
    dtype: Option<DType>,
}

impl Prod {
    /// `t` times the products of all other elements.
    fn times_others(&self, t: &Tensor, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        let layout = x.layout();
        if layout.ndim() == 0 {
            return Ok(t.clone());
        }
        if !may_have_zeros(x)? {
            let y = self.over.aligned(y, layout.shape())?;
            return mul(t, &conj(div(&y, x)?)?);
        }
        match self.over.dims.as_slice() {
            &[dim] if self.over.named() => times_others(t, x, dim),
            _ => {
                let flat = |x: &Tensor| reshape::reshape_to(x, &[x.numel()]);
                let t = if t.numel() == 1 { t.clone() } else { flat(t)? };
                reshape::reshape_to(&times_others(&t, &flat(x)?, 0)?, layout.shape())
            }
        }
    }
}

/// Whether elements are zero, or whether that is not to be known.
pub(crate) fn may_have_zeros(x: &Tensor) -> Result<bool> {
    if batch::is_batched(x) || x.is_subclassed() {
        return Ok(true);
    }
    let _off = mode::GradModeGuard::off();
    let count = truth::count_nonzero(&x.detach(), None)?.item()?.to_f64();
    Ok(count < x.numel() as f64)
}

/// `t` times the products of all other elements along a dimension, zeros or not.
pub(crate) fn times_others(t: &Tensor, x: &Tensor, dim: usize) -> Result<Tensor> {
    let (layout, dim) = (x.layout(), dim as i64);
    let size = layout.shape()[dim as usize] as i64;
    if size <= 1 {
        return expand::expand_to(t, layout.shape());
    }
    let mut first = shape::signed(layout.shape());
    first[dim as usize] = 1;
    let first = create::full(&first, 1.0.into(), x.dtype())?;
    let running = |rest: &Tensor| scan::cumprod(&join::cat(&[&first, rest], dim)?, dim, None);
    let before = running(&part::narrow(x, dim, 0, size - 1)?)?;
    let behind = running(&rearrange::flip(&part::narrow(x, dim, 1, size - 1)?, &[dim])?)?;
    mul(t, &conj(mul(&before, &rearrange::flip(&behind, &[dim])?)?)?)
}

impl Op for Prod {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];
    const UNSIGNED: Unsigned = Unsigned::Wrapped;

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

    fn rounding(&self, inputs: &[Array]) -> Option<DType> {
        self.dtype.or_else(|| Some(accumulated(inputs[0].dtype)))
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let x = to_accumulate(x, self.dtype)?;
        let (dims, dtype) = (&self.over.dims, x.dtype);
        let mut y = Array::uninit_shape(&self.over.shape(x.layout.shape()), dtype)?;
        dispatch!(ring dtype, T => kernels::prod::<T>(x.view::<T>(), dims, y.fresh::<T>()), else {
            kernels::all::<Bool>(x.view::<Bool>(), dims, y.fresh())
        });
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [x, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, y) = (at.load(x)?, at.load(y)?);
        let g = self.over.aligned(single(gradients), x.layout().shape())?;
        one(self.times_others(&g, &x, &y)?)
    }

    fn jvp(&self, [x, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let conjugate = |x: &SavedTensor| conj(at.load(x)?);
        one(self.over.sum(&self.times_others(tangent(tangents), &conjugate(x)?, &conjugate(y)?)?)?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
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

/// The entries.
pub const ENTRIES: &[Entry] = &[both(
    "prod",
    &[
        "(Tensor input, *, dtype? dtype=None)",
        "(Tensor input, int dim, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
    ],
    "The product of all elements, or of those along a dimension.",
    |a| match a.overload() {
        0 => prod(a.tensor(0)?, None, false, a.dtype(1)).reply(),
        _ => prod(a.tensor(0)?, Some(a.int(1)?), a.boolean(2), a.dtype(3)).reply(),
    },
)
.written(&OutPolicy::PLAIN.exact().typed(Types::Any).out_as(|_| ".int_out"))
.operators(&[("ProdBackward0", "prod"), ("ProdBackward1", "prod.dim_int@1")])];

plain! {
    struct Prod { over, dtype }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Prod>("prod")];
