//! Products of vectors and matrices that other products make up.

use crate::dispatch::composites::composite;
use crate::dispatch::composites::composite::Composite;
use crate::dispatch::composites::saved_inputs::LoadedInputs;
use crate::dispatch::operand::Operand;
use crate::dispatch::record::records;
use crate::dispatch::{in_place, view};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{Attributes, mode};
use crate::ops::creation::cast;
use crate::ops::geometry::{expand, permute, reshape, resize, squeeze};
use crate::ops::linalg::add_products::{Weights, check_weights};
use crate::ops::linalg::products;
use crate::ops::pointwise::arithmetic::times;
use crate::ops::reduction::reduce;
use crate::ops::{add, mul, pow};
use crate::schema::signatures::{BATCHES, POWERS};
use crate::schema::{Entry, IntoReply, OutPolicy, Shape, Types, both, method, receiver};
use crate::shape;
use crate::tensor::Tensor;

/// y = βx + α Σ aᵢ bᵢ over the matrices of two batches
///
/// x̄ = βȳ, āᵢ = α ȳ bᵢᵀ, b̄ᵢ = α aᵢᵀ ȳ, and the same sums of tangents
#[derive(Clone)]
struct AddBatches {
    beta: Scalar,
    alpha: Scalar,
    /// How many matrices, the rows of the first and the columns of the second.
    sizes: [usize; 3],
}

impl Composite for AddBatches {
    const KEEPS: &'static [&'static str] = &["", "batch1", "batch2"];

    fn name(&self) -> &'static str {
        "AddbmmBackward0"
    }

    fn shown(&self) -> Attributes {
        let [count, rows, columns] = self.sizes;
        shown! {
            alpha: self.alpha,
            beta: self.beta,
            batch1_sym_argsize_0: count,
            batch1_sym_argsize_1: rows,
            batch2_sym_argsize_2: columns,
        }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        weighed(inputs[0], &sum_of_products(inputs[1], inputs[2])?, self.beta, self.alpha)
    }

    fn conjugated(&self) -> Self {
        AddBatches { beta: self.beta.conj(), alpha: self.alpha.conj(), ..self.clone() }
    }

    fn vjp(&self, index: usize, kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        if index == 0 {
            return times(gradient, self.beta);
        }
        let [count, rows, columns] = self.sizes.map(|size| size as i64);
        let all = view::expand(&squeeze::unsqueeze(gradient, 0)?, &[count, rows, columns])?;
        let turned = |x: &Tensor| permute::transpose(x, 1, 2);
        let product = match index {
            1 => products::bmm(&all, &turned(kept.input(2))?)?,
            _ => products::bmm(&turned(kept.input(1))?, &all)?,
        };
        times(&product, self.alpha)
    }

    fn jvp(&self, index: usize, kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        match index {
            0 => times(tangent, self.beta),
            1 => times(&sum_of_products(tangent, kept.input(2))?, self.alpha),
            _ => times(&sum_of_products(kept.input(1), tangent)?, self.alpha),
        }
    }
}

/// Σ aᵢ bᵢ
fn sum_of_products(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    reduce::sum(&products::bmm(a, b)?, Some(&[0]), false, Some(a.dtype()))
}

/// `beta · x + alpha · Σ a[i] b[i]` over the matrices of two batches.
pub fn addbmm(x: &Tensor, a: &Tensor, b: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    if let (&[_, rows, ..], &[_, _, columns, ..]) = (a.layout().shape(), b.layout().shape()) {
        expand::check(x, &[rows, columns])?;
    }
    products::check_batches(a, b)?;
    if x.dtype() != a.dtype() {
        return Err(Error::AddmmDTypes { dtype1: x.dtype(), dtype2: a.dtype() }.into());
    }
    check_weights(Weights { beta, alpha }, x.dtype())?;
    let (beta, alpha) = (weight_of(beta, x.dtype()), weight_of(alpha, x.dtype()));
    let (left, right) = (a.layout(), b.layout());
    let sizes = [left.shape()[0], left.shape()[1], right.shape()[2]];
    composite::apply(AddBatches { beta, alpha, sizes }, &[x, a, b])
}

/// `addbmm` in place of x, which becomes as large as the products if it is smaller and no history would tell.
pub fn addbmm_(x: &Tensor, a: &Tensor, b: &Tensor, beta: Scalar, alpha: Scalar) -> Result<()> {
    let grows = match (a.layout().shape(), b.layout().shape()) {
        (&[_, rows, _], &[_, _, columns]) => *x.layout().shape() != [rows, columns],
        _ => false,
    };
    if !grows || records(&[x, a, b]) || mode::special() {
        return in_place::through(x, &[a, b], |x| addbmm(x, a, b, beta, alpha));
    }
    resize::replace(x, &addbmm(x, a, b, beta, alpha)?)
}

