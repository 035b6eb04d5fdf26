//! Operations of complex numbers: `complex`, `polar`, `angle`, and the rules of functions that are not holomorphic.
//! Views of complex memory, as pairs of real numbers or as conjugates, are in `conjugate`.
//!
//! Note [Gradients of complex numbers]
//! ----
//! As in torch, the gradient of a real number L with respect to z = x + iy is ∂L/∂x + i ∂L/∂y, so that a step against
//! it makes L smaller. For a holomorphic function w(z) it follows that z̄ = w̄ · conj(dw/dz).
//!
//! Rules of operations are written without conjugates, as for real numbers: they multiply by dw/dz. Since
//! conj(f'(z)) = f'(conj(z)), it is enough to call the rule with the conjugates of the saved tensors. In backward the
//! entry points (`unary`, `binary`, `pointwise`, `bilinear`) do that, and an operation with a `vjp` of its own loads
//! conjugates itself. In forward mode nothing is conjugated.
//!
//! A function that is not holomorphic says that it is not `ANALYTIC`, and has a rule for each direction. If a real
//! tensor receives a complex gradient, the engine takes the real part (`engine::check`).

use crate::ops::creation::create;
use crate::ops::pointwise::power;
use crate::schema::signatures::ONE_OUT;
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, function, of};
use smallvec::smallvec;

use super::conjugate::{conj, imag, real};
use super::{div, mul, sub};
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::unary;
use crate::dispatch::unary::{Elementwise, Integers, Keeps};
use crate::dispatch::{batch, binary, memory_order};
use crate::dtype::{Complex, DType, Element, Real, Scalar};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::pointwise::complex::size;
use crate::ops::creation::copy;
use crate::ops::pointwise::arithmetic::Mul;
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select::where_;
use crate::ops::pointwise::trigonometry::{Atan2, Cos, Sin};
use crate::shape;
use crate::storage;
use crate::tensor::{Array, Tensor};

/// i
pub(crate) const I: Scalar = Scalar::Complex(Complex::new(0.0, 1.0));

/// The complex numbers of a function of two real ones.
fn made(a: &Array, b: &Array, f: fn(f64, f64) -> Complex<f64>) -> Result<Array> {
    let shape = shape::broadcast(a.layout.shape(), b.layout.shape())?;
    let wide = |x: &Array| copy::as_type(x, DType::Float64)?.expanded(&shape);
    let (left, right) = (wide(a)?, wide(b)?);
    let (left, right) = (left.view::<f64>(), right.view::<f64>());
    let elements = left.iter().zip(right.iter()).map(|(&a, &b)| f(a, b));
    let y = Array::from_slice(&shape, &storage::collected(left.len(), elements)?)?;
    let y = copy::as_type(&y, a.dtype.to_complex())?.into_owned();
    memory_order::settled(y, &[&a.layout, &b.layout])
}

/// Whether two tensors can be the parts of complex numbers.
fn check_parts(a: &Tensor, b: &Tensor) -> Result<()> {
    let (left, right) = (a.dtype(), b.dtype());
    let fits = |dtype: DType| dtype.is_float() && dtype.to_complex().to_real() == dtype;
    if !fits(left) || !fits(right) {
        return Err(Error::PartsDType { left, right }.into());
    }
    if left != right {
        return Err(Error::PartsDiffer { left, right }.into());
    }
    Ok(())
}

/// The numbers with these parts.
pub(crate) fn of_parts(re: &Array, im: &Array) -> Result<Array> {
    dispatch!(float re.dtype, T => {
        binary::combine::<T, Complex<T>>(&re.into(), &im.into(), Complex::new)
    }, else { made(re, im, Complex::new) })
}

/// z = x + iy
///
/// dz = dx + i dy, x̄ = Re z̄, ȳ = Im z̄
#[derive(Clone)]
struct FromParts;

