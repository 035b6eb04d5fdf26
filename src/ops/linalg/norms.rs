//! Norms of matrices.

use super::{HalfTypes, Routine};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::ops::geometry::{permute, squeeze};
use crate::ops::reduction::{extremes_over, norm, reduce};
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Types, both, inner};
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
    if x.dtype().is_stored() {
        return Err(Error::LowPrecision { operation: "linalg.matrix_norm", dtype: x.dtype() }.into());
    }
    let ndim = x.ndim();
    let mut places = [shape::normalize_dim(dims[0], ndim)?, shape::normalize_dim(dims[1], ndim)?];
    if places[0] == places[1] {
        return Err(Error::NormRepeated { dim: places[0] }.into());
    }
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
        _ => super::check_float(x, Routine::of("linalg.matrix_norm").half_types(HalfTypes::Taken)),
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
    both(
        "norm",
        &[
            "(Tensor input, object? p=\"fro\", int[1]? dim=None, bool keepdim=False, dtype? dtype=None, Tensor out=None)",
        ],
        "The p-norm of all elements, or of those along dimensions.",
        |a| {
            let (x, word, dims) = (a.tensor(0)?, a.word(1), a.dims(2)?);
            if word.as_deref() == Some("nuc") {
                return nuclear(x, matrix(x, dims.as_deref())?, a.boolean(3), a.dtype(4)).reply();
            }
            norm::vector_norm(x, order(a, word)?, dims.as_deref(), a.boolean(3), a.dtype(4)).reply()
        },
    )
    .written(&OutPolicy::PLAIN.refused_as("linalg_vector_norm").typed(Types::Same)),
];

/// The two dimensions of matrices.
fn matrix(x: &Tensor, dims: Option<&[i64]>) -> Result<[i64; 2]> {
    let all: Vec<i64> = (0..x.ndim() as i64).collect();
    match dims.filter(|dims| !dims.is_empty()).unwrap_or(&all) {
        &[first, second] => Ok([first, second]),
        _ if x.ndim() < 2 => Err(Error::LinearRank { operation: "linalg.matrix_norm" }.into()),
        dims => {
            let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
            Err(Error::NormDimensions { dims: dims.join(" ") }.into())
        }
    }
}

/// The order of a norm: a number, or a word for one.
fn order(a: &dyn Arguments, word: Option<String>) -> Result<Scalar> {
    match word {
        None if !a.given(1) => Ok(Scalar::Int(2)),
        None => a.number(1),
        Some(word) => match word.as_str() {
            "fro" => Ok(Scalar::Int(2)),
            "inf" => Ok(Scalar::Float(f64::INFINITY)),
            "-inf" => Ok(Scalar::Float(f64::NEG_INFINITY)),
            _ => Err(Error::NormOrder { order: word }.into()),
        },
    }
}
