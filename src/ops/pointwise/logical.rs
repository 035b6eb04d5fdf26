//! Logical and bitwise operations. They have no derivatives.

use std::sync::Arc;

use crate::dispatch::apply::Outputs;
use crate::dispatch::binary;
use crate::dispatch::binary::Elementwise2;
use crate::dispatch::direct::few::{Few, has_few, is_few_of, write_each};
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::stored::Unsigned;
use crate::dispatch::unary;
use crate::dispatch::unary::{Elementwise, Integers, Keeps};
use crate::dispatch::{batch, in_place};
use crate::dtype::{Bool, DType, Number};
use crate::error::{Error, Result};
use crate::graph::UNDERIVED;
use crate::graph::mode;
use crate::ops::creation::{cast, copy};
use crate::ops::pointwise::integer::Integer;
use crate::schema::signatures::{COMPARED_IN_PLACE, ONE_TENSOR, TENSORS, TENSORS_IN_PLACE};
use crate::schema::{Entry, Operator, OutPolicy, Types, UnbatchedTarget, forms, one, receiver_in_own_order};
use crate::shape::Layout;
use crate::tensor::Tensor;
use smallvec::smallvec;

/// A function of two truth values as exclusive sums of products (its algebraic normal form): loops compute many at
/// once, where a function pointer would be called for each.
#[derive(Clone, Copy)]
struct Logic {
    neither: bool,
    first: bool,
    second: bool,
    both: bool,
}

impl Logic {
    fn of(f: fn(bool, bool) -> bool) -> Logic {
        let neither = f(false, false);
        let (first, second) = (f(true, false) ^ neither, f(false, true) ^ neither);
        Logic { neither, first, second, both: f(true, true) ^ neither ^ first ^ second }
    }

    #[inline(always)]
    fn at(self, a: Bool, b: Bool) -> Bool {
        let (a, b) = (a.get(), b.get());
        Bool::new(self.neither ^ (self.first & a) ^ (self.second & b) ^ (self.both & a & b))
    }
}

impl Logic {
    fn of_operands(self, a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
        let combined = move |a: Bool, b: Bool| self.at(a, b);
        binary::combine::<Bool, Bool>(&a.numbers(), &b.numbers(), combined).map(Tensor::from_array)
    }
}

impl Portable for Logic {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let [a, b] = operands else { return Err(misfit()) };
        Ok(smallvec![self.of_operands(a.into(), b.into())?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(*self))
    }
}

impl Direct for Logic {
    fn takes(&self, operands: &[Lies<'_>], (result, _): (&Layout, DType)) -> bool {
        has_few(result) && operands.iter().all(|operand| is_few_of(operand, DType::Bool, result))
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let [a, b] = sources else { return Err(misfit()) };
        let (a, b) = (Few::of(a, target.count)?, Few::of(b, target.count)?);
        write_each(sources, target, |at| self.at(a.at(at), b.at(at)));
        Ok(())
    }
}

/// A function of truth values of two operands; every number but zero is true.
fn truths(name: &'static str, a: Operand<'_>, b: Operand<'_>, f: fn(bool, bool) -> bool) -> Result<Tensor> {
    if let Some(y) = batch::pair_if_batched(a, b, |a, b| truths(name, a, b, f)) {
        return y;
    }
    let logic = Logic::of(f);
    if mode::special()
        && let Some(y) = intercept::of_value(name, &[a, b], logic)
    {
        return y;
    }
    logic.of_operands(a, b)
}

/// Whether both are true.
pub fn and<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    truths("logical_and", a.into(), b.into(), |a, b| a & b)
}

/// Whether either is true.
pub fn or<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    truths("logical_or", a.into(), b.into(), |a, b| a | b)
}

/// Whether one of the two is true.
pub fn xor<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    truths("logical_xor", a.into(), b.into(), |a, b| a ^ b)
}

/// Overwrites `x` with truth values without autograd: its history and its tangents stay.
fn replace(x: &Tensor, values: &Tensor) -> Result<()> {
    if x.is_subclassed() {
        let _off = mode::GradModeGuard::off();
        return cast::copy_(x, values);
    }
    in_place::check(x, false)?;
    in_place::check_result(x, values)?;
    match batch::highest([x, values]) {
        Some(mapping) => batch::write(x, values, &mapping, "inplace arithmetic")?,
        None => copy::write(&x.memory(), &values.array())?,
    }
    x.bump_version()
}

