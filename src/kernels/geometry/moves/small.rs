//! Moving many small blocks, such as matrices of a batch that are each to be transposed.

use ndarray::{ArrayViewD, ArrayViewMutD};
use smallvec::SmallVec;

use crate::kernels::interrupt::Steps;

/// Elements of a block that is small.
const BLOCK: usize = 64;

/// Moves small blocks, if views lie so, and says whether they do.
pub(super) fn move_blocks<V, T: Copy>(
    out: &mut ArrayViewMutD<'_, V>,
    a: &ArrayViewD<'_, T>,
    write: impl Fn(&mut V, T) + Copy,
    steps: &mut Steps,
) -> bool {
    let Some(places) = places_in_blocks(out.strides(), a) else { return false };
    let (Some(out), Some(a)) = (out.as_slice_mut(), a.as_slice_memory_order()) else { return false };
    for (out, a) in out.chunks_exact_mut(places.len()).zip(a.chunks_exact(places.len())) {
        steps.take(a.len());
        out.iter_mut().zip(&places).for_each(|(out, &place)| write(out, a[place]));
    }
    true
}

/// Where the elements of a small block come from within a block of the source, if both lie block by block along the first
/// axis.
fn places_in_blocks<T>(out: &[isize], a: &ArrayViewD<'_, T>) -> Option<SmallVec<[usize; BLOCK]>> {
    let (_, inner) = a.shape().split_first()?;
    let (step, strides) = a.strides().split_first()?;
    let block: usize = inner.iter().product();
    let is_fit = (2..=BLOCK).contains(&block) && *step == block as isize && out[0] == *step;
    if !is_fit || strides.iter().any(|&stride| stride <= 0) {
        return None;
    }
    let place = |at: usize| {
        let mut rest = at;
        let of_axes = inner.iter().zip(strides).rev();
        of_axes.fold(0, |place, (&size, &stride)| {
            let index = rest % size;
            rest /= size;
            place + index * stride as usize
        })
    };
    Some((0..block).map(place).collect())
}
