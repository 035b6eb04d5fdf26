//! The exponential of a square matrix: a series for a matrix so small that it ends soon, squared as often as the matrix
//! was halved. The series is a polynomial of polynomials, which takes fewer products than it has terms.
//!
//! Matrices that move are followed by how they do: wherever there are two matrices one after the other, the second one
//! is the derivative of the first one in some direction.

use ndarray::ArrayView2;

use super::{Known, Part, lay, zeros};
use crate::dtype::Ring;
use crate::kernels::interrupt;

/// How many powers of a matrix are made, how many polynomials in them the series consists of, and the norm up to which
/// what it leaves out is less than the last bit, in single and in double precision.
static SERIES: [(usize, usize, [f64; 2]); 3] =
    [(2, 2, [0.09, 1.6e-3]), (3, 3, [0.85, 0.11]), (4, 4, [2.6, 0.82])];

/// Matrices with fewer rows than this are multiplied by a plain loop.
const SMALL: usize = 8;

/// Writes the exponential of a matrix, row by row.
pub fn exponential<T: Known>(matrix: ArrayView2<'_, T>, into: &mut [T]) {
    if let Some(found) = of(matrix, None) {
        return into.copy_from_slice(&found);
    }
    into.fill(T::of(f64::NAN));
}

/// Writes how the exponential of a matrix moves where that moves along another, row by row.
pub fn derivative<T: Known>(matrix: ArrayView2<'_, T>, along: ArrayView2<'_, T>, into: &mut [T]) {
    if let Some(found) = of(matrix, Some(along)) {
        return into.copy_from_slice(&found[into.len()..]);
    }
    into.fill(T::of(f64::NAN));
}

/// The exponential, and behind it how it moves, unless numbers of the matrix are infinite or none.
fn of<T: Known>(matrix: ArrayView2<'_, T>, along: Option<ArrayView2<'_, T>>) -> Option<Vec<T>> {
    let n = matrix.nrows();
    let size = n * n;
    if matrix.iter().any(|x| !x.magnitude().is_finite()) {
        return None;
    }
    let mut given = zeros(if along.is_some() { 2 * size } else { size });
    // Row by row is column by column of what is transposed.
    lay(matrix.reversed_axes(), &mut given[..size]);
    if let Some(along) = along {
        lay(along.reversed_axes(), &mut given[size..]);
    }
    let sums = given[..size].chunks_exact(n.max(1)).map(|row| row.iter().map(|x| x.magnitude()).sum::<f64>());
    let norm = sums.fold(0.0, f64::max);
    let precision = usize::from(size_of::<Part<T>>() > 4);
    // Those of single precision need no series as long as the last one.
    let series = &SERIES[..2 + precision];
    let (width, count, most) =
        *series.iter().find(|series| norm <= series.2[precision]).unwrap_or(&series[1 + precision]);
    let halvings = (norm / most[precision]).log2().ceil().max(0.0) as i32;
    let scale = T::of(0.5_f64.powi(halvings));
    given.iter_mut().for_each(|x| *x = Ring::mul(*x, scale));
    let (mut spare, mut powers) = (zeros(size), vec![given]);
    let times = |a: &[T], b: &[T], into: &mut [T], spare: &mut [T]| {
        let (ahead, behind) = into.split_at_mut(size);
        product(&a[..size], &b[..size], n, ahead);
        if !behind.is_empty() {
            product(&a[..size], &b[size..], n, behind);
            product(&a[size..], &b[..size], n, spare);
            behind.iter_mut().zip(&*spare).for_each(|(x, &y)| *x = Ring::add(*x, y));
        }
    };
    while powers.len() < width {
        let mut next = zeros(powers[0].len());
        times(&powers[powers.len() - 1], &powers[0], &mut next, &mut spare);
        powers.push(next);
    }
    let (mut result, mut next) = (zeros(powers[0].len()), zeros(powers[0].len()));
    for turn in (0..count).rev() {
        if turn + 1 < count {
            times(&result, &powers[width - 1], &mut next, &mut spare);
            std::mem::swap(&mut result, &mut next);
        }
        // The last polynomial goes up to the last power, which the others are multiplied by.
        let terms = if turn + 1 < count { width } else { width + 1 };
        for (power, numbers) in powers.iter().enumerate().take(terms - 1) {
            let weight = T::of(coefficient(turn * width + power + 1));
            result.iter_mut().zip(numbers).for_each(|(x, &y)| *x = Ring::add(*x, Ring::mul(weight, y)));
        }
        let weight = T::of(coefficient(turn * width));
        result[..size].iter_mut().step_by(n + 1).for_each(|x| *x = Ring::add(*x, weight));
    }
    for _ in 0..halvings {
        interrupt::unwind_if_due();
        times(&result, &result, &mut next, &mut spare);
        std::mem::swap(&mut result, &mut next);
    }
    Some(result)
}