/// `and` in place.
pub fn and_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    replace(x, &truths("logical_and", x.into(), b.into(), |a, b| a & b)?)
}

/// `or` in place.
pub fn or_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    replace(x, &truths("logical_or", x.into(), b.into(), |a, b| a | b)?)
}

/// `xor` in place.
pub fn xor_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    replace(x, &truths("logical_xor", x.into(), b.into(), |a, b| a ^ b)?)
}

/// Whether elements are false.
pub fn not(x: &Tensor) -> Result<Tensor> {
    if let Some(y) = batch::unary(x, not) {
        return y;
    }
    if mode::special()
        && let Some(y) = intercept::of_value("logical_not", &[x.into()], Not)
    {
        return y;
    }
    Not::of(x)
}

/// Whether elements are false, as a recorded operation.
#[derive(Clone)]
struct Not;

impl Not {
    fn of(x: &Tensor) -> Result<Tensor> {
        let x = x.array();
        let truths = copy::as_type_in_order(&x, DType::Bool)?;
        unary::compute::<Bool, Bool>(&truths, DType::Bool, |x| Bool::new(!x.get())).map(Tensor::from_array)
    }
}

impl Portable for Not {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        Ok(smallvec![Not::of(intercept::only(operands)?)?])
    }
}

/// `not` in place.
pub fn not_(x: &Tensor) -> Result<()> {
    replace(x, &not(x)?)
}

fn refuse_floats(operation: &'static str, common: DType) -> Result<DType> {
    if common.is_float() {
        Err(Error::NotImplementedFor { operation, dtype: common }.into())
    } else {
        Ok(common)
    }
}

