//! The `Elementwise2` trait: an elementwise operation of two operands and everything that is true of it.

use std::mem::MaybeUninit;

use crate::dispatch::default_dtype;
use crate::dispatch::operand::{Operand, SavedOperand, Value};
use crate::dispatch::stored::Unsigned;
use crate::dtype::{Complex, DType, Real, Ring, Scalar};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::kernels::pointwise::chain::Step;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::pointwise::integer::Integer;
use crate::ops::pointwise::numbers::WithNumber;
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

/// What writes what it makes of elements.
pub type Loop<T> = fn(&[T], &mut [MaybeUninit<T>]);

/// An elementwise operation of two operands: a function of two elements, and its derivative by each (`left`, `right`).
pub trait Elementwise2: Copy + Send + Sync + 'static {
    /// The name in error messages.
    const NAME: &'static str;
    /// torch's name of the node.
    const NODE: &'static str;
    /// Which operands the derivative with respect to the first needs.
    const LEFT_NEEDS: Needs = Needs::Nothing;
    /// Which operands the derivative with respect to the second needs.
    const RIGHT_NEEDS: Needs = Needs::Nothing;
    /// torch's names of the saved operands.
    const SAVED: [&'static str; 2] = ["self", "other"];

    /// Whether a number counts as a tensor for torch, so that the node has an edge for it and shows it as one.
    const TAKES_NUMBERS_AS_TENSORS: bool = true;

    /// Whether the node shows numbers that do not count as tensors.
    const SHOWS_NUMBERS: bool = true;

    /// The nodes that show the result, which is computed when it is asked for: both operands are saved.
    const SHOWS_RESULT: &'static [&'static str] = &[];

    /// Which operands torch's node shows, given which require grad, if not those that derivatives need here.
    fn shows(_left: bool, _right: bool) -> [bool; 2] {
        [true; 2]
    }

    /// The operation as torch records it when one operand is a number, if that has a node of its own.
    const WITH_NUMBER: Option<WithNumber> = None;

    /// What it does to elements where the second operand is a number, if chains of that are computed at once.
    const STEP: Option<Step> = None;

    /// Whether both derivatives are one function, of the other operand.
    const SYMMETRIC: bool = false;

    /// Whether there is a derivative: else nothing is kept for it.
    fn derives(&self) -> bool {
        true
    }

    /// The parameters as the node shows them, under torch's names.
    fn shown(&self) -> Attributes {
        Attributes::new()
    }

    /// torch's name of the node, where it depends on which operands are numbers.
    fn node(&self, _a: &SavedOperand, _b: &SavedOperand) -> &'static str {
        Self::NODE
    }

    /// Whether the operands will do. `common` is their promoted type.
    fn check(&self, _a: Operand<'_>, _b: Operand<'_>, _common: DType) -> Result<()> {
        Ok(())
    }

    /// Whether there is a function of floating-point numbers, so that loops are compiled for these: else `result` refuses
    /// them.
    const FLOATS: bool = true;

    /// Whether there is a function of integers, so that loops are compiled for these: else `result` refuses them or makes
    /// them floating-point numbers.
    const INTEGERS: bool = true;

    /// Whether complex numbers are taken.
    const COMPLEX: bool = false;

    /// Whether a number as the second operand stays as exact as it is beside half types.
    const EXACT_NUMBERS: bool = false;

    /// The operation with its parameters as exact as a half type is.
    fn in_half(&self, _dtype: DType) -> Self {
        *self
    }

    /// The operation as it is for tensors of these types, before they are converted.
    fn among(self, _a: DType, _b: DType) -> Self {
        self
    }

    /// The second operand in another type, where it is calculated with in that.
    fn second(&self, _a: &Array, _b: &Array) -> Result<Option<Array>> {
        Ok(None)
    }

    /// What is wrong with an element type that the operation does not take.
    fn refusal(&self, dtype: DType) -> Error {
        Error::NotImplementedFor { operation: Self::NAME, dtype }
    }

    /// The type to calculate in, from the promoted type of the operands.
    fn result(&self, common: DType) -> Result<DType> {
        Ok(common)
    }

    /// The function, if there is one of floating-point numbers.
    fn real<T: Real>(&self, _a: T, _b: T) -> T {
        unreachable!("an operation without this function refuses floating-point numbers")
    }

    /// For which numbers `vector` is the function, and `real` what it is of those that are far.
    const VECTOR: Vectors = Vectors::No;

    /// The function, in what the arithmetic of every processor has: see `math`.
    fn vector<A: Arithmetic>(&self, _a: A, _b: A) -> A {
        unreachable!("it is asked for where it is said to be")
    }

    /// Whether it is so little work that loops wait for memory: see `Function::LITTLE`.
    const LITTLE: bool = false;

    /// Whether it is much work: see `Function::SLOW`.
    const SLOW: bool = false;

    /// Whether there are numbers that `vector` is not for.
    const HAS_FAR: bool = false;

    /// Whether these are.
    fn is_far<T: Real>(&self, _a: T, _b: T) -> bool {
        false
    }

    /// The function as loops take it. What it holds is made an element here, not for each pair again.
    fn loops<T: Real>(self) -> impl Fn(T, T) -> T + Copy + Send + Sync {
        move |a, b| self.real(a, b)
    }

    /// The function on integers, if there is one.
    fn integer<T: Integer>(&self, _a: T, _b: T) -> T {
        unreachable!("an operation without this function converts integers")
    }

    /// The function on integers as loops take it, as `loops` are.
    fn integers<T: Integer>(self) -> impl Fn(T, T) -> T + Copy + Send + Sync {
        move |a, b| self.integer(a, b)
    }

    /// The function of complex numbers, if they are taken.
    fn complex(&self, _a: Complex<f64>, _b: Complex<f64>) -> Complex<f64> {
        unreachable!("an operation without this function refuses complex numbers")
    }

    /// Whether `rings` is the function of complex numbers.
    const RING: bool = false;

    /// What becomes of the integers of `UInt64`.
    const UNSIGNED: Unsigned = if Self::RING { Unsigned::Wrapped } else { Unsigned::Refused };

    /// The function of complex numbers in their own precision, for operations that the loops of all numbers have.
    fn ring<T: Ring>(&self, _a: T, _b: T) -> T {
        unreachable!("it is asked for where it is said to be")
    }

    /// `ring` as loops take it, as `loops` are.
    fn rings<T: Ring>(self) -> impl Fn(T, T) -> T + Copy + Send + Sync {
        move |a, b| self.ring(a, b)
    }

    /// The operation with the conjugates of its parameters: see Note [Gradients of complex numbers].
    fn conjugated(&self) -> Self {
        *self
    }

    /// The function on truth values, if it has one.
    fn boolean(&self, _a: bool, _b: bool) -> Option<bool> {
        None
    }

    /// Whether `with_number` has a way for this number.
    fn has_number_way(&self, _b: Scalar, _dtype: DType) -> bool {
        false
    }

    /// The loop of that way, of real numbers.
    fn number_loop<T: Real>(&self, _b: Scalar) -> Option<Loop<T>> {
        None
    }

    /// A quicker way for a first operand of type `dtype` and a few numbers as the second.
    fn with_number(&self, _a: &Array, _b: Scalar, _dtype: DType) -> Option<Result<Array>> {
        None
    }

    /// The same of a few numbers of single precision where they lie.
    fn with_number_in_place(&self, _numbers: &mut [f32], _b: f32) {
        unreachable!("only operations that have such a way are asked for it")
    }

    /// The result as it lies in memory, where that is not by the rule for results. Numbers have no layout.
    fn laid_out(&self, y: Array, _operands: [Option<&Layout>; 2]) -> Result<Array> {
        Ok(y)
    }

    /// `t · ∂y/∂a`. Of the operands only those are there that `LEFT_NEEDS` names.
    fn left(&self, _a: &Value, _b: &Value, _t: &Tensor) -> Result<Tensor> {
        Err(Error::NoDerivative { operation: Self::NAME }.into())
    }

    /// `t · ∂y/∂b`. Of the operands only those are there that `RIGHT_NEEDS` names.
    fn right(&self, _a: &Value, _b: &Value, _t: &Tensor) -> Result<Tensor> {
        Err(Error::NoDerivative { operation: Self::NAME }.into())
    }

    /// Whether `slope` is what gradients become, where they are not recorded.
    const SLOPES: bool = false;

    /// Whether it is beside this number, as the second operand: operations may be quicker.
    fn slopes_beside(&self, _number: f64) -> bool {
        true
    }

    /// `t · ∂y/∂a`, or `t · ∂y/∂b` if it is the second, as `vector` is.
    fn slope<A: Arithmetic>(&self, _a: A, _b: A, _t: A, _is_second: bool) -> A {
        unreachable!("it is asked for where it is said to be")
    }

    /// Whether both derivatives share a part that `shared` computes.
    const SHARES: bool = false;

    /// The part that both derivatives share, where it is not the result.
    fn shared(&self, _a: &Value, _b: &Value) -> Result<Tensor> {
        unreachable!("it is asked for where there is one")
    }

    /// `left` from the result, if the node shows it, or from what both derivatives share: for gradients that
    /// are recorded.
    fn left_from(&self, a: &Value, b: &Value, _shared: &Tensor, t: &Tensor) -> Result<Tensor> {
        self.left(a, b, t)
    }

    /// `right` from the same.
    fn right_from(&self, a: &Value, b: &Value, _shared: &Tensor, t: &Tensor) -> Result<Tensor> {
        self.right(a, b, t)
    }

    /// `left` for a tangent, which may take another side at a kink than a gradient.
    fn left_forth(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.left(a, b, t)
    }

    /// `right` for a tangent.
    fn right_forth(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.right(a, b, t)
    }
}

/// The type in which an operation calculates that makes integers floating-point numbers.
pub(crate) fn floating(common: DType) -> Result<DType> {
    Ok(if common.is_differentiable() { common } else { default_dtype::get() })
}

/// Which operands a derivative needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Neither.
    Nothing,
    /// The first.
    Left,
    /// The second.
    Right,
    /// Both.
    Both,
}

impl Needs {
    pub(super) fn left(self) -> bool {
        matches!(self, Needs::Left | Needs::Both)
    }

    pub(super) fn right(self) -> bool {
        matches!(self, Needs::Right | Needs::Both)
    }
}
