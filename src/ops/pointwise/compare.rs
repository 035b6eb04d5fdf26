//! Comparisons and predicates: truth values of elements. Gradients do not pass them; in place, where
//! the truth values become numbers, the gradient is zero.

mod directly;
mod entries;
mod portable;
mod predicates;

use crate::dispatch::in_place::Write;
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::{Numbers, Operand, Value, result_type};
use crate::dispatch::{batch, binary, in_place, long_work};
use crate::dtype::{Bool, Complex, DType, Element, Ordered, Real};
use crate::error::{Error, Result};
use crate::graph::mode;
use crate::kernels::interrupt;
use crate::ops;
use crate::ops::creation::{cast, copy};
use crate::schema::signatures::{COMPARED, COMPARED_IN_PLACE, ONE, ONE_OUT};
use crate::schema::{Arguments, Entry, IntoReply, Operator, OutPolicy, Types, both, forms, of};
use crate::shape;
use crate::tensor::{Array, Tensor};
pub use entries::{ENTRIES, OPERATORS, PAIRS};
pub use portable::ROWS;
pub use predicates::{isfinite, isinf, isnan, isneginf, isposinf, isreal};

/// The questions that elements are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Question {
    /// The name in error messages.
    fn name(self) -> &'static str {
        match self {
            Question::Equal => "eq_cpu",
            Question::NotEqual => "ne_cpu",
            Question::Less => "lt_cpu",
            Question::LessEqual => "le_cpu",
            Question::Greater => "gt_cpu",
            Question::GreaterEqual => "ge_cpu",
        }
    }
}

/// Refuses complex numbers, which have no order.
pub(crate) fn check_ordered(x: &Tensor, operation: &'static str) -> Result<()> {
    match x.dtype().is_complex() {
        true => Err(Error::NotImplementedFor { operation, dtype: x.dtype() }.into()),
        false => Ok(()),
    }
}

/// The operand with elements of the type in which it is compared, numbers included.
fn in_type(numbers: Numbers, dtype: DType) -> Result<Numbers> {
    Ok(match numbers {
        Numbers::Array(array) => Numbers::Array(copy::as_type_in_order(&array, dtype)?.into_owned()),
        Numbers::Scalar(scalar) => {
            Numbers::Scalar(dispatch!(stored dtype, T => scalar.to::<T>().to_scalar()))
        }
    })
}

/// Complex numbers in double precision: comparisons are compiled for these only.
fn in_wide(numbers: Numbers) -> Result<Numbers> {
    in_type(numbers, DType::Complex128)
}

/// Whether elements are equal, if that is `wanted`, or else whether they differ.
fn same<T: Element>(wanted: bool, a: &Numbers, b: &Numbers) -> Result<Array> {
    binary::combine::<T, Bool>(a, b, move |a, b| Bool::new((a == b) == wanted))
}

fn ask<T: Ordered>(question: Question, a: &Numbers, b: &Numbers) -> Result<Array> {
    match question {
        Question::Equal | Question::NotEqual => same::<T>(question == Question::Equal, a, b),
        Question::Less => binary::combine::<T, Bool>(a, b, |a, b| Bool::new(a < b)),
        Question::LessEqual => binary::combine::<T, Bool>(a, b, |a, b| Bool::new(a <= b)),
        Question::Greater => ask_turned::<T>(Question::Less, a, b),
        Question::GreaterEqual => ask_turned::<T>(Question::LessEqual, a, b),
    }
}

/// `ask` of the second operand and the first. The answers lie, and what does not fit is told of, as asked here.
fn ask_turned<T: Ordered>(question: Question, a: &Numbers, b: &Numbers) -> Result<Array> {
    match ask::<T>(question, b, a) {
        Ok(y) => binary::settled_beside(y, [a, b]),
        Err(error) => shape::broadcast(a.shape(), b.shape()).and(Err(error)),
    }
}

/// What the numbers of two operands answer.
pub(crate) fn numbers(question: Question, a: impl Into<Numbers>, b: impl Into<Numbers>) -> Result<Array> {
    answers(question, a.into(), b.into())
}

