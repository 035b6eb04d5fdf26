//! What is different among rows of elements, and where a value belongs among sorted ones.

use crate::dtype::Ordered;
use crate::error::Result;
use crate::kernels::interrupt::Steps;
use crate::kernels::sorting::keys::key;
use crate::kernels::sorting::merge::in_order;
use crate::kernels::sorting::sort::first;
use crate::storage;

/// Elements that are looked at before one may give up.
const PIECE: usize = 1 << 12;

/// Groups of equal rows.
pub struct Groups {
    /// The first row of each.
    pub firsts: Vec<i64>,
    /// The group of each row.
    pub members: Vec<i64>,
    /// How many rows each has.
    pub counts: Vec<i64>,
}

/// The groups of `count` rows: of all that are equal, in ascending order, or only of neighbours.
pub fn groups<T: Ordered>(elements: &[T], count: usize, neighbours: bool) -> Result<Groups> {
    let width = elements.len().checked_div(count).unwrap_or(0);
    if let Some((least, range)) = near(elements).filter(|_| width == 1 && !neighbours) {
        return counted(elements, least, range);
    }
    let row = |index: usize| &elements[index * width..(index + 1) * width];
    let keys = |index: i64| row(index as usize).iter().map(|&x| key(x));
    let mut sorted: Vec<i64> = storage::collected(count, 0..count as i64)?;
    match width {
        _ if neighbours => {}
        1 => first(elements, false, &mut sorted),
        _ => sorted = in_order(sorted, width, |&a, &b| keys(a).cmp(keys(b)).then(a.cmp(&b))),
    }
    let members = storage::filled(count, 0)?;
    let mut groups = Groups { firsts: Vec::new(), members, counts: Vec::new() };
    let (mut before, mut steps) = (None, Steps::default());
    for index in sorted {
        steps.take(width);
        let index = index as usize;
        if before.is_none_or(|before| row(before) != row(index)) {
            storage::push(&mut groups.firsts, index as i64)?;
            storage::push(&mut groups.counts, 0)?;
        }
        before = Some(index);
        groups.members[index] = groups.firsts.len() as i64 - 1;
        if let Some(count) = groups.counts.last_mut() {
            *count += 1;
        }
    }
    Ok(groups)
}

/// The elements that differ from the one before.
pub fn changes<T: Ordered>(elements: &[T]) -> Result<Vec<T>> {
    let Some(&first) = elements.first() else { return Ok(Vec::new()) };
    let (mut kept, mut count, mut steps) = (storage::filled(elements.len(), first)?, 1, Steps::default());
    for run in 0..elements.len().div_ceil(PIECE) {
        steps.take(PIECE);
        let start = (run * PIECE).max(1) - 1;
        let run = &elements[start..elements.len().min((run + 1) * PIECE)];
        for pair in run.windows(2) {
            // Written over by the next one if it is no change: there is no branch that would have to be guessed.
            kept[count.min(elements.len() - 1)] = pair[1];
            count += usize::from(pair[0] != pair[1]);
        }
    }
    kept.truncate(count);
    Ok(kept)
}

/// The least of whole numbers, and how many there are from it to the greatest, if they are hardly more than elements.
fn near<T: Ordered>(elements: &[T]) -> Option<(i64, usize)> {
    if T::DTYPE.is_float() {
        return None;
    }
    let mut steps = Steps::default();
    let ends = elements.chunks(PIECE).fold((i64::MAX, i64::MIN), |ends, piece| {
        steps.take(piece.len());
        piece.iter().fold(ends, |(least, most), x| (least.min(x.to_i64()), most.max(x.to_i64())))
    });
    let range = usize::try_from(ends.1.checked_sub(ends.0)?).ok()?.checked_add(1)?;
    (range <= 2 * elements.len()).then_some((ends.0, range))
}

/// The groups of equal elements, which are all from the least on: there is a place for each that there may be.
fn counted<T: Ordered>(elements: &[T], least: i64, range: usize) -> Result<Groups> {
    let place = |x: &T| (x.to_i64() - least) as usize;
    let (mut first, mut counts) = (storage::filled(range, 0)?, storage::filled(range, 0)?);
    let mut steps = Steps::default();
    for (index, x) in elements.iter().enumerate() {
        steps.take(1);
        let place = place(x);
        first[place] = if counts[place] == 0 { index as i64 } else { first[place] };
        counts[place] += 1;
    }
    let mut groups = Groups { firsts: Vec::new(), members: Vec::new(), counts: Vec::new() };
    let mut numbers = first;
    for (number, &count) in numbers.iter_mut().zip(&counts).filter(|(_, count)| **count > 0) {
        steps.take(1);
        storage::push(&mut groups.firsts, *number)?;
        storage::push(&mut groups.counts, count)?;
        *number = groups.firsts.len() as i64 - 1;
    }
    groups.members = storage::collected(elements.len(), elements.iter().map(|x| numbers[place(x)]))?;
    Ok(groups)
}

