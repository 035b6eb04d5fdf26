//! What becomes of the scores of a stretch of queries: weights, and on the way back the gradients of scores. Products
//! of matrices are made elsewhere.

use ndarray::ArrayView2;

use crate::dtype::Real;
use crate::kernels::pointwise::math::{Arithmetic, exp};
use crate::kernels::simd::{Calculation, calculated};

/// The scores of some queries, a row for each.
pub struct Scores<'a, T> {
    /// The products of queries and keys, one row after the other.
    pub products: &'a mut [T],
    /// How many keys there are.
    pub width: usize,
    /// What products are multiplied by.
    pub scale: f64,
    /// What is then added.
    pub mask: Option<ArrayView2<'a, T>>,
    /// How many keys the first of the queries sees, if each of them sees one more than the one before.
    pub seen: Option<usize>,
}

impl<T: Real> Scores<'_, T> {
    /// Makes weights of them that sum to one in each row, or none where no key is seen, and answers for every row
    /// the logarithm of what its sum was: zero, where no key is seen.
    pub fn weigh(self, logs: &mut [T]) {
        calculated(Weigh { scores: self, logs });
    }

    /// Makes the weights again whose logarithms of sums are known.
    pub fn weigh_again(self, logs: &[T]) {
        calculated(WeighAgain { scores: self, logs });
    }
}

/// What a row is on its way to weights.
struct Row<'a, A: Arithmetic> {
    numbers: &'a mut [A::Plain],
}

/// Accumulators of a row, which fill the vector registers.
const LANES: usize = 32;

impl<'a, A: Arithmetic> Row<'a, A> {
    /// What is seen of the numbers of a row; nothing comes of the rest.
    #[inline(always)]
    fn seen(numbers: &'a mut [A::Plain], row: usize, first: Option<usize>) -> Row<'a, A> {
        let seen = first.map_or(numbers.len(), |first| numbers.len().min(first + row));
        let (numbers, hidden) = numbers.split_at_mut(seen);
        hidden.fill(A::from_f64(0.0).get());
        Row { numbers }
    }

    /// Scales the numbers and adds the mask, if there is one; answers by what they are still to be multiplied.
    #[inline(always)]
    fn prepare(&mut self, scale: A, mask: Option<ArrayView2<'_, A::Plain>>, row: usize) -> A {
        let Some(mask) = mask else { return scale };
        for number in self.numbers.iter_mut() {
            *number = (A::new(*number) * scale).get();
        }
        let added = mask.row(row);
        match added.as_slice() {
            Some(added) => self.add(added),
            None => self.add(added),
        }
        A::from_f64(1.0)
    }

    #[inline(always)]
    fn add<'x>(&mut self, added: impl IntoIterator<Item = &'x A::Plain>) {
        for (number, &added) in self.numbers.iter_mut().zip(added) {
            *number = (A::new(*number) + A::new(added)).get();
        }
    }

    /// The numbers with one function after another, and what they come to lane by lane.
    #[inline(always)]
    fn folded(&mut self, start: A, step: impl Fn(A) -> A, merge: impl Fn(A, A) -> A) -> A {
        let mut lanes = [start; LANES];
        self.each_chunk(
            #[inline(always)]
            |chunk, count| {
                for (index, (lane, number)) in lanes.iter_mut().zip(chunk).enumerate() {
                    let x = step(A::new(*number));
                    *number = x.get();
                    let merged = merge(*lane, x);
                    *lane = if index < count { merged } else { *lane };
                }
            },
        );
        merged(lanes, merge)
    }

    /// Calls with the numbers by lanes, and how many of these there are: the last few have as many numbers beside them
    /// as are missing, which are nobody's.
    #[inline(always)]
    fn each_chunk(&mut self, mut call: impl FnMut(&mut [A::Plain; LANES], usize)) {
        let (chunks, rest) = self.numbers.as_chunks_mut::<LANES>();
        for chunk in chunks {
            call(chunk, LANES);
        }
        if !rest.is_empty() {
            let mut chunk = [A::from_f64(0.0).get(); LANES];
            chunk[..rest.len()].copy_from_slice(rest);
            call(&mut chunk, rest.len());
            rest.copy_from_slice(&chunk[..rest.len()]);
        }
    }
}

/// What lanes come to, along a tree.
#[inline(always)]
fn merged<A: Copy>(mut lanes: [A; LANES], merge: impl Fn(A, A) -> A) -> A {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            lanes[lane] = merge(lanes[lane], lanes[lane + width]);
        }
    }
    lanes[0]
}

struct Weigh<'a, 'l, T> {
    scores: Scores<'a, T>,
    logs: &'l mut [T],
}

