//! Activations whose slope is drawn, or decided by half of the input.

use crate::dispatch::apply::portable;
use crate::dispatch::binary;
use crate::dispatch::modes::plain::{Row, plain};
use crate::dispatch::unary;
use crate::kernels::pointwise::math::{self, Arithmetic};
use crate::kernels::pointwise::zip;
use crate::kernels::vector::{self, Function};
use crate::ops::creation::cast;
use crate::ops::creation::create;
use crate::ops::geometry::part::Part;
use crate::ops::indexing::masked;
use crate::ops::neural::units::activation::Sigmoid;
use crate::ops::pointwise::arithmetic::Mul;
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select;
use crate::ops::reduction::truth;
use crate::schema::{Arguments, Entry, IntoReply, function, inner, receiver};
use smallvec::smallvec;
use std::mem::MaybeUninit;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::checkpointed::{self, CheckpointedOp};
use crate::dispatch::{batch, fixed, in_place};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, mode};
use crate::ops::geometry::{join, part};
use crate::ops::sampling::distribution::Distribution;
use crate::ops::sampling::random;
use crate::ops::sampling::random::Generator;
use crate::ops::{add, mul, sigmoid, sub};
use crate::shape::{self, Dims};
use crate::tensor::{Array, Tensor};

/// Every element, and negative ones times a number between the bounds: drawn for each in training,
/// else their mean.
pub fn rrelu(
    x: &Tensor,
    lower: f64,
    upper: f64,
    training: bool,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    drawn("RreluWithNoiseBackward0", x, (lower, upper), training, generator)
}

/// `rrelu`, recorded under this name.
fn drawn(
    node: &'static str,
    x: &Tensor,
    (lower, upper): (f64, f64),
    training: bool,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    if lower > upper {
        return Err(Error::RreluBounds {}.into());
    }
    let dtype = x.dtype();
    if !dtype.is_float() {
        let operation = if training { "rrelu_with_noise_out_cpu" } else { "leaky_relu_cpu" };
        return Err(Error::NotImplementedFor { operation, dtype }.into());
    }
    let shown = shown! { lower: Scalar::Float(lower), upper: Scalar::Float(upper), training: training };
    let plain = cast::contiguous(&x.detach())?;
    if !training {
        let slope = (lower + upper) / 2.0;
        let noise = fixed::map(&plain, move |x| if x > 0.0 { 1.0 } else { slope })?;
        return randomised(node, x, &noise, shown);
    }
    let _off = mode::GradModeGuard::off();
    let below = compare::le(&plain, 0)?;
    let uniform = Distribution::Uniform { low: lower, high: upper };
    if batch::is_mapping() {
        let factors = random::draw_like(&plain, x.dtype(), &uniform, generator)?;
        let noise = select::where_(&below, &factors, 1.0)?;
        drop(_off);
        return randomised(node, x, &noise, shown);
    }
    let count = truth::count_nonzero(&below, None)?.item()?.to_f64() as i64;
    let factors = random::draw(&[count], DType::Float64, &uniform, generator)?;
    let factors = cast::to_dtype(&factors, x.dtype())?;
    let noise = masked::masked_scatter(&create::ones_like(&plain)?, &below, &factors)?;
    drop(_off);
    randomised(node, x, &noise, shown)
}

/// The elements times factors that were drawn where they are not positive, and are one elsewhere. Nothing
/// is differentiated by these.
fn randomised(node: &'static str, x: &Tensor, noise: &Tensor, shown: Attributes) -> Result<Tensor> {
    let in_place = node == IN_PLACE;
    let names: &[&str] = if in_place { &["", "noise", "result"] } else { &["self", "noise", ""] };
    // The result lies as the factors do: in order.
    let parts = |inputs: &[&Tensor]| Ok(smallvec![mul(inputs[1], inputs[0])?]);
    let linear = u64::from(in_place);
    let operation =
        CheckpointedOp { shown, linear, ..CheckpointedOp::new("rrelu_with_noise", node, names, 1, parts) };
    checkpointed::apply_one(operation, &[x, noise])
}

/// What the node of `rrelu` in place is called. It keeps the result.
const IN_PLACE: &str = "RreluWithNoiseBackward1";

/// `rrelu` in place.
pub fn rrelu_(
    x: &Tensor,
    lower: f64,
    upper: f64,
    training: bool,
    generator: Option<&Generator>,
) -> Result<()> {
    in_place::through(x, &[], |x| drawn(IN_PLACE, x, (lower, upper), training, generator))
}

/// y = a σ(b) with the halves a and b of x along a dimension
///
/// dy = da σ(b) + a σ(b) (1 - σ(b)) db
#[derive(Clone)]
struct Glu {
    dim: i64,
    /// The dimension as the caller named it.
    given: i64,
    half: i64,
}

impl Glu {
    fn halves(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        Ok((part::narrow(x, self.dim, 0, self.half)?, part::narrow(x, self.dim, self.half, self.half)?))
    }

