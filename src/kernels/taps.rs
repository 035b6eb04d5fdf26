//! Linear maps along one axis of which each output has a few inputs: averages over windows,
//! interpolation, padding with what is there.

use crate::dtype::Number;

/// The inputs of one output, side by side, and what each counts.
#[derive(Clone, Debug)]
pub struct Taps {
    /// The inputs and their weights.
    pub inputs: Vec<(usize, f64)>,
}

/// Rows of `inner` elements, `length` of them in a block.
fn rows<T>(elements: &[T], length: usize, inner: usize, block: usize, row: usize) -> &[T] {
    let start = (block * length + row) * inner;
    &elements[start..start + inner]
}

/// y = the weighted sums of the inputs of each output. `x` is `outer` blocks of `length` rows of
/// `inner` elements; `y` has as many rows in a block as there are `taps`.
pub fn gather<T: Number>(x: &[T], y: &mut [T], taps: &[Taps], length: usize, inner: usize) {
    if inner == 0 || taps.is_empty() {
        return;
    }
    for (block, out) in y.chunks_mut(taps.len() * inner).enumerate() {
        for (out, taps) in out.chunks_mut(inner).zip(taps) {
            out.fill(T::ZERO);
            for &(input, weight) in &taps.inputs {
                add_scaled(rows(x, length, inner, block, input), out, T::from_f64(weight));
            }
        }
    }
}

/// The transpose: x = for each input, the weighted sum of the outputs that it counts in.
pub fn scatter<T: Number>(y: &[T], x: &mut [T], taps: &[Taps], length: usize, inner: usize) {
    x.fill(T::ZERO);
    if inner == 0 || length == 0 {
        return;
    }
    for (block, x) in x.chunks_mut(length * inner).enumerate() {
        for (output, tap) in taps.iter().enumerate() {
            for &(input, weight) in &tap.inputs {
                let target = &mut x[input * inner..(input + 1) * inner];
                add_scaled(rows(y, taps.len(), inner, block, output), target, T::from_f64(weight));
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
        let taps = [Taps { inputs: vec![(0, 1.0), (1, 1.0)] }, Taps { inputs: vec![(1, 2.0)] }];
        let mut y = [0; 4];
        gather(&[1, 2, 3, 4, 5, 6], &mut y, &taps, 3, 1);
        assert_eq!(y, [3, 4, 9, 10]);
        let mut x = [0; 6];
        scatter(&[1, 10, 2, 20], &mut x, &taps, 3, 1);
        assert_eq!(x, [1, 21, 0, 2, 42, 0]);
    }
}