impl Op for FromParts {
    type Saved = [Option<SavedTensor>; 2];
    const SAVED: &'static [&'static str] = &["real", "imag"];

    fn name(&self) -> &'static str {
        "ComplexBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![of_parts(&inputs[0], &inputs[1])?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [0, 1].map(|index| keep.input_if(keep.needs(index), index))
    }

    fn vjp(&self, _saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let g = single(gradients);
        let (x, y) = (at.needs(0).then(|| real(g)), at.needs(1).then(|| imag(g)));
        Ok(smallvec![x.transpose()?, y.transpose()?])
    }

    fn jvp(&self, _saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let form = at.node.form(0);
        let zeros = || create::zeros(&shape::signed(form.layout.shape()), form.dtype.to_real());
        let part = |index: usize| tangents[index].clone().map_or_else(zeros, Ok);
        one(complex(&part(0)?, &part(1)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(self.clone())
    }
}

/// Complex numbers of these real and imaginary parts.
pub fn complex(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let [x, y] = &batch::in_one_type(x, y)?;
    check_parts(x, y)?;
    apply_one(FromParts, &[x, y])
}

/// z = r exp(iφ)
///
/// dz = exp(iφ) dr + iz dφ, r̄ = Re(conj(exp(iφ)) z̄), φ̄ = Re(conj(iz) z̄)
#[derive(Clone)]
struct Polar;

impl Polar {
    /// exp(iφ) and iz, where r is not zero; torch divides by r too.
    fn directions(z: &Tensor) -> Result<(Tensor, Tensor)> {
        Ok((super::sgn(z)?, mul(z, I)?))
    }
}

impl Op for Polar {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["result"];

    fn name(&self) -> &'static str {
        "PolarBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (r, phi) = (&inputs[0], &inputs[1]);
        if !matches!(phi.dtype, DType::Float32 | DType::Float64) {
            return Ok(smallvec![made(r, phi, Complex::from_polar)?]);
        }
        let along = |part: Array| binary::numbers(Mul, r, &part);
        let (x, y) = (unary::numbers(Cos, phi)?, unary::numbers(Sin, phi)?);
        Ok(smallvec![of_parts(&along(x)?, &along(y)?)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.output(0)
    }

    fn vjp(&self, z: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (outward, around) = Polar::directions(&at.load(z)?)?;
        let conjugate = conj(single(gradients).clone())?;
        let along = |direction: &Tensor| real(&mul(&conjugate, direction)?);
        let r = at.needs(0).then(|| along(&outward)).transpose()?;
        let phi = at.needs(1).then(|| along(&around)).transpose()?;
        Ok(smallvec![r, phi])
    }

    fn jvp(&self, z: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (outward, around) = Polar::directions(&at.load(z)?)?;
        let moved = |direction: &Tensor, index: usize| {
            tangents[index].as_ref().map(|t| mul(direction, t)).transpose()
        };
        let (r, phi) = (moved(&outward, 0)?, moved(&around, 1)?);
        match (r, phi) {
            (Some(r), Some(phi)) => one(super::add(&r, &phi)?),
            (Some(only), None) | (None, Some(only)) => one(only),
            (None, None) => unreachable!("rules run with a tangent"),
        }
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(self.clone())
    }
}

/// Complex numbers of these magnitudes and angles.
pub fn polar(r: &Tensor, phi: &Tensor) -> Result<Tensor> {
    let [r, phi] = &batch::in_one_type(r, phi)?;
    check_parts(r, phi)?;
    apply_one(Polar, &[r, phi])
}

/// Re(conj(a) · b), which of real numbers is their product
pub(crate) fn real_product(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    real(&mul(&conj(a.clone())?, b)?)
}

/// The magnitudes of complex numbers.
pub(crate) fn magnitudes(x: &Array) -> Result<Array> {
    Measure::Magnitude.run(x)
}

/// A real number that a complex one has.
///
/// With the gradient v of it: x̄ = ȳ v, dy = Re(conj(v) dx)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    /// y = |x|,  v = x/|x|, and 0 for x = 0
    Magnitude,
    /// y = the angle of x,  v = ix/|x|², and 0 for x = 0
    Angle,
}

impl Measure {
    fn run(self, x: &Array) -> Result<Array> {
        let y = match (self, x.dtype) {
            (Measure::Magnitude, DType::Complex64) => {
                return unary::compute(x, DType::Float32, |x: Complex<f32>| size(x.to_complex()) as f32);
            }
            (Measure::Magnitude, _) => {
                let wide = copy::as_type_in_order(x, DType::Complex128)?;
                unary::compute(&wide, DType::Float64, size)
            }
            (Measure::Angle, _) => return binary::numbers(Atan2, &x.component(1)?, &x.component(0)?),
        }?;
        Ok(copy::as_type_in_order(&y, x.dtype.to_real())?.into_owned())
    }

    fn gradient(self, x: &Tensor) -> Result<Tensor> {
        if self == Measure::Magnitude {
            return super::sgn(x);
        }
        let turned = div(&mul(x, I)?, &power::square(&super::abs(x)?)?)?;
        where_(&compare::eq(x, 0)?, 0, &turned)
    }
}

impl Op for Measure {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["self"];

    fn name(&self) -> &'static str {
        match self {
            Measure::Magnitude => "AbsBackward0",
            Measure::Angle => "AngleBackward0",
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![self.run(&inputs[0])?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.input(0)
    }

    fn vjp(&self, x: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(mul(single(gradients), &self.gradient(&at.load(x)?)?)?)
    }

    fn jvp(&self, x: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(real_product(&self.gradient(&at.load(x)?)?, tangent(tangents))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.in_place(*self)
    }
}

/// The magnitudes of complex numbers.
pub(crate) fn magnitude(x: &Tensor) -> Result<Tensor> {
    apply_one(Measure::Magnitude, &[x])
}

/// y = the angle of a real number: 0, or π if it is negative,  dy/dx = 0
#[derive(Clone, Copy)]
struct RealAngle;

impl Elementwise for RealAngle {
    const NAME: &'static str = "angle_vml_cpu";
    const NODE: &'static str = "AngleBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const INTEGERS: Integers = Integers::Promote;

    fn chain(&self, _x: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        create::zeros_like(&t.detach())
    }

    fn real<T: Real>(&self, x: T) -> T {
        if num_traits::Float::is_nan(x) {
            x
        } else if x < T::ZERO {
            T::from_f64(std::f64::consts::PI)
        } else {
            T::ZERO
        }
    }
}

/// The angle of every element.
pub fn angle(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() { apply_one(Measure::Angle, &[x]) } else { unary::apply(RealAngle, x) }
}

/// What a change t of x changes of s = x/|x|: (t - s Re(conj(s) t)) / |x|, and 0 for x = 0. The map is its
/// own transpose.
pub(crate) fn sign_change(x: &Tensor, t: &Tensor) -> Result<Tensor> {
    let s = super::sgn(x)?;
    let across = sub(t, &mul(&s, &real_product(&s, t)?)?)?;
    where_(&compare::eq(x, 0)?, 0, &div(&across, &super::abs(x)?)?)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "complex",
        &["(Tensor real, Tensor imag, *, Tensor out=None)"],
        "Builds complex numbers from real and imaginary parts.",
        |a| complex(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.once().typed(Types::Combined)),
    function(
        "polar",
        &["(Tensor abs, Tensor angle, *, Tensor out=None)"],
        "Builds complex numbers from absolute values and angles.",
        |a| polar(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.once().typed(Types::Combined)),
    both("angle", ONE_OUT, "The angle of every element in radians.", |a| of(a, angle))
        .written(&OutPolicy::ALIGNED),
];
