//! Eigenvalues of real matrices of any kind, and vectors: reflections leave nothing below the diagonal under the middle
//! one, double steps nothing but blocks of one and of two rows on the diagonal, whose values `blocks` has. Matrices lie
//! column by column.

use pulp::{Arch, Simd, WithSimd};

use super::blocks::{self, Block};
use super::columns::{MANY, beside, gather, lines, of, onto_axis, scale, splats, totals, vector_of};
use super::tridiagonal::Reflections;
use super::{Spectrum, zeros};
use crate::dtype::Complex;
use crate::kernels::interrupt::{self, Steps};
use crate::kernels::wide::{Wide, lanes};

/// Up to how many rows matrices are worth it: the library takes many steps at a time.
pub(super) const MOST: usize = 256;

/// Double steps after which it is given up, for each value, and after which shifts are others.
const SWEEPS: usize = 30;
const OTHERS: usize = 10;

/// The eigenvalues of a matrix, and if wanted vectors of any length, if they were found.
pub(super) fn spectrum<T: Wide>(matrix: &[T], n: usize, vectors: bool) -> Option<Spectrum<Complex<f64>>> {
    let (scale, back) = scale(matrix);
    let mut all = Reflections::new(matrix, n, T::from_f64(scale));
    Arch::new().dispatch(Reduce(&mut all));
    let basis = if vectors { all.product() } else { Vec::new() };
    let Reflections { mut matrix, room, .. } = all;
    for (at, column) in matrix.chunks_exact_mut(room.max(1)).enumerate().take(n) {
        column[(at + 2).min(n)..].fill(T::ZERO);
    }
    let mut form = Form { matrix, basis, n, room, values: zeros(n) };
    if !Arch::new().dispatch(Deflate(&mut form)) {
        return None;
    }
    let number = |&(re, im): &(f64, f64)| Complex::new(re * back, im * back);
    Some(Spectrum {
        values: interrupt::collected(form.values.iter().map(number)),
        vectors: if vectors { blocks::vectors(&form) } else { Vec::new() },
    })
}

/// A matrix that comes to have blocks on its diagonal and nothing below, the vectors that turn the one that is given
/// into it, if they are wanted, and the values as far as they are known.
pub(super) struct Form<T> {
    pub(super) matrix: Vec<T>,
    pub(super) basis: Vec<T>,
    pub(super) n: usize,
    /// Elements of a column with its room.
    pub(super) room: usize,
    pub(super) values: Vec<(f64, f64)>,
}

/// Leaves one diagonal below the middle one.
struct Reduce<'a, T>(&'a mut Reflections<T>);

impl<T: Wide> WithSimd for Reduce<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Reflections { matrix, n, room, scales, .. } = self.0;
        let (n, room) = (*n, *room);
        let [mut vector, mut across]: [Vec<T>; 2] = [(); 2].map(|()| zeros(room + MANY));
        let mut steps = Steps::default();
        for step in 0..n.saturating_sub(2) {
            steps.take(4 * n * (n - step));
            let column = &mut matrix[step * room..][..room];
            vector[..=step].fill(T::ZERO);
            vector[step + 1..n].copy_from_slice(&column[step + 1..n]);
            let (left, scale) = onto_axis(simd, &mut vector[..room], step + 1, n);
            scales[step] = scale;
            column[step + 1] = T::from_f64(left);
            column[step + 2..n].copy_from_slice(&vector[step + 2..n]);
            across.fill(T::ZERO);
            for place in (step + 1..n).step_by(MANY) {
                let columns = lines::<T, S>(&mut matrix[place * room..], room, 0);
                let sums = T::vectors_mut::<S>(&mut across[..room]).0;
                gather::<T, S>(simd, sums, columns, of(&vector, place));
            }
            across[..n].iter_mut().for_each(|x| *x = -(scale * *x));
            let whole = [&across, &vector].map(|line| T::vectors::<S>(&line[..room]).0);
            let first = vector_of::<T>(step + 1) / const { lanes::<T, S>() };
            for place in (step + 1..n).step_by(MANY) {
                let columns = lines::<T, S>(&mut matrix[place * room..], room, 0);
                both(simd, columns, whole, of(&vector, place), (first, scale));
            }
        }
    }
}

