//! Views of memory as other numbers: complex numbers as pairs of real ones and back, conjugates and negatives (Note
//! [What is still to be done]); and conjugates in new memory. Other functions of complex numbers are in `complex`.

use crate::ops::geometry::{part, permute};
use crate::schema::signatures::{ONE, ONE_OUT};
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, function, method, of, receiver, warn_once};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::in_place;
use crate::dispatch::record::records;
use crate::dispatch::unary::{self, Elementwise, Integers, Keeps};
use crate::dtype::{Complex, DType, Element};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients};
use crate::ops::creation::cast;
use crate::shape::{Dims, Layout, SharedLayout};
use crate::tensor::{Array, Creation, Tensor};

/// A reading of the memory of x
///
/// Each is a linear map of real numbers: dy is dx read so, x̄ is ȳ read the opposite way
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// y = (Re x, Im x), along a last dimension
    Parts,
    /// y = x₀ + i x₁ of a last dimension of two
    Pairs,
    /// y = the conjugate of x
    Conjugate,
    /// y = -x
    Negative,
}

impl Reading {
    fn opposite(self) -> Reading {
        match self {
            Reading::Parts => Reading::Pairs,
            Reading::Pairs => Reading::Parts,
            own => own,
        }
    }

    /// The memory, read so. The caller has checked that it can be.
    fn of(self, memory: &Array) -> Result<Array> {
        let layout = &memory.layout;
        Ok(match self {
            Reading::Parts => {
                let parts = Array { dtype: memory.dtype.to_real(), ..memory.clone() };
                parts.with_layout(self::parts(layout)?)
            }
            Reading::Pairs => {
                let (shape, strides) = (layout.shape(), layout.strides());
                let outer = shape.len() - 1;
                let strides: Dims = strides[..outer].iter().map(|stride| stride / 2).collect();
                let layout = Layout::strided(shape[..outer].into(), strides, layout.offset() / 2)?;
                Array::on(memory.storage.clone(), SharedLayout::new(layout), memory.dtype.to_complex())?
            }
            Reading::Conjugate => Array { dtype: memory.dtype.conjugated(), ..memory.clone() },
            Reading::Negative => Array { dtype: memory.dtype.negated(), ..memory.clone() },
        })
    }

    /// A tensor read so, as a view wherever it lies as it has to.
    fn show(self, x: &Tensor) -> Result<Tensor> {
        match self {
            Reading::Parts => view_as_real(&resolve(x)?),
            Reading::Pairs if check_pairs(&x.memory()).is_err() || x.is_pending() => {
                view_as_complex(&cast::clone_contiguous(&resolve(x)?)?)
            }
            Reading::Pairs => view_as_complex(x),
            Reading::Conjugate => conj(x.clone()),
            Reading::Negative => negative_view(x),
        }
    }
}

/// The layout of the parts of complex numbers that lie so.
pub(crate) fn parts(layout: &Layout) -> Result<Layout> {
    let (mut shape, mut strides): (Dims, Dims) =
        (layout.shape().into(), layout.strides().iter().map(|stride| 2 * stride).collect());
    shape.push(2);
    strides.push(1);
    Layout::strided(shape, strides, 2 * layout.offset())
}

/// Both parts of complex numbers along a last dimension, where they lie.
pub(crate) fn as_parts(memory: &Array) -> Result<Array> {
    Reading::Parts.of(memory)
}

/// What `f`, which treats every part alike, makes of the parts of complex numbers. It sees them along a
/// last dimension and leaves that where it is, in an array in order.
pub(crate) fn by_parts(x: &Array, f: impl FnOnce(&Array) -> Result<Array>) -> Result<Array> {
    Reading::Pairs.of(&f(&Reading::Parts.of(x)?)?)
}

/// Parts of complex numbers, of which one is none if the other is not finite: so a division by a complex number
/// leaves them.
pub(crate) fn spoilt(mut parts: Array) -> Result<Array> {
    dispatch!(float parts.dtype, T => parts.owned::<T>().chunks_exact_mut(2).for_each(|pair| {
        let beside = |part: T, other: T| if other.to_f64().is_finite() { part } else { T::from_f64(f64::NAN) };
        (pair[0], pair[1]) = (beside(pair[0], pair[1]), beside(pair[1], pair[0]));
    }), else { unreachable!("parts are real numbers") });
    Ok(parts)
}

