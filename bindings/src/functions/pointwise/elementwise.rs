//! Elementwise operations that the engine's lists do not have: comparisons, logic, division with
//! rounding, and choices.
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, UnbatchedTarget, types};
use crate::calls::writes::warn_repeated;
use crate::error::raise;
use crate::functions::entries::{both, forms, function, in_own_order, in_place, method};
use crate::interpreter::warnings::Once;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dispatch::{binary, operand, unary};
use rushlight::dtype::DType;
use rushlight::ops::Operand;
use rushlight::ops::indexing::nonzero;
use rushlight::ops::pointwise::arithmetic::Rsub;
use rushlight::ops::pointwise::compare;
use rushlight::ops::pointwise::compare::Tolerance;
use rushlight::ops::pointwise::division;
use rushlight::ops::pointwise::division::Rounding;
use rushlight::ops::pointwise::logical;
use rushlight::ops::pointwise::logical::{BitAnd, BitNot, BitOr, BitXor, ShiftDown, ShiftUp};
use rushlight::ops::pointwise::{power, rounding, select};
use rushlight::{Result, Tensor};
use std::ffi::CStr;

const BYTE_CONDITION: &CStr = c"where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of PyTorch. Use a boolean condition instead.";
const COMPARED: &[&str] =
    &["(Tensor input, Tensor other, *, Tensor out=None)", "(Tensor input, Number other, *, Tensor out=None)"];
const COMPARED_IN_PLACE: &[&str] = &["(Tensor input, Tensor other)", "(Tensor input, Number other)"];
const TENSORS: &[&str] = &["(Tensor input, Tensor other, *, Tensor out=None)"];
const TENSORS_IN_PLACE: &[&str] = &["(Tensor input, Tensor other)"];
const OPERANDS: &[&str] = &["(Tensor|Number input, Tensor|Number other, *, Tensor out=None)"];
const OPERANDS_IN_PLACE: &[&str] = &["(Tensor input, Tensor|Number other)"];
/// Numbers have an overload of their own, which is told; operands of the first may be numbers all the same.
const OPERAND_OR_NUMBER: &[&str] =
    &["(Tensor|Number input, Tensor|Number other, *, Tensor out=None)", "(Tensor input, Number other)"];
const OPERAND_OR_NUMBER_IN_PLACE: &[&str] =
    &["(Tensor input, Tensor|Number other)", "(Tensor input, Number other)"];
const ONE_TENSOR: &[&str] = &[
    "(Tensor input, Tensor other, *, Tensor out=None)",
    "(Number self, Tensor other)",
    "(Tensor input, Number other, *, Tensor out=None)",
];
const RAISED: &[&str] = &[
    "(Tensor input, Tensor exponent, *, Tensor out=None)",
    "(Number self, Tensor exponent, *, Tensor out=None)",
    "(Tensor input, Number exponent, *, Tensor out=None)",
];
const RAISED_IN_PLACE: &[&str] = &["(Tensor input, Tensor exponent)", "(Tensor input, Number exponent)"];
const REVERSED: &[&str] =
    &["(Tensor input, Tensor other, *, Number alpha=1)", "(Tensor input, Number other, Number alpha=1)"];
const ONE: &[&str] = &["(Tensor input, *, Tensor out=None)"];
const ONE_IN_PLACE: &[&str] = &["(Tensor input)"];
const DIVIDED: &[&str] = &[
    "(Tensor|Number input, Tensor|Number other, *, Tensor out=None)",
    "(Tensor|Number input, Tensor|Number other, *, str? rounding_mode, Tensor out=None)",
    "(Tensor input, Number other, *, str? rounding_mode)",
];
const DIVIDED_IN_PLACE: &[&str] = &[
    "(Tensor input, Tensor|Number other)",
    "(Tensor input, Tensor|Number other, *, str? rounding_mode)",
    "(Tensor input, Number other, *, str? rounding_mode)",
];
/// `divide` tells of one more than `div`.
const DIVIDE: &[&str] = &[DIVIDED[0], DIVIDED[1], "(Tensor input, Number other)", DIVIDED[2]];
const DIVIDE_IN_PLACE: &[&str] =
    &[DIVIDED_IN_PLACE[0], DIVIDED_IN_PLACE[1], "(Tensor input, Number other)", DIVIDED_IN_PLACE[2]];