/// A weight as a number that leaves the element type as it is.
fn weight_of(weight: Scalar, dtype: DType) -> Scalar {
    if dtype.is_differentiable() { weight } else { Scalar::Int(weight.to_f64() as i64) }
}

/// y = βx + α a bᵀ with two vectors
///
/// x̄ = βȳ, ā = α ȳ b, b̄ = α ȳᵀ a, and the same products of tangents
#[derive(Clone)]
struct AddOuter {
    beta: Scalar,
    alpha: Scalar,
}

impl Composite for AddOuter {
    const KEEPS: &'static [&'static str] = &["", "vec1", "vec2"];

    fn name(&self) -> &'static str {
        "AddrBackward0"
    }

    fn shown(&self) -> Attributes {
        shown! { alpha: self.alpha, beta: self.beta }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let product = outer(inputs[1], inputs[2])?;
        // Weighed in the type of the sum: what is an integer may not hold its multiple.
        let common = inputs[0].dtype().promote(product.dtype());
        let [x, product] = [inputs[0], &product].map(|part| cast::to_dtype(part, common));
        weighed(&x?, &product?, self.beta, self.alpha)
    }

    fn conjugated(&self) -> Self {
        AddOuter { beta: self.beta.conj(), alpha: self.alpha.conj() }
    }

    fn vjp(&self, index: usize, kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        match index {
            0 => times(gradient, self.beta),
            1 => times(&products::mv(gradient, kept.input(2))?, self.alpha),
            _ => times(&products::mv(&permute::t(gradient)?, kept.input(1))?, self.alpha),
        }
    }

    fn jvp(&self, index: usize, kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        match index {
            0 => times(tangent, self.beta),
            1 => times(&outer(tangent, kept.input(2))?, self.alpha),
            _ => times(&outer(kept.input(1), tangent)?, self.alpha),
        }
    }
}

/// a bᵀ
fn outer(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    mul(&squeeze::unsqueeze(a, 1)?, &squeeze::unsqueeze(b, 0)?)
}

fn check_vectors(a: &Tensor, b: &Tensor) -> Result<()> {
    for (argument, vector) in [("vec1", a), ("vec2", b)] {
        if vector.ndim() != 1 {
            return Err(Error::AddrRank { argument, ndim: vector.ndim() }.into());
        }
    }
    Ok(())
}

/// `addr` in place of x.
pub fn addr_(x: &Tensor, a: &Tensor, b: &Tensor, beta: Scalar, alpha: Scalar) -> Result<()> {
    let fitting = || {
        check_vectors(a, b)?;
        let [layout, left, right] = [x, a, b].map(Tensor::layout);
        match layout.shape() {
            &[rows, columns] if rows == left.size(0) && columns == right.size(0) => Ok(()),
            &[rows, columns] => {
                let [length1, length2] = [left.size(0), right.size(0)];
                Err(Error::AddrSizes { rows, columns, length1, length2 }.into())
            }
            shape => Err(Error::AddrInPlaceRank { ndim: shape.len() }.into()),
        }
    };
    fitting().map_err(|error| in_place::first_refusal(&[x, a, b], error))?;
    in_place::through_elements(x, &[a, b], |x| addr(x, a, b, beta, alpha))
}

/// `beta · x + alpha · a bᵀ` with two vectors.
pub fn addr(x: &Tensor, a: &Tensor, b: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    check_vectors(a, b)?;
    let common = [a.dtype(), b.dtype()].into_iter().fold(x.dtype(), DType::promote);
    for (argument, weight) in [("beta", beta), ("alpha", alpha)] {
        if !common.is_differentiable() && matches!(weight, Scalar::Float(_) | Scalar::Complex(_)) {
            return Err(Error::IntegerWeight { argument }.into());
        }
        if common != DType::Bool && matches!(weight, Scalar::Bool(_)) {
            return Err(Error::BooleanWeight { argument }.into());
        }
    }
    check_weights(Weights { beta, alpha }, common)?;
    let sum = composite::apply(AddOuter { beta, alpha }, &[x, a, b])?;
    // Truth values that are weighed by integers become such.
    cast::to_dtype(&sum, common)
}

fn weighed(x: &Tensor, product: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let x = view::expand(x, &shape::signed(product.layout().shape()))?;
    let product =
        if alpha.real() == Some(1.0) { product.clone() } else { mul(product, Operand::Scalar(alpha))? };
    match beta.real().unwrap_or(f64::NAN) {
        0.0 => Ok(product),
        1.0 => add(&x, &product),
        _ => add(&mul(&x, Operand::Scalar(beta))?, &product),
    }
}

