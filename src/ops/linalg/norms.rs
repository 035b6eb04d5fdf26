//! Norms of matrices.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::geometry::{permute, squeeze};
use crate::ops::reduction::{extremes_over, norm, reduce};
use crate::schema::{Entry, IntoReply, inner};
use crate::shape;
use crate::tensor::Tensor;

/// The norm of matrices by the sums of magnitudes of rows (`f64::INFINITY`) or columns (1), of which
/// the greatest, or with a sign the least, is taken.
pub fn by_sums(
    x: &Tensor,
    order: f64,
    dims: [i64; 2],
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    check(x)?;
    let x = crate::ops::creation::cast::to_dtype(x, dtype.unwrap_or(x.dtype()))?;
    let ndim = x.ndim();
    let (rows, columns) = (shape::normalize_dim(dims[0], ndim)?, shape::normalize_dim(dims[1], ndim)?);
    let (summed, mut compared) = if order.is_infinite() { (columns, rows) } else { (rows, columns) };
    let sums = norm::vector_norm(&x, 1.0, Some(&[summed as i64]), keepdim, None)?;
    if !keepdim && summed < compared {
        compared -= 1;
    }
    let layout = sums.layout();
    if order > 0.0 && layout.shape().get(compared) == Some(&0) {
        // The greatest of no sums is zero.
        return reduce::sum(&sums, Some(&[compared as i64]), keepdim, None);
    }
    match order > 0.0 {
        true => extremes_over::amax(&sums, &[compared as i64], keepdim),
        false => extremes_over::amin(&sums, &[compared as i64], keepdim),
    }
}

/// The root of the sum of squares of matrices.
pub fn frobenius(x: &Tensor, dims: [i64; 2], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    check(x)?;
    let ndim = x.ndim();
    let dims = [shape::normalize_dim(dims[0], ndim)? as i64, shape::normalize_dim(dims[1], ndim)? as i64];
    norm::vector_norm(x, 2i64, Some(&dims), keepdim, dtype)
}

/// The sum of the singular values of matrices.
pub fn nuclear(x: &Tensor, dims: [i64; 2], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    check(x)?;
    let ndim = x.ndim();
    let mut places = [shape::normalize_dim(dims[0], ndim)?, shape::normalize_dim(dims[1], ndim)?];
    let x = crate::ops::creation::cast::to_dtype(x, dtype.unwrap_or(x.dtype()))?;
    let matrices = permute::movedim(&x, &dims, &[-2, -1])?;
    let mut sums = reduce::sum(&super::singular::svdvals(&matrices)?, Some(&[-1]), false, None)?;
    places.sort_unstable();
    for place in places.into_iter().filter(|_| keepdim) {
        sums = squeeze::unsqueeze(&sums, place as i64)?;
    }
    Ok(sums)
}

fn check(x: &Tensor) -> Result<()> {
    match x.ndim() {
        0 | 1 => Err(Error::LinearRank { operation: "linalg.matrix_norm" }.into()),
        _ => super::check_float(x.dtype(), "linalg.matrix_norm"),
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "linalg_sums_norm",
        &["(Tensor A, float ord, int dim0, int dim1, bool keepdim, dtype? dtype=None)"],
        "The one-norm or the infinity-norm of matrices, by the sums of columns or rows.",
        |a| by_sums(a.tensor(0)?, a.float(1)?, [a.int(2)?, a.int(3)?], a.boolean(4), a.dtype(5)).reply(),
    ),
    inner(
        "linalg_frobenius_norm",
        &["(Tensor A, int dim0, int dim1, bool keepdim, dtype? dtype=None)"],
        "The Frobenius norms of matrices.",
        |a| frobenius(a.tensor(0)?, [a.int(1)?, a.int(2)?], a.boolean(3), a.dtype(4)).reply(),
    ),
];