/// Columns and so many times another, and then less their part along a vector, which is nothing before its first place.
#[inline(always)]
fn both<T: Wide, S: Simd>(
    simd: S,
    [a, b, c, d]: [&mut [T::Of<S>]; MANY],
    [across, vector]: [&[T::Of<S>]; 2],
    factors: &[T; MANY],
    (first, scale): (usize, T),
) {
    let factors = splats(simd, factors);
    let mut sums = [T::splat(simd, T::ZERO); MANY];
    let columns = a.iter_mut().zip(&mut *b).zip(&mut *c).zip(&mut *d);
    for (((((a, b), c), d), &across), &vector) in columns.zip(across).zip(vector) {
        for (at, x) in [a, b, c, d].into_iter().enumerate() {
            *x = T::times_plus(simd, factors[at], across, *x);
            sums[at] = T::times_plus(simd, *x, vector, sums[at]);
        }
    }
    let mut along = totals(simd, sums);
    for sum in &mut along {
        *sum = scale * *sum;
    }
    let along = splats(simd, &along);
    let columns = a[first..].iter_mut().zip(&mut b[first..]).zip(&mut c[first..]).zip(&mut d[first..]);
    for ((((a, b), c), d), &vector) in columns.zip(&vector[first..]) {
        for (at, x) in [a, b, c, d].into_iter().enumerate() {
            *x = T::minus_times(simd, along[at], vector, *x);
        }
    }
}

/// Takes double steps until there are only blocks.
struct Deflate<'a, T>(&'a mut Form<T>);

impl<T: Wide> WithSimd for Deflate<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let form = self.0;
        let (mut end, mut count, mut steps) = (form.n, 0, Steps::default());
        while end > 0 {
            let (first, last) = (form.start(end), end - 1);
            if first > 0 {
                form.put(first, first - 1, T::ZERO);
            }
            if first == last {
                form.values[last] = (form.at(last, last).as_(), 0.0);
            } else if first + 1 == last {
                form.settle(first);
            } else {
                count += 1;
                if count > SWEEPS * form.n {
                    return false;
                }
                steps.take(form.n * (end - first));
                let shifts = form.shifts(first, last, count);
                form.double_step(simd, first, last, shifts);
                continue;
            }
            (end, count) = (first, 0);
        }
        true
    }
}

/// Two shifts: both are real, or conjugates.
type Shifts = [(f64, f64); 2];

impl<T: Wide> Form<T> {
    #[inline(always)]
    pub(super) fn at(&self, row: usize, column: usize) -> T {
        self.matrix[column * self.room + row]
    }

    #[inline(always)]
    fn put(&mut self, row: usize, column: usize, x: T) {
        self.matrix[column * self.room + row] = x;
    }

    /// Where the part begins that ends before `end`: behind the last number below the diagonal that is as good as none.
    #[inline(always)]
    fn start(&self, end: usize) -> usize {
        let least: f64 = T::min_positive_value().as_() * (self.n as f64 / T::epsilon().as_());
        let precision: f64 = T::epsilon().as_();
        let number = |row, column| self.at(row, column).as_();
        let size = |row, column| -> f64 { f64::abs(number(row, column)) };
        for at in (1..end).rev() {
            let below = size(at, at - 1);
            if below <= least {
                return at;
            }
            let mut beside = size(at - 1, at - 1) + size(at, at);
            if beside == 0.0 {
                beside += if at > 1 { size(at - 1, at - 2) } else { 0.0 };
                beside += if at + 1 < end { size(at + 1, at) } else { 0.0 };
            }
            if below <= precision * beside {
                // Not where the difference of values is as small.
                let above = size(at - 1, at);
                let (more, less) = (below.max(above), below.min(above));
                let apart = f64::abs(number(at - 1, at - 1) - number(at, at));
                let (far, near) = (size(at, at).max(apart), size(at, at).min(apart));
                let sum = far + more;
                if less * (more / sum) <= least.max(precision * (near * (far / sum))) {
                    return at;
                }
            }
        }
        0
    }

    /// The eigenvalues of the last two rows, or if they are real the one that is nearer to the last number, twice.
    #[inline(always)]
    fn shifts(&self, first: usize, last: usize, count: usize) -> Shifts {
        let number = |row, column| -> f64 { self.at(row, column).as_() };
        let far = |middle: f64, sum: f64| [middle + 0.75 * sum, -0.4375 * sum, sum, middle + 0.75 * sum];
        let [a, b, c, d] = match count % (2 * OTHERS) {
            OTHERS => {
                far(number(first, first), number(first + 1, first).abs() + number(first + 2, first + 1).abs())
            }
            0 => far(number(last, last), number(last, last - 1).abs() + number(last - 1, last - 2).abs()),
            _ => [(last - 1, last - 1), (last - 1, last), (last, last - 1), (last, last)]
                .map(|(row, column)| number(row, column)),
        };
        let sum = a.abs() + b.abs() + c.abs() + d.abs();
        if sum == 0.0 {
            return [(0.0, 0.0); 2];
        }
        let [a, b, c, d] = [a, b, c, d].map(|x| x / sum);
        let middle = (a + d) / 2.0;
        let square = (a - middle) * (d - middle) - b * c;
        let root = square.abs().sqrt();
        if square >= 0.0 {
            return [(middle * sum, root * sum), (middle * sum, -root * sum)];
        }
        let (more, less) = (middle + root, middle - root);
        let nearer = if (more - d).abs() <= (less - d).abs() { more } else { less };
        [(nearer * sum, 0.0); 2]
    }

