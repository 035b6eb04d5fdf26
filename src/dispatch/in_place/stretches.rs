//! In-place operations that have no kernel of their own for it, on many elements: a stretch of them after the other.
//!
//! What is written back is still at hand then, and no memory of the size of the whole is needed.

use smallvec::SmallVec;

use crate::dispatch::in_place::{check_result, through_elements};
use crate::dispatch::long_work;
use crate::dispatch::record::records;
use crate::error::Result;
use crate::graph::mode;
use crate::kernels::parallel::num_threads;
use crate::ops::creation::copy;
use crate::tensor::{Array, Tensor};

/// Elements of a stretch for each thread: as many as threads take at a turn.
const STRETCH: usize = 1 << 16;

/// Elements of a stretch that stays in the memory next to a processor, if there is one.
const NEAR: usize = 1 << 14;

/// `through_elements` of an operation that tells elements apart by their values alone: it is given `x` and the others,
/// or stretches of all of them.
pub fn through_stretches(
    x: &Tensor,
    others: &[&Tensor],
    operation: impl Fn(&Tensor, &[&Tensor]) -> Result<Tensor> + Sync,
) -> Result<()> {
    match x.numel() > STRETCH && may_be_parted(x, others) {
        true => overwrite(x, others, &operation),
        false => through_elements(x, others, |x| operation(x, others)),
    }
}

/// Whether a tensor is written to where it lies, in order, and nobody is to know of it.
pub(crate) fn is_plain(x: &Tensor) -> bool {
    !mode::special() && !x.is_subclassed() && !x.is_pending() && x.layout().is_contiguous() && !records(&[x])
}

/// Whether all lie so, element beside element.
fn may_be_parted(x: &Tensor, others: &[&Tensor]) -> bool {
    let layout = x.layout();
    let is_alike = |other: &&Tensor| {
        let other = other.layout();
        other.is_contiguous() && other.shape() == layout.shape()
    };
    is_plain(x) && others.iter().all(is_alike) && !records(others)
}

/// Has a tensor whose elements lie in order overwritten at one go, to the end, and counts that, if `write` does so.
/// Answers whether it did.
pub(crate) fn at_one_go(x: &Tensor, write: impl FnOnce(&Array) -> Result<bool> + Send) -> Result<bool> {
    let target = x.memory();
    let is_written = long_work::to_the_end(x.numel() as u64, || write(&target))?;
    if is_written {
        x.bump_version()?;
    }
    Ok(is_written)
}

fn overwrite(
    x: &Tensor,
    others: &[&Tensor],
    operation: &(dyn Fn(&Tensor, &[&Tensor]) -> Result<Tensor> + Sync),
) -> Result<()> {
    let (target, count) = (x.memory(), x.numel());
    let others: SmallVec<[Array; 2]> = others.iter().map(|other| other.array()).collect();
    others.iter().try_for_each(|other| target.check_read(other))?;
    let stretch = STRETCH * num_threads();
    let mut is_begun = false;
    let outcome = long_work::to_the_end(count as u64, || {
        for start in (0..count).step_by(stretch) {
            let part = |array: &Array| Tensor::from_array(stretch_of(array, start, stretch));
            let (own, others) = (part(&target), others.iter().map(part).collect::<SmallVec<[Tensor; 2]>>());
            let result = operation(&own, &others.iter().collect::<SmallVec<[&Tensor; 2]>>())?;
            check_result(&own, &result)?;
            is_begun = true;
            copy::write(&own.memory(), &result.array())?;
        }
        Ok(())
    });
    // Memory may give out half way: that was a write, too.
    if is_begun {
        x.bump_version()?;
    }
    outcome
}

/// So many elements of an array in order from this one on, or those that are left.
fn stretch_of(array: &Array, start: usize, len: usize) -> Array {
    array.with_layout(array.layout.stretch(start, len.min(array.layout.numel() - start)))
}

/// Writes what is calculated apart of the elements of an array and of others, which it does not show, back to it: of many
/// in order stretch by stretch, if those of the others go with them one by one.
pub(crate) fn by_stretch(
    target: &Array,
    others: &[&Array],
    calculate: &dyn Fn(&Array, &[Array]) -> Result<Array>,
) -> Result<()> {
    let threads = num_threads();
    let (count, stretch) = (target.layout.numel(), if threads > 1 { STRETCH * threads } else { NEAR });
    let is_alike = |array: &&Array| {
        array.layout.numel() == 1 || array.layout.is_contiguous() && array.layout.numel() == count
    };
    if count <= stretch || !target.layout.is_contiguous() || !others.iter().all(is_alike) {
        let others: SmallVec<[Array; 1]> = others.iter().map(|&other| other.clone()).collect();
        return copy::write(target, &calculate(target, &others)?);
    }
    for start in (0..count).step_by(stretch) {
        let own = stretch_of(target, start, stretch);
        let part = |&array: &&Array| match array.layout.numel() {
            1 => array.clone(),
            _ => stretch_of(array, start, stretch),
        };
        let others: SmallVec<[Array; 1]> = others.iter().map(part).collect();
        copy::write(&own, &calculate(&own, &others)?)?;
    }
    Ok(())
}
