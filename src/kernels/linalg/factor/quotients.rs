//! Singular values of a matrix of two diagonals, by differences of quotients (the dqds algorithm of Fernando and
//! Parlett): passes over the squares of both diagonals that take ever more from all squares of values, until the last
//! one couples with nothing. Nothing is subtracted but what is taken, so that small values keep their precision.

use super::zeros;
use crate::kernels::interrupt::{Steps, collected, room};

/// Passes after which it is given up, for each value.
const PASSES: usize = 30;

/// The square of what rounds away beside one.
const NOTHING: f64 = 4.0 * f64::EPSILON * f64::EPSILON;

/// Shares of the least square that is left after a pass that the next one takes if nothing else is known of it: at
/// first, and how much of what is missing is added each time that it was too little.
const SHARE: f64 = 0.25;
const MORE: f64 = 1.0 / 3.0;

/// Of the square of a vector that is nearly the one of the least value, how much may lie outside of its last place.
const OUTSIDE: f64 = 0.563;

/// From where a part goes and to where, and what was taken from the squares of its values.
struct Part {
    start: usize,
    end: usize,
    taken: Sum,
}

/// A sum with what was rounded away of it.
#[derive(Clone, Copy)]
struct Sum {
    all: f64,
    rest: f64,
}

impl Sum {
    fn plus(self, x: f64) -> Sum {
        let all = self.all + x;
        Sum { all, rest: self.rest + (x - (all - self.all)) }
    }

    /// With another number, all together.
    fn with(self, x: f64) -> f64 {
        self.all + (self.rest + x)
    }
}

/// What a pass leaves: the differences at the last place, at the one before it if that is known, and the least of those
/// at all others.
#[derive(Clone, Copy)]
struct Left {
    last: f64,
    before: Option<f64>,
    others: f64,
}

impl Left {
    /// The least of all.
    fn least(self) -> f64 {
        self.last.min(self.before.unwrap_or(f64::INFINITY)).min(self.others)
    }

    /// Without the last place.
    fn shorter(self) -> Option<Left> {
        self.before.map(|last| Left { last, before: None, others: self.others })
    }
}

/// Replaces the diagonal by the singular values of a matrix that has `e` above it, of numbers about one, the greatest
/// first; whether they were found.
pub(super) fn singular(d: &mut [f64], e: &[f64]) -> bool {
    let n = d.len();
    let squares = |numbers: &[f64]| collected(numbers.iter().map(|x| x * x));
    let (mut q, mut c) = (squares(d), squares(e));
    let most = q.iter().chain(&c).fold(0.0, |most: f64, &x| most.max(x));
    let (mut q_next, mut c_next) = (zeros(n), zeros(n));
    let (mut steps, mut left) = (Steps::default(), PASSES * n);
    let mut parts = room(n.max(1));
    parts.push(Part { start: 0, end: n, taken: Sum { all: 0.0, rest: 0.0 } });
    while let Some(Part { mut start, mut end, mut taken }) = parts.pop() {
        let (mut passed, mut share): (Option<Left>, f64) = (None, SHARE);
        if start < end && q[start] * 1.5 < q[end - 1] {
            q[start..end].reverse();
            c[start..end - 1].reverse();
        }
        loop {
            if end - start < 2 {
                d[start..end].iter_mut().zip(&q[start..]).for_each(|(value, &x)| *value = taken.with(x));
                break;
            }
            let nothing = NOTHING * taken.all.max(most);
            let at_last = nothing.max(NOTHING * q[end - 1]);
            let apart = |at: &usize| c[*at] <= if at + 2 == end { at_last } else { nothing };
            if let Some(at) = (start..end - 1).rev().find(apart) {
                if at + 2 == end {
                    (d[end - 1], end) = (taken.with(q[end - 1]), end - 1);
                    passed = passed.and_then(Left::shorter);
                } else {
                    parts.push(Part { start, end: at + 1, taken });
                    (start, passed) = (at + 1, None);
                }
                continue;
            }
            if end - start == 2 {
                let (a, b, c) = (q[start], q[start + 1], c[start]);
                let root = ((a - b) * (a - b) + c * (c + 2.0 * (a + b))).sqrt();
                let greater = (a + b + c + root) / 2.0;
                (d[start], d[start + 1]) = (taken.with(greater), taken.with(a / greater * b));
                break;
            }
            let (whole, inner) = (start..end, start..end - 1);
            let mut shift = match passed {
                Some(left) => next_shift(&q[whole.clone()], &c[inner.clone()], left, &mut share),
                None => 0.0,
            };
            for attempt in 0.. {
                if left == 0 {
                    return false;
                }
                left -= 1;
                steps.take(end - start);
                let into = (&mut q_next[whole.clone()], &mut c_next[inner.clone()]);
                let found = pass(&q[whole.clone()], &c[inner.clone()], shift, into);
                if found.least() >= 0.0 {
                    passed = Some(found);
                    break;
                }
                if shift == 0.0 {
                    // Numbers that are none.
                    return false;
                }
                // Where only the last difference is below zero, it says by how much the shift was too much.
                let is_late = found.before.unwrap_or(0.0) >= 0.0 && found.others >= 0.0;
                shift = match (attempt, is_late) {
                    (0, true) => ((shift + found.last) * (1.0 - 2.0 * f64::EPSILON)).max(0.0),
                    (0 | 1, _) => shift / 4.0,
                    _ => 0.0,
                };
            }
            taken = taken.plus(shift);
            std::mem::swap(&mut q, &mut q_next);
            std::mem::swap(&mut c, &mut c_next);
            // The parts that wait lie where they were.
            q[..start].copy_from_slice(&q_next[..start]);
            c[..start].copy_from_slice(&c_next[..start]);
        }
    }
    d.iter_mut().for_each(|x| *x = x.sqrt());
    d.sort_unstable_by(|a, b| b.total_cmp(a));
    true
}