    /// The head of the vector that a double step begins with at a row, and whether the number before the row will not be
    /// seen by it.
    #[inline(always)]
    fn head(&self, at: usize, [(re, im), (re_other, im_other)]: Shifts) -> ([f64; 3], bool) {
        let number = |row, column| -> f64 { self.at(row, column).as_() };
        let (here, below) = (number(at, at), number(at + 1, at));
        let size = (here - re_other).abs() + im_other.abs() + below.abs();
        let below = below / size;
        let head = [
            below * number(at, at + 1) + (here - re) * ((here - re_other) / size) - im * (im_other / size),
            below * (here + number(at + 1, at + 1) - re - re_other),
            below * number(at + 2, at + 1),
        ];
        let sum = head.iter().fold(0.0, |sum, x| sum + x.abs());
        let head = head.map(|x| x / sum);
        if at == 0 {
            return (head, true);
        }
        let beside = number(at - 1, at - 1).abs() + here.abs() + number(at + 1, at + 1).abs();
        let seen = number(at, at - 1).abs() * (head[1].abs() + head[2].abs());
        let precision: f64 = T::epsilon().as_();
        (head, seen <= precision * head[0].abs() * beside)
    }

    /// A double step of the rows from `first` to `last`.
    #[inline(always)]
    fn double_step<S: Simd>(&mut self, simd: S, first: usize, last: usize, shifts: Shifts) {
        let (mut start, mut head) = (first, [0.0; 3]);
        for at in (first..last - 1).rev() {
            let (found, is_apart) = self.head(at, shifts);
            (start, head) = (at, found);
            if is_apart {
                break;
            }
        }
        for step in start..last {
            let high = 3.min(last + 1 - step);
            if step > start {
                for (row, x) in head.iter_mut().enumerate() {
                    *x = if row < high { self.at(step + row, step - 1).as_() } else { 0.0 };
                }
            } else {
                head[2] = if high == 3 { head[2] } else { 0.0 };
            }
            let rest = head[1] * head[1] + head[2] * head[2];
            let (mut left, mut scale, mut factor) = (head[0], 0.0, 0.0);
            if rest > 0.0 {
                left = -(head[0] * head[0] + rest).sqrt().copysign(head[0]);
                factor = 1.0 / (head[0] - left);
                scale = (left - head[0]) / left;
            }
            if step > start {
                self.put(step, step - 1, T::from_f64(left));
                self.put(step + 1, step - 1, T::ZERO);
                if high == 3 {
                    self.put(step + 2, step - 1, T::ZERO);
                }
            } else if step > first {
                let before = self.at(step, step - 1);
                self.put(step, step - 1, before * T::from_f64(1.0 - scale));
            }
            if scale == 0.0 {
                continue;
            }
            let vector = [1.0, head[1] * factor, head[2] * factor].map(T::from_f64);
            let taken = vector.map(|x| x * T::from_f64(scale));
            match high {
                3 => self.reflect::<S, 3>(simd, step, (first, last), vector, taken),
                _ => {
                    let [vector, taken] = [vector, taken].map(|[a, b, _]| [a, b]);
                    self.reflect::<S, 2>(simd, step, (first, last), vector, taken);
                }
            }
        }
    }

    /// Reflects so many rows and columns from `step` on, of what is of interest.
    #[inline(always)]
    fn reflect<S: Simd, const H: usize>(
        &mut self,
        simd: S,
        step: usize,
        (first, last): (usize, usize),
        vector: [T; H],
        taken: [T; H],
    ) {
        let (room, with_vectors) = (self.room, !self.basis.is_empty());
        let (top, right) = if with_vectors { (0, self.n) } else { (first, last + 1) };
        for column in self.matrix[step * room..right * room].chunks_exact_mut(room) {
            let Some(numbers) = column[step..].first_chunk_mut::<H>() else { unreachable!("rows are in it") };
            let mut sum = T::ZERO;
            for at in 0..H {
                sum = sum + vector[at] * numbers[at];
            }
            for at in 0..H {
                numbers[at] = numbers[at] - taken[at] * sum;
            }
        }
        let rows = [vector_of::<T>(top), (step + H + 1).min(last + 1)];
        beside::<T, S, H>(simd, &mut self.matrix[step * room..], room, rows, (vector, taken));
        if with_vectors {
            beside::<T, S, H>(simd, &mut self.basis[step * room..], room, [0, self.n], (vector, taken));
        }
    }