fn answers(question: Question, a: Numbers, b: Numbers) -> Result<Array> {
    let dtype = result_type([&a, &b])?;
    let (a, b) = (in_type(a, dtype)?, in_type(b, dtype)?);
    // The narrow types share the kernels of wider ones.
    match dtype {
        DType::Bool | DType::UInt8 => ask::<u8>(question, &a, &b),
        DType::Int8 | DType::Int16 | DType::Int32 => ask::<i32>(question, &a, &b),
        DType::Int64 => ask::<i64>(question, &a, &b),
        DType::Float32 | DType::Float16 | DType::BFloat16 => ask::<f32>(question, &a, &b),
        DType::UInt16 => ask::<i32>(question, &a, &b),
        DType::UInt32 => ask::<i64>(question, &a, &b),
        DType::UInt64 => ask::<u64>(question, &a, &b),
        dtype if dtype.is_float8() => ask::<f32>(question, &a, &b),
        DType::Float64 => ask::<f64>(question, &a, &b),
        _ if !matches!(question, Question::Equal | Question::NotEqual) => {
            Err(Error::NotImplementedFor { operation: question.name(), dtype }.into())
        }
        DType::Complex64 => {
            let (a, b) = (in_type(a, dtype)?, in_type(b, dtype)?);
            same::<Complex<f32>>(question == Question::Equal, &a, &b)
        }
        _ => same::<Complex<f64>>(question == Question::Equal, &in_wide(a)?, &in_wide(b)?),
    }
}

/// A comparison of two operands.
fn compare<'a>(question: Question, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    let (a, b) = (a.into(), b.into());
    if let Some(y) = batch::compared(a, b, |a, b| compare(question, a, b)) {
        return y;
    }
    let operator = question.name().trim_end_matches("_cpu");
    if mode::special()
        && let Some(y) = intercept::of_value(operator, &[a, b], question)
    {
        return y;
    }
    Ok(Tensor::unrecorded(answers(question, a.numbers(), b.numbers())?, a.standing().and(b.standing())))
}

/// Whether elements are equal.
pub fn eq<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    compare(Question::Equal, a, b)
}

/// Whether elements differ.
pub fn ne<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    compare(Question::NotEqual, a, b)
}

/// Whether elements of the first are less.
pub fn lt<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    compare(Question::Less, a, b)
}

/// Whether elements of the first are less or equal.
pub fn le<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    compare(Question::LessEqual, a, b)
}

/// Whether elements of the first are greater.
pub fn gt<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    compare(Question::Greater, a, b)
}

/// Whether elements of the first are greater or equal.
pub fn ge<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    compare(Question::GreaterEqual, a, b)
}

/// Overwrites `x` with values through which no gradient passes. `name` is torch's of the node.
pub(crate) fn overwrite(x: &Tensor, values: &Tensor, name: &'static str) -> Result<()> {
    if x.is_subclassed() {
        return cast::copy_(x, values);
    }
    let write = Write::begin(&[x])?;
    in_place::check_result(x, values)?;
    if let Some(mapping) = batch::highest([x, values]) {
        batch::write(x, values, &mapping, "inplace arithmetic")?;
    } else {
        copy::write(&x.memory(), &values.array())?;
    }
    write.finish(|_| cast::Fill { name })
}

/// A comparison in place. torch's name of the node tells numbers from tensors.
fn compare_<'a>(
    question: Question,
    x: &Tensor,
    b: impl Into<Operand<'a>>,
    [number, tensor]: [&'static str; 2],
) -> Result<()> {
    let b = b.into();
    let values = compare(question, x, b)?;
    overwrite(x, &values, if matches!(b, Operand::Scalar(_)) { number } else { tensor })
}

/// `eq` in place.
pub fn eq_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    compare_(Question::Equal, x, b, ["EqBackward0", "EqBackward1"])
}

/// `ne` in place.
pub fn ne_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    compare_(Question::NotEqual, x, b, ["NeBackward0", "NeBackward1"])
}

/// `lt` in place.
pub fn lt_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    compare_(Question::Less, x, b, ["LtBackward0", "LtBackward1"])
}

/// `le` in place.
pub fn le_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    compare_(Question::LessEqual, x, b, ["LeBackward0", "LeBackward1"])
}

/// `gt` in place.
pub fn gt_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    compare_(Question::Greater, x, b, ["GtBackward0", "GtBackward1"])
}

/// `ge` in place.
pub fn ge_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    compare_(Question::GreaterEqual, x, b, ["GeBackward0", "GeBackward1"])
}

/// How near two numbers have to be.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// As a fraction of the second.
    pub rtol: f64,
    /// Apart from that.
    pub atol: f64,
    /// Whether two that are not numbers are near each other.
    pub equal_nan: bool,
}

impl Tolerance {
    /// The same for complex numbers, of which the distance counts.
    fn holds_complex(self, a: Complex<f64>, b: Complex<f64>) -> bool {
        let apart = (a - b).norm();
        let near = apart.is_finite() && apart <= self.atol + (self.rtol * b.norm()).abs();
        let nan = |x: Complex<f64>| x.re.is_nan() || x.im.is_nan();
        a == b || near || self.equal_nan && nan(a) && nan(b)
    }