/// A pass, which takes a shift from the squares of all values.
fn pass(q: &[f64], c: &[f64], shift: f64, (q_next, c_next): (&mut [f64], &mut [f64])) -> Left {
    let mut difference = q[0] - shift;
    let mut others = f64::INFINITY;
    let mut before = difference;
    let places = q_next.iter_mut().zip(c_next).zip(&q[1..]).zip(c);
    for (((q_next, c_next), &q), &c) in places {
        others = others.min(before);
        before = difference;
        *q_next = difference + c;
        let ratio = q / *q_next;
        *c_next = c * ratio;
        difference = difference * ratio - shift;
    }
    if let Some(last) = q_next.last_mut() {
        *last = difference;
    }
    Left { last: difference, before: Some(before), others }
}

/// What the next pass takes, which should be a little less than the least square of a value. `share` is what it takes
/// of the least difference where nothing else is known.
fn next_shift(q: &[f64], c: &[f64], left: Left, share: &mut f64) -> f64 {
    let (n, least) = (q.len(), left.least());
    if least <= 0.0 {
        return 0.0;
    }
    if left.last > least {
        let shift = *share * least;
        *share += MORE * (1.0 - *share);
        return shift;
    }
    *share = SHARE;
    match left.before.filter(|&before| before <= left.others) {
        Some(_) => of_two(q, c, left),
        None => of_vector(&q[..n - 1], c, left.last).unwrap_or(SHARE * least),
    }
}

/// Where the last two differences are the least: by how much the last place can couple with the one before, and that
/// with the others.
fn of_two(q: &[f64], c: &[f64], left: Left) -> f64 {
    let n = q.len();
    let last = left.last;
    let near = (q[n - 1] * c[n - 2]).sqrt();
    let far = (q[n - 2] * c[n - 3]).sqrt();
    let middle = q[n - 2] + c[n - 2];
    let apart = 0.75 * left.others - middle;
    let gap = middle - last - if apart > far { far / apart * far } else { near + far };
    if gap > near {
        return (last - near / gap * near).max(last / 2.0);
    }
    let mut shift = (last - near).max(0.0);
    if middle > near + far {
        shift = shift.min(middle - (near + far));
    }
    shift.max(last / 3.0)
}

/// Where the last difference alone is the least: it belongs to a vector that has one in its last place, and other
/// places are quotients of those behind them.
fn of_vector(q: &[f64], c: &[f64], last: f64) -> Option<f64> {
    let (mut outside, mut square) = (0.0, 1.0);
    for (&q, &c) in q.iter().zip(c).rev() {
        if c > q {
            return None;
        }
        let before: f64 = square;
        square *= c / q;
        outside += square;
        if 100.0 * before.max(square) < outside || outside > OUTSIDE {
            break;
        }
    }
    outside *= 1.05;
    (outside < OUTSIDE).then(|| last * (1.0 - outside.sqrt()) / (1.0 + outside))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of one of the squares of values is the determinant of the matrix less it, which is zero.
    fn is_value(d: &[f64], e: &[f64], value: f64) -> bool {
        // Values below that are counted by the signs of a factorisation of the squares less it.
        let below = |x: f64| {
            let mut pivot = 1.0;
            let mut count = 0;
            for at in 0..d.len() {
                let (above, before) = if at > 0 { (e[at - 1], d[at - 1]) } else { (0.0, 0.0) };
                let coupling = above * before;
                pivot = d[at] * d[at] + above * above - x * x.abs() - coupling * coupling / pivot;
                pivot = if pivot == 0.0 { f64::MIN_POSITIVE } else { pivot };
                count += usize::from(pivot < 0.0);
            }
            count
        };
        below(value + 1e-7) > below(value - 1e-7)
    }

    #[test]
    fn values_are_where_the_matrix_has_some() {
        for n in [1, 2, 3, 4, 17, 100] {
            let number = |at: usize, seed: f64| (at as f64 * seed).sin();
            let d: Vec<f64> = (0..n).map(|at| number(at + 1, 1.3)).collect();
            let e: Vec<f64> = (0..n - 1).map(|at| number(at, 0.7)).collect();
            let mut values = d.clone();
            assert!(singular(&mut values, &e));
            assert!(values.is_sorted_by(|a, b| a >= b));
            assert!(values.iter().all(|&x| is_value(&d, &e, x)), "{n}");
            let squares: f64 = d.iter().chain(&e).map(|x| x * x).sum();
            assert!((values.iter().map(|x| x * x).sum::<f64>() - squares).abs() < 1e-13 * squares * n as f64);
        }
    }

    #[test]
    fn small_values_keep_their_precision_and_a_matrix_without_full_rank_has_zeros() {
        let mut values = [1.0, 1e-5, 1e-10];
        assert!(singular(&mut values, &[1.0, 1e-5]));
        // Their product is the determinant.
        assert!((values.iter().product::<f64>() / 1e-15 - 1.0).abs() < 1e-14);
        let mut values = [0.5, 0.0, 0.25, 0.0];
        assert!(singular(&mut values, &[0.5, 0.5, 0.5]));
        assert_eq!(values[3], 0.0);
        assert!(values[1] > 0.1 && values[2] > 0.01);
        let mut nothing = [0.0; 5];
        assert!(singular(&mut nothing, &[0.0; 4]));
        assert_eq!(nothing, [0.0; 5]);
        assert!(!singular(&mut [1.0, f64::NAN, 1.0], &[0.5, 0.5]));
    }
}
