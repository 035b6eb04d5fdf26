//! What is different among rows of elements, and where a value belongs among sorted ones.

use crate::dtype::Ordered;
use crate::error::Result;
use crate::kernels::interrupt::Steps;
use crate::kernels::sorting::merge::in_order;
use crate::kernels::sorting::sort::{first, key};
use crate::storage;

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
    let row = |index: usize| &elements[index * width..(index + 1) * width];
    let keys = |index: i64| row(index as usize).iter().map(|&x| key(x));
    let mut sorted: Vec<i64> = storage::collected(count, 0..count as i64)?;
    match width {
        _ if neighbours => {}
        1 => first(elements, false, &mut sorted),
        _ => sorted = in_order(sorted, |&a, &b| keys(a).cmp(keys(b)).then(a.cmp(&b))),
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

/// How many of the sorted elements are less than the value, or not greater if `right`.
pub fn place<T: Ordered>(sorted: &[T], value: T, right: bool) -> i64 {
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
    fn a_value_goes_before_or_behind_its_equals() {
        assert_eq!([place(&[1, 3, 3], 3, false), place(&[1, 3, 3], 3, true)], [1, 3]);
    }
}
