//! Fourier transforms over several dimensions: of complex numbers, of real ones to the half of the result
//! that says all of it, and from such a half back.

use crate::schema::{Arguments, Entry, IntoReply, inner};
use smallvec::smallvec;

use super::conjugate::real;
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::{in_place, memory_order};
use crate::dtype::{Complex, Element};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::fourier::{self as kernels, Precision};
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::part;
use crate::shape::{self, Dims, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// By what the sums are divided.
#[derive(Clone, Copy, PartialEq)]
pub enum Scale {
    /// By nothing.
    None,
    /// By the root of how many terms they have.
    Root,
    /// By how many terms they have.
    Count,
}

/// The dimensions of a transform, and its scale.
#[derive(Clone)]
struct Plan {
    dims: Vec<usize>,
    scale: Scale,
}

/// How a transform works: on dimensions in another order, in which they lie in memory meanwhile, so that the last one
/// that is transformed lies in one piece.
struct Work {
    order: Dims,
}

impl Work {
    /// In the order of the result, but for the last dimension, which comes last.
    fn of(result: &Layout, last: usize) -> Work {
        let mut order = shape::order_of_strides(result.shape(), result.strides());
        order.retain(|dim| *dim != last);
        order.push(last);
        Work { order }
    }

    /// Numbers in this order.
    fn sorted(&self, x: &Array) -> Array {
        x.with_layout(x.layout.permuted(self.order.iter().copied()))
    }

    /// Numbers in this order as they were ordered before, in a layout.
    fn restored(&self, y: Array, layout: &SharedLayout) -> Result<Array> {
        let strides = shape::strides_in(&self.order, |dim| layout.shape()[dim]);
        let own = SharedLayout::new(Layout::strided(layout.shape().into(), strides, 0)?);
        memory_order::settled_as(Array { layout: own, ..y }, layout)
    }

    /// Transforms complex numbers in this order over dimensions, in place, the last time with a scale.
    fn transform<T: Precision>(&self, numbers: &mut Array, dims: &[usize], forward: bool, scale: f64)
    where
        Complex<T>: Element,
    {
        if dims.is_empty() {
            // Then they may be those of the operand.
            return;
        }
        let layout = numbers.layout.clone();
        let (shape, numbers) = (layout.shape(), numbers.owned::<Complex<T>>());
        for (at, dim) in dims.iter().enumerate() {
            let place = self.order.iter().position(|other| other == dim);
            let place = place.unwrap_or_else(|| unreachable!("the dimensions were checked"));
            let scale = if at + 1 == dims.len() { scale } else { 1.0 };
            kernels::transform::<T>(numbers, shape, place, forward, Element::from_f64(scale));
        }
    }
}

/// What an expression makes of numbers in the precision of a type, with `$T` for the real ones.
macro_rules! precise {
    ($dtype:expr, $T:ident => $body:expr) => {
        dispatch!(float $dtype.to_real(), $T => $body, else { unreachable!("the type was checked") })
    };
}

/// Refuses to transform nothing.
fn check_numbers(x: &Array, plan: &Plan) -> Result<()> {
    match x.layout.numel() == 0 && !plan.dims.is_empty() {
        true => Err(Error::FourierNothing {}.into()),
        false => Ok(()),
    }
}

impl Plan {
    /// The factor of a transform whose real side has this shape.
    fn factor(&self, shape: &[usize]) -> f64 {
        let count: usize = self.dims.iter().map(|&dim| shape[dim]).product();
        match self.scale {
            Scale::None => 1.0,
            Scale::Root => 1.0 / (count as f64).sqrt(),
            Scale::Count => 1.0 / count as f64,
        }
    }

    /// The same behind one more dimension.
    fn deeper(&self) -> Plan {
        Plan { dims: self.dims.iter().map(|dim| dim + 1).collect(), scale: self.scale }
    }

    fn last(&self) -> usize {
        self.dims.last().copied().unwrap_or(0)
    }

    fn shown(&self) -> Attributes {
        let dims: Vec<i64> = self.dims.iter().map(|&dim| dim as i64).collect();
        let scale = match self.scale {
            Scale::None => 0_i64,
            Scale::Root => 1,
            Scale::Count => 2,
        };
        shown! { dim: &dims[..], normalization: scale }
    }
}

/// y = F x
///
/// dy = F dx, x̄ = Fᴴ ȳ, which is the transform in the other direction with the same scale
#[derive(Clone)]
struct Fourier {
    plan: Plan,
    forward: bool,
}

impl Op for Fourier {
    type Saved = ();

    fn name(&self) -> &'static str {
        "FftC2CBackward0"
    }

    fn shown(&self, (): &Self::Saved) -> Attributes {
        let mut shown = self.plan.shown();
        shown.extend(shown! { forward: self.forward });
        shown
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (x, dims) = (&inputs[0], &self.plan.dims[..]);
        check_numbers(x, &self.plan)?;
        let given = &x.layout;
        let layout = memory_order::transformed(given.shape(), given, dims, 0)?;
        let work = Work { order: shape::order_of_strides(layout.shape(), layout.strides()) };
        let mut y = copy::dense(&work.sorted(x))?;
        let scale = self.plan.factor(given.shape());
        precise!(x.dtype, T => work.transform::<T>(&mut y, dims, self.forward, scale));
        Ok(smallvec![work.restored(y, &layout)?])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(apply_one(Fourier { plan: self.plan.clone(), forward: !self.forward }, &[single(gradients)])?)
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(self.clone(), &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Fourier { plan: self.plan.deeper(), forward: self.forward })
    }
}

