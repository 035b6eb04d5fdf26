//! In-place writes under vmap: writing a batched value to a tensor that is not batched is refused, since that tensor has
//! memory for one sample only. A tensor that nobody else holds is batched first instead.

use std::sync::Arc;

use super::{highest, samples};
use crate::error::{Error, Result};
use crate::ops::add;
use crate::ops::creation::{cast, create};
use crate::ops::reduction::reduce;
use crate::shape;
use crate::tensor::{Mapping, Tensor};

/// The innermost vmap level at which `other` is batched and `x` is not.
pub fn no_room(x: &Tensor, other: &Tensor) -> Option<Arc<Mapping>> {
    let mapping = highest([x, other])?;
    let (x, other) = (samples(x, &mapping), samples(other, &mapping));
    if x.dim.is_none() && other.dim.is_some() { Some(mapping) } else { no_room(&x.value, &other.value) }
}

/// The error of writing `other` to `x`, with the shapes of all samples together.
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

/// The tensor, batched as the others are, so that results computed from them can be written to it. Nobody else may
/// hold it.
pub fn with_room(x: Tensor, others: &[&Tensor]) -> Result<Tensor> {
    others.iter().try_fold(x, |x, other| {
        if no_room(&x, other).is_none() {
            return Ok(x);
        }
        let zero = reduce::sum(&create::zeros_like(&other.detach())?, None, false, None)?;
        add(&x, &cast::to_dtype(&zero, x.dtype())?)
    })
}