    /// Makes a block of two rows one of the form that blocks have, and knows its values.
    #[inline(always)]
    fn settle(&mut self, first: usize) {
        let (n, room, other) = (self.n, self.room, first + 1);
        let places = [(first, first), (first, other), (other, first), (other, other)];
        let block = Block::settled(places.map(|(row, column)| self.at(row, column).as_()));
        for ((row, column), x) in places.into_iter().zip(block.numbers) {
            self.put(row, column, T::from_f64(x));
        }
        (self.values[first], self.values[other]) = block.values();
        if self.basis.is_empty() {
            return;
        }
        let (cosine, sine) = (T::from_f64(block.cosine), T::from_f64(block.sine));
        for column in self.matrix[(other + 1) * room..n * room].chunks_exact_mut(room) {
            let (x, y) = (column[first], column[other]);
            column[first] = cosine * x + sine * y;
            column[other] = cosine * y - sine * x;
        }
        let above = &mut self.matrix[first * room..][..2 * room];
        let (a, b) = above.split_at_mut(room);
        rotate(&mut a[..first], &mut b[..first], (cosine, sine));
        let (a, b) = self.basis[first * room..][..2 * room].split_at_mut(room);
        rotate(a, b, (cosine, sine));
    }
}

#[inline(always)]
fn rotate<T: Wide>(a: &mut [T], b: &mut [T], (cosine, sine): (T, T)) {
    for (x, y) in a.iter_mut().zip(b) {
        (*x, *y) = (cosine * *x + sine * *y, cosine * *y - sine * *x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_traits::AsPrimitive;

    /// How far products of a matrix with its vectors are from these times their values, of vectors of length one.
    fn apart<T: Wide>(matrix: &[T], n: usize) -> f64 {
        let found = spectrum(matrix, n, true).unwrap();
        let alone = spectrum(matrix, n, false).unwrap().values;
        let mut most = 0.0f64;
        for (value, vector) in found.values.iter().zip(found.vectors.chunks_exact(n)) {
            let nearest = alone.iter().map(|other| (other - value).norm()).fold(f64::INFINITY, f64::min);
            let length = vector.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
            assert!(length > 0.0 && length.is_finite());
            for row in 0..n {
                let term = |column: usize| vector[column] * AsPrimitive::<f64>::as_(matrix[column * n + row]);
                let product: Complex<f64> = (0..n).map(term).sum();
                most = most.max((product - value * vector[row]).norm() / length);
            }
            // Values of which several are one are as far off as a root of what is rounded.
            most = most.max(nearest.powi(2));
        }
        most
    }

    #[test]
    fn vectors_are_stretched_by_their_values() {
        for n in [1, 2, 3, 4, 7, 16, 33, 70, 130] {
            let wide: Vec<f64> = (0..n * n).map(|at| ((at * at + 3) as f64 * 0.37).sin()).collect();
            let narrow: Vec<f32> = wide.iter().map(|&x| x as f32).collect();
            assert!(apart(&wide, n) < 1e-12 * n as f64, "{n}: {}", apart(&wide, n));
            assert!(apart(&narrow, n) < 1e-5 * n as f64, "{n}: {}", apart(&narrow, n));
            let scaled: Vec<f64> = wide.iter().map(|&x| x * 1e-200).collect();
            assert!(apart(&scaled, n) < 1e-210);
        }
    }

    #[test]
    fn matrices_whose_values_are_equal_have_them_all_the_same() {
        let n = 12;
        let place = |at: usize| (at % n, at / n);
        let made = |number: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            (0..n * n).map(place).map(|(row, column)| number(row, column)).collect()
        };
        let jordan = made(&|row, column| match column.wrapping_sub(row) {
            0 => 2.0,
            1 => 1.0,
            _ => 0.0,
        });
        let shifted = made(&|row, column| if (row + 1) % n == column { 1.0 } else { 0.0 });
        let ones = made(&|_, _| 1.0);
        let upper = made(&|row, column| if row <= column { (row * n + column) as f64 } else { 0.0 });
        for matrix in [jordan, shifted, ones, upper, vec![0.0; n * n]] {
            assert!(apart(&matrix, n) < 1e-9, "{}", apart(&matrix, n));
        }
    }

    #[test]
    fn a_rotation_has_values_beside_the_real_line() {
        let found = spectrum(&[0.0, 1.0, -1.0, 0.0], 2, true).unwrap();
        assert_eq!(found.values, [Complex::new(0.0, 1.0), Complex::new(0.0, -1.0)]);
    }
}