impl Op for Reading {
    type Saved = ();
    const VIEW: bool = true;

    fn name(&self) -> &'static str {
        match self {
            Reading::Parts => "ViewAsRealBackward0",
            Reading::Pairs => "ViewAsComplexBackward0",
            Reading::Conjugate => "ConjBackward0",
            Reading::Negative => "NegViewBackward0",
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![self.of(&inputs[0])?])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(self.opposite().show(single(gradients))?)
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(self.show(tangent(tangents))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let value = self.show(&call.inputs[0].front(call.size)?)?;
        Ok(smallvec![Samples::first(value)])
    }

    fn creation(&self) -> Option<Creation> {
        Some(Creation::Default)
    }
}

/// The real and imaginary parts of complex numbers, along a last dimension.
pub fn view_as_real(x: &Tensor) -> Result<Tensor> {
    if !x.dtype().is_complex() {
        return Err(Error::RealParts {}.into());
    }
    if x.is_pending() {
        return Err(Error::UnresolvedParts {}.into());
    }
    apply_one(Reading::Parts, &[x])
}

fn check_pairs(memory: &Array) -> Result<()> {
    let layout = &memory.layout;
    let Some((&last, outer)) = layout.strides().split_last() else {
        return Err(Error::PairsWithoutDimension {}.into());
    };
    if layout.shape().last() != Some(&2) {
        return Err(Error::PairsSize {}.into());
    }
    if layout.numel() == 0 {
        return Ok(());
    }
    if last != 1 {
        return Err(Error::PairsStride {}.into());
    }
    if outer.iter().any(|stride| !stride.is_multiple_of(2)) {
        return Err(Error::PairsOuterStride {}.into());
    }
    if !layout.offset().is_multiple_of(2) {
        return Err(Error::PairsOffset {}.into());
    }
    Ok(())
}

/// Complex numbers of which a last dimension of two holds the parts.
pub fn view_as_complex(x: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    if dtype.to_complex().to_real() != dtype || !dtype.is_float() {
        return Err(Error::PairsDType { dtype }.into());
    }
    check_pairs(&x.memory())?;
    apply_one(Reading::Pairs, &[&resolve(x)?])
}

/// The conjugates, as a view of the memory; the tensor itself if it is real.
pub fn conj(x: Tensor) -> Result<Tensor> {
    match x.dtype() {
        // What is still to be done is said of numbers that kernels calculate with.
        DType::Complex32 => conj_physical(&x),
        dtype if dtype.is_complex() => apply_one(Reading::Conjugate, &[&x]),
        _ => Ok(x),
    }
}

/// y = the conjugate of x in memory of its own,  dy is that of dx,  x̄ that of ȳ
#[derive(Clone, Copy)]
pub struct ConjPhysical;

impl Elementwise for ConjPhysical {
    const NAME: &'static str = "conj_physical";
    const NODE: &'static str = "ConjPhysicalBackward0";
    const NODE_IN_PLACE: &'static str = "ConjPhysicalBackward1";
    const KEEPS: Keeps = Keeps::Nothing;
    const INTEGERS: Integers = Integers::Stay;
    const COMPLEX: bool = true;
    const COMPLEX_LOOPS: bool = true;
    const ANALYTIC: bool = false;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.conj()
    }

    fn chain(&self, _kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        conj_physical(t)
    }
}

/// The conjugates in memory of their own; the tensor itself if it is real.
pub fn conj_physical(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() { unary::apply(ConjPhysical, x) } else { Ok(x.clone()) }
}

/// `conj_physical` in place.
pub fn conj_physical_(x: &Tensor) -> Result<()> {
    if x.dtype().is_complex() {
        return unary::apply_in_place(ConjPhysical, x);
    }
    in_place::check(x, records(&[x]))?;
    x.bump_version()
}

/// The negatives, as a view of the memory.
pub fn negative_view(x: &Tensor) -> Result<Tensor> {
    match x.dtype() {
        DType::Float32 | DType::Float64 => apply_one(Reading::Negative, &[x]),
        _ => super::neg(x),
    }
}

/// The conjugates or negatives, as a view of the memory.
pub(crate) fn pending(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() { conj(x.clone()) } else { negative_view(x) }
}

