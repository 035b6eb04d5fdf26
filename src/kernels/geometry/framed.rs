//! Elements with the same number around them.

use std::mem::MaybeUninit;

use super::by_row::each_row;

/// A dimension that is framed, or cut.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Its size.
    pub size: usize,
    /// How much is added before what is there; what is cut off there if it is negative.
    pub before: i64,
    /// Its size with the frame.
    pub whole: usize,
}

impl Frame {
    /// The element that stands at a place, if it is not one of the frame.
    fn source(self, place: usize) -> Option<usize> {
        let source = usize::try_from(i64::try_from(place).ok()?.checked_sub(self.before)?).ok()?;
        (source < self.size).then_some(source)
    }
}

/// Row-major elements with a number around them, by dimension, the last one first.
pub fn framed<T: Copy + Send + Sync>(x: &[T], frames: &[Frame], value: T, out: &mut [MaybeUninit<T>]) {
    let Some((columns, above)) = frames.split_first() else { return };
    let places = || (0..columns.whole).filter(|&place| columns.source(place).is_some());
    let first = places().next().unwrap_or(columns.whole);
    let count = places().next_back().map_or(0, |last| last + 1 - first);
    let start_of_row = columns.source(first).unwrap_or(0);
    let width = columns.whole;
    each_row(out, width, |row, out| {
        let (mut rest, mut stride, mut source) = (row, columns.size, Some(start_of_row));
        for frame in above {
            let here = frame.source(rest % frame.whole);
            source = source.zip(here).map(|(source, here)| source + here * stride);
            (rest, stride) = (rest / frame.whole, stride * frame.size);
        }
        let inner = match source {
            Some(source) if count > 0 => &x[source..source + count],
            _ => &[],
        };
        let (left, behind) = out.split_at_mut(if inner.is_empty() { width } else { first });
        left.fill(MaybeUninit::new(value));
        let (middle, right) = behind.split_at_mut(inner.len());
        middle.write_copy_of_slice(inner);
        right.fill(MaybeUninit::new(value));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    #[test]
    fn what_is_there_stands_in_its_place_within_the_frame() {
        let x: Vec<u32> = (1..=40 * 30 * 50).collect();
        for [columns, rows, layers] in [
            [(50, 2, 55), (30, 0, 33), (40, 1, 41)],
            [(50, -3, 45), (30, -30, 2), (40, 0, 40)],
            [(50, -1, 60), (30, 5, 35), (40, -2, 37)],
            [(50, 60, 55), (30, 0, 30), (40, 0, 40)],
            [(50, 0, 50), (30, 0, 30), (40, 0, 40)],
        ] {
            let frames = [columns, rows, layers].map(|(size, before, whole)| Frame { size, before, whole });
            let numel = columns.2 * rows.2 * layers.2;
            let found = at_thread_counts(|| written(numel, |out| framed(&x, &frames, 0, out)));
            let expected = (0..numel).map(|at| {
                let places = [at % columns.2, at / columns.2 % rows.2, at / columns.2 / rows.2];
                let [column, row, layer] = [0, 1, 2].map(|dim| frames[dim].source(places[dim]));
                match (layer, row, column) {
                    (Some(layer), Some(row), Some(column)) => x[(layer * 30 + row) * 50 + column],
                    _ => 0,
                }
            });
            let expected: Vec<u32> = expected.collect();
            assert!(found.iter().all(|found| *found == expected), "{columns:?} {rows:?} {layers:?}");
        }
    }
}
