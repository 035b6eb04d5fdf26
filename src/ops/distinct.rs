//! What is different among elements, and where values belong among sorted ones.

use super::{along, cast, copy, permute, picked, reshape};
use crate::dtype::{DType, Element, Ordered};
use crate::error::{Error, Result};
use crate::kernels::distinct::{self, Groups};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// The integers or the numbers of double precision that elements are compared as.
fn wide(dtype: DType) -> DType {
    if dtype.is_float() { DType::Float64 } else { DType::Int64 }
}

/// The elements, of the type that they are compared as, in order.
fn keys(x: &Tensor, dtype: DType) -> Result<Array> {
    let array = x.array();
    let array = copy::as_type(&array, dtype)?;
    Ok(copy::in_order(&array)?.into_owned())
}

fn elements<T: Element>(array: &Array) -> &[T] {
    array.slice().unwrap_or_else(|| unreachable!("the elements are in order"))
}

/// Complex numbers have no order.
fn check_type(x: &Tensor, operation: &'static str) -> Result<()> {
    match x.dtype().is_complex() {
        true => Err(Error::NotImplementedFor { operation, dtype: x.dtype() }.into()),
        false => Ok(()),
    }
}

/// The different elements, or slices of a dimension, the group of each one and how many each group
/// has: in ascending order, or only of neighbours.
pub fn unique(x: &Tensor, dim: Option<i64>, neighbours: bool) -> Result<(Tensor, Tensor, Tensor)> {
    check_type(x, "unique")?;
    let (line, dim) = match dim {
        None => (reshape::reshape(x, &[-1])?, 0),
        Some(dim) => (x.clone(), shape::normalize_dim(dim, x.ndim())? as i64),
    };
    let slices = if line.ndim() > 0 { permute::movedim(&line, &[dim], &[0])? } else { line.clone() };
    let count = slices.layout().shape().first().copied().unwrap_or(1);
    let keys = keys(&slices, wide(x.dtype()))?;
    let Groups { firsts, members, counts } = match keys.dtype {
        DType::Float64 => distinct::groups(elements::<f64>(&keys), count, neighbours),
        _ => distinct::groups(elements::<i64>(&keys), count, neighbours),
    };
    let listed = |numbers: &[i64]| Tensor::from_slice(&[numbers.len()], numbers);
    let values = along::index_select(&line, dim, &listed(&firsts)?)?;
    let members = listed(&members)?;
    let whole =
        if line.ndim() == x.ndim() { members } else { reshape::reshape_to(&members, x.layout().shape())? };
    Ok((values, whole, listed(&counts)?))
}

/// Where values belong among those of the last dimension of `boundaries`, which are sorted, perhaps
/// by an index: before their equals, or behind them if `right`.
pub fn searchsorted(
    boundaries: &Tensor,
    values: &Tensor,
    right: bool,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    check_type(values, "searchsorted_out_cpu")?;
    let (sorted, wanted) = (boundaries.layout(), values.layout());
    let Some((&length, lead)) = sorted.shape().split_last() else {
        return Err(Error::BoundariesScalar {}.into());
    };
    let fits = !wanted.shape().is_empty() && wanted.shape()[..wanted.ndim() - 1] == *lead;
    if !lead.is_empty() && !fits {
        let (boundaries, values) = (sorted.shape().to_vec(), wanted.shape().to_vec());
        return Err(Error::BoundariesShape { boundaries, values }.into());
    }
    let boundaries = match sorter {
        Some(index) => picked::take_along_dim(boundaries, &cast::to_dtype(index, DType::Int64)?, Some(-1))?,
        None => boundaries.clone(),
    };
    let dtype = wide(boundaries.dtype().promote(values.dtype()));
    let (sorted, wanted) = (keys(&boundaries, dtype)?, keys(values, dtype)?);
    let row = if lead.is_empty() { 0 } else { wanted.layout.shape().last().copied().unwrap_or(1) };
    let places = match dtype {
        DType::Float64 => places(elements::<f64>(&sorted), length, elements(&wanted), row, right),
        _ => places(elements::<i64>(&sorted), length, elements(&wanted), row, right),
    };
    Tensor::from_slice(wanted.layout.shape(), &places)
}

/// The places of values, so many of which belong among one row of sorted ones, or all if none.
fn places<T: Ordered>(sorted: &[T], length: usize, values: &[T], row: usize, right: bool) -> Vec<i64> {
    let numbered = values.iter().enumerate();
    numbered
        .map(|(at, &value)| {
            let start = at.checked_div(row).unwrap_or(0) * length;
            distinct::place(&sorted[start..start + length], value, right)
        })
        .collect()
}