    /// σ(b), and a σ(b) (1 - σ(b)).
    fn slopes(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let (a, b) = self.halves(x)?;
        let gate = sigmoid(&b)?;
        let slope = mul(&a, &mul(&gate, &sub(1.0, &gate)?)?)?;
        Ok((gate, slope))
    }
}

/// Halves that lie in stretches of so many numbers are looked at stretch by stretch.
const LONG: usize = 32;

/// a σ(b), of b and then a.
#[derive(Clone, Copy)]
struct Gated;

impl Function<1> for Gated {
    #[inline(always)]
    fn at<A: Arithmetic>(&self, b: A, [a]: [A; 1]) -> A {
        a * math::sigmoid(b)
    }
}

impl Op for Glu {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["self"];

    fn name(&self) -> &'static str {
        "GluBackward0"
    }

    fn shown(&self, _saved: &SavedTensor) -> Attributes {
        shown! { dim: self.given }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (dim, length) = (self.dim as usize, self.half as usize);
        let x = &inputs[0];
        let stretch = length * x.layout.shape()[dim + 1..].iter().product::<usize>();
        if stretch >= LONG && x.layout.is_contiguous() {
            let mut shape: Dims = x.layout.shape().into();
            shape[dim] = length;
            let mut y = Array::uninit_shape(&shape, x.dtype)?;
            dispatch!(float x.dtype, T => {
                let x: &[T] = x.slice().unwrap_or_else(|| unreachable!("it lies in order"));
                let out: &mut [MaybeUninit<T>] = y.fresh();
                for (both, out) in x.chunks_exact(2 * stretch).zip(out.chunks_exact_mut(stretch)) {
                    let (a, b) = both.split_at(stretch);
                    vector::map(b, [a], out, Gated);
                }
            }, else { unreachable!("halves of other types were refused") });
            return Ok(smallvec![y]);
        }
        let half = |start: usize| Part::Slice { dim, start, length, step: 1 }.of(&inputs[0]);
        let (a, mut gate) = (half(0)?, unary::numbers(Sigmoid, &half(length)?)?);
        if gate.dtype != a.dtype || !gate.layout.is_contiguous() {
            return Ok(smallvec![binary::numbers(Mul, &a, &gate)?]);
        }
        // Where the gate is, the product may be.
        dispatch!(float gate.dtype, T => {
            zip::zip_in_place(gate.owned::<T>(), &a.strided::<T>(), |gate, a| a * gate);
        }, else { return Ok(smallvec![binary::numbers(Mul, &a, &gate)?]) });
        Ok(smallvec![gate])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.input(0)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (g, (gate, slope)) = (single(gradients), self.slopes(&at.load(saved)?)?);
        one(join::cat(&[&mul(g, &gate)?, &mul(g, &slope)?], self.dim)?)
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (gate, slope) = self.slopes(&at.load(saved)?)?;
        let (a, b) = self.halves(tangent(tangents))?;
        one(add(&mul(&a, &gate)?, &mul(&b, &slope)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Glu { dim: self.dim + 1, given: self.dim + 1, half: self.half })
    }
}

/// Half of a dimension, weighed by the logistic function of the other half.
pub fn glu(x: &Tensor, dim: i64) -> Result<Tensor> {
    if x.ndim() == 0 {
        return Err(Error::GluScalar {}.into());
    }
    let place = shape::normalize_dim(dim, x.ndim())?;
    let size = x.layout().shape()[place];
    if !size.is_multiple_of(2) {
        return Err(Error::HalvedSize { dim: place, size }.into());
    }
    if !x.dtype().is_float() {
        return Err(Error::NotImplementedFor { operation: "glu_cpu", dtype: x.dtype() }.into());
    }
    apply_one(Glu { dim: place as i64, given: dim, half: (size / 2) as i64 }, &[x])
}

const RANDOM: &[&str] = &[
    "(Tensor input, Number lower=0.125, Number upper=0.3333333333333333, bool training=False, Generator? generator=None)",
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "glu",
        &["(Tensor input, int dim=-1, *, Tensor out=None)"],
        "The gated linear unit: one half of a dimension times the sigmoid of the other half.",
        |a| glu(a.tensor(0)?, a.int(1)?).reply(),
    )
    .operators(&[("GluBackward0", "glu")]),
    function("rrelu", RANDOM, "The leaky rectified linear unit with a slope that is drawn at random when training.", |a| {
        let (x, lower, upper) = drawn_call(a)?;
        rrelu(x, lower, upper, a.boolean(3), a.generator(4).as_ref()).reply()
    })
    .operators(&[("RreluWithNoiseBackward0", "rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor")]),
    function("rrelu_", RANDOM, "`rrelu` in place.", |a| {
        let (x, lower, upper) = drawn_call(a)?;
        receiver(a, rrelu_(x, lower, upper, a.boolean(3), a.generator(4).as_ref()))
    }),
];

fn drawn_call(a: &dyn Arguments) -> Result<(&Tensor, f64, f64)> {
    Ok((a.tensor(0)?, super::parameter(a, 1)?.to_f64(), super::parameter(a, 2)?.to_f64()))
}

plain! {
    struct Glu { dim, given, half }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Glu>("glu")];
