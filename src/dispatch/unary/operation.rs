//! The `Elementwise` trait: an elementwise operation of one tensor and everything that is true of it.

use crate::dispatch::stored::Unsigned;
use crate::dtype::{Complex, DType, Number, Real};
use crate::error::{Error, Result};
use crate::graph::{At, Attributes, mode};
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::creation::create;
use crate::ops::{div, mul};
use crate::schema::OutPolicy;
use crate::tensor::Tensor;

/// Which tensor a derivative is computed from, and the node saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing: the derivative is zero wherever there is one.
    Flat,
    /// Nothing: the derivative is a constant, and `chain` knows it.
    Nothing,
    /// The input.
    Input,
    /// The output.
    Output,
}

/// What becomes of the sign of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It is the other one.
    Turned,
    /// There is none.
    Dropped,
}

/// How an operation takes integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// They become the default floating-point type first.
    Promote,
    /// They stay what they are; `bool` does where `boolean` says so.
    Stay,
    /// They are refused.
    Refuse,
    /// They stay what they are, truth values too, and floating-point numbers are refused.
    Only,
}

/// How an operation writes to tensors that it is given.
pub(crate) const fn policy_of<E: Elementwise>(_op: &E) -> &'static OutPolicy {
    // Only what calculates with numbers of another type than its own converts them.
    match E::INTEGERS {
        Integers::Promote => &OutPolicy::ALIGNED,
        _ => &OutPolicy::FOUND,
    }
}

/// torch's name of the node of an operation.
pub(crate) const fn node_of<E: Elementwise>(_op: &E) -> &'static str {
    E::NODE
}

/// The strides of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStrides {
    /// Propagated from the input: see `memory_order`.
    Propagated,
    /// Those of a copy of the input.
    LikeInput,
    /// In row-major order.
    RowMajor,
}

