//! Fourier transforms over several dimensions: of complex numbers, of real ones to the half of the result
//! that says all of it, and from such a half back.

use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use super::batch::{self, Answer, Call};
use super::conjugate::real;
use super::{cast, copy, create, in_place, memory_order, part};
use crate::dtype::{Complex, DType};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::fourier::Transform;
use crate::shape::{self, SharedLayout};
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

/// Complex numbers of double precision, one after the other, and their shape.
struct Numbers {
    shape: Vec<usize>,
    numbers: Vec<Complex<f64>>,
}

impl Numbers {
    fn of(x: &Tensor, dims: &[usize]) -> Result<Numbers> {
        if x.numel() == 0 && !dims.is_empty() {
            return Err(Error::FourierNothing {}.into());
        }
        let array = x.array();
        let array = copy::as_type(&array, DType::Complex128)?;
        let array = copy::in_order(&array)?;
        let numbers = array.slice().unwrap_or_else(|| unreachable!("the elements are in order")).to_vec();
        Ok(Numbers { shape: array.layout.shape().to_vec(), numbers })
    }

    /// How far apart elements along a dimension are.
    fn stride(&self, dim: usize) -> usize {
        self.shape[dim + 1..].iter().product()
    }

    /// Every line along a dimension as `f` makes it, of that size.
    fn lines(&mut self, dim: usize, size: usize, f: impl Fn(Vec<Complex<f64>>) -> Vec<Complex<f64>>) {
        let (before, stride) = (self.shape[dim], self.stride(dim));
        let count = self.shape[..dim].iter().product::<usize>();
        let mut result = vec![Complex::default(); count * size * stride];
        for lead in 0..count {
            for behind in 0..stride {
                let place = |at: usize, size: usize| (lead * size + at) * stride + behind;
                let line = f((0..before).map(|at| self.numbers[place(at, before)]).collect());
                for (at, x) in line.into_iter().enumerate() {
                    result[place(at, size)] = x;
                }
            }
        }
        (self.shape[dim], self.numbers) = (size, result);
    }

    fn transform(&mut self, dims: &[usize], forward: bool) {
        for &dim in dims {
            let size = self.shape[dim];
            let transform = Transform::new(size, forward);
            self.lines(dim, size, |line| transform.of(&line));
        }
    }

    fn made(self, dtype: DType, layout: &SharedLayout) -> Result<Tensor> {
        let array = match dtype.is_complex() {
            true => Array::from_slice(&self.shape, &self.numbers)?,
            false => {
                Array::from_slice(&self.shape, &self.numbers.iter().map(|x| x.re).collect::<Vec<f64>>())?
            }
        };
        let array = copy::as_type(&array, dtype)?.into_owned();
        Ok(Tensor::from_array(memory_order::settled_as(array, layout)?))
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

    fn scaled(&self, mut x: Numbers, shape: &[usize]) -> Numbers {
        let factor = self.factor(shape);
        if self.scale != Scale::None {
            x.numbers.iter_mut().for_each(|x| *x *= factor);
        }
        x
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

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let mut x = Numbers::of(inputs[0], &self.plan.dims)?;
        x.transform(&self.plan.dims, self.forward);
        let shape = x.shape.clone();
        let layout = memory_order::transformed(&shape, &inputs[0].layout(), &self.plan.dims, 0)?;
        Ok(smallvec![self.plan.scaled(x, &shape).made(inputs[0].dtype(), &layout)?])
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

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let mut x = Numbers::of(inputs[0], &self.plan.dims)?;
        x.transform(&self.plan.dims, true);
        let shape = x.shape.clone();
        let mut y = self.plan.scaled(x, &shape);
        if self.half {
            let (last, size) = (self.plan.last(), shape[self.plan.last()] / 2 + 1);
            y.lines(last, size, |mut line| {
                line.truncate(size);
                line
            });
        }
        let layout = memory_order::transformed(
            &y.shape,
            &inputs[0].layout(),
            &self.plan.dims,
            usize::from(self.half),
        )?;
        Ok(smallvec![y.made(inputs[0].dtype().to_complex(), &layout)?])
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

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let mut x = Numbers::of(inputs[0], &self.plan.dims)?;
        let (last, size) = (self.plan.last(), self.size);
        // The other dimensions first: then each line is the half of a mirrored one.
        x.transform(&self.plan.dims[..self.plan.dims.len() - 1], false);
        let transform = Transform::new(size, false);
        x.lines(last, size, |mut line| {
            line.resize(size, Complex::default());
            if let Some(first) = line.first_mut() {
                first.im = 0.0;
            }
            if size.is_multiple_of(2) {
                line[size / 2].im = 0.0;
            }
            for at in size / 2 + 1..size {
                line[at] = line[size - at].conj();
            }
            transform.of(&line)
        });
        let shape = x.shape.clone();
        // As in torch two transforms, of which the second finds what the first leaves.
        let (given, others) = (inputs[0].layout(), &self.plan.dims[..self.plan.dims.len() - 1]);
        let between = match others {
            [] => given,
            others => memory_order::transformed(given.shape(), &given, others, 0)?,
        };
        let layout = memory_order::transformed(&shape, &between, &[last], 1)?;
        Ok(smallvec![self.plan.scaled(x, &shape).made(inputs[0].dtype().to_real(), &layout)?])
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
