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

/// `gather` of bytes, with weights that are whole numbers of as many bits as sixteen leave for the greatest, and sums
/// that are rounded once.
pub fn gather_bytes(x: &[u8], y: &mut [u8], taps: &[Taps], length: usize, inner: usize) {
    if inner == 0 || taps.is_empty() {
        return;
    }
    let taps: Vec<_> = taps.iter().map(Taps::merged).collect();
    let most = taps.iter().flatten().map(|&(_, weight)| weight).fold(0.0, f64::max);
    let bits = (0..22).find(|bits| 0.5 + most * f64::from(2 << bits) >= f64::from(1 << 15)).unwrap_or(22);
    let whole = |weight: f64| (weight * f64::from(1 << bits) + 0.5f64.copysign(weight)) as i32;
    let mut sums = vec![0i32; inner];
    for (block, out) in y.chunks_mut(taps.len() * inner).enumerate() {
        for (out, taps) in out.chunks_mut(inner).zip(&taps) {
            sums.fill(if bits == 0 { 0 } else { 1 << (bits - 1) });
            for &(input, weight) in taps {
                let weight = whole(weight);
                for (sum, &byte) in sums.iter_mut().zip(rows(x, length, inner, block, input)) {
                    *sum += weight * i32::from(byte);
                }
            }
            for (byte, sum) in out.iter_mut().zip(&sums) {
                *byte = (sum >> bits).clamp(0, 255) as u8;
            }
        }
    }
}

impl Taps {
    /// Each input once, with all that it counts.
    fn merged(&self) -> Vec<(usize, f64)> {
        let mut merged: Vec<(usize, f64)> = Vec::with_capacity(self.inputs.len());
        for &(input, weight) in &self.inputs {
            match merged.iter_mut().find(|(known, _)| *known == input) {
                Some((_, sum)) => *sum += weight,
                None => merged.push((input, weight)),
            }
        }
        merged
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
    fn bytes_are_rounded_and_do_not_overflow() {
        let half = Taps { inputs: vec![(0, 0.5), (1, 0.5)] };
        let beyond = Taps { inputs: vec![(0, -0.25), (1, 1.25)] };
        let border = Taps { inputs: vec![(1, 0.75), (1, 0.25)] };
        let mut y = [0; 4];
        gather_bytes(&[10, 255], &mut y, &[half, beyond.clone(), border], 2, 1);
        assert_eq!(y[..3], [133, 255, 255]);
        gather_bytes(&[255, 10], &mut y[..1], &[beyond], 2, 1);
        assert_eq!(y[0], 0);
    }

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