/// Every element of one tensor times the whole of another, in its place.
pub fn kron(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let ndim = a.ndim().max(b.ndim());
    let padded = |x: &Tensor| {
        let mut sizes = vec![1; ndim - x.ndim()];
        sizes.extend(x.layout().shape());
        sizes
    };
    let (left, right) = (padded(a), padded(b));
    let spread = |sizes: &[usize], first: bool| -> Vec<usize> {
        sizes.iter().flat_map(|&size| if first { [size, 1] } else { [1, size] }).collect()
    };
    let a = reshape::unsafe_view(a, &spread(&left, true))?;
    let b = reshape::unsafe_view(b, &spread(&right, false))?;
    let whole: Vec<usize> = left.iter().zip(&right).map(|(left, right)| left * right).collect();
    reshape::unsafe_view(&mul(&a, &b)?, &whole)
}

/// The type in which powers of these operands are calculated in double precision.
pub fn float_power_dtype(a: Operand<'_>, b: Operand<'_>) -> DType {
    let is_complex = |operand: Operand<'_>| match operand {
        Operand::Tensor(x) => x.dtype().is_complex(),
        Operand::Scalar(number) => matches!(number, Scalar::Complex(_)),
    };
    if is_complex(a) || is_complex(b) { DType::Complex128 } else { DType::Float64 }
}

/// Powers in double precision.
pub fn float_power(a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    let dtype = float_power_dtype(a, b);
    let wide = |operand: Operand<'_>| match operand {
        Operand::Tensor(x) => crate::ops::creation::cast::to_dtype(x, dtype).map(crate::ops::Value::Tensor),
        Operand::Scalar(Scalar::Complex(number)) => Ok(crate::ops::Value::Scalar(Scalar::Complex(number))),
        Operand::Scalar(number) => Ok(crate::ops::Value::Scalar(Scalar::Float(number.to_f64()))),
    };
    let (a, b) = (wide(a)?, wide(b)?);
    pow(&a, &b)
}

const ADDR: &[&str] = &[
    "(Tensor input, Tensor vec1, Tensor vec2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    "(Number beta, Tensor input, Number alpha, Tensor vec1, Tensor vec2, *, Tensor out=None)|deprecated",
    "(Number beta, Tensor input, Tensor vec1, Tensor vec2, *, Tensor out=None)|deprecated",
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "kron",
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The Kronecker product of two tensors.",
        |a| kron(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::APART.refused_as("mul")),
    both("addbmm", BATCHES, "`beta * input + alpha * sum(batch1 @ batch2)`, summed over the batch.", |a| {
        addbmm(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.number(3)?, a.number(4)?).reply()
    })
    .written(&OutPolicy::OF_FIRST.shaped(Shape::Silent).typed(Types::Batched))
    .operators(&[("AddbmmBackward0", "addbmm")]),
    method("addbmm_", BATCHES, "`addbmm` in place.", |a| {
        let (x, left, right) = (a.tensor(0)?, a.tensor(1)?, a.tensor(2)?);
        let (beta, alpha) = (a.number(3)?, a.number(4)?);
        receiver(a, addbmm_(x, left, right, beta, alpha))
    }),
    both("addr", ADDR, "`beta * input + alpha * outer(vec1, vec2)`.", |a| {
        addr(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.number(3)?, a.number(4)?).reply()
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("AddrBackward0", "addr")]),
    method("addr_", ADDR, "`addr` in place.", |a| {
        let (x, left, right) = (a.tensor(0)?, a.tensor(1)?, a.tensor(2)?);
        let (beta, alpha) = (a.number(3)?, a.number(4)?);
        receiver(a, addr_(x, left, right, beta, alpha))
    }),
    both(
        "float_power",
        POWERS,
        "`input` raised to the power of `exponent`, computed in double precision.",
        |a| float_power(a.operand(0)?, a.operand(1)?).reply(),
    )
    .written(&OutPolicy::ALIGNED.refused_as("pow").typed(Types::FloatPower).out_of_pairs()),
    method(
        "float_power_",
        &["(Tensor input, Tensor exponent)", "(Tensor input, Number exponent)"],
        "`float_power` in place; the tensor has to be of double precision.",
        |a| {
            let (x, exponent) = (a.tensor(0)?, a.operand(1)?);
            // A number is shown as one of double precision.
            let exponent = match exponent {
                Operand::Scalar(Scalar::Int(number)) => (number as f64).into(),
                other => other,
            };
            let wide = float_power_dtype(x.into(), exponent);
            if x.dtype() != wide {
                return Err(Error::FloatPowerDType { dtype: x.dtype(), wide }.into());
            }
            receiver(a, crate::ops::pow_(x, exponent))
        },
    )
    .written(&OutPolicy::PLAIN.overloaded()),
];
