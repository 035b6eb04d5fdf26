//! Real matrices with blocks of one and of two rows on their diagonal and nothing below: their values and vectors.

use pulp::{Arch, Simd, WithSimd};

use ndarray::{ArrayView2, s};

use super::columns::add;
use super::schur::Form;
use super::zeros;
use crate::dtype::Complex;
use crate::kernels::interrupt::{self, Steps};
use crate::kernels::linalg::gemm;
use crate::kernels::wide::Wide;

type Number = Complex<f64>;

/// A block of two rows, row by row, and the rotation that it was made by.
pub(super) struct Block {
    pub(super) numbers: [f64; 4],
    pub(super) cosine: f64,
    pub(super) sine: f64,
}

impl Block {
    /// The block that a rotation makes of one: with nothing below its diagonal, or with one number on it twice and
    /// numbers of unlike signs beside it, where its values are no real numbers.
    #[inline(always)]
    pub(super) fn settled([a, b, c, d]: [f64; 4]) -> Block {
        if c == 0.0 || (a == d && b.signum() != c.signum() && b != 0.0) {
            return Block { numbers: [a, b, c, d], cosine: 1.0, sine: 0.0 };
        }
        if b == 0.0 {
            return Block { numbers: [d, -c, 0.0, a], cosine: 0.0, sine: 1.0 };
        }
        let (apart, half) = (a - d, 0.5 * (a - d));
        let most = b.abs().max(c.abs());
        let least = b.abs().min(c.abs()) * b.signum() * c.signum();
        let size = half.abs().max(most);
        let square = half / size * half + most / size * least;
        if square >= 4.0 * f64::EPSILON {
            let root = half + (size.sqrt() * square.sqrt()).copysign(half);
            let length = c.hypot(root);
            let numbers = [d + root, b - c, 0.0, d - most / root * least];
            return Block { numbers, cosine: root / length, sine: c / length };
        }
        let sum = b + c;
        let length = sum.hypot(apart);
        let cosine = (0.5 * (1.0 + sum.abs() / length)).sqrt();
        let sine = -(half / (length * cosine)) * 1f64.copysign(sum);
        let (aa, bb) = (a * cosine + b * sine, b * cosine - a * sine);
        let (cc, dd) = (c * cosine + d * sine, d * cosine - c * sine);
        let (b, c) = (bb * cosine + dd * sine, cc * cosine - aa * sine);
        let middle = 0.5 * (aa * cosine + cc * sine + dd * cosine - bb * sine);
        if c == 0.0 {
            return Block { numbers: [middle, b, 0.0, middle], cosine, sine };
        }
        if b == 0.0 {
            return Block { numbers: [middle, -c, 0.0, middle], cosine: -sine, sine: cosine };
        }
        if b.signum() != c.signum() {
            return Block { numbers: [middle, b, c, middle], cosine, sine };
        }
        // Both values are real after all.
        let (of_b, of_c) = (b.abs().sqrt(), c.abs().sqrt());
        let (root, length) = ((of_b * of_c).copysign(c), (b + c).abs().sqrt());
        let (along, across) = (of_b / length, of_c / length);
        Block {
            numbers: [middle + root, b - c, 0.0, middle - root],
            cosine: cosine * along - sine * across,
            sine: cosine * across + sine * along,
        }
    }

    /// Its values, of two that are conjugates the one above the real line first.
    #[inline(always)]
    pub(super) fn values(&self) -> ((f64, f64), (f64, f64)) {
        let [a, b, c, d] = self.numbers;
        let imaginary = if c == 0.0 { 0.0 } else { b.abs().sqrt() * c.abs().sqrt() };
        ((a, imaginary), (d, -imaginary))
    }
}

/// The eigenvectors, one after the other, of any length.
pub(super) fn vectors<T: Wide>(form: &Form<T>) -> Vec<Number> {
    let (n, room) = (form.n, form.room);
    let mut found = zeros(n * room);
    Arch::new().dispatch(Substitute { form, found: &mut found });
    let rows = |numbers, width| {
        ArrayView2::<T>::from_shape((n, width), numbers)
            .unwrap_or_else(|_| unreachable!("there are so many numbers"))
    };
    let (factors, basis) = (rows(&found[..n * room], room), rows(&form.basis[..n * room], room));
    let mut turned = zeros(n * room);
    gemm::matmul_into(factors.slice(s![.., ..n]), basis, &mut turned);
    let mut all = interrupt::room(n * n);
    let line = |at: usize| turned[at * room..][..n].iter();
    let mut at = 0;
    while at < n {
        if form.values[at].1 == 0.0 {
            all.extend(line(at).map(|x| Complex::new(x.as_(), 0.0)));
            at += 1;
            continue;
        }
        for sign in [1.0, -1.0] {
            all.extend(line(at).zip(line(at + 1)).map(|(x, y)| Complex::new(x.as_(), sign * y.as_())));
        }
        at += 2;
    }
    all
}

