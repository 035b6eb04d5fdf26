//! Products of vectors and matrices that other products make up.

use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::ops::operand::Operand;
use crate::ops::{add, mul, pow, products, reduce, reshape, squeeze, view};
use crate::shape;
use crate::tensor::Tensor;

/// `beta · x + alpha · Σ a[i] b[i]` over the matrices of two batches.
pub fn addbmm(x: &Tensor, a: &Tensor, b: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let sum = reduce::sum(&products::bmm(a, b)?, Some(&[0]), false, Some(a.dtype()))?;
    weighed(x, &sum, beta, alpha)
}

/// `beta · x + alpha · a bᵀ` with two vectors.
pub fn addr(x: &Tensor, a: &Tensor, b: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    for (argument, vector) in [("vec1", a), ("vec2", b)] {
        if vector.ndim() != 1 {
            return Err(Error::AddrRank { argument, ndim: vector.ndim() }.into());
        }
    }
    let outer = mul(&squeeze::unsqueeze(a, 1)?, &squeeze::unsqueeze(b, 0)?)?;
    weighed(x, &outer, beta, alpha)
}

fn weighed(x: &Tensor, product: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let x = view::expand(x, &shape::signed(product.layout().shape()))?;
    let product = if alpha.to_f64() == 1.0 { product.clone() } else { mul(product, Operand::Scalar(alpha))? };
    match beta.to_f64() {
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
        sizes.extend(shape::signed(x.layout().shape()));
        sizes
    };
    let (left, right) = (padded(a), padded(b));
    let spread = |sizes: &[i64], first: bool| -> Vec<i64> {
        sizes.iter().flat_map(|&size| if first { [size, 1] } else { [1, size] }).collect()
    };
    let a = reshape::reshape(a, &spread(&left, true))?;
    let b = reshape::reshape(b, &spread(&right, false))?;
    let whole: Vec<i64> = left.iter().zip(&right).map(|(left, right)| left * right).collect();
    reshape::reshape(&mul(&a, &b)?, &whole)
}

/// Powers in double precision.
pub fn float_power(a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    let wide = |operand: Operand<'_>| match operand {
        Operand::Tensor(x) => crate::ops::cast::to_dtype(x, DType::Float64).map(crate::ops::Value::Tensor),
        Operand::Scalar(number) => Ok(crate::ops::Value::Scalar(Scalar::Float(number.to_f64()))),
    };
    let (a, b) = (wide(a)?, wide(b)?);
    pow(&a, &b)
}