/// y = F x of real x, as far as the first half of the last dimension if `half`
///
/// dy = F dx, x̄ = Re(Fᴴ ȳ), with zeros in the place of the other half
#[derive(Clone)]
struct RealFourier {
    plan: Plan,
    half: bool,
}

impl Op for RealFourier {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["self"];

    fn name(&self) -> &'static str {
        "FftR2CBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        let mut shown = self.plan.shown();
        shown.extend(shown! { onesided: self.half });
        shown
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (x, dims, last) = (&inputs[0], &self.plan.dims[..], self.plan.last());
        check_numbers(x, &self.plan)?;
        if dims.is_empty() {
            let y = copy::as_type(x, x.dtype.to_complex())?.into_owned();
            return Ok(smallvec![y]);
        }
        let given = &x.layout;
        let mut shape: Dims = given.shape().into();
        let (size, scale) = (shape[last], self.plan.factor(&shape));
        if self.half {
            shape[last] = size / 2 + 1;
        }
        let layout = memory_order::transformed(&shape, given, dims, usize::from(self.half))?;
        let work = Work::of(&layout, last);
        let lines = work.sorted(x);
        let lines = copy::in_order(&lines)?;
        let sorted: Dims = work.order.iter().map(|&dim| shape[dim]).collect();
        let mut y = Array::uninit_shape(&sorted, x.dtype.to_complex())?;
        precise!(x.dtype, T => {
            let lines = lines.slice().unwrap_or_else(|| unreachable!("the lines are in order"));
            kernels::from_real::<T>(lines, size, T::from_f64(scale), !self.half, y.fresh());
            work.transform::<T>(&mut y, &dims[..dims.len() - 1], true, 1.0);
        });
        Ok(smallvec![work.restored(y, &layout)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.input(0)
    }

    fn vjp(&self, x: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (layout, last) = (at.load(x)?.layout().shape().to_vec(), self.plan.last());
        let g = single(gradients);
        let half = g.layout().shape()[last] as i64;
        let whole = match layout[last] as i64 > half {
            true => {
                let zeros = create::zeros(&shape::signed(&layout), g.dtype())?;
                let whole = batch::with_room(zeros, &[g])?;
                cast::copy_(&part::narrow(&whole, last as i64, 0, half)?, g)?;
                whole
            }
            false => g.clone(),
        };
        one(real(&apply_one(Fourier { plan: self.plan.clone(), forward: false }, &[&whole])?)?)
    }

    fn jvp(&self, _x: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(self.clone(), &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(RealFourier { plan: self.plan.deeper(), half: self.half })
    }
}

/// y = Fᴴ x, where x is the first half of a last dimension that is the mirror of its own conjugates
///
/// dy is the same of dx; x̄ = F ȳ, twice where an element of x stands for its mirror too
#[derive(Clone)]
struct HalfFourier {
    plan: Plan,
    /// How long the last dimension of the result is.
    size: usize,
}

impl Op for HalfFourier {
    type Saved = ();

    fn name(&self) -> &'static str {
        "FftC2RBackward0"
    }

    fn shown(&self, (): &Self::Saved) -> Attributes {
        self.plan.shown()
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (x, last, size) = (&inputs[0], self.plan.last(), self.size);
        check_numbers(x, &self.plan)?;
        // As in torch two transforms, of which the second finds what the first leaves.
        let (given, others) = (&x.layout, &self.plan.dims[..self.plan.dims.len() - 1]);
        let mut shape: Dims = given.shape().into();
        shape[last] = size;
        let between = match others {
            [] => given.clone(),
            others => memory_order::transformed(given.shape(), given, others, 0)?,
        };
        let layout = memory_order::transformed(&shape, &between, &[last], 1)?;
        let work = Work::of(&layout, last);
        let sorted: Dims = work.order.iter().map(|&dim| shape[dim]).collect();
        let mut y = Array::uninit_shape(&sorted, x.dtype.to_real())?;
        let halves = work.sorted(x);
        let mut halves =
            if others.is_empty() { copy::in_order(&halves)?.into_owned() } else { copy::dense(&halves)? };
        let scale = self.plan.factor(&shape);
        precise!(x.dtype, T => {
            // The other dimensions first: then each line is the half of a mirrored one.
            work.transform::<T>(&mut halves, others, false, 1.0);
            let halves = halves.slice().unwrap_or_else(|| unreachable!("the halves are in order"));
            kernels::to_real::<T>(halves, size, T::from_f64(scale), y.fresh());
        });
        Ok(smallvec![work.restored(y, &layout)?])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let half = apply_one(RealFourier { plan: self.plan.clone(), half: true }, &[single(gradients)])?;
        let (last, twice) = (self.plan.last(), self.size - (self.size / 2 + 1));
        if twice > 0 {
            let inner = part::narrow(&half, last as i64, 1, twice as i64)?;
            in_place::through(&inner, &[], |inner| super::mul(inner, 2))?;
        }
        one(half)
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(self.clone(), &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(HalfFourier { plan: self.plan.deeper(), size: self.size })
    }
}

fn plan(x: &Tensor, dims: &[i64], scale: Scale) -> Result<Plan> {
    let ndim = x.ndim();
    let dims: Result<Vec<usize>> = dims.iter().map(|&dim| shape::normalize_dim(dim, ndim)).collect();
    let dims = dims?;
    let layout = x.layout();
    match dims.iter().find(|&&dim| layout.shape().get(dim).is_none_or(|&size| size == 0)) {
        Some(_) => Err(Error::FourierPoints { points: 0 }.into()),
        None => Ok(Plan { dims, scale }),
    }
}

/// Refuses numbers that a transform is not for.
fn check(x: &Tensor, complex: bool) -> Result<()> {
    let dtype = x.dtype();
    match (complex, dtype.is_complex(), dtype.is_float()) {
        (true, true, _) | (false, _, true) => Ok(()),
        _ => {
            let kinds = if complex { "complex" } else { "floating-point" };
            Err(Error::FourierDType { kinds, dtype }.into())
        }
    }
}

/// The transform of complex numbers over dimensions.
pub fn fourier(x: &Tensor, dims: &[i64], scale: Scale, forward: bool) -> Result<Tensor> {
    check(x, true)?;
    apply_one(Fourier { plan: plan(x, dims, scale)?, forward }, &[x])
}

/// The transform of real numbers over dimensions, or the half of it that says the rest too.
pub fn real_fourier(x: &Tensor, dims: &[i64], scale: Scale, half: bool) -> Result<Tensor> {
    check(x, false)?;
    apply_one(RealFourier { plan: plan(x, dims, scale)?, half }, &[x])
}

/// The real numbers whose transform over dimensions is this, of the last one `size / 2 + 1` of `size`
/// elements.
pub fn half_fourier(x: &Tensor, dims: &[i64], scale: Scale, size: i64) -> Result<Tensor> {
    check(x, true)?;
    let plan = plan(x, dims, scale)?;
    let half = x.layout().shape().get(plan.last()).copied();
    match usize::try_from(size) {
        Ok(size) if size > 0 && half == Some(size / 2 + 1) => apply_one(HalfFourier { plan, size }, &[x]),
        _ => Err(Error::FourierPoints { points: size }.into()),
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "fft_c2c",
        &["(Tensor input, int[] dim, int normalization, bool forward)"],
        "The discrete Fourier transform of complex numbers.",
        |a| fourier(a.tensor(0)?, &a.ints(1)?, scale(a, 2)?, a.boolean(3)).reply(),
    ),
    inner(
        "fft_r2c",
        &["(Tensor input, int[] dim, int normalization, bool onesided)"],
        "The discrete Fourier transform of real numbers.",
        |a| real_fourier(a.tensor(0)?, &a.ints(1)?, scale(a, 2)?, a.boolean(3)).reply(),
    ),
    inner(
        "fft_c2r",
        &["(Tensor input, int[] dim, int normalization, int last_dim_size)"],
        "The inverse discrete Fourier transform whose result is real.",
        |a| half_fourier(a.tensor(0)?, &a.ints(1)?, scale(a, 2)?, a.int(3)?).reply(),
    ),
];

/// How a transform is scaled, from torch's number for it.
fn scale(a: &dyn Arguments, index: usize) -> Result<Scale> {
    Ok(match a.int(index)? {
        0 => Scale::None,
        1 => Scale::Root,
        _ => Scale::Count,
    })
}
