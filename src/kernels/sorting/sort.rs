//! Elements in order along an axis: all of them, the first few, one by its rank, the most frequent one. NaN is
//! greater than every number, and equal elements keep their order.
//!
//! What is sorted is not the elements but whole numbers, each of a key, which orders as the element does, and of
//! the place where it was: so all differ, any way of sorting keeps the order of equals, and it is compiled once.

use ndarray::ArrayViewD;
use std::mem::MaybeUninit;

use crate::dtype::{DType, Ordered};
use crate::kernels::geometry::dense::{Extent, dense};
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::reduction::along::along;
use crate::kernels::simd::vectorised;
use crate::kernels::sorting::few_kinds::by_counts;
use crate::kernels::sorting::keys::{Keyed, bits, key, put_keys, turned, with_keys};
use crate::kernels::sorting::merge::{RUN, in_order};
use crate::kernels::sorting::network;
use crate::kernels::sorting::network::Rows;
use crate::kernels::sorting::short;
use crate::kernels::sorting::short::{FEW as FEW_KEYS, SHORT};

/// The indices of the `count` first elements of `axis` in order, the greatest first if `descending`.
pub fn argsort<T: Ordered>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    count: usize,
    descending: bool,
    out: &mut [MaybeUninit<i64>],
) {
    let (elements, extent) = (dense(&view), Extent::new(view.shape(), axis));
    if count == extent.len && network::takes(extent) {
        return side_by_side(&elements, extent, descending, None, out);
    }
    along([&elements], extent, count, out, |[lane], out| first(lane, descending, out));
}

/// The index along `axis` of the element that as many are before in order as `rank` says for how many elements are
/// numbers.
pub fn arg_ranked<T: Ordered>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    rank: impl Fn(usize) -> usize + Sync,
    out: &mut [MaybeUninit<i64>],
) {
    let (elements, extent) = (dense(&view), Extent::new(view.shape(), axis));
    if network::takes(extent) {
        return side_by_side(&elements, extent, false, Some(&rank), out);
    }
    along([&elements], extent, 1, out, |[lane], out| {
        let numbers = lane.iter().filter(|&x| x.partial_cmp(x).is_some()).count();
        out[0] = ranked(lane, rank(numbers));
    });
}

/// The places in order of many short rows, or those that `rank` says.
fn side_by_side<T: Ordered>(
    elements: &[T],
    extent: Extent,
    descending: bool,
    rank: Option<&(dyn Fn(usize) -> usize + Sync)>,
    out: &mut [MaybeUninit<i64>],
) {
    let (turned, shift) = (turned::<T>(descending), 64 - bits::<T>());
    let read = |start: usize, keys: &mut [u64]| {
        put_keys(&elements[start..start + keys.len()], turned, shift, keys);
    };
    let greatest = u64::MAX << shift;
    let most = if T::DTYPE.is_float() { greatest - 1 } else { greatest };
    Rows { extent, read: &read, is_narrow: shift > 0, most, rank }.places(out);
}

/// The index along `axis` of the last of the elements that occur most often; of the least such elements.
pub fn arg_most_frequent<T: Ordered>(view: ArrayViewD<'_, T>, axis: usize, out: &mut [MaybeUninit<i64>]) {
    along([&dense(&view)], Extent::new(view.shape(), axis), 1, out, |[lane], out| {
        // Nothing is allocated for a few.
        let (mut few, mut many) = ([0; FEW_KEYS], None);
        let sorted = match few.get_mut(..lane.len()) {
            Some(few) => few,
            None => many.insert(interrupt::filled(lane.len(), 0)).as_mut_slice(),
        };
        first(lane, false, sorted);
        let (mut most, mut run, mut steps) = (0, 0, Steps::default());
        for (rank, &at) in sorted.iter().enumerate() {
            steps.take(1);
            run += 1;
            let next = sorted.get(rank + 1);
            if next.is_none_or(|&next| lane[at as usize] != lane[next as usize]) {
                if run > most {
                    (out[0], most) = (at, run);
                }
                run = 0;
            }
        }
    });
}

/// The places of the first elements in order, as many as there is room for.
pub(in crate::kernels) fn first<T: Ordered>(lane: &[T], descending: bool, out: &mut [i64]) {
    if out.len() == lane.len() && lane.len() <= SHORT {
        return with_keys(lane, turned::<T>(descending), |keys| short::order(keys, out));
    }
    if const { !T::DTYPE.is_float() }
        && out.len() == lane.len()
        && by_counts(lane, turned::<T>(descending), out)
    {
        return;
    }
    match lane.len() <= u32::MAX as usize && is_narrow(lane) {
        true => first_keyed::<T, u64>(lane, descending, out),
        false => first_keyed::<T, u128>(lane, descending, out),
    }
}