/// An elementwise operation: a function of every element, and its derivative. `real` or `vector` is the function,
/// `derivative` or `chain` the derivative; the rest has defaults.
pub trait Elementwise: Copy + Send + Sync + 'static {
    /// The name in error messages.
    const NAME: &'static str;
    /// torch's name of the node.
    const NODE: &'static str;
    /// Which tensor the derivative is computed from.
    const KEEPS: Keeps;
    /// torch's name of the node of the operation in place.
    const NODE_IN_PLACE: &'static str = Self::NODE;
    /// Whether the in-place form computes its derivative from the output, although `KEEPS` is the input.
    const IN_PLACE_BY_OUTPUT: bool = false;

    /// Whether one operation computes the gradient, so that it has a history when the input that is kept has one.
    const TOGETHER: bool = false;

    /// dy/dx from the output, for the in-place form.
    fn derivative_in_place(&self, _y: &Tensor) -> Result<Tensor> {
        unreachable!("only operations that declare it are asked for it")
    }
    /// How integers are taken.
    const INTEGERS: Integers = Integers::Promote;

    /// What becomes of the integers of `UInt64`.
    const UNSIGNED: Unsigned = Unsigned::Refused;

    /// Whether results may be of integer types, so that kernels are compiled for these.
    const LEAVES_INTEGERS: bool = matches!(Self::INTEGERS, Integers::Stay | Integers::Only);

    /// The strides of the result.
    const STRIDES: OutputStrides = OutputStrides::Propagated;

    /// Whether complex numbers are accepted.
    const COMPLEX: bool = false;
    /// Whether the function has a complex derivative: see Note [Gradients of complex numbers]. Without one `chain` gets
    /// the saved tensor as it is, in both directions.
    const ANALYTIC: bool = true;

    /// Whether it is so little work for complex numbers that loops over them are its own: others share theirs.
    const COMPLEX_LOOPS: bool = false;

    /// The function of complex numbers, if they are accepted.
    fn complex(&self, _x: Complex<f64>) -> Complex<f64> {
        unreachable!("an operation without this function refuses complex numbers")
    }

    /// What becomes of the sign of a floating-point number, where nothing else becomes of it: no half type is widened then.
    /// Of complex numbers it is what becomes of both parts.
    const SIGN: Option<Sign> = None;

    /// The result for a complex tensor, where another operation computes it.
    fn of_complex(&self, _x: &Tensor) -> Option<Result<Tensor>> {
        None
    }

    /// The function of floating-point numbers.
    fn real<T: Real>(&self, _x: T) -> T {
        unreachable!("an operation without this function refuses floating-point numbers")
    }

    /// The function for scalar loops. Parameters are converted here once, not for each element.
    fn loops<T: Real>(self) -> impl Fn(T) -> T + Copy + Send + Sync {
        move |x| self.real(x)
    }

    /// For which element types `vector` is the function; `real` then is for numbers that `is_far` names.
    const VECTOR: Vectors = Vectors::No;

    /// The function in the arithmetic of `kernels::pointwise::math`, which is compiled to vector instructions.
    fn vector<A: Arithmetic>(&self, _x: A) -> A {
        unreachable!("only operations that declare it are asked for it")
    }

    /// Whether the function and its slope are so cheap that loops are bound by memory: see `Function::LITTLE`.
    const LITTLE: bool = false;

    /// Whether it is much work: see `Function::SLOW`.
    const SLOW: bool = false;

    /// Whether few programs have it: see `Function::RARE`.
    const RARE: bool = false;

    /// Whether some numbers are only multiplied by `factor`: see `Function::HAS_EASY`.
    const HAS_EASY: bool = false;

    /// Whether this number is only multiplied.
    fn is_easy<T: Real>(&self, _x: T) -> bool {
        false
    }

    /// The factor of such numbers.
    fn factor(&self) -> f64 {
        1.0
    }

    /// Whether half of the numbers may go another way to the same bits: see `Function::HAS_TWIN`.
    const HAS_TWIN: bool = false;

    /// Whether it is a way for this number.
    fn has_twin<T: Real>(&self, _x: T) -> bool {
        false
    }

    /// That way.
    fn twin<A: Arithmetic>(&self, x: A) -> A {
        x
    }

    /// Whether there is a shorter way to the same bits for most numbers: see `Function::HAS_NEAR`.
    const HAS_NEAR: bool = false;

    /// Whether it is a way for this number.
    fn is_near<T: Real>(&self, _x: T) -> bool {
        false
    }

    /// The shorter way.
    fn near<A: Arithmetic>(&self, x: A) -> A {
        x
    }

    /// Whether `vector` is not exact for some numbers, which `real` computes.
    const HAS_FAR: bool = false;

    /// Whether this is such a number.
    fn is_far<T: Real>(&self, _x: T) -> bool {
        false
    }

    /// Whether `slope` or `passed` is implemented.
    const SLOPE: bool = false;

    /// dy/dx from the saved element, in the arithmetic of `vector`: one pass over memory, where nothing is recorded.
    fn slope<A: Arithmetic>(&self, _kept: A) -> A {
        unreachable!("only operations that declare it are asked for it")
    }

    /// The gradient `t` times dy/dx, as `slope` gives it.
    #[inline(always)]
    fn passed<A: Arithmetic>(&self, t: A, kept: A) -> A {
        t * self.slope(kept)
    }

    /// The function on integers, for operations that leave them integers.
    fn integer<T: Number>(&self, x: T) -> T {
        x
    }

    /// The function on truth values, for operations that leave them truth values.
    fn boolean(&self, _x: bool) -> Option<bool> {
        None
    }

    /// The parameters that the node shows, under torch's names.
    fn shown(&self) -> Attributes {
        Attributes::new()
    }

    /// torch's names of tensors that the node shows although the derivative does not need them.
    const COMPUTED: &'static [&'static str] = &[];

    /// Computes the first of these, the output, from the saved tensor.
    fn computed(&self, kept: &Tensor, at: &At<'_>) -> Result<Tensor> {
        Ok(at.output(&super::apply(*self, kept)?, 0))
    }

    /// The error for an element type that the operation does not accept.
    fn refusal(&self, dtype: DType) -> Error {
        Error::NotImplementedFor { operation: Self::NAME, dtype }
    }

    /// dy/dx from the saved tensor; or implement `chain`.
    fn derivative(&self, _kept: &Tensor) -> Result<Tensor> {
        unreachable!("an operation without derivative says how it chains")
    }

    /// Whether the derivative is the first factor of its product with a gradient: a product has the strides of its first
    /// factor.
    const DERIVATIVE_FIRST: bool = false;

    /// 1/(dy/dx) from the saved tensor, if torch divides by that.
    fn divisor(&self, _kept: &Tensor) -> Option<Result<Tensor>> {
        None
    }

    /// `t · dy/dx`, which of an elementwise function is both the vjp and the jvp. `kept` is the saved tensor, if `KEEPS`
    /// names one.
    fn chain(&self, kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        match kept {
            Some(kept) => {
                if let Some(at_once) = super::at_once(*self, kept, t) {
                    return at_once;
                }
                if let Some(divisor) = self.divisor(kept) {
                    return div(t, &divisor?);
                }
                let derivative = self.derivative(kept)?;
                // The gradient of a sum is one number again and again; as a number it is quicker.
                let repeated = if mode::is_plain() { t.read().array().repeated_element() } else { None };
                match repeated {
                    Some(number) => mul(&derivative, number),
                    None if Self::DERIVATIVE_FIRST => mul(&derivative, t),
                    None => mul(t, &derivative),
                }
            }
            None if Self::KEEPS == Keeps::Flat => create::zeros_like(t),
            None => unreachable!("an operation that keeps nothing says how it chains"),
        }
    }
}