impl<T: Real> Calculation<T> for Weigh<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Scores { products, width, scale, mask, seen } = self.scores;
        let (scale, lowest) = (A::from_f64(scale), A::from_f64(f64::NEG_INFINITY));
        for (index, (numbers, log)) in products.chunks_exact_mut(width).zip(self.logs).enumerate() {
            let mut row = Row::<A>::seen(numbers, index, seen);
            let factor = row.prepare(scale, mask, index);
            // What is not a number is not the greatest, and makes the sum what it is.
            let greatest = row.folded(
                lowest,
                #[inline(always)]
                |x| x * factor,
                #[inline(always)]
                |a, b| if b > a { b } else { a },
            );
            let shift = if greatest == lowest { A::from_f64(0.0) } else { greatest };
            let sum = row.folded(
                A::from_f64(0.0),
                #[inline(always)]
                |x| exp(x - shift),
                #[inline(always)]
                |a, b| a + b,
            );
            if sum == A::from_f64(0.0) {
                // All weights are zero already.
                *log = T::ZERO;
                continue;
            }
            *log = shift.get() + num_traits::Float::ln(sum.get());
            let share = A::from_f64(1.0) / sum;
            for number in row.numbers.iter_mut() {
                *number = (A::new(*number) * share).get();
            }
        }
    }
}

struct WeighAgain<'a, 'l, T> {
    scores: Scores<'a, T>,
    logs: &'l [T],
}

impl<T: Real> Calculation<T> for WeighAgain<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Scores { products, width, scale, mask, seen } = self.scores;
        let scale = A::from_f64(scale);
        for (index, (numbers, &log)) in products.chunks_exact_mut(width).zip(self.logs).enumerate() {
            let mut row = Row::<A>::seen(numbers, index, seen);
            let factor = row.prepare(scale, mask, index);
            let log = A::new(log);
            row.each_chunk(
                #[inline(always)]
                |chunk, _| {
                    for number in chunk {
                        *number = exp(A::new(*number) * factor - log).get();
                    }
                },
            );
        }
    }
}

/// `scale · w (g - Σ g w)` in the place of the gradients `g` of weights `w`, row by row.
pub fn turn<T: Real>(weights: &[T], gradients: &mut [T], width: usize, scale: f64) {
    calculated(Turn { weights, gradients, width, scale });
}

struct Turn<'a, T> {
    weights: &'a [T],
    gradients: &'a mut [T],
    width: usize,
    scale: f64,
}

impl<T: Real> Calculation<T> for Turn<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let scale = A::from_f64(self.scale);
        let rows = self.gradients.chunks_exact_mut(self.width).zip(self.weights.chunks_exact(self.width));
        for (gradients, weights) in rows {
            let mut lanes = [A::from_f64(0.0); LANES];
            let (chunks, rest) = gradients.as_chunks::<LANES>();
            let (beside, rest_beside) = weights.as_chunks::<LANES>();
            for (chunk, beside) in chunks.iter().zip(beside) {
                for (lane, (&g, &w)) in lanes.iter_mut().zip(chunk.iter().zip(beside)) {
                    *lane = A::new(g).times_plus(A::new(w), *lane);
                }
            }
            for (lane, (&g, &w)) in lanes.iter_mut().zip(rest.iter().zip(rest_beside)) {
                *lane = A::new(g).times_plus(A::new(w), *lane);
            }
            let sum = merged(
                lanes,
                #[inline(always)]
                |a, b| a + b,
            );
            for (gradient, &weight) in gradients.iter_mut().zip(weights) {
                *gradient = (A::new(weight) * (A::new(*gradient) - sum) * scale).get();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(len: usize) -> Vec<f64> {
        (0..len).map(|index| f64::sin(index as f64 * 1.7) * 4.0).collect()
    }

    #[test]
    fn weights_and_their_gradients_follow_their_formulas() {
        for width in [1, 5, 32, 77] {
            let (rows, scale) = (6, 0.7);
            let (given, g) = (numbers(rows * width), numbers(rows * width + 3).split_off(3));
            let mut logs = vec![0.0; rows];
            let mut weights = given.clone();
            let scores = |products| Scores { products, width, scale, mask: None, seen: Some(2) };
            scores(&mut weights).weigh(&mut logs);
            let mut again = given.clone();
            scores(&mut again).weigh_again(&logs);
            let mut turned = g.clone();
            turn(&weights, &mut turned, width, scale);
            for (row, &log) in logs.iter().enumerate().take(rows) {
                let here = row * width..(row + 1) * width;
                let seen = (2 + row).min(width);
                let sum: f64 = given[here.clone()][..seen].iter().map(|x| (x * scale).exp()).sum();
                assert!((log - sum.ln()).abs() < 1e-12);
                let along: f64 = weights[here.clone()].iter().zip(&g[here.clone()]).map(|(w, g)| w * g).sum();
                for (place, index) in here.enumerate() {
                    let expected = if place < seen { (given[index] * scale).exp() / sum } else { 0.0 };
                    assert!((weights[index] - expected).abs() < 1e-12);
                    assert!((again[index] - expected).abs() < 1e-12);
                    assert!((turned[index] - expected * (g[index] - along) * scale).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_query_that_sees_nothing_has_no_weights_and_what_is_not_a_number_spreads() {
        let mut products = [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NAN, f64::NEG_INFINITY];
        let mut logs = [1.0; 2];
        let scores = Scores { products: &mut products, width: 2, scale: 1.0, mask: None, seen: None };
        scores.weigh(&mut logs);
        assert_eq!((products[..2].to_vec(), logs[0]), (vec![0.0, 0.0], 0.0));
        assert!(products[2..].iter().all(|x| x.is_nan()) && logs[1].is_nan());
    }
}
