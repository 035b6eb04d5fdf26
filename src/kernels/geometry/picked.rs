//! Images made of elements of others, by the places from which their columns, rows and layers are taken.

use std::mem::MaybeUninit;

use super::by_row::each_row;
use crate::error::Result;
use crate::storage;

/// From where the places along a dimension are taken.
pub struct Sources {
    /// The size of what they are taken from.
    size: usize,
    places: Vec<usize>,
    /// Places that are taken from places in a row: the first of those, and how many.
    runs: Vec<(usize, usize)>,
}

impl Sources {
    /// So many places, each taken from where this says, of so many.
    pub fn new(size: usize, count: usize, of: impl Fn(usize) -> usize) -> Result<Sources> {
        let places = storage::collected(count, (0..count).map(of))?;
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for &place in &places {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == place => *count += 1,
                _ => storage::push(&mut runs, (place, 1))?,
            }
        }
        Ok(Sources { size, places, runs })
    }

    /// How many places there are.
    pub fn count(&self) -> usize {
        self.places.len()
    }
}

/// The elements of images that are taken from others, by dimension, the last one first. There is at least one of each.
pub fn picked<T: Copy + Send + Sync>(x: &[T], sources: &[Sources], out: &mut [MaybeUninit<T>]) {
    let Some((columns, above)) = sources.split_first() else { return };
    each_row(out, columns.count(), |row, out| {
        let (mut rest, mut first, mut stride) = (row, 0, columns.size);
        for sources in above {
            first += sources.places[rest % sources.count()] * stride;
            (rest, stride) = (rest / sources.count(), stride * sources.size);
        }
        columns.pick(&x[first + rest * stride..][..columns.size], out);
    });
}

impl Sources {
    /// The elements of a row.
    #[inline]
    fn pick<T: Copy>(&self, x: &[T], mut out: &mut [MaybeUninit<T>]) {
        for &(first, count) in &self.runs {
            let Some(now) = out.split_off_mut(..count) else { return };
            match now {
                [only] => {
                    only.write(x[first]);
                }
                several => {
                    several.write_copy_of_slice(&x[first..first + count]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    #[test]
    fn every_element_comes_from_its_place_in_its_own_image() {
        let x: Vec<u32> = (0..40 * 3 * 50 * 30).collect();
        let columns = || Sources::new(30, 32, |place| place.abs_diff(2)).unwrap();
        let rows = || Sources::new(50, 51, |place| (place + 49) % 50).unwrap();
        let layers = || Sources::new(3, 5, |place| place.saturating_sub(1).min(2)).unwrap();
        let found = at_thread_counts(|| {
            written(40 * 5 * 51 * 32, |out| picked(&x, &[columns(), rows(), layers()], out))
        });
        let expected = (0..40 * 5 * 51 * 32).map(|at: usize| {
            let (column, row, layer) = (at % 32, at / 32 % 51, at / 32 / 51 % 5);
            let (layer, row) = (layer.saturating_sub(1).min(2), (row + 49) % 50);
            x[((at / (32 * 51 * 5) * 3 + layer) * 50 + row) * 30 + column.abs_diff(2)]
        });
        let expected: Vec<u32> = expected.collect();
        assert!(found.iter().all(|found| *found == expected));
    }
}
