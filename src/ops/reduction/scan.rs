//! Running results along a dimension: cumulative sums and products, and the two linear maps that
//! their derivatives are made of, `Recurrence` and `Shift`.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::ops;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Types, both, method, receiver};
use std::mem::MaybeUninit;

use ndarray::{ArrayD, ArrayViewD, IxDyn};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, plumbing};
use crate::dispatch::in_place;
use crate::dtype::{Complex, DType, Element, Ring};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::reduction::scan as kernels;
use crate::kernels::reduction::scan::Along;
use crate::ops::conjugate::{by_parts, conj};
use crate::ops::creation::copy;
use crate::ops::geometry::rearrange;
use crate::ops::reduction::product::may_have_zeros;
use crate::ops::reduction::reduce::{accumulated, to_accumulate};
use crate::ops::{div, mul};
use crate::shape;
use crate::storage;
use crate::tensor::{Array, Tensor};

/// A direction along a dimension.
#[derive(Clone, Copy)]
pub(crate) struct Direction {
    pub(crate) dim: usize,
    /// From the last element to the first.
    pub(crate) backward: bool,
}

impl Direction {
    pub(crate) fn forward(dim: usize) -> Direction {
        Direction { dim, backward: false }
    }

    pub(crate) fn reversed(self) -> Direction {
        Direction { dim: self.dim, backward: !self.backward }
    }

    /// The same direction behind one more dimension.
    fn deeper(self) -> Direction {
        Direction { dim: self.dim + 1, backward: self.backward }
    }

    /// The direction as kernels take it.
    fn along(self) -> Along {
        Along { axis: self.dim, backward: self.backward }
    }

    /// What `kernel` makes of the elements of `x` along this direction.
    fn run<S: Element, T: Element>(
        self,
        x: &Array,
        kernel: impl FnOnce(ArrayViewD<'_, S>, Along, &mut [MaybeUninit<T>]),
    ) -> Result<Array> {
        let mut y = Array::uninit(&x.layout, T::DTYPE)?;
        kernel(x.view::<S>(), self.along(), y.fresh());
        Ok(y)
    }
}

/// What `f` makes of complex numbers, which it sees in double precision only.
fn in_double(x: &Array, f: impl FnOnce(&Array) -> Result<Array>) -> Result<Array> {
    let y = f(&*copy::as_type(x, DType::Complex128)?)?;
    Ok(copy::as_type(&y, x.dtype)?.into_owned())
}

/// The function of an operation along a dimension, and its form in place.
macro_rules! cumulative {
    ($name:ident, $in_place:ident: $op:ident, $doc:literal) => {
        #[doc = $doc]
        pub fn $name(x: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
            let direction = Direction::forward(shape::normalize_dim(dim, x.ndim())?);
            apply_one($op { direction, given: dim, dtype }, &[x])
        }

        #[doc = concat!($doc, " In place.")]
        pub fn $in_place(x: &Tensor, dim: i64, dtype: Option<DType>) -> Result<()> {
            in_place::through(x, &[], |x| $name(x, dim, Some(dtype.unwrap_or(x.dtype()))))
        }
    };
}

/// yₖ = x₀ + … + xₖ
///
/// dy is dx summed so; x̄ is ȳ summed the other way
#[derive(Clone)]
pub struct Cumsum {
    direction: Direction,
    /// The dimension as the caller named it.
    given: i64,
    dtype: Option<DType>,
}

impl Cumsum {
    /// The sums from each element on to the last; as torch says it, if that is recorded.
    fn onward(&self, x: &Tensor, tracking: bool) -> Result<Tensor> {
        if !self.direction.backward && (x.numel() <= 1 || x.layout().size(self.direction.dim) == 1) {
            return Ok(x.clone());
        }
        if tracking && !self.direction.backward {
            let turned = |x: &Tensor| rearrange::flip(x, &[self.direction.dim as i64]);
            return turned(&apply_one(Cumsum { dtype: None, ..*self }, &[&turned(x)?])?);
        }
        apply_one(Cumsum { direction: self.direction.reversed(), dtype: None, ..*self }, &[x])
    }

    /// The sums of real numbers.
    fn run(&self, x: &Array) -> Result<Array> {
        dispatch!(float x.dtype, T => self.direction.run(x, kernels::cumsum::<T, f64, T>), else {
            dispatch!(integer x.dtype, T => self.direction.run(x, kernels::cumsum::<T, T, T>), else {
                Err(Error::NotImplementedFor { operation: "cumsum_out_cpu", dtype: x.dtype }.into())
            })
        })
    }
}

impl Op for Cumsum {
    type Saved = ();
    const UNSIGNED: Unsigned = Unsigned::Wrapped;

