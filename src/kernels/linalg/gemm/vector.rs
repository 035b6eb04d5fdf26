//! Products with a vector. They read the matrix once, so packing it would only cost.

use ndarray::{ArrayView1, ArrayView2};
use pulp::{Arch, Simd, WithSimd};
use std::mem::MaybeUninit;

use super::{known, known_mut};
use crate::dtype::Ring;
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::simd::vectorised;
use crate::kernels::wide::Wide;

/// Sums that run side by side.
const LANES: usize = 32;

/// Lines that are multiplied with one vector together.
const FEW: usize = 4;

/// Multiplications that are worth a turn of a thread.
const TURN: usize = 1 << 17;

/// Elements that a lane's sum is carried over.
const LEAF: usize = 4096;

/// Columns summed together: the sums stay in the first-level cache.
const WIDTH: usize = 512;

/// The sum of the products of two slices of the same length.
pub fn dot<T: Ring>(a: &[T], b: &[T]) -> T {
    let leaves = a.chunks(LEAF).zip(b.chunks(LEAF));
    leaves.fold(T::ZERO, |sum, (a, b)| {
        sum.add(vectorised(
            a.len(),
            #[inline(always)]
            || leaf(a, b),
        ))
    })
}

#[inline(always)]
fn leaf<T: Ring>(a: &[T], b: &[T]) -> T {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [T::ZERO; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] = sums[lane].add(a[lane].mul(b[lane]));
        }
    }
    a_rest.iter().zip(b_rest).fold(total(sums), |sum, (&a, &b)| sum.add(a.mul(b)))
}

/// The sum of all lanes. Never a part of the loop before it: the compiler would keep the lanes in the pairs that they
/// are added in, which are not what vectors hold.
#[inline(never)]
fn total<T: Ring, const L: usize>(mut sums: [T; L]) -> T {
    let mut width = L;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            sums[lane] = sums[lane].add(sums[lane + width]);
        }
    }
    sums[0]
}

/// Adds products to sums, lane by lane.
#[inline(always)]
fn multiply<T: Ring, const L: usize>(sums: &mut [T; L], a: &[T; L], b: &[T; L]) {
    for lane in 0..L {
        sums[lane] = sums[lane].add(a[lane].mul(b[lane]));
    }
}

/// The products of some lines with a vector, which is read once.
#[inline(always)]
fn dots<T: Ring, const L: usize>([p, q, r, s]: [&[T]; FEW], x: &[T]) -> [T; FEW] {
    let (mut of_p, mut of_q, mut of_r, mut of_s) = ([T::ZERO; L], [T::ZERO; L], [T::ZERO; L], [T::ZERO; L]);
    let (pieces, rest) = x.as_chunks::<L>();
    let lines = p.as_chunks().0.iter().zip(q.as_chunks().0).zip(r.as_chunks().0).zip(s.as_chunks().0);
    for ((((p, q), r), s), x) in lines.zip(pieces) {
        multiply(&mut of_p, p, x);
        multiply(&mut of_q, q, x);
        multiply(&mut of_r, r, x);
        multiply(&mut of_s, s, x);
    }
    let mut all = [total(of_p), total(of_q), total(of_r), total(of_s)];
    let first = x.len() - rest.len();
    for (sum, line) in all.iter_mut().zip([p, q, r, s]) {
        *sum = line[first..].iter().zip(rest).fold(*sum, |sum, (&a, &b)| sum.add(a.mul(b)));
    }
    all
}

/// The products of lines, one after the other, with a vector.
fn times_lines<'a, T: Ring>(mut lines: impl Iterator<Item = &'a [T]>, x: &[T], out: &mut [MaybeUninit<T>]) {
    if let (Some(x), Some(out)) = (known::<T, f32>(x), known_mut(out)) {
        return Arch::new().dispatch(Lines { lines: lines.map_while(known), x, out });
    }
    if let (Some(x), Some(out)) = (known::<T, f64>(x), known_mut(out)) {
        return Arch::new().dispatch(Lines { lines: lines.map_while(known), x, out });
    }
    let (few, rest) = out.as_chunks_mut::<FEW>();
    vectorised(
        x.len(),
        #[inline(always)]
        || {
            for out in few {
                let mut four = [x; FEW];
                for (place, line) in four.iter_mut().zip(&mut lines) {
                    *place = line;
                }
                let products =
                    if size_of::<T>() > 4 { dots::<T, 8>(four, x) } else { dots::<T, 16>(four, x) };
                for (out, product) in out.iter_mut().zip(products) {
                    out.write(product);
                }
            }
        },
    );
    for (out, line) in rest.iter_mut().zip(lines) {
        out.write(dot(line, x));
    }
}

/// `times_lines` of real numbers, in whole vectors.
struct Lines<'x, 'o, T, I> {
    lines: I,
    x: &'x [T],
    out: &'o mut [MaybeUninit<T>],
}