/// Whether the last 32 bits of keys order these elements, as they do if the others are the same in all.
fn is_narrow<T: Ordered>(lane: &[T]) -> bool {
    if const { bits::<T>() == 32 } {
        return true;
    }
    // Fractions hardly ever are so near each other.
    if const { !matches!(T::DTYPE, DType::Int64) } {
        return false;
    }
    let first = lane.first().map_or(0, |&x| key(x));
    lane.chunks(STRETCH * STRETCH).all(|part| {
        let differing = vectorised(
            part.len(),
            #[inline(always)]
            || part.iter().fold(0, |differing, &x| differing | (key(x) ^ first)),
        );
        differing >> 32 == 0
    })
}

/// So few are found in one look at all.
const FEW: usize = 16;

/// Elements of which it is found at once whether one is among the first.
const STRETCH: usize = 64;

/// The places of a few, least first: each is compared with the last of those found, and few are less.
fn few_keyed<T: Ordered, K: Keyed>(lane: &[T], descending: bool, out: &mut [i64]) {
    let turned = turned::<T>(descending);
    let mut found = [K::new(u64::MAX, usize::MAX); FEW];
    let (count, last, mut keys) = (out.len(), out.len() - 1, [0; STRETCH]);
    for (stretch, part) in lane.chunks(STRETCH).enumerate() {
        let limit = found[last].key();
        let is_any = vectorised(
            part.len(),
            #[inline(always)]
            || {
                keys.iter_mut().zip(part).fold(false, |is_any, (place, &x)| {
                    *place = key(x) ^ turned;
                    is_any | (*place < limit)
                })
            },
        );
        // Of equal elements those that were met before are the first.
        if stretch > 0 && !is_any {
            continue;
        }
        for (place, &key) in (stretch * STRETCH..).zip(&keys[..part.len()]) {
            let item = K::new(key, place);
            if place < count || item < found[last] {
                let mut at = place.min(last);
                while at > 0 && item < found[at - 1] {
                    found[at] = found[at - 1];
                    at -= 1;
                }
                found[at] = item;
            }
        }
    }
    out.iter_mut().zip(found).for_each(|(out, item)| *out = item.place());
}

fn first_keyed<T: Ordered, K: Keyed>(lane: &[T], descending: bool, out: &mut [i64]) {
    if (1..=FEW).contains(&out.len()) && out.len() < lane.len() && lane.len() <= RUN {
        return few_keyed::<T, K>(lane, descending, out);
    }
    let (mut items, count) = (keyed::<T, K>(lane, descending), out.len());
    // Of each stretch there can be only so many among the first.
    while count <= RUN / 2 && items.len() > RUN {
        parallel_parts(&mut items, RUN, |_, run| {
            if count < run.len() {
                run.select_nth_unstable(count);
            }
        });
        let mut kept = 0;
        for start in (0..items.len()).step_by(RUN) {
            let end = items.len().min(start + count);
            items.copy_within(start..end, kept);
            kept += end - start;
        }
        items.truncate(kept);
    }
    if count < items.len() && items.len() <= RUN {
        items.select_nth_unstable(count);
        items.truncate(count);
    }
    // What was selected lies in no order.
    let lie_in_order = items.len() == lane.len();
    let items = if lie_in_order { by_digits(items) } else { Err(items) };
    let items = items.unwrap_or_else(|items| in_order(items, 1, K::cmp));
    out.iter_mut().zip(items).for_each(|(out, item)| *out = item.place());
}

/// Bits of a digit of keys at the most.
const DIGIT: u32 = 11;

/// For each byte of an item so many items are worth a pass, in which they are put where their digits are: what is counted
/// for each is a table.
const WORTH: usize = 1 << 7;