const ROUNDED: &[&str] =
    &["(Tensor input, *, Tensor out=None)", "(Tensor input, *, int decimals, Tensor out=None)"];
const ROUNDED_IN_PLACE: &[&str] = &["(Tensor input)", "(Tensor input, *, int decimals)"];
const MASKED: &[&str] =
    &["(Tensor input, Tensor mask, Tensor value)", "(Tensor input, Tensor mask, Number value)"];
const NEAR: &[&str] =
    &["(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False)"];

/// How operations write that have overloads, or rules for batches, of their own.
const CALCULATED: OutPolicy =
    OutPolicy::ALIGNED.in_place_as(|_| ".Tensor").unbatched_target(|_| UnbatchedTarget::Arithmetic);
const BITWISE: OutPolicy = OutPolicy::ALIGNED.overloaded().unbatched_target(|_| UnbatchedTarget::Shape);
const SHIFTED: OutPolicy = BITWISE
    .in_place_as(|given| given.named(1, ".Tensor", ".Tensor_Scalar"))
    .out_as(|given| given.named(2, ".Tensor_out", ".Tensor_Scalar_out"));
const MASKED_OVER: OutPolicy =
    OutPolicy::PLAIN.in_place_as(|given| given.named(2, ".Tensor", ".Scalar")).unbatched_target(|given| {
        if given.tensors.len() < 2 { UnbatchedTarget::Arithmetic } else { UnbatchedTarget::Fallback }
    });

/// Both operands.
fn pair<'a>(a: &Arguments<'a, '_>) -> PyResult<(Operand<'a>, Operand<'a>)> {
    Ok((a.operand(0)?, a.operand(1)?))
}

/// The tensor that is changed and the other operand.
fn target<'a>(a: &Arguments<'a, '_>) -> PyResult<(&'a Tensor, Operand<'a>)> {
    Ok((a.tensor(0)?, a.operand(1)?))
}

/// `forms` of an operation of one tensor.
macro_rules! one {
    ($name:literal, $underscored:literal, $call:expr, $change:expr, $doc:literal, $policy:expr) => {
        one!($name, $underscored, $call, $change, $doc, $policy, in_place)
    };
    ($name:literal, $underscored:literal, $call:expr, $change:expr, $doc:literal, $policy:expr, $answer:ident) => {
        [
            both($name, ONE, $doc, |a| $call(a.tensor(0)?).answer(a.py())).written($policy),
            both($underscored, ONE_IN_PLACE, concat!($doc, " In place."), |a| {
                $answer(a, $change(a.tensor(0)?))
            }),
        ]
    };
}

fn divided(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (p, q) = pair(a)?;
    let quotient = rounding(a)?.and_then(|rounding| match rounding {
        None => rushlight::ops::div(p, q),
        Some(rounding) => division::div_rounded(p, q, rounding),
    });
    quotient.answer(a.py())
}

fn divided_in_place(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (x, q) = target(a)?;
    let written = rounding(a)?.and_then(|rounding| match rounding {
        None => rushlight::ops::div_(x, q),
        Some(rounding) => division::div_rounded_(x, q, rounding),
    });
    in_place(a, written)
}

/// How quotients are rounded. An unknown way is refused as the operation is, which torch does after others.
fn rounding(a: &Arguments<'_, '_>) -> PyResult<Result<Option<Rounding>>> {
    let name = if a.overload() == 1 { a.optional_text(2)? } else { None };
    Ok(name.map(|name| Rounding::named(&name)).transpose())
}

