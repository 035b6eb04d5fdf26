//! Short rows that lie one after another, many of them at a time: see `turned`.

use super::rows::{Backward, Forward, Rows};
use crate::dtype::Real;
use crate::kernels::interrupt;
use crate::kernels::lanes::sums;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::simd::Calculation;
use crate::kernels::turned::{Line, SIDE, each_block};

/// What is done with rows, if they are short.
pub(super) struct Short<W>(pub(super) W);

/// The means of rows, and one over their deviations.
#[inline(always)]
fn moments<A: Arithmetic>(x: &[Line<A::Plain>], eps: f64) -> [Line<A>; 2] {
    let (zero, count) = (A::from_f64(0.0), A::from_f64(x.len() as f64));
    let (mut mean, mut scale) = ([zero; SIDE], [zero; SIDE]);
    for line in x {
        for lane in 0..SIDE {
            mean[lane] = mean[lane] + A::new(line[lane]);
        }
    }
    for mean in &mut mean {
        *mean = *mean / count;
    }
    for line in x {
        for lane in 0..SIDE {
            let apart = A::new(line[lane]) - mean[lane];
            scale[lane] = scale[lane] + apart * apart;
        }
    }
    for scale in &mut scale {
        *scale = A::from_f64(1.0) / (*scale / count + A::from_f64(eps)).sqrt();
    }
    [mean, scale]
}

/// Writes what becomes of elements at one place, less their means and over their deviations.
#[inline(always)]
fn put<A: Arithmetic>(
    (x, mean, scale): (&Line<A::Plain>, &Line<A>, &Line<A>),
    out: &mut Line<A::Plain>,
    last: impl Fn(A) -> A,
) {
    for lane in 0..SIDE {
        out[lane] = last((A::new(x[lane]) - mean[lane]) * scale[lane]).get();
    }
}

impl<T: Real> Calculation<T> for Short<Forward<'_, T>> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Forward { rows: Rows { x, len, eps, weight }, bias, out } = self.0;
        each_block(
            [x],
            [len; 2],
            out,
            #[inline(always)]
            |[x], out, _| {
                let [mean, scale]: [Line<A>; 2] = moments(x, eps);
                for (place, (x, out)) in x.iter().zip(out).enumerate() {
                    let number = |numbers: &[T]| A::new(numbers[place]);
                    let standard = (x, &mean, &scale);
                    match (weight.map(number), bias.map(number)) {
                        (Some(weight), Some(bias)) => put(standard, out, |x: A| x.times_plus(weight, bias)),
                        (Some(weight), None) => put(standard, out, |x: A| x * weight),
                        _ => put(standard, out, |x: A| x),
                    }
                }
            },
        );
    }
}