/// Functions of pairs of bits: of all bits of integers, and of truth values.
macro_rules! bitwise {
    ($($(#[$doc:meta])* $block:ident: $name:literal, $of_integers:ident, $of_truths:tt;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $block;

        impl Elementwise2 for $block {
            const NAME: &'static str = $name;
            const NODE: &'static str = UNDERIVED;
            const FLOATS: bool = false;
            const UNSIGNED: Unsigned = Unsigned::Wrapped;

            fn result(&self, common: DType) -> Result<DType> {
                refuse_floats(Self::NAME, common)
            }

            fn integer<T: Integer>(&self, a: T, b: T) -> T {
                a.$of_integers(b)
            }

            fn boolean(&self, a: bool, b: bool) -> Option<bool> {
                Some(a $of_truths b)
            }
        }
    )*};
}

bitwise! {
    /// y = the bits that are in both
    BitAnd: "bitwise_and_cpu", and, &;
    /// y = the bits that are in either
    BitOr: "bitwise_or_cpu", or, |;
    /// y = the bits that are in one of the two
    BitXor: "bitwise_xor_cpu", xor, ^;
}

/// y = the bits of a moved up by b
#[derive(Clone, Copy)]
pub struct ShiftUp;

impl Elementwise2 for ShiftUp {
    const NAME: &'static str = "lshift_cpu";
    const NODE: &'static str = UNDERIVED;
    const FLOATS: bool = false;
    const UNSIGNED: Unsigned = Unsigned::Wrapped;

    fn result(&self, common: DType) -> Result<DType> {
        refuse_floats(Self::NAME, common)
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        a.shifted_up(b)
    }
}

/// y = the bits of a moved down by b
#[derive(Clone, Copy)]
pub struct ShiftDown;

impl Elementwise2 for ShiftDown {
    const NAME: &'static str = "rshift_cpu";
    const NODE: &'static str = UNDERIVED;
    const FLOATS: bool = false;

    fn result(&self, common: DType) -> Result<DType> {
        refuse_floats(Self::NAME, common)
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        a.shifted_down(b)
    }
}

/// y = the bits that are not in x
#[derive(Clone, Copy)]
pub struct BitNot;

impl Elementwise for BitNot {
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const NAME: &'static str = "bitwise_not_cpu";
    const NODE: &'static str = UNDERIVED;
    const KEEPS: Keeps = Keeps::Nothing;
    const INTEGERS: Integers = Integers::Only;

    fn integer<T: Number>(&self, x: T) -> T {
        // The bits of -1 are all there are.
        T::ZERO.sub(T::ONE).sub(x)
    }

    fn boolean(&self, x: bool) -> Option<bool> {
        Some(!x)
    }
}

const BITWISE: OutPolicy = OutPolicy::ALIGNED.overloaded().unbatched_target(|_| UnbatchedTarget::Shape);

const SHIFTED: OutPolicy = BITWISE
    .in_place_as(|given| given.named(1, ".Tensor", ".Tensor_Scalar"))
    .out_as(|given| given.named(2, ".Tensor_out", ".Tensor_Scalar_out"));

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("-", "logical_and(Tensor self, Tensor other) -> Tensor"),
    ("-", "logical_or(Tensor self, Tensor other) -> Tensor"),
    ("-", "logical_xor(Tensor self, Tensor other) -> Tensor"),
    ("-", "logical_not(Tensor self) -> Tensor"),
    ("-", "bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("-", "bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("-", "bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("-", "bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("-", "bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("-", "bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("-", "bitwise_not(Tensor self) -> Tensor"),
];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    forms!(TENSORS TENSORS_IN_PLACE, "logical_and", "logical_and_", and, and_, "The logical AND of two tensors; what is not zero is true.", &OutPolicy::COMPARED.unbatched_target(|_| UnbatchedTarget::Arithmetic), receiver_in_own_order),
    forms!(TENSORS TENSORS_IN_PLACE, "logical_or", "logical_or_", or, or_, "The logical OR of two tensors; what is not zero is true.", &OutPolicy::COMPARED.unbatched_target(|_| UnbatchedTarget::Arithmetic), receiver_in_own_order),
    forms!(TENSORS TENSORS_IN_PLACE, "logical_xor", "logical_xor_", xor, xor_, "The logical XOR of two tensors; what is not zero is true.", &OutPolicy::COMPARED.unbatched_target(|_| UnbatchedTarget::Arithmetic), receiver_in_own_order),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_and", "bitwise_and_", |p, q| binary::apply(BitAnd, p, q), |x, q| binary::apply_in_place(BitAnd, x, q), "The bitwise AND of two tensors of integers or truth values.", &BITWISE),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_or", "bitwise_or_", |p, q| binary::apply(BitOr, p, q), |x, q| binary::apply_in_place(BitOr, x, q), "The bitwise OR of two tensors of integers or truth values.", &BITWISE),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_xor", "bitwise_xor_", |p, q| binary::apply(BitXor, p, q), |x, q| binary::apply_in_place(BitXor, x, q), "The bitwise XOR of two tensors of integers or truth values.", &BITWISE),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_left_shift", "bitwise_left_shift_", |p, q| binary::apply(ShiftUp, p, q), |x, q| binary::apply_in_place(ShiftUp, x, q), "`input` shifted left by `other` bits.", &SHIFTED),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "bitwise_right_shift", "bitwise_right_shift_", |p, q| binary::apply(ShiftDown, p, q), |x, q| binary::apply_in_place(ShiftDown, x, q), "`input` shifted right by `other` bits, with its sign.", &SHIFTED),
    one!(
        "logical_not",
        "logical_not_",
        not,
        not_,
        "The logical NOT of every element; what is not zero is true.",
        &OutPolicy::COMPARED,
        receiver_in_own_order
    ),
    one!(
        "bitwise_not",
        "bitwise_not_",
        bit_not,
        |x| unary::apply_in_place(BitNot, x),
        "The bitwise NOT of every element.",
        &OutPolicy::ALIGNED.typed(Types::Found)
    ),
];

fn bit_not(x: &Tensor) -> Result<Tensor> {
    unary::apply(BitNot, x)
}

plain! {
    struct Logic { neither, first, second, both }
    struct Not {}
    struct BitAnd {}
    struct BitOr {}
    struct BitXor {}
    struct BitNot {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    Row::of::<Logic>("logic"),
    Row::of::<Not>("logical_not"),
    binary::portable::row::<BitAnd>("bitwise_and"),
    binary::portable::row_of_write::<BitAnd>("bitwise_and_"),
    binary::portable::row::<BitOr>("bitwise_or"),
    binary::portable::row_of_write::<BitOr>("bitwise_or_"),
    binary::portable::row::<BitXor>("bitwise_xor"),
    binary::portable::row_of_write::<BitXor>("bitwise_xor_"),
    unary::portable::row::<BitNot>("bitwise_not"),
];
