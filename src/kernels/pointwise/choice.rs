//! Elements chosen by their place along several axes at once, one for each output, and the transpose: elements added
//! to those that were chosen. Padding with what is there, and enlarging without anything in between.

use std::mem::MaybeUninit;

use crate::dtype::Number;
use crate::error::Result;
use crate::kernels::geometry::moves::move_slice;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;
use crate::storage;

/// Runs shorter than this are gone through element by element.
const SHORT: usize = 4;

/// Neighbouring outputs whose inputs are so far apart from one to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    output: usize,
    input: usize,
    len: usize,
    step: isize,
}

/// What is chosen of the last axes of an array.
pub struct Choice {
    /// Where in a block of the input each row of the output begins.
    rows: Vec<usize>,
    /// The input of each output of a row, and the same as runs, if these are long.
    places: Vec<usize>,
    runs: Vec<Run>,
    /// Elements of a block of the input.
    block: usize,
}

impl Choice {
    /// The inputs of the outputs along each axis, which has so many; the axes are the last ones.
    pub fn new(axes: &[(Vec<usize>, usize)]) -> Result<Choice> {
        let mut rows = storage::filled(1, 0)?;
        let Some(((places, len), before)) = axes.split_last() else {
            return Ok(Choice { rows, places: Vec::new(), runs: Vec::new(), block: 1 });
        };
        for (inputs, size) in before {
            let count = rows.len().saturating_mul(inputs.len());
            let deeper = rows.iter().flat_map(|row| inputs.iter().map(move |input| row * size + input));
            rows = storage::collected(count, deeper)?;
        }
        rows.iter_mut().for_each(|row| *row *= len);
        let mut runs: Vec<Run> = Vec::new();
        for (output, &input) in places.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if run.len == 1 && input.abs_diff(run.input) <= 1 => {
                    (run.len, run.step) = (2, input as isize - run.input as isize);
                }
                Some(run)
                    if run.input.wrapping_add_signed(run.step * run.len as isize) == input && run.len > 1 =>
                {
                    run.len += 1;
                }
                _ => storage::push(&mut runs, Run { output, input, len: 1, step: 1 })?,
            }
        }
        if runs.len() * SHORT > places.len() {
            runs.clear();
        }
        let block = before.iter().map(|(_, size)| size).product::<usize>() * len;
        Ok(Choice { rows, places: storage::collected(places.len(), places.iter().copied())?, runs, block })
    }

    /// Elements of a block of the output.
    fn chosen(&self) -> usize {
        self.rows.len() * self.places.len()
    }
}

/// `y[i] = x[chosen[i]]` in each block.
pub fn choose<T: Copy + Send + Sync>(x: &[T], y: &mut [MaybeUninit<T>], choice: &Choice) {
    let row = choice.places.len();
    let put = |out: &mut MaybeUninit<T>, x: T| {
        out.write(x);
    };
    parallel_parts(y, (GRAIN / row.max(1)).max(1) * row, |start, part| {
        let (mut steps, first) = (Steps::default(), start / row);
        vectorised(part.len(), || {
            for (number, out) in (first..).zip(part.chunks_exact_mut(row)) {
                steps.take(row);
                let (block, number) = (number / choice.rows.len(), number % choice.rows.len());
                let x = &x[block * choice.block + choice.rows[number]..];
                if choice.runs.is_empty() {
                    out.iter_mut().zip(&choice.places).for_each(|(out, &place)| put(out, x[place]));
                }
                for run in &choice.runs {
                    let out = &mut out[run.output..][..run.len];
                    match run.step {
                        1 => move_slice(out, &x[run.input..][..run.len], put),
                        0 => out.iter_mut().for_each(|out| put(out, x[run.input])),
                        _ => {
                            let x = &x[run.input + 1 - run.len..=run.input];
                            out.iter_mut().zip(x.iter().rev()).for_each(|(out, &x)| put(out, x));
                        }
                    }
                }
            }
        });
    });
}

/// `x[chosen[i]] += y[i]` in each block, in the order of `y`.
pub fn give_back<T: Number>(y: &[T], x: &mut [T], choice: &Choice) {
    let row = choice.places.len();
    if y.is_empty() {
        return;
    }
    parallel_parts(x, (GRAIN / choice.block).max(1) * choice.block, |start, part| {
        let (mut steps, chosen) = (Steps::default(), choice.chosen());
        let blocks = y[start / choice.block * chosen..].chunks_exact(chosen);
        vectorised(part.len(), || {
            for (x, y) in part.chunks_exact_mut(choice.block).zip(blocks) {
                for (first, y) in choice.rows.iter().zip(y.chunks_exact(row)) {
                    steps.take(row);
                    let x = &mut x[*first..];
                    if choice.runs.is_empty() {
                        choice.places.iter().zip(y).for_each(|(&place, &y)| x[place] = x[place].add(y));
                    }
                    for run in &choice.runs {
                        let y = &y[run.output..][..run.len];
                        match run.step {
                            1 => add(x[run.input..].iter_mut(), y),
                            0 => y.iter().for_each(|&y| x[run.input] = x[run.input].add(y)),
                            _ => add(x[run.input + 1 - run.len..=run.input].iter_mut().rev(), y),
                        }
                    }
                }
            }
        });
    });
}

#[inline(always)]
fn add<'a, T: Number>(x: impl Iterator<Item = &'a mut T>, y: &[T]) {
    x.zip(y).for_each(|(x, &y)| *x = x.add(y));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;

    /// Each element's place, and what comes back of the places themselves.
    fn both(axes: &[(Vec<usize>, usize)], blocks: usize) -> (Vec<i64>, Vec<i64>) {
        let choice = Choice::new(axes).unwrap();
        let x: Vec<i64> = (0..(blocks * choice.block) as i64).collect();
        let y = written(blocks * choice.chosen(), |out| choose(&x, out, &choice));
        let mut back = vec![0; x.len()];
        give_back(&y, &mut back, &choice);
        (y, back)
    }

    #[test]
    fn every_output_is_its_input_and_gives_back_to_it() {
        let mirrored = vec![3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 5, 4];
        let held = vec![0, 0, 0, 0, 1, 2, 3, 4, 4, 4, 4, 4];
        let twice = vec![0, 0, 1, 1, 2, 2];
        for axes in [
            vec![(mirrored.clone(), 7)],
            vec![(twice.clone(), 3), (mirrored, 7)],
            vec![(vec![1], 2), (held, 5), (twice, 3)],
        ] {
            let (y, back) = both(&axes, 3);
            let mut expected: Vec<i64> = vec![0, 1, 2];
            for (inputs, size) in &axes {
                let deeper = |place: &i64| {
                    let place = place * *size as i64;
                    inputs.iter().map(move |&input| place + input as i64).collect::<Vec<_>>()
                };
                expected = expected.iter().flat_map(deeper).collect();
            }
            assert_eq!(y, expected);
            let mut returned = vec![0; back.len()];
            expected.iter().for_each(|&place| returned[place as usize] += place);
            assert_eq!(back, returned);
        }
    }
}
