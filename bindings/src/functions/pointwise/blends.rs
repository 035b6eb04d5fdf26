//! Products and quotients added to a tensor, ways between two, and elementwise functions with
//! arguments of their own.
use crate::calls::body::Call;
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, UnbatchedTarget, types};
use crate::error::raise;
use crate::functions::entries::{both, forms, function, in_place, inner, method};
use crate::values::arguments::Arguments;
use crate::values::returns::{Named, ToPython};
use pyo3::prelude::*;
use rushlight::dispatch::{binary, unary};
use rushlight::dtype::Scalar;
use rushlight::ops;
use rushlight::ops::composite::normal::Normal;
use rushlight::ops::pointwise::blend;
use rushlight::ops::pointwise::gamma::{mvlgamma, mvlgamma_, polygamma, polygamma_};
use rushlight::ops::pointwise::pairs::Xlogy;
use rushlight::ops::pointwise::representation;
use rushlight::ops::pointwise::special::{Entr, Erfcx, I0e, I1, I1e, Logit, NanToNum};
use rushlight::{Result, Tensor};

const ADDED: &[&str] = &[
    "(Tensor input, Number value, Tensor tensor1, Tensor tensor2, *, Tensor out=None)|deprecated",
    "(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1, Tensor out=None)",
];
const ADDED_IN_PLACE: &[&str] = &[
    "(Tensor input, Number value, Tensor tensor1, Tensor tensor2)|deprecated",
    "(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1)",
];
const LERP: &[&str] = &[
    "(Tensor input, Tensor end, Tensor weight, *, Tensor out=None)",
    "(Tensor input, Tensor end, Number weight, *, Tensor out=None)",
];
const LERP_IN_PLACE: &[&str] =
    &["(Tensor input, Tensor end, Tensor weight)", "(Tensor input, Tensor end, Number weight)"];
const CLEANED: &[&str] =
    &["(Tensor input, float? nan=None, float? posinf=None, float? neginf=None, *, Tensor out=None)"];
const CLEANED_IN_PLACE: &[&str] =
    &["(Tensor input, float? nan=None, float? posinf=None, float? neginf=None)"];
const LOGIT: &[&str] = &["(Tensor input, float? eps=None, *, Tensor out=None)"];
const TWO: &[&str] = &["(Tensor input, Tensor other, *, Tensor out=None)"];
const ONE: &[&str] = &["(Tensor input, *, Tensor out=None)"];
const MIXED: &[&str] = &[
    "(Tensor input, Tensor other, *, Tensor out=None)",
    "(Number self, Tensor other, *, Tensor out=None)",
    "(Tensor input, Number other, *, Tensor out=None)",
];
const SIGNED: &[&str] =
    &["(Tensor input, Tensor other, *, Tensor out=None)", "(Tensor input, Number other, *, Tensor out=None)"];

/// A special function of one tensor, reached as `special.…`.
const fn special(name: &'static str, doc: &'static str, call: Call) -> Function {
    inner(name, ONE, doc, call)
}

/// Operations of two tensors, or of a tensor and a number, and their in-place forms.
pub(in crate::functions) const PAIRS: &[Function] = FORMS.as_flattened();

const TWO_IN_PLACE: &[&str] = &["(Tensor input, Tensor other)"];
const MIXED_IN_PLACE: &[&str] = &["(Tensor input, Tensor other)", "(Tensor input, Number other)"];
const GAMMA: &[&str] = &["(Tensor input, int p, *, Tensor out=None)"];
const STEP: &[&str] = &["(Tensor input, Tensor values, *, Tensor out=None)"];
const STEP_IN_PLACE: &[&str] = &["(Tensor input, Tensor values)"];