/// 1 / k!
fn coefficient(k: usize) -> f64 {
    (1..=k).fold(1.0, |product, factor| product / factor as f64)
}

/// The product of matrices of so many rows and columns, row by row.
fn product<T: Known>(a: &[T], b: &[T], n: usize, into: &mut [T]) {
    match n {
        3 => return product_of::<T, 3>(a, b, into),
        SMALL.. => return T::product(a, b, n, into),
        _ => {}
    }
    for (row, into) in a.chunks_exact(n.max(1)).zip(into.chunks_exact_mut(n.max(1))) {
        into.fill(T::ZERO);
        for (&factor, line) in row.iter().zip(b.chunks_exact(n)) {
            into.iter_mut().zip(line).for_each(|(x, &y)| *x = Ring::add(*x, Ring::mul(factor, y)));
        }
    }
}

/// `product` of the smallest matrices, with the same sums in the same order.
fn product_of<T: Known, const N: usize>(a: &[T], b: &[T], into: &mut [T]) {
    let (a, b, into) = (a.as_chunks::<N>().0, b.as_chunks::<N>().0, into.as_chunks_mut::<N>().0);
    let Some(b) = b.first_chunk::<N>() else { unreachable!("there are as many rows as columns") };
    for (row, into) in a.iter().zip(into) {
        let mut sums = [T::ZERO; N];
        for (&factor, line) in row.iter().zip(b) {
            for column in 0..N {
                sums[column] = Ring::add(sums[column], Ring::mul(factor, line[column]));
            }
        }
        *into = sums;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn that_of_a_turn_is_a_rotation() {
        for angle in [1e-4_f64, 0.05, 0.7, 3.0, 100.0] {
            let mut made = [0.0; 4];
            exponential(ndarray::arr2(&[[0.0, -angle], [angle, 0.0]]).view(), &mut made);
            let (sine, cosine) = angle.sin_cos();
            for (made, wanted) in made.iter().zip([cosine, -sine, sine, cosine]) {
                assert!((made - wanted).abs() < 1e-13, "{angle}");
            }
        }
    }

    #[test]
    fn it_moves_as_far_as_differences_say() {
        let number =
            |seed: usize| move |(row, column): (usize, usize)| ((row * 7 + column * 3 + seed) as f64).sin();
        let (matrix, along) =
            (Array2::from_shape_fn((12, 12), number(1)), Array2::from_shape_fn((12, 12), number(5)));
        let at = |step: f64| {
            let mut made = [0.0; 144];
            exponential((&matrix + &along * step).view(), &mut made);
            made
        };
        let mut slope = [0.0; 144];
        derivative(matrix.view(), along.view(), &mut slope);
        for ((ahead, behind), slope) in at(1e-5).iter().zip(at(-1e-5)).zip(slope) {
            assert!(((ahead - behind) / 2e-5 - slope).abs() < 1e-5 * (1.0 + slope.abs()));
        }
    }
}
