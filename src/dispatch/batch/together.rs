//! Batching of operations whose values decide the size of their results (`nonzero`, say): they get all samples
//! together, and the results of all samples have to be alike.

use super::{below, check_open, highest, samples};
use crate::error::{Error, Result};
use crate::ops::geometry::part;
use crate::tensor::Tensor;

/// What `f` makes of the samples of tensors along a first dimension, if any of them is batched.
/// `operation` is torch's name of what it is.
pub(crate) fn together(
    tensors: &[&Tensor],
    operation: &'static str,
    f: &dyn Fn(&[Tensor]) -> Result<Tensor>,
) -> Option<Result<Tensor>> {
    let mapping = highest(tensors.iter().copied())?;
    let run = || {
        check_open(&mapping)?;
        let values: Vec<_> = tensors.iter().map(|x| samples(x, &mapping)).collect();
        let shared = values.iter().all(|samples| samples.dim.is_none());
        let size = if shared { 1 } else { mapping.size() };
        if size == 0 {
            return Err(Error::MappedNoSamples { operation: operation.to_owned() }.into());
        }
        let values = values.iter().map(|samples| samples.front(size)).collect::<Result<Vec<Tensor>>>()?;
        let y = f(&values)?;
        match shared {
            true => Tensor::batched(part::select(&y, 0, 0)?, None, &mapping),
            false => Tensor::batched(y, Some(0), &mapping),
        }
    };
    Some(below(&mapping, run))
}

/// What the samples have in common, which says the shape of what becomes of each.
pub(crate) fn alike_or<T: Copy + PartialEq>(each: &[T], shape: impl Fn(&T) -> Vec<usize>) -> Result<T> {
    let first = each[0];
    match each.iter().position(|one| *one != first) {
        None => Ok(first),
        Some(position) => {
            let (first, got) = (shape(&first), shape(&each[position]));
            Err(Error::StackSizes { first, got, position }.into())
        }
    }
}
