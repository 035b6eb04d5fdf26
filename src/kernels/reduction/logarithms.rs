//! Running logarithms of sums of exponentials. What is summed is measured by the greatest element so far, and elements
//! are taken several at a time, so that neither exponentials nor logarithms wait for those before them.

use ndarray::ArrayViewD;
use std::f64::consts::LN_2;
use std::mem::MaybeUninit;

use crate::dtype::Real;
use crate::kernels::geometry::dense::{Extent, dense};
use crate::kernels::interrupt::Steps;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::reduction::along::along;
use crate::kernels::simd::{Calculation, calculated};

/// Elements that are taken at a time.
const PIECE: usize = 64;

/// If one of them is greater than those before by more than this, they are taken one by one: as much as the greatest adds
/// to a logarithm would be lost of small ones.
const NEAR: f64 = 8.0;

/// `log(sum(exp(x[..=i])))` along an axis
pub fn log_cumsum_exp<T: Real>(view: ArrayViewD<'_, T>, axis: usize, out: &mut [MaybeUninit<T>]) {
    let extent = Extent::new(view.shape(), axis);
    along([&dense(&view)], extent, extent.len, out, |[lane], out: &mut [T]| {
        let ([first, lane @ ..], [start, out @ ..]) = (lane, out) else { return };
        *start = *first;
        let (mut so_far, mut steps) = (SoFar { most: first.convert(), sum: 1.0 }, Steps::default());
        let mut room = [0.0; PIECE];
        for (x, out) in lane.chunks(PIECE).zip(out.chunks_mut(PIECE)) {
            steps.take(x.len());
            let near = &mut room[..x.len()];
            near.iter_mut().zip(x).for_each(|(near, x)| *near = x.convert());
            so_far = match calculated(Piece { near, so_far }) {
                Some(so_far) => so_far,
                None => one_by_one(near, so_far),
            };
            out.iter_mut().zip(near).for_each(|(out, near)| *out = T::from_f64(*near));
        }
    });
}

/// A sum of exponentials, divided by that of the greatest exponent.
#[derive(Clone, Copy)]
struct SoFar {
    most: f64,
    sum: f64,
}

/// Elements one after the other.
fn one_by_one(near: &mut [f64], SoFar { most, sum }: SoFar) -> SoFar {
    let mut log = most + sum.ln();
    for x in near {
        let (most, least) = if log > *x || log.is_nan() { (log, *x) } else { (*x, log) };
        log = if most == least && most.is_finite() {
            most + LN_2
        } else if most == least || least == f64::NEG_INFINITY && !most.is_nan() {
            most
        } else {
            most + math::ln_1p_of_share(math::exp(least - most))
        };
        *x = log;
    }
    SoFar { most: log, sum: 1.0 }
}

/// Some elements, of which the logarithms are made.
struct Piece<'a> {
    near: &'a mut [f64],
    so_far: SoFar,
}

impl Calculation<f64> for Piece<'_> {
    /// What comes of them all, if they are near those before.
    type Output = Option<SoFar>;

    const WIDEST: bool = false;

    #[inline(always)]
    fn run<A: Arithmetic<Plain = f64>>(self) -> Option<SoFar> {
        let Piece { near, so_far: SoFar { most: before, sum } } = self;
        let (mut most, mut is_known) = (before, true);
        for &x in &*near {
            is_known &= !x.is_nan();
            most = if x > most { x } else { most };
        }
        let is_near = most - before <= NEAR;
        if !is_known || !is_near {
            return None;
        }
        for x in &mut *near {
            *x = math::exp(A::new(*x - most)).get();
        }
        let mut sum = sum * (before - most).exp();
        for x in &mut *near {
            sum += *x;
            *x = sum;
        }
        for x in near {
            *x = most + math::ln(A::new(*x)).get();
        }
        Some(SoFar { most, sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};
    use ndarray::{ArrayD, IxDyn};

    const INFINITY: f64 = f64::INFINITY;

    fn of(row: &[f64]) -> Vec<f64> {
        let a = ArrayD::from_shape_vec(IxDyn(&[row.len()]), row.to_vec()).unwrap();
        written(row.len(), |out| log_cumsum_exp(a.view(), 0, out))
    }

    #[test]
    fn every_logarithm_is_that_of_the_sum() {
        let a = ArrayD::from_shape_fn(IxDyn(&[5, 300, 3]), |index| {
            let wave = f64::sin((index[0] * 901 + index[1] * 37 + index[2]) as f64);
            wave * [1.0, 3.0, 90.0, 800.0, 0.01][index[0]] - 2.0
        });
        for axis in 0..3 {
            let [found, two, four] =
                at_thread_counts(|| written(a.len(), |out| log_cumsum_exp(a.view(), axis, out)));
            assert!(found == two && found == four);
            let found = ArrayD::from_shape_vec(a.raw_dim(), found).unwrap();
            let axis = ndarray::Axis(axis);
            for (lane, found) in a.lanes(axis).into_iter().zip(found.lanes(axis)) {
                assert_eq!(found[0], lane[0]);
                let mut most = -INFINITY;
                for place in 0..lane.len() {
                    most = f64::max(most, lane[place]);
                    let sum: f64 = lane.iter().take(place + 1).map(|x| (x - most).exp()).sum();
                    let expected = most + sum.ln();
                    assert!((found[place] - expected).abs() < 1e-14 * most.abs().max(10.0), "{place}");
                }
            }
        }
    }

    #[test]
    fn what_is_infinite_or_unknown_stays() {
        let (unknown, half) = (f64::NAN, f64::ln(0.5));
        let close = |found: &[f64], expected: &[f64]| {
            let same = |a: f64, b: f64| a == b || (a - b).abs() < 1e-15 || a.is_nan() && b.is_nan();
            assert!(found.iter().zip(expected).all(|(&a, &b)| same(a, b)), "{found:?}");
        };
        close(&of(&[-INFINITY, -INFINITY, half, half]), &[-INFINITY, -INFINITY, half, 0.0]);
        close(&of(&[half, -INFINITY, half]), &[half, half, 0.0]);
        close(&of(&[0.0, INFINITY, -INFINITY, 3.0]), &[0.0, INFINITY, INFINITY, INFINITY]);
        close(&of(&[INFINITY, INFINITY, unknown, 1.0]), &[INFINITY, INFINITY, unknown, unknown]);
        close(&of(&[-800.0, 0.0, 800.0]), &[-800.0, 0.0, 800.0]);
        let mut long = vec![-INFINITY; 200];
        long[150] = 1.0;
        long[199] = unknown;
        let found = of(&long);
        assert!(found[..150].iter().all(|&x| x == -INFINITY) && found[199].is_nan());
        assert!(found[150..199].iter().all(|&x| (x - 1.0).abs() < 1e-15));
        assert!(of(&[]).is_empty());
    }
}
