//! In-place writes of batched values to a tensor that is not batched: whether it has memory for each sample, and
//! how it becomes batched where it may.

use std::sync::Arc;

use super::{highest, samples};
use crate::error::{Error, Result};
use crate::ops::add;
use crate::ops::creation::{cast, create};
use crate::ops::reduction::reduce;
use crate::shape;
use crate::tensor::{Mapping, Tensor};

/// The highest mapping of which `x` does not have memory for every sample of `other`.
pub fn no_room(x: &Tensor, other: &Tensor) -> Option<Arc<Mapping>> {
    let mapping = highest([x, other])?;
    let (x, other) = (samples(x, &mapping), samples(other, &mapping));
    if x.dim.is_none() && other.dim.is_some() { Some(mapping) } else { no_room(&x.value, &other.value) }
}

/// The failure of a write to `x`, seen as one of all samples of `other`.
pub fn room_shape(x: &Tensor, other: &Tensor) -> Error {
    let output = x.layout().shape().to_vec();
    let mut broadcast =
        shape::broadcast(&output, other.layout().shape()).map_or(output.clone(), |shape| shape.to_vec());
    let (mut x, mut other) = (x.clone(), other.clone());
    while let Some(mapping) = highest([&x, &other]) {
        let (inner, given) = (samples(&x, &mapping), samples(&other, &mapping));
        if inner.dim.is_none() && given.dim.is_some() {
            broadcast.insert(0, mapping.size());
        }
        (x, other) = (inner.value, given.value);
    }
    Error::OutputShape { output, broadcast }
}

/// The tensor with memory for every sample of others, so that what is made of those can be written to
/// it. Nobody else may hold it.
pub fn with_room(x: Tensor, others: &[&Tensor]) -> Result<Tensor> {
    others.iter().try_fold(x, |x, other| {
        if no_room(&x, other).is_none() {
            return Ok(x);
        }
        let zero = reduce::sum(&create::zeros_like(&other.detach())?, None, false, None)?;
        add(&x, &cast::to_dtype(&zero, x.dtype())?)
    })
}
