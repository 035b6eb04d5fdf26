//! How often numbers are there, and how many lie between others.

use std::cmp::Ordering;

use crate::dtype::Real;
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::simd::vectorised;

/// Numbers that are counted before anybody asks whether to go on.
const RUN: usize = 4096;

/// Numbers whose places are found before they are counted.
const TOGETHER: usize = 256;

/// Counts of one number that are kept side by side: the next of equal numbers need not wait for the one before it.
const TABLES: usize = 4;

/// Of more numbers than this there is one count: equal ones seldom follow each other, and the tables would not fit into
/// the nearest memory.
const MANY: usize = 512;

/// The least and the greatest number.
pub fn bounds(values: &[i64]) -> Option<(i64, i64)> {
    let mut steps = Steps::default();
    values
        .chunks(RUN)
        .map(|run| {
            steps.take(run.len());
            vectorised(
                run.len(),
                #[inline(always)]
                || {
                    let bounds = (i64::MAX, i64::MIN);
                    run.iter().fold(bounds, |(least, most), &value| (least.min(value), most.max(value)))
                },
            )
        })
        .reduce(|(least, most), (low, high)| (least.min(low), most.max(high)))
}

/// Adds to each count how often its place is among the numbers. Others may write to these meanwhile: one without a
/// place is left out.
pub fn count(values: &[i64], counts: &mut [i64]) {
    let mut steps = Steps::default();
    if counts.len() > MANY {
        for run in values.chunks(RUN) {
            steps.take(run.len());
            for &value in run {
                if let Some(count) = counts.get_mut(value as usize) {
                    *count += 1;
                }
            }
        }
        return;
    }
    let mut tables = interrupt::filled(counts.len(), [0i64; TABLES]);
    for run in values.chunks(RUN) {
        steps.take(run.len());
        let (blocks, rest) = run.as_chunks::<TABLES>();
        for block in blocks {
            for (table, &value) in block.iter().enumerate() {
                if let Some(places) = tables.get_mut(value as usize) {
                    places[table] += 1;
                }
            }
        }
        for &value in rest {
            if let Some(places) = tables.get_mut(value as usize) {
                places[0] += 1;
            }
        }
    }
    counts.iter_mut().zip(tables).for_each(|(count, table)| *count += table.iter().sum::<i64>());
}

/// Adds to each count how many numbers lie between its edge and the next one, which is not part of it but for the last.
/// The edges are at equal distances but for rounding.
pub fn count_between<T: Real>(values: &[T], edges: &[T], counts: &mut [i64]) {
    let (Some(&lower), Some(&upper)) = (edges.first(), edges.get(counts.len())) else { return };
    let (mut steps, Some(last)) = (Steps::default(), counts.len().checked_sub(1)) else { return };
    let scale = T::from_f64(counts.len() as f64) / (upper - lower);
    let (mut places, most) = ([0; TOGETHER], last.min(i32::MAX as usize - 1) as i32);
    // What lies nowhere has a place behind the others, so that no branch has to be guessed for it.
    let (nowhere, infinity) = (most + 1, T::from_f64(f64::INFINITY));
    let bounds_of = |bound: &dyn Fn(usize) -> T| interrupt::collected((0..last + 2).map(bound));
    let lows = bounds_of(&|place| if place > last { -infinity } else { edges[place] });
    let highs = bounds_of(&|place| match place.cmp(&last) {
        Ordering::Less => edges[place + 1],
        Ordering::Equal => infinity,
        Ordering::Greater => T::from_f64(f64::NAN),
    });
    let sides = if counts.len() > MANY { 1 } else { TABLES };
    let mut tables = interrupt::filled((counts.len() + 1) * sides, 0i64);
    for run in values.chunks(RUN) {
        steps.take(run.len());
        for run in run.chunks(TOGETHER) {
            vectorised(
                run.len(),
                #[inline(always)]
                || {
                    for (place, &x) in places.iter_mut().zip(run) {
                        let near = (((x - lower) * scale).to_f64() as i32).min(most);
                        *place = if x >= lower && x <= upper { near } else { nowhere };
                    }
                },
            );
            for (at, (&place, &x)) in places.iter().zip(run).enumerate() {
                let mut place = place as usize;
                // The quotient may be off by its last bit: the edges decide.
                while x < lows[place] {
                    place -= 1;
                }
                while x >= highs[place] {
                    place += 1;
                }
                tables[place * sides + (at & (sides - 1))] += 1;
            }
        }
    }
    counts
        .iter_mut()
        .zip(tables.chunks_exact(sides))
        .for_each(|(count, table)| *count += table.iter().sum::<i64>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_where_they_belong() {
        for len in [0, 1, 3, 4, 9, 5000] {
            let values: Vec<i64> = (0..len).map(|index| index * 7 % 13).collect();
            let mut counts = [1; 13];
            count(&values, &mut counts);
            for (value, &found) in counts.iter().enumerate() {
                assert_eq!(found, 1 + values.iter().filter(|&&x| x == value as i64).count() as i64);
            }
            assert_eq!(bounds(&values), values.iter().min().copied().zip(values.iter().max().copied()));
        }
        let mut counts = [0; 2];
        count(&[-1, 0, 7, i64::MIN, 1, 1], &mut counts);
        assert_eq!(counts, [1, 2]);
    }

    #[test]
    fn edges_belong_to_what_follows_them_and_the_last_to_what_is_before() {
        let mut counts = [0; 4];
        let values = [0.0, 0.25, 0.2499, 0.5, 0.75, 1.0, 1.01, -0.01, f64::NAN, f64::INFINITY];
        count_between(&values, &[0.0, 0.25, 0.5, 0.75, 1.0], &mut counts);
        assert_eq!(counts, [2, 1, 1, 2]);
        count_between::<f32>(&[], &[], &mut []);
        count_between(&[1.0f32], &[0.0], &mut [0]);
    }
}