impl<'a, T: Wide, I: Iterator<Item = &'a [T]>> WithSimd for Lines<'_, '_, T, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for out in self.out.chunks_mut(FEW) {
            // What is missing of the last lines is the vector itself, whose products nobody takes.
            let mut lines = [self.x; FEW];
            for (place, line) in lines.iter_mut().zip(&mut self.lines).take(out.len()) {
                *place = line;
            }
            let products = products(simd, lines, self.x);
            for (out, product) in out.iter_mut().zip(products) {
                out.write(product);
            }
        }
    }
}

/// The products of some lines with a vector: each in two sums of vectors, and one of what is left over.
#[inline(always)]
fn products<T: Wide, S: Simd>(simd: S, lines: [&[T]; FEW], x: &[T]) -> [T; FEW] {
    let mut sums = [[T::splat(simd, T::ZERO); 2]; FEW];
    let (vectors, rest) = T::vectors::<S>(x);
    let (pairs, last) = vectors.as_chunks::<2>();
    let mut cut = [(pairs, last); FEW];
    for (cut, line) in cut.iter_mut().zip(lines) {
        *cut = T::vectors::<S>(&line[..x.len()]).0.as_chunks::<2>();
    }
    for (index, &[near, far]) in pairs.iter().enumerate() {
        for (sum, (pairs, _)) in sums.iter_mut().zip(&cut) {
            let [first, second] = pairs[index];
            *sum = [T::times_plus(simd, first, near, sum[0]), T::times_plus(simd, second, far, sum[1])];
        }
    }
    let mut found = [T::ZERO; FEW];
    let left = x.len() - rest.len();
    for (((found, [first, second]), (_, single)), line) in found.iter_mut().zip(sums).zip(cut).zip(lines) {
        let mut sum = T::times_plus(simd, T::splat(simd, T::ONE), first, second);
        if let ([a], [b]) = (single, last) {
            sum = T::times_plus(simd, *a, *b, sum);
        }
        *found = T::total(simd, sum);
        for (&a, &b) in line[left..].iter().zip(rest) {
            *found = *found + a * b;
        }
    }
    found
}

/// `out = x matrix`, if the matrix is contiguous along one of its axes; says whether it was.
pub(super) fn times_matrix<T: Ring>(
    x: ArrayView1<'_, T>,
    matrix: ArrayView2<'_, T>,
    out: &mut [MaybeUninit<T>],
) -> bool {
    let (rows, columns) = matrix.dim();
    let along_columns = rows == 1 || matrix.strides()[0] == 1;
    if !along_columns && columns > 1 && matrix.strides()[1] != 1 {
        return false;
    }
    let copy;
    let x = match x.as_slice() {
        Some(x) => x,
        None => {
            copy = interrupt::collected(x.iter().copied());
            &copy
        }
    };
    if along_columns {
        let grain = (TURN / rows).max(1).next_multiple_of(FEW);
        parallel_parts(out, grain, |first, out| {
            let lines = (first..first + out.len()).map(|column| {
                let Some(line) = matrix.column(column).to_slice() else {
                    unreachable!("columns have stride 1")
                };
                line
            });
            // Sums of long lines are those of their leaves.
            match rows <= LEAF {
                true => times_lines(lines, x, out),
                false => out.iter_mut().zip(lines).for_each(|(out, line)| {
                    out.write(dot(x, line));
                }),
            }
        });
        return true;
    }
    let line = |row: usize| {
        let Some(line) = matrix.row(row).to_slice() else { unreachable!("rows have stride 1") };
        line
    };
    let blocks = (TURN / (rows * WIDTH)).max(1);
    parallel_parts(out, WIDTH * blocks, |start, out| {
        for (block, out) in out.chunks_mut(WIDTH).enumerate() {
            let (first, width) = (start + block * WIDTH, out.len());
            let mut sums = [T::ZERO; WIDTH];
            let sums = &mut sums[..width];
            vectorised(
                width,
                #[inline(always)]
                || {
                    let few = rows / FEW * FEW;
                    for row in (0..few).step_by(FEW) {
                        let [p, q, r, s] = [0, 1, 2, 3].map(|turn| &line(row + turn)[first..][..width]);
                        let factors = &x[row..][..FEW];
                        for ((((sum, &p), &q), &r), &s) in sums.iter_mut().zip(p).zip(q).zip(r).zip(s) {
                            let half = sum.add(factors[0].mul(p)).add(factors[1].mul(q));
                            *sum = half.add(factors[2].mul(r)).add(factors[3].mul(s));
                        }
                    }
                    for (row, &factor) in x.iter().enumerate().take(rows).skip(few) {
                        sums.iter_mut()
                            .zip(&line(row)[first..])
                            .for_each(|(sum, &y)| *sum = sum.add(factor.mul(y)));
                    }
                },
            );
            for (out, &sum) in out.iter_mut().zip(&*sums) {
                out.write(sum);
            }
        }
    });
    true
}
