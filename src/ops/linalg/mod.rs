//! Linear algebra of square matrices, the last two dimensions of a tensor.

pub mod cholesky;
pub mod determinant;
pub mod norms;
pub mod solve;

use crate::dtype::DType;
use crate::error::{Error, Result};
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
    match dtype.is_float() {
        true => Ok(()),
        false => Err(Error::MatrixDType { operation, dtype }.into()),
    }
}

/// The elements of an array, in order.
fn elements<T: crate::dtype::Element>(array: &Array) -> &[T] {
    array.slice().unwrap_or_else(|| unreachable!("the operand was laid out in order"))
}

fn in_order(x: &Tensor) -> Result<Array> {
    Ok(crate::ops::copy::in_order(&x.array())?.into_owned())
}
