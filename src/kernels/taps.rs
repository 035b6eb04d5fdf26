//! Linear maps along one axis of which each output has a few inputs: averages over windows,
//! interpolation, padding with what is there.

use crate::dtype::Number;
use crate::error::Result;
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

    /// The inputs of each output in turn.
    fn each(&self) -> impl Iterator<Item = &[(usize, f64)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.inputs[start..end])
    }
}

/// Rows of `inner` elements, `length` of them in a block.
fn rows<T>(elements: &[T], length: usize, inner: usize, block: usize, row: usize) -> &[T] {
    let start = (block * length + row) * inner;
    &elements[start..start + inner]
}

/// y += the weighted sums of the inputs of each output. `x` is `outer` blocks of `length` rows of
/// `inner` elements; `y` has as many rows in a block as there are `taps`.
pub fn gather<T: Number>(x: &[T], y: &mut [T], taps: &Taps, length: usize, inner: usize) {
    if inner == 0 || taps.count() == 0 {
        return;
    }
    for (block, out) in y.chunks_mut(taps.count() * inner).enumerate() {
        for (out, inputs) in out.chunks_mut(inner).zip(taps.each()) {
            for &(input, weight) in inputs {
                add_scaled(rows(x, length, inner, block, input), out, T::from_f64(weight));
            }
        }
    }
}

/// The transpose: x += for each input, the weighted sum of the outputs that it counts in.
pub fn scatter<T: Number>(y: &[T], x: &mut [T], taps: &Taps, length: usize, inner: usize) {
    if inner == 0 || length == 0 {
        return;
    }
    for (block, x) in x.chunks_mut(length * inner).enumerate() {
        for (output, inputs) in taps.each().enumerate() {
            for &(input, weight) in inputs {
                let target = &mut x[input * inner..(input + 1) * inner];
                add_scaled(rows(y, taps.count(), inner, block, output), target, T::from_f64(weight));
            }
        }
    }
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
