//! Linear algebra of square matrices, the last two dimensions of a tensor.

pub mod cholesky;
pub mod determinant;
pub mod norms;
pub mod solve;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::conjugate::conj;
use crate::ops::permute;
use crate::tensor::{Array, Tensor};

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