    fn name(&self) -> &'static str {
        "CumsumBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.given }
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
        let y = match (x.dtype.is_complex(), x.layout.ndim()) {
            // Nothing to sum, and the parts are not to be.
            (true, 0) => copy::dense(&x)?,
            (true, _) => by_parts(&x, |x| self.run(x))?,
            (false, _) => self.run(&x)?,
        };
        Ok(smallvec![y])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        // As in torch, where there is nothing to add the gradient itself is handed on.
        let g = single(gradients);
        match g.layout().numel() <= 1 || g.layout().size(self.direction.dim) == 1 {
            true => one(g.clone()),
            false => one(self.onward(g, at.tracking)?),
        }
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(self.clone(), &[tangent(tangents)])?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.deeper(Cumsum { direction: self.direction.deeper(), ..*self })
    }
}

cumulative!(cumsum, cumsum_: Cumsum, "The cumulative sum along a dimension.");

/// yₖ = x₀ ⋯ xₖ, which is the recurrence yₖ = xₖ yₖ₋₁ with y₋₁ = 1
///
/// ẏₖ = xₖ ẏₖ₋₁ + ẋₖ yₖ₋₁. Backward x̄ₖ = (Σ yⱼ ȳⱼ)/xₖ, summed from k on. Where that would divide by zero
/// x̄ₖ = yₖ₋₁ sₖ with sₖ = ȳₖ + xₖ₊₁ sₖ₊₁.
#[derive(Clone)]
pub struct Cumprod {
    direction: Direction,
    /// The dimension as the caller named it.
    given: i64,
    dtype: Option<DType>,
}

impl Op for Cumprod {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];
    const UNSIGNED: Unsigned = Unsigned::Wrapped;

    fn name(&self) -> &'static str {
        "CumprodBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.given }
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
        let dtype = x.dtype;
        if dtype.is_complex() {
            let y = in_double(&x, |x| {
                self.direction.run(x, kernels::cumprod::<Complex<f64>, Complex<f64>, Complex<f64>>)
            })?;
            return Ok(smallvec![y]);
        }
        let y = dispatch!(float dtype, T => self.direction.run(&x, kernels::cumprod::<T, f64, T>)?, else {
            dispatch!(integer dtype, T => self.direction.run(&x, kernels::cumprod::<T, T, T>)?, else {
                return Err(Error::NotImplementedFor { operation: "cumprod_out_cpu", dtype }.into())
            })
        });
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [x, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, y, g) = (at.load(x)?, at.load(y)?, single(gradients));
        if x.layout().shape().get(self.direction.dim).is_none_or(|&size| size == 1) {
            return one(g.clone());
        }
        if may_have_zeros(&x)? {
            let (x, y, back) = (conj(x)?, conj(y)?, self.direction.reversed());
            let before = shift(&y, self.direction, 1.0)?;
            return one(mul(&before, &recurrence(&shift(&x, back, 0.0)?, g, back)?)?);
        }
        let sums = Cumsum { direction: self.direction, given: self.given, dtype: None };
        one(div(&sums.onward(&mul(&conj(y)?, g)?, at.tracking)?, &conj(x)?)?)
    }

    fn jvp(&self, [x, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let before = shift(&at.load(y)?, self.direction, 1.0)?;
        one(recurrence(&at.load(x)?, &mul(tangent(tangents), &before)?, self.direction)?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.deeper(Cumprod { direction: self.direction.deeper(), ..*self })
    }
}

cumulative!(cumprod, cumprod_: Cumprod, "The cumulative product along a dimension.");

/// yₖ = bₖ + aₖ yₖ₋₁ with y₋₁ = 0
///
/// ẏₖ = (ḃₖ + ȧₖ yₖ₋₁) + aₖ ẏₖ₋₁. Backward b̄ₖ = ȳₖ + aₖ₊₁ b̄ₖ₊₁, which is a recurrence the other
/// way, and āₖ = b̄ₖ yₖ₋₁.
#[derive(Clone)]
struct Recurrence {
    direction: Direction,
}

impl Recurrence {
    fn run<T: Ring>(&self, a: &Array, b: &Array) -> Result<Array> {
        let (first, second) = (a.view::<T>(), b.view::<T>());
        let pairs = first.iter().copied().zip(second.iter().copied());
        let pairs = storage::collected(first.len(), pairs)?;
        let pairs = ArrayD::from_shape_vec(IxDyn(a.layout.shape()), pairs)
            .unwrap_or_else(|_| unreachable!("both operands have this shape"));
        let mut y = Array::uninit(&a.layout, T::DTYPE)?;
        let step = |y: T, (a, b): (T, T), _| b.add(a.mul(y));
        kernels::scan(pairs.view(), self.direction.along(), y.fresh(), T::ZERO, step, |y| y);
        Ok(y)
    }
}

impl Op for Recurrence {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["factors", "result"];

    fn name(&self) -> &'static str {
        "RecurrenceBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (a, b) = (&inputs[0], &inputs[1]);
        let b = copy::as_type(b, a.dtype)?;
        let y = dispatch!(float a.dtype, T => self.run::<T>(a, &b)?, else {
            let b = copy::as_type(&b, DType::Complex128)?;
            in_double(a, |a| self.run::<Complex<f64>>(a, &b))?
        });
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [a, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let back = self.direction.reversed();
        let b = recurrence(&shift(&conj(at.load(a)?)?, back, 0.0)?, single(gradients), back)?;
        let a = match at.needs(0) {
            true => Some(mul(&b, &shift(&conj(at.load(y)?)?, self.direction, 0.0)?)?),
            false => None,
        };
        Ok(smallvec![a, Some(b)])
    }

    fn jvp(&self, [a, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let through_a = match &tangents[0] {
            Some(t) => Some(mul(t, &shift(&at.load(y)?, self.direction, 0.0)?)?),
            None => None,
        };
        let b = match (through_a, tangents[1].clone()) {
            (Some(a), Some(b)) => ops::add(&a, &b)?,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => unreachable!("rules run with a tangent"),
        };
        one(recurrence(&at.load(a)?, &b, self.direction)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.deeper(Recurrence { direction: self.direction.deeper() })
    }
}

fn recurrence(a: &Tensor, b: &Tensor, direction: Direction) -> Result<Tensor> {
    apply_one(Recurrence { direction }, &[a, b])
}

/// yₖ = xₖ₋₁, and a constant for the first
///
/// dy is dx moved and begun with 0; x̄ is ȳ moved back
#[derive(Clone)]
struct Shift {
    direction: Direction,
    first: f64,
}

impl Shift {
    fn run<T: Ring>(&self, x: &Array) -> Result<Array> {
        self.direction.run(x, |view: ArrayViewD<'_, T>, along, out| {
            // The state is what the element before left.
            let state = (T::from_f64(self.first), T::ZERO);
            kernels::scan(view, along, out, state, |(next, _), x, _| (x, next), |(_, y)| y);
        })
    }
}

impl Op for Shift {
    type Saved = ();

    fn name(&self) -> &'static str {
        "ShiftBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let y = dispatch!(float x.dtype, T => self.run::<T>(x)?, else {
            in_double(x, |x| self.run::<Complex<f64>>(x))?
        });
        Ok(smallvec![y])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(shift(single(gradients), self.direction.reversed(), 0.0)?)
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(shift(tangent(tangents), self.direction, 0.0)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.deeper(Shift { direction: self.direction.deeper(), first: self.first })
    }
}