/// Items that lie as their places do put in order by the digits of their keys in which some differ, the last digit
/// first; given back where items are few.
fn by_digits<K: Keyed>(mut items: Vec<K>) -> Result<Vec<K>, Vec<K>> {
    let worth = WORTH * size_of::<K>();
    if items.len() < worth {
        return Err(items);
    }
    let first = items.first().map_or(0, |item| item.key());
    let differing = items.iter().fold(0, |differing, item| differing | (item.key() ^ first));
    if differing == 0 {
        return Ok(items);
    }
    let low = differing.trailing_zeros();
    let width = u64::BITS - differing.leading_zeros() - low;
    let passes = width.div_ceil(DIGIT);
    if items.len() < worth * passes as usize {
        return Err(items);
    }
    let mut other = interrupt::filled(items.len(), K::new(0, 0));
    let digit = width.div_ceil(passes);
    for shift in (0..passes).map(|pass| low + pass * digit) {
        let place = |item: &K| (item.key() >> shift & ((1 << digit) - 1)) as usize;
        let mut starts = [0; 1 << DIGIT];
        for part in items.chunks(GRAIN) {
            interrupt::unwind_if_due();
            part.iter().for_each(|item| starts[place(item)] += 1);
        }
        let mut before = 0;
        for start in &mut starts {
            (*start, before) = (before, before + *start);
        }
        for part in items.chunks(GRAIN) {
            interrupt::unwind_if_due();
            for item in part {
                let start = &mut starts[place(item)];
                other[*start] = *item;
                *start += 1;
            }
        }
        std::mem::swap(&mut items, &mut other);
    }
    Ok(items)
}

/// The keys of so few elements are made one by one.
const LITTLE: usize = 32;

/// The keys of all elements with their places.
fn keyed<T: Ordered, K: Keyed>(lane: &[T], descending: bool) -> Vec<K> {
    let turned = turned::<T>(descending);
    if lane.len() <= LITTLE {
        let item = |(place, &x): (usize, &T)| K::new(key(x) ^ turned, place);
        return interrupt::collected(lane.iter().enumerate().map(item));
    }
    let mut items = interrupt::filled(lane.len(), K::new(0, 0));
    for (part, (items, lane)) in items.chunks_mut(GRAIN).zip(lane.chunks(GRAIN)).enumerate() {
        interrupt::unwind_if_due();
        vectorised(
            lane.len(),
            #[inline(always)]
            || {
                for (at, (item, &x)) in items.iter_mut().zip(lane).enumerate() {
                    *item = K::new(key(x) ^ turned, part * GRAIN + at);
                }
            },
        );
    }
    items
}

