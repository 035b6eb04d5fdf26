//! Operations whose numbers say how large their results are: they run for one sample after the other,
//! and what they answer has to be alike.

use super::{below, check_open, highest, samples};
use crate::error::{Error, Result};
use crate::ops::join;
use crate::tensor::Tensor;

/// What `f` makes of the samples of tensors, one after the other, if any of them is batched. `operation`
/// is torch's name of what it is.
pub(in crate::ops) fn one_by_one(
    tensors: &[&Tensor],
    operation: &'static str,
    f: &dyn Fn(&[&Tensor]) -> Result<Tensor>,
) -> Option<Result<Tensor>> {
    let mapping = highest(tensors.iter().copied())?;
    let run = || {
        check_open(&mapping)?;
        let values: Vec<_> = tensors.iter().map(|x| samples(x, &mapping)).collect();
        let one = |index: usize| {
            let parts = values.iter().map(|samples| samples.sample(index));
            let parts = parts.collect::<Result<Vec<Tensor>>>()?;
            f(&parts.iter().collect::<Vec<_>>())
        };
        if values.iter().all(|samples| samples.dim.is_none()) {
            return Tensor::batched(one(0)?, None, &mapping);
        }
        if mapping.size() == 0 {
            return Err(Error::MappedNoSamples { operation }.into());
        }
        let results = (0..mapping.size()).map(one).collect::<Result<Vec<Tensor>>>()?;
        Tensor::batched(join::stack(&results.iter().collect::<Vec<_>>(), 0)?, Some(0), &mapping)
    };
    Some(below(&mapping, run))
}
