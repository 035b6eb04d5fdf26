//! What an elementwise operation of one tensor says of itself.

use crate::dtype::{Complex, DType, Number, Real};
use crate::error::{Error, Result};
use crate::graph::{At, Attributes, mode};
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::creation::create;
use crate::ops::{div, mul};
use crate::tensor::Tensor;

/// What a derivative is computed from.
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

/// What an operation makes of integers.
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

/// What an operation makes of integers, for those who list it.
pub(crate) const fn integers_of<E: Elementwise>(_op: &E) -> Integers {
    E::INTEGERS
}

/// How a result lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    /// By the rule for results: see `memory_order`.
    InOwnWay,
    /// As a copy of the input does.
    LikeInput,
    /// In row-major order.
    InOrder,
}

/// A function of every element, and its derivative.
pub trait Elementwise: Copy + Send + Sync + 'static {
    /// The name in error messages.
    const NAME: &'static str;
    /// torch's name of the node.
    const NODE: &'static str;
    /// What the derivative is computed from.
    const KEEPS: Keeps;
    /// torch's name of the node of the operation in place.
    const NODE_IN_PLACE: &'static str = Self::NODE;
    /// Whether the derivative of the operation in place is computed from the output, though that of the
    /// operation is not.
    const IN_PLACE_BY_OUTPUT: bool = false;

    /// dy/dx from the output, of the operation in place.
    fn derivative_in_place(&self, _y: &Tensor) -> Result<Tensor> {
        unreachable!("it is asked for where it is said to be")
    }
    /// What becomes of integers.
    const INTEGERS: Integers = Integers::Promote;

    /// Whether there are results of integer types, for which kernels have to be compiled.
    const LEAVES_INTEGERS: bool = matches!(Self::INTEGERS, Integers::Stay | Integers::Only);

    /// How the result lies in memory.
    const LIES: Lies = Lies::InOwnWay;

    /// Whether complex numbers are taken.
    const COMPLEX: bool = false;
    /// Whether the function has a complex derivative: see Note [Gradients of complex numbers]. Without
    /// one `chain` gets what was kept as it is, in both directions.
    const ANALYTIC: bool = true;

    /// The function of complex numbers, if they are taken.
    fn complex(&self, _x: Complex<f64>) -> Complex<f64> {
        unreachable!("an operation without this function refuses complex numbers")
    }

    /// Another operation that is this one for complex numbers.
    fn of_complex(&self, _x: &Tensor) -> Option<Result<Tensor>> {
        None
    }

    /// The function, unless floating-point numbers are refused.
    fn real<T: Real>(&self, _x: T) -> T {
        unreachable!("an operation without this function refuses floating-point numbers")
    }

    /// The function as loops take it. What it holds is made an element here, not for each element again.
    fn loops<T: Real>(self) -> impl Fn(T) -> T + Copy + Send + Sync {
        move |x| self.real(x)
    }

    /// For which numbers `vector` is the function, and `real` what it is of those that are far.
    const VECTOR: Vectors = Vectors::No;

    /// The function, in what the arithmetic of every processor has: see `math`.
    fn vector<A: Arithmetic>(&self, _x: A) -> A {
        unreachable!("it is asked for where it is said to be")
    }

    /// Whether the function, and its slope, are so little work that loops wait for memory: see `Function::LITTLE`.
    const LITTLE: bool = false;

    /// Whether there are numbers that are only multiplied, by a number: see `Function::HAS_EASY`.
    const HAS_EASY: bool = false;

    /// Whether this is one.
    fn is_easy<T: Real>(&self, _x: T) -> bool {
        false
    }

    /// The number by which they are multiplied.
    fn factor(&self) -> f64 {
        1.0
    }

    /// Whether there are numbers that `vector` is not for.
    const HAS_FAR: bool = false;

    /// Whether this is one.
    fn is_far<T: Real>(&self, _x: T) -> bool {
        false
    }

    /// Whether `slope` is the derivative.
    const SLOPE: bool = false;

    /// dy/dx from what is kept, as `vector` is: in one pass, where nothing is recorded.
    fn slope<A: Arithmetic>(&self, _kept: A) -> A {
        unreachable!("it is asked for where it is said to be")
    }

    /// What a gradient becomes, where `slope` says it.
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

    /// The parameters, under torch's names.
    fn shown(&self) -> Attributes {
        Attributes::new()
    }

    /// torch's names of what the node shows and the derivative is not computed from.
    const COMPUTED: &'static [&'static str] = &[];

    /// The first of these, from what is kept: the output.
    fn computed(&self, kept: &Tensor, at: &At<'_>) -> Result<Tensor> {
        Ok(at.output(&super::apply(*self, kept)?, 0))
    }

    /// What is wrong with an element type that the operation does not take.
    fn refusal(&self, dtype: DType) -> Error {
        Error::NotImplementedFor { operation: Self::NAME, dtype }
    }

    /// dy/dx from what is kept. `chain` may say it better.
    fn derivative(&self, _kept: &Tensor) -> Result<Tensor> {
        unreachable!("an operation without derivative says how it chains")
    }

    /// Whether the derivative stands in front of a gradient, which may lie otherwise: products lie as their first
    /// factor does.
    const DERIVATIVE_FIRST: bool = false;

    /// One over dy/dx from what is kept, if that is what is calculated.
    fn divisor(&self, _kept: &Tensor) -> Option<Result<Tensor>> {
        None
    }

    /// `t · dy/dx`: with an elementwise function that is both what a gradient becomes on the way
    /// back and what a tangent becomes on the way forth. Without `KEEPS` there is nothing kept.
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
