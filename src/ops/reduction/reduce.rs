//! Sums and means over all dimensions or some, which `Over` says. The other reductions
//! have files of their own: `product`, `extremes`, `moments`, `norm`, `truth`.

mod portable;

use crate::schema::{Arguments, Entry, IntoReply, Ints, OutPolicy, Types, both};
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::sync::Arc;

use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply_one, number_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, plumbing};
use crate::dispatch::direct::{Direct, OfWhole, Whole};
use crate::dtype::{Bool, DType, Element, Number, Real, Ring};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::kernels::{pointwise::map, reduction::reduce as kernels};
use crate::ops::conjugate;
use crate::ops::creation::copy;
use crate::ops::reduction::over::{Over, may_be_once};
use crate::shape::{Layout, SharedLayout};
use crate::tensor::{Array, Tensor};
pub use portable::ROWS;

impl Over {
    /// The sums of numbers over these dimensions.
    pub(crate) fn sum_numbers(&self, x: &Array, dtype: Option<DType>) -> Result<Array> {
        number_one(&Sum { over: self.clone(), dtype }, std::slice::from_ref(x))
    }

    /// The sum of a tensor over these dimensions.
    pub(crate) fn sum(&self, x: &Tensor) -> Result<Tensor> {
        apply_one(Sum { over: self.clone(), dtype: None }, &[x])
    }
}

/// y = Σ x
///
/// dy = Σ dx, x̄ is ȳ repeated
#[derive(Clone)]
pub struct Sum {
    over: Over,
    dtype: Option<DType>,
}

impl Sum {
    /// How many truth values say so.
    fn count(&self, x: &Array) -> Result<Array> {
        let mut y = Array::uninit_shape(&self.over.shape(x.layout.shape()), DType::Int64)?;
        match self.over.everything::<Bool>(x) {
            Some(elements) => _ = y.fresh()[0].write(kernels::truths(elements)),
            None => kernels::count_nonzero(x.view::<Bool>(), &self.over.dims, y.fresh()),
        }
        Ok(y)
    }

    /// Writes the sums of numbers.
    fn write<T: Number>(&self, x: &Array, y: &mut [MaybeUninit<T>]) {
        match self.over.everything::<T>(x) {
            Some(elements) => {
                y[0].write(kernels::total(elements));
            }
            None => kernels::sum::<T>(x.view::<T>(), &self.over.dims, y),
        }
    }

    /// The sums of real numbers or truth values.
    fn run(&self, x: &Array) -> Result<Array> {
        let mut y = Array::uninit_shape(&self.over.shape(x.layout.shape()), x.dtype)?;
        dispatch!(number x.dtype, T => self.write::<T>(x, y.fresh()), else {
            kernels::any::<Bool>(x.view::<Bool>(), &self.over.dims, y.fresh())
        });
        Ok(y)
    }
}

/// Numbers that are not too many are added up.
impl Whole for Sum {
    fn fits(&self, operands: &[&Layout], _result: &Layout) -> bool {
        !may_be_once(operands[0])
    }

    fn write<T: Real>(&self, operands: &[&Array], y: &mut [MaybeUninit<T>]) {
        Sum::write(self, operands[0], y);
    }
}

impl Op for Sum {
    type Saved = SharedLayout;

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(OfWhole(self.clone())))
    }

    const UNSIGNED: Unsigned = Unsigned::Wrapped;

    fn name(&self) -> &'static str {
        if self.over.named() { "SumBackward1" } else { "SumBackward0" }
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        match self.over.given() {
            Some(dims) => shown! { dim: dims, keepdim: self.over.keepdim, self_sym_sizes: saved },
            None => shown! { self_sym_sizes: saved },
        }
    }

    fn result(&self) -> Option<DType> {
        self.dtype
    }

    fn rounding(&self, inputs: &[Array]) -> Option<DType> {
        self.dtype.or_else(|| Some(accumulated(inputs[0].dtype)))
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (given, times) = self.over.once(&inputs[0])?;
        let is_count = given.dtype == DType::Bool && self.dtype.is_none_or(|dtype| dtype == DType::Int64);
        let x = if is_count { Cow::Borrowed(&*given) } else { to_accumulate(&given, self.dtype)? };
        let sum = |x: &Array| if is_count { self.count(x) } else { self.run(x) };
        let run = |x: &Array| match times {
            1 => sum(x),
            times => repeated(sum(x)?, times),
        };
        let y = if x.dtype.is_complex() { conjugate::by_parts(&x, run)? } else { run(&x)? };
        Ok(smallvec![y])
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

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Sum { over: self.over.deeper(), dtype: self.dtype })
    }
}

/// Sums of what is repeated so many times, from those of what is there once. Truth values stay as they are.
fn repeated(sums: Array, times: usize) -> Result<Array> {
    dispatch!(number sums.dtype, T => {
        let product = move |sum: T| match T::DTYPE.is_float() {
            true => T::from_f64(sum.to_f64() * times as f64),
            false => sum.mul(T::from_i64(times as i64)),
        };
        let mut y = Array::uninit(&sums.layout, sums.dtype)?;
        map::map(&sums.strided::<T>(), y.fresh(), product);
        Ok(y)
    }, else { Ok(sums) })
}