fn rounded(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let x = a.tensor(0)?;
    match a.overload() {
        0 => rushlight::ops::round(x),
        _ => rounding::round_decimals(x, a.int(1)?),
    }
    .answer(a.py())
}

fn rounded_in_place(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let x = a.tensor(0)?;
    let result = match a.overload() {
        0 => rushlight::ops::round_(x),
        _ => rounding::round_decimals_(x, a.int(1)?),
    };
    in_place(a, result)
}

fn chosen(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    match a.overload() {
        0 => nonzero::chosen(a.tensor(0)?).answer(a.py()),
        _ if a.tensor(0)?.dtype() == DType::UInt8 => {
            static TOLD: Once = Once::new();
            TOLD.warn(a.py(), BYTE_CONDITION)?;
            select::where_(a.tensor(0)?, a.operand(1)?, a.operand(2)?).answer(a.py())
        }
        _ => select::where_(a.tensor(0)?, a.operand(1)?, a.operand(2)?).answer(a.py()),
    }
}

fn chosen_method(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    select::where_(a.tensor(1)?, a.operand(0)?, a.operand(2)?).answer(a.py())
}

fn near(a: &Arguments<'_, '_>) -> PyResult<Tolerance> {
    Ok(Tolerance { rtol: a.float(2)?, atol: a.float(3)?, equal_nan: a.boolean(4) })
}

fn bit_not(x: &Tensor) -> Result<Tensor> {
    unary::apply(BitNot, x)
}

/// Entries with arguments of their own.
pub(in crate::functions) const CHOICES: &[Function] = &[
    both("div", DIVIDED, "The quotient of two operands, rounded if wanted.", divided).written(&CALCULATED),
    method("div_", DIVIDED_IN_PLACE, "Divides in place.", divided_in_place).written(&CALCULATED),
    both("divide", DIVIDE, "The quotient of two operands, rounded if wanted.", divided)
        .written(&OutPolicy::ALIGNED.refused_as("div")),
    method("divide_", DIVIDE_IN_PLACE, "Divides in place.", divided_in_place).written(&CALCULATED),
    both("round", ROUNDED, "Every element rounded, halves to even ones.", rounded)
        .written(&OutPolicy::ALIGNED.typed(types::found)),
    both("round_", ROUNDED_IN_PLACE, "Rounds every element, halves to even ones.", rounded_in_place),
    both("masked_fill", MASKED, "The elements, and a value where the mask holds.", |a| {
        select::masked_fill(a.tensor(0)?, a.tensor(1)?, a.operand(2)?).answer(a.py())
    }),
    method("masked_fill_", MASKED, "Puts a value where the mask holds.", |a| {
        warn_repeated(a.py(), a.tensor(0)?, "masked_fill_", "tensor[mask] = scalar")?;
        in_place(a, select::masked_fill_(a.tensor(0)?, a.tensor(1)?, a.operand(2)?))
    })
    .written(&MASKED_OVER),
    function(
        "where",
        &[
            "(Tensor condition) -> tuple[Tensor, ...]",
            "(Tensor condition, Tensor input, Tensor other, *, Tensor out=None)",
            "(Tensor condition, Number self, Tensor other)",
            "(Tensor condition, Tensor input, Number other)",
            "(Tensor condition, Number self, Number other)",
        ],
        "Elements of one operand where the condition holds, of the other elsewhere.",
        chosen,
    )
    .written(&OutPolicy::ALIGNED.typed(types::chosen).out_as(|_| ".self_out")),
    method(
        "where",
        &["(Tensor input, Tensor condition, Tensor other)", "(Tensor input, Tensor condition, Number other)"],
        "The elements where the condition holds, others elsewhere.",
        chosen_method,
    ),
    both("isclose", NEAR, "Whether elements are nearly equal.", |a| {
        compare::isclose(a.tensor(0)?, a.tensor(1)?, near(a)?).answer(a.py())
    }),
    both(
        "allclose",
        &["(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool"],
        "Whether all elements are nearly equal.",
        |a| compare::allclose(a.tensor(0)?, a.tensor(1)?, near(a)?).answer(a.py()),
    ),
    function(
        "result_type",
        &[
            "(Tensor tensor, Tensor other) -> dtype",
            "(Number scalar, Tensor tensor) -> dtype",
            "(Tensor tensor, Number other) -> dtype",
            "(Number scalar1, Number scalar2) -> dtype",
        ],
        "The element type in which two operands are calculated.",
        |a| operand::result_dtype(a.operand(0)?, a.operand(1)?).map_err(raise)?.answer(a.py()),
    ),
    both("equal", &["(Tensor input, Tensor other) -> bool"], "Whether shapes and elements are equal.", |a| {
        compare::equal(a.tensor(0)?, a.tensor(1)?).answer(a.py())
    }),
    both("positive", &["(Tensor input)"], "The tensor itself.", |a| {
        rounding::positive(a.tensor(0)?).answer(a.py())
    }),
];