impl<T: Real> Calculation<T> for Short<Backward<'_, T>> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Backward { rows: Rows { x, len, eps, weight }, gradient, input, totals } = self.0;
        let (zero, count) = (A::from_f64(0.0), A::from_f64(len as f64));
        let is_wanted = !input.is_empty();
        let mut lines = totals.each_ref().map(|total| interrupt::filled(total.len(), [T::ZERO; SIDE]));
        each_block(
            [x, gradient],
            [len; 2],
            input,
            #[inline(always)]
            |[x, g], out, width| {
                let [mean, scale]: [Line<A>; 2] = moments(x, eps);
                let weight = |place: usize| weight.map_or(A::from_f64(1.0), |weight| A::new(weight[place]));
                if is_wanted {
                    let (mut level, mut slope) = ([zero; SIDE], [zero; SIDE]);
                    for (place, (x, g)) in x.iter().zip(g).enumerate() {
                        let weight = weight(place);
                        for lane in 0..SIDE {
                            let h = A::new(g[lane]) * weight;
                            level[lane] = level[lane] + h;
                            slope[lane] = slope[lane] + h * ((A::new(x[lane]) - mean[lane]) * scale[lane]);
                        }
                    }
                    for lane in 0..SIDE {
                        (level[lane], slope[lane]) = (level[lane] / count, slope[lane] / count);
                    }
                    for (place, ((x, g), out)) in x.iter().zip(g).zip(out).enumerate() {
                        let weight = weight(place);
                        for lane in 0..SIDE {
                            let (h, standard) =
                                (A::new(g[lane]) * weight, (A::new(x[lane]) - mean[lane]) * scale[lane]);
                            let passed = (-standard).times_plus(slope[lane], h - level[lane]) * scale[lane];
                            out[lane] = passed.get();
                        }
                    }
                }
                let [to_weight, to_bias] = &mut lines;
                for ((x, g), line) in x.iter().zip(g).zip(to_weight) {
                    for lane in 0..SIDE {
                        let standard = (A::new(x[lane]) - mean[lane]) * scale[lane];
                        let sum = A::new(g[lane]).times_plus(standard, A::new(line[lane])).get();
                        line[lane] = if lane < width { sum } else { line[lane] };
                    }
                }
                for (g, line) in g.iter().zip(to_bias) {
                    for lane in 0..SIDE {
                        let sum = (A::new(line[lane]) + A::new(g[lane])).get();
                        line[lane] = if lane < width { sum } else { line[lane] };
                    }
                }
            },
        );
        for (total, lines) in totals.into_iter().zip(&lines) {
            for (total, line) in total.iter_mut().zip(lines) {
                let [sum] = sums::<A, 1, 1>([line], |x| x);
                *total = sum.get();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::kernels::neural::normalise::{Rows, rows, rows_backward};
    use crate::kernels::testing::{at_thread_counts, written};

    fn numbers(len: usize, step: f64) -> Vec<f64> {
        (0..len).map(|index| (index as f64 * step).sin() * 3.0).collect()
    }

    /// The rows normalised, and the gradients of rows, weight and bias.
    fn found(x: &[f64], g: &[f64], weight: &[f64], bias: &[f64]) -> [Vec<f64>; 4] {
        let all = Rows { x, len: weight.len(), eps: 1e-5, weight: Some(weight) };
        let (mut to_weight, mut to_bias) = (Vec::new(), Vec::new());
        let to_x = written(x.len(), |to_x| {
            to_weight = written(weight.len(), |to_weight| {
                to_bias = written(weight.len(), |to_bias| {
                    rows_backward(all, g, [Some(&mut *to_x), Some(to_weight), Some(to_bias)]);
                });
            });
        });
        [written(x.len(), |out| rows(all, Some(bias), out)), to_x, to_weight, to_bias]
    }

    #[test]
    fn many_short_rows_are_what_each_is_by_itself() {
        for (count, len) in [(8, 1), (65, 3), (130, 16), (300, 37)] {
            let (x, g) = (numbers(count * len, 1.7), numbers(count * len, 0.9));
            let (weight, bias) = (numbers(len, 2.3), numbers(len, 3.1));
            let together = found(&x, &g, &weight, &bias);
            let mut apart = [vec![], vec![], vec![0.0; len], vec![0.0; len]];
            for (x, g) in x.chunks(len).zip(g.chunks(len)) {
                let single = found(x, g, &weight, &bias);
                for (index, (all, own)) in apart.iter_mut().zip(&single).enumerate() {
                    match index {
                        0 | 1 => all.extend_from_slice(own),
                        _ => all.iter_mut().zip(own).for_each(|(all, own)| *all += own),
                    }
                }
            }
            for (a, b) in together.iter().flatten().zip(apart.iter().flatten()) {
                assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{count} {len}: {a}, not {b}");
            }
        }
    }

    #[test]
    fn a_row_that_is_not_a_number_leaves_the_rows_beside_it_alone() {
        let mut x = numbers(70 * 5, 1.3);
        let before = written(350, |out| rows(Rows { x: &x, len: 5, eps: 1e-5, weight: None }, None, out));
        x[17 * 5] = f64::NAN;
        let after = written(350, |out| rows(Rows { x: &x, len: 5, eps: 1e-5, weight: None }, None, out));
        for (place, (before, after)) in before.iter().zip(&after).enumerate() {
            assert!(if place / 5 == 17 { after.is_nan() } else { before == after });
        }
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let (x, g) = (numbers(9000 * 11, 1.7), numbers(9000 * 11, 0.9));
        let (weight, bias) = (numbers(11, 2.3), numbers(11, 3.1));
        let [one, two, four] = at_thread_counts(|| found(&x, &g, &weight, &bias));
        assert!(one == two && one == four);
    }
}