/// The type that elements are added or multiplied in unless the caller names one.
pub(crate) fn accumulated(dtype: DType) -> DType {
    if dtype.is_differentiable() { dtype } else { DType::Int64 }
}

/// The elements in the type that they are added or multiplied in, which the caller may have named.
pub(crate) fn to_accumulate(x: &Array, named: Option<DType>) -> Result<Cow<'_, Array>> {
    copy::as_type(x, named.unwrap_or(accumulated(x.dtype)).wide())
}

/// The sum over some dimensions, or all.
pub fn sum(x: &Tensor, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    apply_one(Sum { over: Over::new(dims, keepdim, x)?, dtype }, &[x])
}

/// y = Σ x / n
///
/// dy = Σ dx / n, x̄ is ȳ/n repeated
#[derive(Clone)]
pub struct Mean {
    over: Over,
    dtype: DType,
}

impl Mean {
    /// The means of real numbers.
    fn run(&self, x: &Array) -> Result<Array> {
        let mut y = Array::uninit_shape(&self.over.shape(x.layout.shape()), x.dtype)?;
        dispatch!(float x.dtype, T => kernels::mean(x.view::<T>(), &self.over.dims, y.fresh()), else {
            return Err(Error::FloatNeeded { operation: "mean", dtype: x.dtype }.into())
        });
        Ok(y)
    }
}

impl Whole for Mean {
    fn fits(&self, operands: &[&Layout], _result: &Layout) -> bool {
        !may_be_once(operands[0])
    }

    fn write<T: Real>(&self, operands: &[&Array], y: &mut [MaybeUninit<T>]) {
        kernels::mean(operands[0].view::<T>(), &self.over.dims, y);
    }
}

impl Op for Mean {
    type Saved = SharedLayout;

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(OfWhole(self.clone())))
    }

    fn name(&self) -> &'static str {
        if self.over.named() { "MeanBackward1" } else { "MeanBackward0" }
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        let mut shown = shown! { self_sym_numel: saved.numel(), self_sym_sizes: saved };
        if let Some(dims) = self.over.given() {
            shown.extend(shown! { dim: dims, keepdim: self.over.keepdim });
        }
        shown
    }

    fn result(&self) -> Option<DType> {
        Some(self.dtype)
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        // The mean of what is repeated is that of what is there.
        let (x, _) = self.over.once(&inputs[0])?;
        let x = copy::as_type(&x, self.dtype.wide())?;
        Ok(smallvec![match x.dtype.is_complex() {
            true => conjugate::by_parts(&x, |x| self.run(x).and_then(conjugate::spoilt))?,
            false => self.run(&x)?,
        }])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, input: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(self.over.share(single(gradients), input.shape(), at)?)
    }

    fn jvp(&self, _input: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(Mean { over: self.over.clone(), dtype: self.dtype }, &[tangent(tangents)])?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Mean { over: self.over.deeper(), dtype: self.dtype })
    }
}

/// The mean over some dimensions, or all.
pub fn mean(x: &Tensor, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    match dtype {
        Some(dtype) if !dtype.is_differentiable() => {
            return Err(Error::FloatResultNeeded { operation: "mean", dtype }.into());
        }
        None if !x.dtype().is_differentiable() => {
            return Err(Error::FloatNeeded { operation: "mean", dtype: x.dtype() }.into());
        }
        _ => {}
    }
    apply_one(Mean { over: Over::new(dims, keepdim, x)?, dtype: dtype.unwrap_or(x.dtype()) }, &[x])
}

const OVER: &[&str] = &[
    "(Tensor input, *, dtype? dtype=None)",
    "(Tensor input, int[1]? dim, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
];

const MEAN: &[&str] = &["(Tensor input, *, dtype? dtype=None, Tensor out=None)", OVER[1]];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("sum", OVER, "The sum of all elements, or of those along some dimensions.", |a| {
        let (dims, keepdim, dtype) = over(a)?;
        sum(a.tensor(0)?, dims.as_deref(), keepdim, dtype).reply()
    })
    .written(&OutPolicy::PLAIN.exact().typed(Types::Any).out_as(|_| ".IntList_out"))
    .operators(&[("SumBackward0", "sum"), ("SumBackward1", "sum.dim_IntList@1")]),
    both("mean", MEAN, "The mean of all elements, or of those along some dimensions.", |a| {
        let (dims, keepdim, dtype) = over(a)?;
        mean(a.tensor(0)?, dims.as_deref(), keepdim, dtype).reply()
    })
    .written(&OutPolicy::PLAIN.exact().out_as(|given| if given.count < 2 { ".dtype_out" } else { ".out" }))
    .operators(&[
        ("MeanBackward0", "mean"),
        (
            "MeanBackward1",
            "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        ),
    ]),
];

/// Dimensions, `keepdim` and the element type of a sum or mean. `None` as dimensions names all.
fn over(arguments: &dyn Arguments) -> Result<(Option<Ints>, bool, Option<DType>)> {
    if arguments.overload() == 0 {
        return Ok((None, false, arguments.dtype(1)));
    }
    Ok((Some(arguments.dims(1)?.unwrap_or_default()), arguments.boolean(2), arguments.dtype(3)))
}