const FORMS: &[[Function; 2]] = &[
    forms!(TWO TWO_IN_PLACE, "hypot", "hypot_", ops::hypot, ops::hypot_, "The hypotenuse of two legs.", &OutPolicy::ALIGNED),
    forms!(TWO TWO_IN_PLACE, "gcd", "gcd_", representation::gcd, representation::gcd_, "The greatest common divisor.", &OutPolicy::ALIGNED.unbatched_target(|_| UnbatchedTarget::Shape)),
    forms!(TWO TWO_IN_PLACE, "lcm", "lcm_", representation::lcm, representation::lcm_, "The least common multiple.", &OutPolicy::ALIGNED.unbatched_target(|_| UnbatchedTarget::Shape)),
    forms!(TWO TWO_IN_PLACE, "ldexp", "ldexp_", ops::ldexp, ops::ldexp_, "The elements times powers of two.", &OutPolicy::ALIGNED.typed(types::ldexp)),
    forms!(TWO TWO_IN_PLACE, "nextafter", "nextafter_", ops::nextafter, ops::nextafter_, "The numbers next to others.", &OutPolicy::ALIGNED),
    forms!(STEP STEP_IN_PLACE, "heaviside", "heaviside_", representation::heaviside, representation::heaviside_, "Zero below zero, one above, and a value there.", &OutPolicy::ALIGNED.unknown("heaviside").typed(types::heaviside)),
    forms!(MIXED MIXED_IN_PLACE, "xlogy", "xlogy_", ops::xlogy, ops::xlogy_, "The first operand times the logarithm of the second.", &OutPolicy::ALIGNED.out_as(|given| given.named(2, ".OutTensor", ".OutScalar_Other"))),
    forms!(SIGNED MIXED_IN_PLACE, "copysign", "copysign_", ops::copysign, ops::copysign_, "The magnitude of the first operand with the sign of the second.", &OutPolicy::ALIGNED.unbatched_target(|_| UnbatchedTarget::Shape).out_as(|given| given.named(2, ".out", ".Scalar_out"))),
];

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    both("addcmul", ADDED, "`input + value * tensor1 * tensor2`.", |a| added(a, blend::addcmul))
        .written(&OutPolicy::ALIGNED),
    method("addcmul_", ADDED_IN_PLACE, "`addcmul` in place.", |a| added_in_place(a, blend::addcmul_)),
    both("addcdiv", ADDED, "`input + value * tensor1 / tensor2`.", |a| added(a, blend::addcdiv))
        .written(&OutPolicy::ALIGNED),
    method("addcdiv_", ADDED_IN_PLACE, "`addcdiv` in place.", |a| added_in_place(a, blend::addcdiv_)),
    both("lerp", LERP, "The way from `input` to `end`, as much of it as `weight` says.", |a| {
        blend::lerp(a.tensor(0)?, a.tensor(1)?, a.operand(2)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED.out_as(|given| given.named(3, ".Tensor_out", ".Scalar_out"))),
    method("lerp_", LERP_IN_PLACE, "`lerp` in place.", |a| {
        in_place(a, blend::lerp_(a.tensor(0)?, a.tensor(1)?, a.operand(2)?))
    })
    .written(&OutPolicy::PLAIN.in_place_as(|given| given.named(2, ".Tensor", ".Scalar"))),
    both("nan_to_num", CLEANED, "The elements, and numbers in place of what is none.", |a| {
        unary::apply(cleaned(a)?, a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED.typed(types::cleaned)),
    both("nan_to_num_", CLEANED_IN_PLACE, "`nan_to_num` in place.", |a| {
        in_place(a, unary::apply_in_place(cleaned(a)?, a.tensor(0)?))
    }),
    both("logit", LOGIT, "The logarithm of the odds of every element.", |a| {
        unary::apply(Logit { eps: a.optional_float(1)? }, a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
    both("logit_", &["(Tensor input, float? eps=None)"], "`logit` in place.", |a| {
        in_place(a, unary::apply_in_place(Logit { eps: a.optional_float(1)? }, a.tensor(0)?))
    }),
    both("logaddexp", TWO, "The logarithm of the sum of the exponentials.", |a| {
        ops::logaddexp(a.operand(0)?, a.operand(1)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
    both("logaddexp2", TWO, "The logarithm to base two of the sum of powers of two.", |a| {
        ops::logaddexp2(a.operand(0)?, a.operand(1)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
    both("signbit", ONE, "Whether elements have a minus sign; zeros may have one.", |a| {
        representation::signbit(a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.once().unrecorded().typed(types::truth)),
    both("mvlgamma", GAMMA, "The logarithm of the gamma function of `p` dimensions.", |a| {
        mvlgamma(a.tensor(0)?, a.int(1)?).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.typed(types::mvlgamma)),
    method("mvlgamma_", &["(Tensor input, int p)"], "`mvlgamma` in place.", |a| {
        in_place(a, mvlgamma_(a.tensor(0)?, a.int(1)?))
    }),
    inner("special_multigammaln", GAMMA, "The logarithm of the gamma function of `p` dimensions.", |a| {
        mvlgamma(a.tensor(0)?, a.int(1)?).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.refused_as("mvlgamma").typed(types::mvlgamma)),
    both(
        "frexp",
        &["(Tensor input, *, Tensor[] out=None) -> return_types.frexp"],
        "The mantissas and the exponents of the elements.",
        |a| {
            let elements = representation::frexp(a.tensor(0)?).map_err(raise)?;
            Named { class: "frexp", elements }.answer(a.py())
        },
    )
    .written(&OutPolicy::PLAIN.once().typed(types::mantissa)),
    function(
        "polygamma",
        &["(int n, Tensor input, *, Tensor out=None)"],
        "A derivative of the digamma function.",
        |a| polygamma(a.int(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::ALIGNED),
    method("polygamma", &["(Tensor input, int n)"], "A derivative of the digamma function.", |a| {
        polygamma(a.int(1)?, a.tensor(0)?).answer(a.py())
    }),
    method("polygamma_", &["(Tensor input, int n)"], "`polygamma` in place.", |a| {
        in_place(a, polygamma_(a.int(1)?, a.tensor(0)?))
    }),
    special("special_entr", "The entropy of every element.", |a| {
        unary::apply(Entr, a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
    special("special_erfcx", "The complementary error function, scaled.", |a| {
        unary::apply(Erfcx, a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
    special("special_log_ndtr", "The logarithm of the probability of normal numbers.", |a| {
        Normal::LogProbability.of(a.tensor(0)?).answer(a.py())
    }),
    special("special_ndtri", "The number that normal numbers are below with a probability.", |a| {
        Normal::Quantile.of(a.tensor(0)?).answer(a.py())
    }),
    special("special_i0e", "The modified Bessel function of order zero, scaled.", |a| {
        unary::apply(I0e, a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
    special("special_i1", "The modified Bessel function of order one.", |a| {
        unary::apply(I1, a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
    special("special_i1e", "The modified Bessel function of order one, scaled.", |a| {
        unary::apply(I1e, a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
    inner("special_xlog1py", MIXED, "The first operand times `log1p` of the second.", |a| {
        binary::apply(Xlogy::<true>, a.operand(0)?, a.operand(1)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
];

fn added(
    a: &Arguments<'_, '_>,
    operation: fn(&Tensor, &Tensor, &Tensor, Scalar) -> Result<Tensor>,
) -> PyResult<Py<PyAny>> {
    operation(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.number(3)?).answer(a.py())
}

fn added_in_place(
    a: &Arguments<'_, '_>,
    operation: fn(&Tensor, &Tensor, &Tensor, Scalar) -> Result<()>,
) -> PyResult<Py<PyAny>> {
    in_place(a, operation(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.number(3)?))
}

fn cleaned(a: &Arguments<'_, '_>) -> PyResult<NanToNum> {
    let (nan, positive, negative) = (a.optional_float(1)?, a.optional_float(2)?, a.optional_float(3)?);
    Ok(NanToNum { nan: nan.unwrap_or(0.0), positive, negative })
}
