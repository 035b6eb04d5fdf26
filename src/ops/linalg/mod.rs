//! Linear algebra of matrices, the last two dimensions of a tensor.

pub mod cholesky;
pub mod determinant;
pub mod elimination;
pub mod exponential;
pub mod norms;
pub mod orthogonal;
pub mod pseudo;
pub mod singular;
pub mod solve;
pub mod symmetric;
pub mod triangular;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::conjugate::conj;
use crate::ops::{copy, create, permute, squeeze, triangle};
use crate::shape::Dims;
use crate::tensor::{Array, Tensor};

/// Matrices as numbers of double precision, in which factors are computed whatever the type.
struct Matrices {
    lead: Dims,
    rows: usize,
    columns: usize,
    dtype: DType,
    numbers: Array,
}

impl Matrices {
    fn of(x: &Tensor) -> Result<Matrices> {
        let array = x.array();
        let (&[ref lead @ .., rows, columns], dtype) = (array.layout.shape(), array.dtype) else {
            unreachable!("the number of dimensions was checked")
        };
        if dtype.is_complex() {
            return Err(Error::NotImplementedFor { operation: "linalg_factor_cpu", dtype }.into());
        }
        let lead = lead.into();
        let wide = copy::as_type(&array, DType::Float64)?;
        let numbers = copy::in_order(&wide)?.into_owned();
        Ok(Matrices { lead, rows, columns, dtype, numbers })
    }

    /// How many there are.
    fn count(&self) -> usize {
        self.lead.iter().product()
    }

    /// One after the other.
    fn each(&self) -> impl Iterator<Item = &[f64]> {
        let (size, numbers) = (self.rows * self.columns, elements::<f64>(&self.numbers));
        (0..self.count()).map(move |item| &numbers[item * size..(item + 1) * size])
    }

    /// A tensor of results of this shape for each matrix, in the type of the matrices.
    fn made(&self, shape: &[usize], numbers: &[f64]) -> Result<Tensor> {
        let array = Array::from_slice(&[&self.lead[..], shape].concat(), numbers)?;
        Ok(Tensor::from_array(copy::as_type(&array, self.dtype)?.into_owned()))
    }
}

/// The matrix that was the `item`th of so many, in messages.
fn place(item: usize, count: usize) -> String {
    if count > 1 { format!("(Batch element {item}): ") } else { String::new() }
}

/// Zeros, with the last dimension of a tensor on the diagonal.
fn diagonal(x: &Tensor) -> Result<Tensor> {
    triangle::diag_embed(x, 0, -2, -1)
}

/// The unit matrix, of the type of a tensor.
fn unit(side: usize, like: &Tensor) -> Result<Tensor> {
    create::eye(side as i64, side as i64, like.dtype())
}

/// A vector for every matrix as one row of it.
fn as_row(x: &Tensor) -> Result<Tensor> {
    squeeze::unsqueeze(x, -2)
}

/// A vector for every matrix as one column of it.
fn as_column(x: &Tensor) -> Result<Tensor> {
    squeeze::unsqueeze(x, -1)
}

/// Estimated nanoseconds to factor matrices: so many passes over each as it has columns, and more.
fn effort(x: &Tensor) -> u64 {
    let (rows, columns) = sides(x);
    8 * x.numel() as u64 * rows.min(columns) as u64
}

/// Rows and columns.
fn sides(x: &Tensor) -> (usize, usize) {
    match *x.layout().shape() {
        [.., rows, columns] => (rows, columns),
        _ => unreachable!("the number of dimensions was checked"),
    }
}

/// The transposed matrices.
fn turned(x: &Tensor) -> Result<Tensor> {
    permute::transpose(x, -2, -1)
}

/// Refuses what is no floating-point square matrix, or many; answers its side.
fn check_square(x: &Tensor, operation: &'static str) -> Result<usize> {
    let layout = x.layout();
    let &[.., rows, columns] = layout.shape() else {
        return Err(Error::LinearRank { operation }.into());
    };
    if rows != columns {
        return Err(Error::MatrixSquare { operation, rows, columns }.into());
    }
    check_float(x.dtype(), operation)?;
    Ok(rows)
}

/// Refuses what is no floating-point matrix, or many; answers rows and columns.
fn check_matrix(x: &Tensor, operation: &'static str) -> Result<(usize, usize)> {
    if x.ndim() < 2 {
        return Err(Error::LinearRank { operation }.into());
    }
    check_float(x.dtype(), operation)?;
    Ok(sides(x))
}

fn check_float(dtype: DType, operation: &'static str) -> Result<()> {
    match dtype.is_differentiable() {
        true => Ok(()),
        false => Err(Error::MatrixDType { operation, dtype }.into()),
    }
}

/// The transposed matrices with conjugates.
fn adjoint(x: &Tensor) -> Result<Tensor> {
    conj(turned(x)?)
}

/// The type in which matrices are factored: complex ones in double precision only.
fn wide(dtype: DType) -> DType {
    if dtype.is_complex() { DType::Complex128 } else { dtype }
}

/// The elements of an array, in order.
fn elements<T: crate::dtype::Element>(array: &Array) -> &[T] {
    array.slice().unwrap_or_else(|| unreachable!("the operand was laid out in order"))
}

/// A result in the type of the operand.
fn settled(y: Array, like: &Tensor) -> Result<Tensor> {
    Ok(Tensor::from_array(crate::ops::copy::as_type(&y, like.dtype())?.into_owned()))
}

/// The elements in order, in the type in which matrices are factored.
fn in_order(x: &Tensor) -> Result<Array> {
    let x = x.array();
    let x = crate::ops::copy::as_type(&x, wide(x.dtype))?;
    Ok(crate::ops::copy::in_order(&x)?.into_owned())
}
