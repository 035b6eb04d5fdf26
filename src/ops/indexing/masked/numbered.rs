//! Elements named by their numbers in row-major order.

use super::{Numbers, Pick, Place, Placing};
use crate::dispatch::apply::{Overwrite, apply_one};
use crate::dispatch::record::records;
use crate::dispatch::{batch, in_place};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::geometry::reshape;
use crate::ops::indexing;
use crate::ops::indexing::gather::scatter;
use crate::ops::pointwise::{compare, select};
use crate::tensor::Tensor;

/// All elements in row-major order, and the numbers of some of them, counted from the first.
fn lines(x: &Tensor, index: &Tensor) -> Result<(Tensor, Tensor)> {
    let count = x.numel();
    let places = reshape::reshape_to(index, &[index.numel()])?;
    let from_first = ops::add(&places, count as i64)?;
    let places = select::where_(&compare::lt(&places, 0i64)?, &from_first, &places)?;
    Ok((reshape::reshape_to(x, &[count])?, places))
}

/// The elements of these numbers in row-major order, in the shape of the index.
pub fn take(x: &Tensor, index: &Tensor) -> Result<Tensor> {
    if index.dtype() != DType::Int64 {
        return Err(Error::LongIndex { operation: "take", dtype: index.dtype() }.into());
    }
    if batch::is_batched(index) && x.ndim() > 0 {
        let (line, places) = lines(x, index)?;
        return reshape::reshape_to(&indexing::gather::gather(&line, 0, &places)?, index.layout().shape());
    }
    let numbers = Numbers::of_index(index, x.numel(), Error::TakeEmpty {})?;
    apply_one(Pick { numbers, repeats: true }, &[x])
}

fn check_put(x: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    if index.dtype() != DType::Int64 {
        return Err(Error::LongIndex { operation: "put_", dtype: index.dtype() }.into());
    }
    if x.dtype() != source.dtype() {
        return Err(Error::PutDTypes { target: x.dtype(), source: source.dtype() }.into());
    }
    if source.numel() != index.numel() {
        return Err(Error::PutCount { source: source.numel(), index: index.numel() }.into());
    }
    Ok(())
}

/// The tensor with elements in place of those of these numbers in row-major order, or added to them.
pub fn put(x: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor> {
    check_put(x, index, source)?;
    if batch::is_batched(index) {
        let (line, places) = lines(x, index)?;
        let values = reshape::reshape_to(source, &[index.numel()])?;
        let placed = match accumulate {
            true => scatter::scatter_add(&line, 0, &places, &values)?,
            false => scatter::scatter(&line, 0, &places, &values)?,
        };
        return reshape::reshape_to(&placed, x.layout().shape());
    }
    apply_one(placed(x, index, accumulate)?, &[x, source])
}

fn placed(x: &Tensor, index: &Tensor, accumulate: bool) -> Result<Place> {
    let numbers = Numbers::of_index(index, x.numel(), Error::PutEmpty {})?;
    Ok(Place { numbers, placing: if accumulate { Placing::Added } else { Placing::Put } })
}

/// `put` in place.
pub fn put_(x: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<()> {
    if !in_place::is_plain(x) || records(&[source]) {
        return in_place::through_apart(x, &[source], |x| put(x, index, source, accumulate));
    }
    // Nobody is to know of the write, and of what is not named nothing is moved.
    let (target, values) = (x.memory(), source.array());
    target.check_apart(&values)?;
    check_put(x, index, source)?;
    placed(x, index, accumulate)?.overwrite(&target, &[target.clone(), values])?;
    x.bump_version()
}