/// Operations that do not take any two operands.
pub(in crate::functions) const STRICT: &[Function] = &[
    both("maximum", TENSORS, "The greater of two elements.", |a| {
        pair(a).and_then(|(p, q)| rushlight::ops::maximum(p, q).answer(a.py()))
    })
    .written(&OutPolicy::ALIGNED),
    both("minimum", TENSORS, "The lesser of two elements.", |a| {
        pair(a).and_then(|(p, q)| rushlight::ops::minimum(p, q).answer(a.py()))
    })
    .written(&OutPolicy::ALIGNED),
    both("fmax", TENSORS, "The greater of two elements, of which one may not be a number.", |a| {
        pair(a).and_then(|(p, q)| rushlight::ops::fmax(p, q).answer(a.py()))
    })
    .written(&OutPolicy::ALIGNED),
    both("fmin", TENSORS, "The lesser of two elements, of which one may not be a number.", |a| {
        pair(a).and_then(|(p, q)| rushlight::ops::fmin(p, q).answer(a.py()))
    })
    .written(&OutPolicy::ALIGNED),
    function("rsub", REVERSED, "The difference of `other` and `alpha * input`.", |a| {
        let (p, q) = pair(a)?;
        binary::apply(Rsub { alpha: a.number(2)? }, p, q).answer(a.py())
    }),
];