/// Writes the vectors in the basis of the form: of a pair the real parts, and then the imaginary ones.
struct Substitute<'a, T> {
    form: &'a Form<T>,
    found: &'a mut [T],
}

/// The solution of two equations, whose factors stand row by row.
#[inline(always)]
fn two([a, b, c, d]: [Number; 4], [x, y]: [Number; 2], little: f64) -> [Number; 2] {
    let mut determinant = a * d - b * c;
    if determinant.norm() <= little * little {
        determinant = Complex::from(little * little);
    }
    [(d * x - b * y) / determinant, (a * y - c * x) / determinant]
}

impl<T: Wide> WithSimd for Substitute<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Substitute { form, found } = self;
        let (mut at, mut steps) = (0, Steps::default());
        while at < form.n {
            steps.take(at * at);
            let width = if form.values[at].1 == 0.0 { 1 } else { 2 };
            let lines = &mut found[at * form.room..][..width * form.room];
            form.vector(simd, at, lines.split_at_mut(form.room));
            at += width;
        }
    }
}

impl<T: Wide> Form<T> {
    /// The vector of the block at a place: of a pair the parts of the first one.
    #[inline(always)]
    fn vector<S: Simd>(&self, simd: S, at: usize, (real, imaginary): (&mut [T], &mut [T])) {
        let (re, im) = self.values[at];
        let is_pair = im != 0.0;
        let least: f64 = T::min_positive_value().sqrt().as_();
        let precision: f64 = T::epsilon().as_();
        // What is divided by is no less than this, and vectors whose numbers are more are made shorter.
        let (little, most) = ((precision * (re.abs() + im.abs())).max(least), least.sqrt().recip());
        let number = |row: usize, column: usize| Complex::from(self.at(row, column).as_());
        let value = Complex::new(re, im);
        let (mut known, mut count, mut until) = ([(at, Complex::from(1.0)); 2], 1, at);
        if is_pair {
            let (above, below) = (self.at(at, at + 1).as_(), self.at(at + 1, at).as_());
            let heads = match f64::abs(above) >= f64::abs(below) {
                true => [Complex::from(1.0), Complex::new(0.0, im / above)],
                false => [Complex::from(-im / below), Complex::new(0.0, 1.0)],
            };
            (known, count) = ([(at, heads[0]), (at + 1, heads[1])], 2);
        }
        loop {
            let size =
                known[..count].iter().fold(0.0, |size: f64, (_, x)| size.max(x.re.abs().max(x.im.abs())));
            if size > most {
                let shorter = T::from_f64(size.recip());
                known.iter_mut().for_each(|(_, x)| *x /= size);
                real.iter_mut().chain(&mut *imaginary).for_each(|x| *x = *x * shorter);
            }
            // Whole vectors are taken from: what that makes of known numbers is written over.
            let end = until.next_multiple_of(T::LANES);
            for &(place, x) in &known[..count] {
                let column = &self.matrix[place * self.room..][..end];
                add(simd, &mut real[..end], T::from_f64(-x.re), column);
                if is_pair {
                    add(simd, &mut imaginary[..end], T::from_f64(-x.im), column);
                }
            }
            for &(place, x) in &known[..count] {
                real[place] = T::from_f64(x.re);
                if is_pair {
                    imaginary[place] = T::from_f64(x.im);
                }
            }
            if until == 0 {
                return;
            }
            let rest =
                |row: usize| Complex::new(real[row].as_(), if is_pair { imaginary[row].as_() } else { 0.0 });
            let row = until - 1;
            if row > 0 && self.at(row, row - 1) != T::ZERO {
                let above = row - 1;
                let factors = [
                    number(above, above) - value,
                    number(above, row),
                    number(row, above),
                    number(row, row) - value,
                ];
                let [x, y] = two(factors, [rest(above), rest(row)], little);
                known = [(above, x), (row, y)];
                (until, count) = (above, 2);
            } else {
                let mut factor = number(row, row) - value;
                if factor.re.abs() + factor.im.abs() < little {
                    factor = Complex::from(little);
                }
                known[0] = (row, rest(row) / factor);
                (until, count) = (row, 1);
            }
        }
    }
}
