//! Whether indices name what is there.

use ndarray::ArrayViewD;

use super::FETCHED;
use super::truths::once;
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::simd::vectorised;

/// The first index that is not in `0..size`, or not in `-size..size` if `negative` ones are allowed.
pub fn first_bad(index: ArrayViewD<'_, i64>, size: usize, negative: bool) -> Option<i64> {
    let size = size as i64;
    let least = if negative { -size } else { 0 };
    let (index, is_bad) = (once(index), |index: &i64| !(least..size).contains(index));
    if let Some(index) = index.as_slice() {
        // All are looked at, which takes less time than to ask of each whether to go on.
        let mut found = interrupt::filled(index.len().div_ceil(FETCHED), 0);
        parallel_parts(&mut found, 1, |start, found| {
            for (found, index) in found.iter_mut().zip(index[start * FETCHED..].chunks(FETCHED)) {
                *found = beyond(index, least, size - least);
            }
        });
        let any = found.iter().any(|&found| found < 0);
        return index.iter().copied().find(|index| any && is_bad(index));
    }
    index.iter().copied().find(is_bad)
}

/// The indices, counted from the first of so many, in a list that has room for them; or one that is not among them.
pub fn counted(
    index: &[i64],
    size: usize,
    negative: bool,
    mut places: Vec<i64>,
) -> std::result::Result<Vec<i64>, i64> {
    let size = size as i64;
    let from_end = if negative { size } else { 0 };
    for run in index.chunks(COUNTED) {
        let first = places.len();
        places.extend(run.iter().map(|&place| place.wrapping_add(from_end & (place >> 63))));
        if !places[first..].iter().fold(true, |all, place| all & (0..size).contains(place)) {
            let bad = places[first..].iter().position(|place| !(0..size).contains(place));
            return Err(run[bad.unwrap_or(0)]);
        }
        interrupt::unwind_if_due();
    }
    Ok(places)
}

/// Indices that are counted before anybody asks whether to go on.
const COUNTED: usize = 1 << 16;

/// Whether one of these is not among so many from the least one on: a negative number then. That it is on one side or the
/// other shows in a sign.
fn beyond(index: &[i64], least: i64, count: i64) -> i64 {
    vectorised(
        index.len(),
        #[inline(always)]
        || {
            index.iter().fold(0, |any, index| {
                let place = index.wrapping_sub(least);
                any | place | (count - 1).wrapping_sub(place)
            })
        },
    )
}
