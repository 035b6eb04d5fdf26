//! What may be multiplied with what.

use crate::dispatch::batch;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// Refuses operands that stand for many samples and do not fit, in terms of what all samples together
/// are multiplied as.
pub(crate) fn check_mapped(operation: &'static str, ranks: [usize; 2], a: &Tensor, b: &Tensor) -> Result<()> {
    let Some(mapping) = batch::highest([a, b]) else { return Ok(()) };
    if !a.differs() && !b.differs() {
        // Only their tangents are those of many samples.
        return Ok(());
    }
    let (left, right) = (a.layout(), b.layout());
    if [left.ndim(), right.ndim()] != ranks {
        let (ndim1, ndim2, [rank1, rank2]) = (left.ndim(), right.ndim(), ranks);
        return Err(match ranks {
            [1, 1] => Error::MappedDot {}.into(),
            _ => Error::MappedProduct { operation, ndim1, ndim2, rank1, rank2 }.into(),
        });
    }
    let size = mapping.size();
    let [first, second] = [a, b].map(|x| x.mapping().is_some_and(|own| own.is(&mapping)));
    let error = match (left.shape(), right.shape()) {
        (&[rows, columns], &[length]) | (&[rows, columns], &[length, _])
            if first && !second && columns != length =>
        {
            let rows = rows * size;
            match right.shape() {
                &[_, columns2] => {
                    Error::MatrixSizes { rows1: rows, columns1: columns, rows2: length, columns2 }
                }
                _ => Error::MatrixVectorSizes { size: rows, rows, columns, length },
            }
        }
        (&[columns], &[length]) if first && !second && columns != length => {
            Error::MatrixVectorSizes { size, rows: size, columns, length }
        }
        (&[rows1, columns1], &[rows2]) if !first && columns1 != rows2 => {
            Error::MatrixSizes { rows1, columns1, rows2, columns2: size }
        }
        (&[columns1], &[rows2]) if !first && columns1 != rows2 => {
            Error::MatrixSizes { rows1: 1, columns1, rows2, columns2: size }
        }
        (&[columns1], &[rows2]) | (&[_, columns1], &[rows2]) | (&[_, columns1], &[rows2, _])
            if columns1 != rows2 =>
        {
            Error::BatchSizes { batch1: size, columns1, batch2: size, rows2 }
        }
        (&[each, _, columns1], &[other, rows2, _]) if each == other && columns1 != rows2 => {
            Error::BatchSizes { batch1: size * each, columns1, batch2: size * each, rows2 }
        }
        _ => return Ok(()),
    };
    Err(error.into())
}

/// Whether two matrices can be multiplied.
pub(crate) fn check_matrix_sizes(a: &[usize], b: &[usize]) -> Result<()> {
    match (a, b) {
        (&[_, columns], &[rows, _]) if columns == rows => Ok(()),
        (&[rows1, columns1], &[rows2, columns2]) => {
            Err(Error::MatrixSizes { rows1, columns1, rows2, columns2 }.into())
        }
        _ => unreachable!("both are matrices"),
    }
}

/// Truth values are not multiplied.
pub(crate) fn refuse_bool(dtype: DType, operation: &'static str) -> Result<()> {
    match dtype {
        DType::Bool => Err(Error::NotImplementedFor { operation, dtype }.into()),
        _ => Ok(()),
    }
}

/// Whether the matrices of two batches can be multiplied pair by pair.
pub(crate) fn check_batches(a: &Tensor, b: &Tensor) -> Result<()> {
    let (left, right) = (a.layout(), b.layout());
    match (left.shape(), right.shape()) {
        (&[batch1, _, columns1], &[batch2, rows2, _]) if batch1 == batch2 && columns1 == rows2 => Ok(()),
        (&[batch1, _, columns1], &[batch2, rows2, _]) => {
            Err(Error::BatchSizes { batch1, columns1, batch2, rows2 }.into())
        }
        (&[_, _, _], _) => Err(Error::NotBatch { argument: "batch2" }.into()),
        _ => Err(Error::NotBatch { argument: "batch1" }.into()),
    }
}