    fn holds<T: Real>(self, a: T, b: T) -> bool {
        let (a, b): (f64, f64) = (a.as_(), b.as_());
        let apart = (a - b).abs();
        let near = apart.is_finite() && apart <= self.atol + (self.rtol * b).abs();
        a == b || near || self.equal_nan && a.is_nan() && b.is_nan()
    }
}

/// Whether |a - b| ≤ atol + rtol · |b|.
pub fn isclose(a: &Tensor, b: &Tensor, tolerance: Tolerance) -> Result<Tensor> {
    if a.dtype() != b.dtype() {
        return Err(Error::DTypesDiffer { left: a.dtype(), right: b.dtype() }.into());
    }
    for (argument, value) in [("rtol", tolerance.rtol), ("atol", tolerance.atol)] {
        if value < 0.0 || value.is_nan() {
            return Err(Error::NegativeTolerance { argument, value }.into());
        }
    }
    if let Some(y) = batch::both(a, b, |a, b| isclose(a, b, tolerance)) {
        return y;
    }
    let computed = move |operands: &[Value]| {
        let [a, b] = intercept::tensors(operands)[..] else { unreachable!("both are tensors") };
        isclose(a, b, tolerance)
    };
    if mode::special()
        && let Some(y) = intercept::of_subclass("isclose", &[a.into(), b.into()], computed)
    {
        return y;
    }
    let (a, b) = (Numbers::Array(a.array()), Numbers::Array(b.array()));
    let close = match result_type([&a, &b])?.wide() {
        DType::Float32 => binary::combine::<f32, Bool>(&a, &b, move |a, b| Bool::new(tolerance.holds(a, b))),
        dtype if dtype.is_complex() => {
            let holds = move |a, b| Bool::new(tolerance.holds_complex(a, b));
            binary::combine::<Complex<f64>, Bool>(&a, &b, holds)
        }
        _ => binary::combine::<f64, Bool>(&a, &b, move |a, b| Bool::new(tolerance.holds(a, b))),
    };
    Ok(Tensor::from_array(close?))
}

fn all(answers: &Tensor) -> Result<bool> {
    if recording::is_on() {
        // A truth value that the host's program may branch on.
        return Ok(ops::reduction::truth::all(answers, None, false)?.item()?.to_f64() != 0.0);
    }
    let answers = answers.array();
    long_work::patiently(answers.layout.numel() as u64 / 8, || match answers.slice::<Bool>() {
        Some(answers) => Ok(answers.chunks(1 << 20).all(|answers| {
            interrupt::unwind_if_due();
            answers.iter().all(|answer| answer.get())
        })),
        None => Ok(answers.view::<Bool>().iter().all(|answer| answer.get())),
    })
}

/// Whether all elements are near each other.
pub fn allclose(a: &Tensor, b: &Tensor, tolerance: Tolerance) -> Result<bool> {
    let (a, b) = (&batch::alike_in_all(a), &batch::alike_in_all(b));
    if let Some(mapping) = batch::highest([a, b]) {
        return Err(match mapping.is_asked_for() {
            true => Error::MappedCloseness {},
            false => Error::MappedDecision { operation: "allclose".to_owned() },
        }
        .into());
    }
    all(&isclose(a, b, tolerance)?)
}

/// Whether two tensors have the same shape and equal elements.
pub fn equal(a: &Tensor, b: &Tensor) -> Result<bool> {
    let (a, b) = (&batch::alike_in_all(a), &batch::alike_in_all(b));
    if batch::highest([a, b]).is_some() {
        return Err(Error::MappedDecision { operation: "equal".to_owned() }.into());
    }
    if a.layout().shape() != b.layout().shape() {
        return Ok(false);
    }
    match mode::special() {
        true => all(&eq(a, b)?),
        false => long_work::patiently(a.numel() as u64 / 4, || equal_in_parts(&a.array(), &b.array())),
    }
}

/// Whether arrays of one shape have equal elements: what differs in the first ones needs no look at the others.
fn equal_in_parts(a: &Array, b: &Array) -> Result<bool> {
    const FIRST: usize = 1 << 10;
    const MOST: usize = 1 << 18;
    let (a, b, count) = (copy::in_order(a)?, copy::in_order(b)?, a.layout.numel());
    let (mut start, mut len) = (0, FIRST);
    while start < count {
        interrupt::unwind_if_due();
        let part = |array: &Array| -> Result<Numbers> {
            Ok(Numbers::Array(array.with_layout(array.layout.stretch(start, len.min(count - start)))))
        };
        let answers = answers(Question::Equal, part(&a)?, part(&b)?)?;
        if !answers.slice::<Bool>().is_some_and(|answers| answers.iter().all(|answer| answer.get())) {
            return Ok(false);
        }
        (start, len) = (start + len, (4 * len).min(MOST));
    }
    Ok(true)
}

const NEAR: &[&str] =
    &["(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False)"];