/// Questions about every element.
pub(in crate::functions) const TESTS: &[Function] = &[
    both("isnan", &["(Tensor input)"], "Whether elements are not numbers.", |a| {
        compare::isnan(a.tensor(0)?).answer(a.py())
    }),
    both("isinf", &["(Tensor input)"], "Whether elements are infinite.", |a| {
        compare::isinf(a.tensor(0)?).answer(a.py())
    }),
    both("isfinite", &["(Tensor input)"], "Whether elements are finite numbers.", |a| {
        compare::isfinite(a.tensor(0)?).answer(a.py())
    }),
    both("isposinf", ONE, "Whether elements are infinitely great.", |a| {
        compare::isposinf(a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.once().unrecorded().typed(types::truth)),
    both("isneginf", ONE, "Whether elements are infinitely little.", |a| {
        compare::isneginf(a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.once().unrecorded().typed(types::truth)),
];

/// Operations and their in-place forms.
pub(in crate::functions) const PAIRS: &[Function] = FORMS.as_flattened();

const FORMS: &[[Function; 2]] = &[
    forms!(COMPARED COMPARED_IN_PLACE, "eq", "eq_", compare::eq, compare::eq_, "Whether elements are equal.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "ne", "ne_", compare::ne, compare::ne_, "Whether elements differ.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "not_equal", "not_equal_", compare::ne, compare::ne_, "Whether elements differ.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "lt", "lt_", compare::lt, compare::lt_, "Whether elements are less.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "less", "less_", compare::lt, compare::lt_, "Whether elements are less.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "le", "le_", compare::le, compare::le_, "Whether elements are not greater.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "less_equal", "less_equal_", compare::le, compare::le_, "Whether elements are not greater.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "gt", "gt_", compare::gt, compare::gt_, "Whether elements are greater.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "greater", "greater_", compare::gt, compare::gt_, "Whether elements are greater.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "ge", "ge_", compare::ge, compare::ge_, "Whether elements are not less.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "greater_equal", "greater_equal_", compare::ge, compare::ge_, "Whether elements are not less.", &OutPolicy::COMPARED.overloaded()),
    forms!(TENSORS TENSORS_IN_PLACE, "logical_and", "logical_and_", logical::and, logical::and_, "Whether both elements hold.", &OutPolicy::COMPARED.unbatched_target(|_| UnbatchedTarget::Arithmetic), in_own_order),
    forms!(TENSORS TENSORS_IN_PLACE, "logical_or", "logical_or_", logical::or, logical::or_, "Whether either element holds.", &OutPolicy::COMPARED.unbatched_target(|_| UnbatchedTarget::Arithmetic), in_own_order),
    forms!(TENSORS TENSORS_IN_PLACE, "logical_xor", "logical_xor_", logical::xor, logical::xor_, "Whether one of two elements holds.", &OutPolicy::COMPARED.unbatched_target(|_| UnbatchedTarget::Arithmetic), in_own_order),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_and", "bitwise_and_", |p, q| binary::apply(BitAnd, p, q), |x, q| binary::apply_in_place(BitAnd, x, q), "The bits that both have.", &BITWISE),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_or", "bitwise_or_", |p, q| binary::apply(BitOr, p, q), |x, q| binary::apply_in_place(BitOr, x, q), "The bits that either has.", &BITWISE),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_xor", "bitwise_xor_", |p, q| binary::apply(BitXor, p, q), |x, q| binary::apply_in_place(BitXor, x, q), "The bits that one of two has.", &BITWISE),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_left_shift", "bitwise_left_shift_", |p, q| binary::apply(ShiftUp, p, q), |x, q| binary::apply_in_place(ShiftUp, x, q), "The bits moved up.", &SHIFTED),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_right_shift", "bitwise_right_shift_", |p, q| binary::apply(ShiftDown, p, q), |x, q| binary::apply_in_place(ShiftDown, x, q), "The bits moved down.", &SHIFTED),
    forms!(OPERAND_OR_NUMBER OPERAND_OR_NUMBER_IN_PLACE, "floor_divide", "floor_divide_", division::floor_divide, division::floor_divide_, "The quotient rounded down.", &OutPolicy::ALIGNED.unknown("floor_divide").in_place_as(|_| ".Tensor")),
    forms!(OPERAND_OR_NUMBER OPERAND_OR_NUMBER_IN_PLACE, "true_divide", "true_divide_", rushlight::ops::div, rushlight::ops::div_, "The quotient.", &CALCULATED.refused_as("div")),
    forms!(OPERANDS OPERANDS_IN_PLACE, "mul", "mul_", rushlight::ops::mul, rushlight::ops::mul_, "The product of two operands.", &CALCULATED, in_own_order),
    forms!(OPERAND_OR_NUMBER OPERAND_OR_NUMBER_IN_PLACE, "multiply", "multiply_", rushlight::ops::mul, rushlight::ops::mul_, "The product.", &CALCULATED.refused_as("mul")),
    forms!(TENSORS TENSORS_IN_PLACE, "atan2", "atan2_", rushlight::ops::atan2, rushlight::ops::atan2_, "The angle of the points whose coordinates are `other` and `input`.", &OutPolicy::ALIGNED.unbatched_target(|_| UnbatchedTarget::Shape)),
    forms!(TENSORS TENSORS_IN_PLACE, "arctan2", "arctan2_", rushlight::ops::atan2, rushlight::ops::atan2_, "The angle of the points whose coordinates are `other` and `input`.", &OutPolicy::ALIGNED.refused_as("atan2").unbatched_target(|_| UnbatchedTarget::Shape)),
    forms!(COMPARED COMPARED_IN_PLACE, "fmod", "fmod_", rushlight::ops::fmod, rushlight::ops::fmod_, "What a division rounded towards zero leaves over.", &OutPolicy::ALIGNED.overloaded()),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "remainder", "remainder_", rushlight::ops::remainder, rushlight::ops::remainder_, "What a division rounded down leaves over.", &OutPolicy::ALIGNED.overloaded()),
    forms!(RAISED RAISED_IN_PLACE, "pow", "pow_", rushlight::ops::pow, rushlight::ops::pow_, "The first operand to the power of the second.", &OutPolicy::ALIGNED.overloaded().out_of_pairs()),
    one!(
        "abs",
        "abs_",
        rushlight::ops::abs,
        rushlight::ops::abs_,
        "The magnitude of every element.",
        &OutPolicy::ALIGNED.typed(types::found_of_same)
    ),
    one!(
        "arcsin",
        "arcsin_",
        rushlight::ops::asin,
        rushlight::ops::asin_,
        "The angle whose sine every element is.",
        &OutPolicy::ALIGNED.refused_as("asin")
    ),
    one!(
        "arccos",
        "arccos_",
        rushlight::ops::acos,
        rushlight::ops::acos_,
        "The angle whose cosine every element is.",
        &OutPolicy::ALIGNED.refused_as("acos")
    ),
    one!(
        "arctan",
        "arctan_",
        rushlight::ops::atan,
        rushlight::ops::atan_,
        "The angle whose tangent every element is.",
        &OutPolicy::ALIGNED.refused_as("atan")
    ),
    one!(
        "arcsinh",
        "arcsinh_",
        rushlight::ops::asinh,
        rushlight::ops::asinh_,
        "The number whose hyperbolic sine every element is.",
        &OutPolicy::ALIGNED.refused_as("asinh")
    ),
    one!(
        "arccosh",
        "arccosh_",
        rushlight::ops::acosh,
        rushlight::ops::acosh_,
        "The number whose hyperbolic cosine every element is.",
        &OutPolicy::ALIGNED.refused_as("acosh")
    ),
    one!(
        "arctanh",
        "arctanh_",
        rushlight::ops::atanh,
        rushlight::ops::atanh_,
        "The number whose hyperbolic tangent every element is.",
        &OutPolicy::ALIGNED.refused_as("atanh")
    ),
    one!(
        "logical_not",
        "logical_not_",
        logical::not,
        logical::not_,
        "Whether elements do not hold.",
        &OutPolicy::COMPARED,
        in_own_order
    ),
    one!(
        "bitwise_not",
        "bitwise_not_",
        bit_not,
        |x| unary::apply_in_place(BitNot, x),
        "The bits turned round.",
        &OutPolicy::ALIGNED.typed(types::found)
    ),
    one!(
        "square",
        "square_",
        power::square,
        power::square_,
        "The square of every element.",
        &OutPolicy::ALIGNED.refused_as("pow")
    ),
    one!(
        "absolute",
        "absolute_",
        rushlight::ops::abs,
        rushlight::ops::abs_,
        "The magnitude of every element.",
        &OutPolicy::ALIGNED.refused_as("abs").typed(types::found_of_same)
    ),
    one!(
        "negative",
        "negative_",
        rushlight::ops::neg,
        rushlight::ops::neg_,
        "Every element with its sign turned round.",
        &OutPolicy::ALIGNED.refused_as("neg").typed(types::found)
    ),
    one!(
        "fix",
        "fix_",
        rushlight::ops::trunc,
        rushlight::ops::trunc_,
        "Every element without what is behind the point.",
        &OutPolicy::ALIGNED.refused_as("trunc").typed(types::found)
    ),
];