fn shift(x: &Tensor, direction: Direction, first: f64) -> Result<Tensor> {
    apply_one(Shift { direction, first }, &[x])
}

const SCAN: &[&str] = &["(Tensor input, int dim, *, dtype? dtype=None, Tensor out=None)"];

const SCAN_IN_PLACE: &[&str] = &["(Tensor input, int dim, *, dtype? dtype=None)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("cumsum", SCAN, "The cumulative sum along a dimension.", |a| {
        cumsum(a.tensor(0)?, a.int(1)?, a.dtype(2)).reply()
    })
    .written(&OutPolicy::OF_FIRST.exact().typed(Types::Any))
    .operators(&[("CumsumBackward0", "cumsum")]),
    method("cumsum_", SCAN_IN_PLACE, "`cumsum` in place.", |a| scan_in_place(a, cumsum_)),
    both("cumprod", SCAN, "The cumulative product along a dimension.", |a| {
        cumprod(a.tensor(0)?, a.int(1)?, a.dtype(2)).reply()
    })
    .written(&OutPolicy::OF_FIRST.exact().typed(Types::Any))
    .operators(&[("CumprodBackward0", "cumprod")]),
    method("cumprod_", SCAN_IN_PLACE, "`cumprod` in place.", |a| scan_in_place(a, cumprod_)),
];

fn scan_in_place(
    arguments: &dyn Arguments,
    operation: fn(&Tensor, i64, Option<DType>) -> Result<()>,
) -> Result<Reply> {
    receiver(arguments, operation(arguments.tensor(0)?, arguments.int(1)?, arguments.dtype(2)))
}

plain! {
    struct Direction { dim, backward }
    struct Cumsum { direction, given, dtype }
    struct Cumprod { direction, given, dtype }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Cumsum>("cumsum"), portable::row::<Cumprod>("cumprod")];
