//! Which elements are not zero, how many, and where they are.

use ndarray::{ArrayViewD, Axis};
use std::mem::MaybeUninit;

use super::RUN;
use crate::dtype::Element;
use crate::error::Result;
use crate::kernels::geometry::dense::dense;
use crate::kernels::interrupt::Steps;
use crate::kernels::simd::vectorised;
use crate::storage;

/// A view that shows what is repeated along an axis only once. What comes first in row-major order stays first.
pub(super) fn once<T>(mut view: ArrayViewD<'_, T>) -> ArrayViewD<'_, T> {
    for axis in 0..view.ndim() {
        if view.strides()[axis] == 0 && view.len_of(Axis(axis)) > 1 {
            view.collapse_axis(Axis(axis), 0);
        }
    }
    view
}

/// How many elements are not zero.
pub fn count_true<T: Element>(view: &ArrayViewD<'_, T>) -> usize {
    let (distinct, mut steps) = (once(view.view()), Steps::default());
    let count = match distinct.as_slice() {
        Some(elements) => elements
            .chunks(RUN)
            .map(|elements| {
                steps.take(elements.len());
                vectorised(
                    elements.len(),
                    #[inline(always)]
                    || elements.iter().map(|element| u32::from(element.is_true())).sum::<u32>() as usize,
                )
            })
            .sum(),
        None => distinct.iter().filter(|element| element.is_true()).count(),
    };
    count.saturating_mul(view.len().checked_div(distinct.len()).unwrap_or(0))
}

/// Calls `found` with where the elements are that are not zero, so many at a time: the row that they are in, and how
/// far from its start they stand.
fn each_true<T: Element>(view: &ArrayViewD<'_, T>, mut found: impl FnMut(usize, &[i64])) {
    let (elements, mut steps) = (dense(view), Steps::default());
    let len = view.shape().last().copied().unwrap_or(1).max(1);
    let mut places = [0; RUN];
    for (row, elements) in elements.chunks(len).enumerate() {
        for (part, elements) in elements.chunks(RUN).enumerate() {
            steps.take(elements.len());
            // Every place is written down; the next one takes its place if it is not wanted.
            let mut count = 0;
            for (place, element) in (part * RUN..).zip(elements) {
                places[count % RUN] = place as i64;
                count += usize::from(element.is_true());
            }
            found(row, &places[..count]);
        }
    }
}

/// Row-major positions of the elements that are not zero.
pub fn flat_nonzero<T: Element>(view: ArrayViewD<'_, T>) -> Result<Vec<i64>> {
    // Counted first: there may be more of them than there is memory for.
    let mut positions = storage::room(count_true(&view))?;
    if positions.capacity() > 0 {
        let len = view.shape().last().copied().unwrap_or(1);
        each_true(&view, |row, places| {
            positions.extend(places.iter().map(|place| (row * len) as i64 + place))
        });
    }
    Ok(positions)
}

/// Coordinates of the so many elements that are not zero: those along one axis behind those along the axis before it.
pub fn nonzero<T: Element>(view: ArrayViewD<'_, T>, count: usize, out: &mut [MaybeUninit<i64>]) {
    if out.is_empty() {
        return;
    }
    let shape = view.shape().to_vec();
    let mut start = 0;
    each_true(&view, |mut row, places| {
        let end = start + places.len();
        let mut columns = out.chunks_exact_mut(count).zip(&shape).rev();
        if let Some((column, _)) = columns.next() {
            column[start..end].write_copy_of_slice(places);
        }
        for (column, &len) in columns {
            let place = (row % len) as i64;
            column[start..end].iter_mut().for_each(|out| {
                out.write(place);
            });
            row /= len;
        }
        start = end;
    });
}