/// Where the element is that so many are before in order.
fn ranked<T: Ordered>(lane: &[T], mut rank: usize) -> i64 {
    if lane.len() <= SHORT {
        return with_keys(lane, 0, |keys| short::ranked(keys, rank));
    }
    if lane.len() <= RUN {
        return match bits::<T>() == 32 {
            true => keyed::<T, u64>(lane, false).select_nth_unstable(rank).1.place(),
            false => keyed::<T, u128>(lane, false).select_nth_unstable(rank).1.place(),
        };
    }
    // Its key, digit by digit: how often each digit follows those that are known tells the next one.
    const DIGIT: u32 = 16;
    let mut known = 0;
    for shift in (0..bits::<T>()).step_by(DIGIT as usize).rev() {
        let mut counts = interrupt::filled(1 << DIGIT, 0);
        for part in lane.chunks(GRAIN) {
            interrupt::unwind_if_due();
            let digits = part.iter().map(|&x| key(x) >> shift).filter(|key| key >> DIGIT == known);
            digits.for_each(|digits| counts[(digits & ((1 << DIGIT) - 1)) as usize] += 1);
        }
        let mut digit = 0;
        while rank >= counts[digit] {
            rank -= counts[digit];
            digit += 1;
        }
        known = known << DIGIT | digit as u64;
    }
    let mut equal = (0..).zip(lane).filter(|&(_, &x)| key(x) == known).map(|(place, _)| place);
    equal.nth(rank).unwrap_or_else(|| unreachable!("so many elements were counted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Bool;
    use crate::kernels::testing::{at_thread_counts, written};
    use ndarray::{ArrayD, IxDyn};

    const NAN: f64 = f64::NAN;

    fn row(elements: &[f64]) -> ArrayD<f64> {
        ArrayD::from_shape_vec(IxDyn(&[elements.len()]), elements.to_vec()).unwrap()
    }

    #[test]
    fn nan_is_greatest_and_equal_elements_keep_their_order() {
        let a = row(&[2.0, NAN, 1.0, 2.0, f64::INFINITY, NAN, 1.0]);
        assert_eq!(written(7, |out| argsort(a.view(), 0, 7, false, out)), [2, 6, 0, 3, 4, 1, 5]);
        assert_eq!(written(7, |out| argsort(a.view(), 0, 7, true, out)), [1, 5, 4, 0, 3, 2, 6]);
        assert_eq!(written(3, |out| argsort(a.view(), 0, 3, true, out)), [1, 5, 4]);
        assert_eq!(written(3, |out| argsort(a.view(), 0, 3, false, out)), [2, 6, 0]);
        let truths = ArrayD::from_shape_fn(IxDyn(&[4]), |index| Bool::new(index[0] % 2 == 0));
        assert_eq!(written(4, |out| argsort(truths.view(), 0, 4, false, out)), [1, 3, 0, 2]);
    }

    #[test]
    fn every_lane_of_every_axis_is_sorted_by_itself() {
        let a = ArrayD::from_shape_fn(IxDyn(&[6, 40, 35]), |index| {
            (index[0] * 31 + index[1] * 17 + index[2] * 7) as i64 % 41
        });
        for view in [a.view(), a.t()] {
            for axis in 0..3 {
                let indices =
                    written(a.len(), |out| argsort(view.view(), axis, view.shape()[axis], false, out));
                let indices = ArrayD::from_shape_vec(view.shape(), indices).unwrap();
                let axis = ndarray::Axis(axis);
                for (lane, order) in view.lanes(axis).into_iter().zip(indices.lanes(axis)) {
                    let sorted: Vec<_> = order.iter().map(|&index| (lane[index as usize], index)).collect();
                    assert!(sorted.is_sorted());
                }
            }
        }
    }

    #[test]
    fn empty_lanes_and_single_numbers_have_their_order() {
        assert!(written(0, |out| argsort(row(&[]).view(), 0, 0, false, out)).is_empty());
        assert!(written(0, |out| argsort(row(&[1.0]).view(), 0, 0, true, out)).is_empty());
        let single = ArrayD::from_elem(IxDyn(&[]), 4.0f32);
        assert_eq!(written(1, |out| argsort(single.view(), 0, 1, true, out)), [0]);
    }

    #[test]
    fn the_order_is_the_same_at_any_number_of_threads() {
        let a = ArrayD::from_shape_fn(IxDyn(&[500, 400]), |index| (index[0] * 7 + index[1] * 13) % 97)
            .mapv(|x| x as f32);
        let [one, two, four] =
            at_thread_counts(|| written(a.len(), |out| argsort(a.view(), 1, 400, true, out)));
        assert!(one == two && one == four);
    }

    #[test]
    fn long_lanes_have_the_same_order_as_short_ones() {
        let len = 3 * RUN + 5;
        let elements: Vec<f64> = (0..len).map(|at| ((at * 7919) % 10_007) as f64 - 5000.0).collect();
        let mut expected: Vec<i64> = (0..len as i64).collect();
        expected.sort_by(|&a, &b| elements[a as usize].total_cmp(&elements[b as usize]));
        let view = row(&elements);
        for count in [3, len - 1, len] {
            let found = written(count, |out| argsort(view.view(), 0, count, false, out));
            assert!(found == expected[..count]);
        }
        for rank in [0, 1, len / 2, len - 1] {
            assert_eq!(written(1, |out| arg_ranked(view.view(), 0, |_| rank, out)), [expected[rank]]);
            let narrow = view.mapv(|x| x as f32);
            assert_eq!(written(1, |out| arg_ranked(narrow.view(), 0, |_| rank, out)), [expected[rank]]);
        }
    }

    #[test]
    fn items_are_put_in_order_by_few_digits() {
        let items: Vec<u64> =
            (0..3000).map(|at| u64::new((at * 7919 % 601) as u64 * 3 + 70_000, at)).collect();
        let found = by_digits(items.clone()).unwrap();
        let mut expected = items.clone();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert!(by_digits(items[..9].to_vec()).is_err());
        let wide: Vec<u128> =
            (0..3000).map(|at| u128::new((at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15), at)).collect();
        assert!(by_digits(wide).is_err());
    }

    #[test]
    fn the_most_frequent_element_is_the_least_of_such_and_found_where_it_was_last() {
        let a = row(&[4.0, 2.0, 4.0, 1.0, 2.0, NAN, NAN, NAN]);
        assert_eq!(written(1, |out| arg_most_frequent(a.view(), 0, out)), [4]);
        assert_eq!(written(1, |out| arg_ranked(a.view(), 0, |numbers| numbers, out)), [5]);
    }
}