/// The tensor itself if nothing is still to be done with its memory, else a copy with that done.
pub fn resolve(x: &Tensor) -> Result<Tensor> {
    if x.is_pending() { cast::clone(x) } else { Ok(x.clone()) }
}

/// The real parts, as a view of the memory; the tensor itself if it is real.
pub fn real(x: &Tensor) -> Result<Tensor> {
    if !x.dtype().is_complex() {
        return Ok(x.clone());
    }
    let x = if x.is_pending() { conj(x.clone())? } else { x.clone() };
    part::select(&view_as_real(&x)?, x.ndim() as i64, 0)
}

/// The imaginary parts, as a view of the memory.
pub fn imag(x: &Tensor) -> Result<Tensor> {
    if !x.dtype().is_complex() {
        return Err(Error::ImaginaryOfReal {}.into());
    }
    if x.is_pending() {
        return negative_view(&imag(&conj(x.clone())?)?);
    }
    part::select(&view_as_real(x)?, x.ndim() as i64, 1)
}

const YES_OR_NO: &[&str] = &["(Tensor input) -> bool"];

/// Whether a tensor shows the conjugates of what lies in its memory.
pub fn is_conj(x: &Tensor) -> bool {
    x.is_pending() && x.dtype().is_complex()
}

/// Whether a tensor shows the negatives of what lies in its memory.
pub fn is_neg(x: &Tensor) -> bool {
    x.is_pending() && !x.dtype().is_complex()
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function("real", ONE, "The real parts, as a view.", |a| of(a, real)),
    function("imag", ONE, "The imaginary parts, as a view.", |a| of(a, imag)),
    function(
        "view_as_real",
        ONE,
        "A view of complex numbers as pairs of real and imaginary parts in a last dimension of size two.",
        |a| of(a, view_as_real),
    ),
    function(
        "view_as_complex",
        ONE,
        "A view of pairs of numbers in a last dimension of size two as complex numbers.",
        |a| of(a, view_as_complex),
    ),
    both(
        "conj",
        ONE,
        "The complex conjugates, as a view whose conjugation is computed when it is needed.",
        |a| of(a, |x| conj(x.clone())),
    ),
    both("adjoint", ONE, "The conjugate transpose of matrices, as a view.", |a| {
        let x = a.tensor(0)?;
        match x.ndim() {
            0 => {
                warn_once(Error::AdjointOfNumber {})?;
                conj(x.clone()).reply()
            }
            1 => Err(Error::AdjointOfVector {}.into()),
            _ => permute::transpose(x, -2, -1).and_then(conj).reply(),
        }
    }),
    both(
        "resolve_conj",
        ONE,
        "The tensor with its pending conjugation computed, or itself if there is none.",
        |a| of(a, |x| if x.dtype().is_complex() { resolve(x) } else { Ok(x.clone()) }),
    ),
    both(
        "resolve_neg",
        ONE,
        "The tensor with its pending negation computed, or itself if there is none.",
        |a| of(a, |x| if x.dtype().is_complex() { Ok(x.clone()) } else { resolve(x) }),
    ),
    both(
        "_neg_view",
        ONE,
        "The negated elements, as a view whose negation is computed when it is needed.",
        |a| of(a, negative_view),
    )
    .operators(&[("NegViewBackward0", "_neg_view(Tensor(a) self) -> Tensor(a)")]),
    function("is_neg", YES_OR_NO, "Whether the negation of the tensor is pending.", |a| {
        Ok(is_neg(a.tensor(0)?).into())
    }),
    function("is_conj", YES_OR_NO, "Whether the conjugation of the tensor is pending.", |a| {
        Ok(is_conj(a.tensor(0)?).into())
    }),
    method(
        "_conj",
        ONE,
        "The complex conjugates, as a view whose conjugation is computed when it is needed.",
        |a| of(a, |x| conj(x.clone())),
    )
    .operators(&[("ConjBackward0", "_conj(Tensor(a) self) -> Tensor(a)")]),
    both(
        "conj_physical",
        ONE_OUT,
        "The complex conjugate of every element, computed into new memory.",
        |a| of(a, conj_physical),
    )
    .written(&OutPolicy::ALIGNED.unknown("conj_physical").typed(Types::Found)),
    both("conj_physical_", ONE, "Conjugates every element in place.", |a| {
        receiver(a, conj_physical_(a.tensor(0)?))
    }),
];