/// How many of the sorted elements are less than each value, or not greater if `right`: so many values one after the
/// other are for one row of so many elements.
pub fn places<T: Ordered>(
    sorted: &[T],
    length: usize,
    values: &[T],
    row: usize,
    right: bool,
) -> Result<Vec<i64>> {
    let (mut found, mut steps) = (storage::filled(values.len(), 0)?, Steps::default());
    let row = if row == 0 { values.len() } else { row };
    let rows = found.chunks_mut(row.max(1)).zip(values.chunks(row.max(1)));
    for (at, (found, values)) in rows.enumerate() {
        let sorted = &sorted[(at * length).min(sorted.len())..][..length];
        for (place, &value) in found.iter_mut().zip(values) {
            steps.take(1);
            // Comparisons with what is no number are false, as they are to be of elements, which are sorted last.
            *place = match right {
                _ if value.partial_cmp(&value).is_none() => place_of(sorted, value, right),
                true => sorted.partition_point(|&element| element <= value) as i64,
                false => sorted.partition_point(|&element| element < value) as i64,
            };
        }
    }
    Ok(found)
}

/// The place of a value, what is no number being greater than all that are.
fn place_of<T: Ordered>(sorted: &[T], value: T, right: bool) -> i64 {
    let wanted = key(value);
    let before = |&element: &T| if right { key(element) <= wanted } else { key(element) < wanted };
    sorted.partition_point(before) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_grouped_in_order_or_as_neighbours() {
        let found = groups(&[2, 1, 2, 1, 0, 5, 2, 1], 4, false).unwrap();
        assert_eq!((found.firsts, found.members, found.counts), (vec![2, 0], vec![1, 1, 0, 1], vec![1, 3]));
        let found = groups(&[1, 1, 2, 1], 4, true).unwrap();
        assert_eq!((found.firsts, found.counts), (vec![0, 2, 3], vec![2, 1, 1]));
    }

    #[test]
    fn what_changes_is_kept() {
        assert_eq!(changes(&[1, 1, 2, 1, 1]).unwrap(), [1, 2, 1]);
        assert_eq!(changes::<i64>(&[]).unwrap(), []);
        assert_eq!(changes(&[f64::NAN, f64::NAN]).unwrap().len(), 2);
        let many: Vec<i64> = (0..3 * PIECE as i64 + 5).map(|at| at / 3).collect();
        assert_eq!(changes(&many).unwrap(), (0..=(many.len() as i64 - 1) / 3).collect::<Vec<_>>());
    }

    #[test]
    fn whole_numbers_are_counted_as_they_would_be_sorted() {
        for spread in [1, 7, 150, 1_000_000_007] {
            let elements: Vec<i64> = (0..100).map(|at| ((at * 37) % 11 - 5) * spread).collect();
            let floats: Vec<f64> = elements.iter().map(|&x| x as f64).collect();
            assert_eq!(near(&elements).is_some(), spread < 20);
            assert!(near(&floats).is_none());
            let (found, wanted) =
                (groups(&elements, 100, false).unwrap(), groups(&floats, 100, false).unwrap());
            assert_eq!(found.firsts, wanted.firsts);
            assert_eq!((found.members, found.counts), (wanted.members, wanted.counts));
        }
        let ends = groups(&[i64::MAX, i64::MIN, i64::MAX], 3, false).unwrap();
        assert_eq!((ends.firsts, ends.counts), (vec![1, 0], vec![1, 2]));
        assert!(groups::<i64>(&[], 0, false).unwrap().firsts.is_empty());
    }

    #[test]
    fn a_value_goes_before_or_behind_its_equals() {
        let found = |right| places(&[1, 3, 3, 0, 2, 9], 3, &[3, 0, 4, 2, 9], 5, right).unwrap();
        assert_eq!(found(false)[..5], [1, 0, 3, 1, 3]);
        assert_eq!(found(true)[..5], [3, 0, 3, 1, 3]);
        let both = places(&[1, 3, 3, 0, 2, 9], 3, &[3, 0, 2, 9], 2, false).unwrap();
        assert_eq!(both, [1, 0, 1, 2]);
        let nan = f64::NAN;
        for right in [false, true] {
            for len in 0..9 {
                let sorted: Vec<f64> = [0.0, 1.0, 1.0, 2.0, 5.0, 5.0, nan, nan][..len].to_vec();
                let values = [-1.0, -0.0, 1.0, 3.0, 5.0, 6.0, nan];
                let wanted: Vec<i64> = values.iter().map(|&x| place_of(&sorted, x, right)).collect();
                assert_eq!(places(&sorted, len, &values, 0, right).unwrap(), wanted);
            }
        }
    }
}
