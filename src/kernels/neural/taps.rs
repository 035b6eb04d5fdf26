//! Linear maps along one axis of which each output has a few inputs: averages over windows,
//! interpolation, padding with what is there.

use std::iter::repeat_n;

use crate::dtype::Number;
use crate::error::Result;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::storage;

/// The inputs of every output, and what each counts: those of one output behind those of the one before.
#[derive(Clone, Debug)]
pub struct Taps {
    ends: Vec<usize>,
    inputs: Vec<(usize, f64)>,
}

impl Taps {
    /// The inputs of so many outputs.
    pub fn new<I: Iterator<Item = (usize, f64)>>(count: usize, of: impl Fn(usize) -> I) -> Result<Taps> {
        let mut taps = Taps { ends: storage::room(count)?, inputs: Vec::new() };
        for output in 0..count {
            for input in of(output) {
                storage::push(&mut taps.inputs, input)?;
            }
            taps.ends.push(taps.inputs.len());
        }
        Ok(taps)
    }

    /// How many outputs there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The same with each input of an output once.
    fn merged(&self) -> Result<Taps> {
        let start = |output: usize| output.checked_sub(1).map_or(0, |before| self.ends[before]);
        let of = |output: usize| merged(&self.inputs[start(output)..self.ends[output]]).into_iter();
        Taps::new(self.count(), of)
    }

    /// The inputs of each output in turn.
    fn each(&self) -> impl Iterator<Item = &[(usize, f64)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.inputs[start..end])
    }
}

/// A row of `inner` elements.
fn row<T>(elements: &[T], inner: usize, row: usize) -> &[T] {
    &elements[row * inner..][..inner]
}

/// y += the weighted sums of the inputs of each output. `x` is `outer` blocks of `length` rows of
/// `inner` elements; `y` has as many rows in a block as there are `taps`.
pub fn gather<T: Number>(x: &[T], y: &mut [T], taps: &Taps, length: usize, inner: usize) {
    let (from, to) = (length * inner, taps.count() * inner);
    parallel_parts(y, (GRAIN / to.max(1)).max(1) * to, |start, part| {
        let mut steps = Steps::default();
        for (out, x) in part.chunks_mut(to).zip(x[start / to * from..].chunks(from)) {
            for (out, inputs) in out.chunks_mut(inner).zip(taps.each()) {
                steps.take(inner);
                match inputs {
                    // What stands alone is as it was, down to the sign of zero.
                    &[(input, 1.0)] => out.copy_from_slice(row(x, inner, input)),
                    _ => {
                        let add =
                            |&(input, weight)| add_scaled(row(x, inner, input), out, T::from_f64(weight));
                        inputs.iter().for_each(add);
                    }
                }
            }
        }
    });
}

/// The transpose: x += for each input, the weighted sum of the outputs that it counts in.
pub fn scatter<T: Number>(y: &[T], x: &mut [T], taps: &Taps, length: usize, inner: usize) {
    let (to, from) = (length * inner, taps.count() * inner);
    if from == 0 {
        return;
    }
    parallel_parts(x, (GRAIN / to.max(1)).max(1) * to, |start, part| {
        let mut steps = Steps::default();
        for (x, y) in part.chunks_mut(to).zip(y[start / to * from..].chunks(from)) {
            for (y, inputs) in y.chunks(inner).zip(taps.each()) {
                steps.take(inner);
                for &(input, weight) in inputs {
                    add_scaled(y, &mut x[input * inner..][..inner], T::from_f64(weight));
                }
            }
        }
    });
}

/// `gather` of bytes, with weights that are whole numbers of as many bits as sixteen leave for the greatest, and sums
/// that are rounded once.
pub fn gather_bytes(x: &[u8], y: &mut [u8], taps: &Taps, length: usize, inner: usize) -> Result<()> {
    if inner == 0 || taps.count() == 0 {
        return Ok(());
    }
    let taps = taps.merged()?;
    let most = taps.inputs.iter().map(|&(_, weight)| weight).fold(0.0, f64::max);
    let bits = (0..22).find(|bits| 0.5 + most * f64::from(2 << bits) >= f64::from(1 << 15)).unwrap_or(22);
    let whole = |weight: f64| (weight * f64::from(1 << bits) + 0.5f64.copysign(weight)) as i32;
    let mut sums = storage::collected(inner, repeat_n(0i32, inner))?;
    let mut steps = Steps::default();
    for (out, x) in y.chunks_mut(taps.count() * inner).zip(x.chunks(length * inner)) {
        for (out, inputs) in out.chunks_mut(inner).zip(taps.each()) {
            sums.fill(if bits == 0 { 0 } else { 1 << (bits - 1) });
            for &(input, weight) in inputs {
                steps.take(inner);
                let weight = whole(weight);
                for (sum, &byte) in sums.iter_mut().zip(row(x, inner, input)) {
                    *sum += weight * i32::from(byte);
                }
            }
            for (byte, sum) in out.iter_mut().zip(&sums) {
                *byte = (sum >> bits).clamp(0, 255) as u8;
            }
        }
    }
    Ok(())
}

/// Each input once, with all that it counts.
fn merged(inputs: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let mut merged: Vec<(usize, f64)> = Vec::new();
    for &(input, weight) in inputs {
        match merged.iter_mut().find(|(known, _)| *known == input) {
            Some((_, sum)) => *sum += weight,
            None => merged.push((input, weight)),
        }
    }
    merged
}

fn add_scaled<T: Number>(from: &[T], to: &mut [T], weight: T) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = to.add(from.mul(weight));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_rounded_and_do_not_overflow() {
        let inputs: [&[_]; 3] = [&[(0, 0.5), (1, 0.5)], &[(0, -0.25), (1, 1.25)], &[(1, 0.75), (1, 0.25)]];
        let taps = |of: std::ops::Range<usize>| {
            Taps::new(of.len(), |output| inputs[of.start + output].iter().copied()).unwrap()
        };
        let mut y = [0; 3];
        gather_bytes(&[10, 255], &mut y, &taps(0..3), 2, 1).unwrap();
        assert_eq!(y, [133, 255, 255]);
        gather_bytes(&[255, 10], &mut y[..1], &taps(1..2), 2, 1).unwrap();
        assert_eq!(y[0], 0);
    }

    #[test]
    fn the_transpose_undoes_which_goes_where() {
        let inputs: [&[_]; 2] = [&[(0, 1.0), (1, 1.0)], &[(1, 2.0)]];
        let taps = Taps::new(2, |output| inputs[output].iter().copied()).unwrap();
        let mut y = [0; 4];
        gather(&[1, 2, 3, 4, 5, 6], &mut y, &taps, 3, 1);
        assert_eq!(y, [3, 4, 9, 10]);
        let mut x = [0; 6];
        scatter(&[1, 10, 2, 20], &mut x, &taps, 3, 1);
        assert_eq!(x, [1, 21, 0, 2, 42, 0]);
    }

    #[test]
    fn more_outputs_than_memory_has_room_for_are_an_error() {
        assert!(Taps::new(usize::MAX / 16, |_| std::iter::empty()).is_err());
    }
}
