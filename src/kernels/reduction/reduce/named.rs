//! The reductions in one pass that have names.

use ndarray::ArrayViewD;
use std::convert::identity;
use std::mem::MaybeUninit;

use super::extremes::extremes_with;
use super::leaves::{self, Leaves, greater, less};
use super::{Fold, columns, fold_slice, reduce, rows};
use crate::dtype::{Bool, Element, Number, Real, Ring};
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::{self, GRAIN};
use crate::kernels::simd::vectorised;

/// The sum.
pub fn sum<T: Ring>(view: ArrayViewD<'_, T>, axes: &[usize], out: &mut [MaybeUninit<T>]) {
    // As of a layer's bias.
    if let (&[_, width], [0], Some(elements)) = (view.shape(), axes, view.as_slice())
        && columns::sums_of_leaf(elements, width, out)
    {
        return;
    }
    if let Some(leaves) = Leaves::new::<leaves::Sum<false>>(&view, axes) {
        return leaves.fold(out, write);
    }
    match rows::short_rows(&view, axes) {
        Some((elements, 2)) => sum_few::<T, 2>(elements, out),
        Some((elements, 3)) => sum_few::<T, 3>(elements, out),
        Some((elements, 4)) => sum_few::<T, 4>(elements, out),
        _ => reduce(view, axes, out, Fold { identity: T::ZERO, map: identity, merge: T::add }, identity),
    }
}

/// The sums of rows of so few elements, one after the other as in a leaf.
fn sum_few<T: Ring, const N: usize>(elements: &[T], out: &mut [MaybeUninit<T>]) {
    apply::each_slice_1(out, elements.as_chunks::<N>().0, |out, row| {
        out.write(row.iter().fold(T::ZERO, |sum, &element| sum.add(element)));
    });
}

/// The sum of all elements, with the bits of `sum`.
pub fn total<T: Ring>(elements: &[T]) -> T {
    fold_slice(elements, Fold { identity: T::ZERO, map: identity, merge: T::add })
}

/// The sum divided by the number of elements.
pub fn mean<T: Real>(view: ArrayViewD<'_, T>, axes: &[usize], out: &mut [MaybeUninit<T>]) {
    let count = T::from_f64(axes.iter().map(|&axis| view.shape()[axis]).product::<usize>() as f64);
    if let Some(leaves) = Leaves::new::<leaves::Sum<false>>(&view, axes) {
        return leaves.fold(out, |out, sum| write(out, sum / count));
    }
    let fold = Fold { identity: T::ZERO, map: identity, merge: <T as Ring>::add };
    reduce(view, axes, out, fold, |sum| sum / count);
}

/// The product.
pub fn prod<T: Ring>(view: ArrayViewD<'_, T>, axes: &[usize], out: &mut [MaybeUninit<T>]) {
    if let Some(leaves) = Leaves::new::<leaves::Product>(&view, axes) {
        return leaves.fold(out, write);
    }
    reduce(view, axes, out, Fold { identity: T::ONE, map: identity, merge: T::mul }, identity);
}

/// Writes a result that is a state.
fn write<T>(out: &mut MaybeUninit<T>, state: T) {
    out.write(state);
}

/// The greatest element, NaN if there is one.
pub fn max<T: Number>(view: ArrayViewD<'_, T>, axes: &[usize], out: &mut [MaybeUninit<T>]) {
    extremes_with::<T, _, leaves::Extreme<true>>(view, axes, out, T::LOWEST, greater, write);
}

/// The least element, NaN if there is one.
pub fn min<T: Number>(view: ArrayViewD<'_, T>, axes: &[usize], out: &mut [MaybeUninit<T>]) {
    extremes_with::<T, _, leaves::Extreme<false>>(view, axes, out, T::HIGHEST, less, write);
}

/// Whether any element is not zero.
pub fn any<T: Element>(view: ArrayViewD<'_, T>, axes: &[usize], out: &mut [MaybeUninit<Bool>]) {
    reduce(view, axes, out, Fold { identity: false, map: T::is_true, merge: |a, b| a | b }, Bool::new);
}

/// Whether no element is zero.
pub fn all<T: Element>(view: ArrayViewD<'_, T>, axes: &[usize], out: &mut [MaybeUninit<Bool>]) {
    reduce(view, axes, out, Fold { identity: true, map: T::is_true, merge: |a, b| a & b }, Bool::new);
}

/// How many elements are not zero.
pub fn count_nonzero<T: Element>(view: ArrayViewD<'_, T>, axes: &[usize], out: &mut [MaybeUninit<i64>]) {
    let map = |x: T| i64::from(x.is_true());
    reduce(view, axes, out, Fold { identity: 0, map, merge: |a, b| a + b }, identity);
}

/// How many truth values say so.
pub fn truths(elements: &[Bool]) -> i64 {
    /// Lanes that are counted in bytes, and rounds before one may be full.
    const LANES: usize = 128;
    const ROUNDS: usize = 255;
    let mut counts = interrupt::filled(elements.len().div_ceil(GRAIN), 0);
    parallel_parts(&mut counts, 1, |start, counts| {
        for (count, part) in counts.iter_mut().zip(elements[start * GRAIN..].chunks(GRAIN)) {
            *count = vectorised(
                part.len(),
                #[inline(always)]
                || {
                    let (pieces, rest) = part.as_chunks::<LANES>();
                    let mut total: i64 = rest.iter().map(|truth| i64::from(truth.get())).sum();
                    for pieces in pieces.chunks(ROUNDS) {
                        let mut lanes = [0u8; LANES];
                        for piece in pieces {
                            lanes
                                .iter_mut()
                                .zip(piece)
                                .for_each(|(lane, truth)| *lane += u8::from(truth.get()));
                        }
                        total += lanes.iter().map(|&lane| i64::from(lane)).sum::<i64>();
                    }
                    total
                },
            );
        }
    });
    counts.iter().sum()
}

/// The `p`-norm: the number of non-zero elements for 0, the extreme magnitudes for ±infinity.
pub fn norm<T: Real>(view: ArrayViewD<'_, T>, axes: &[usize], p: f64, out: &mut [MaybeUninit<T>]) {
    let (zero, add) = (T::ZERO, <T as Ring>::add);
    if p == f64::INFINITY {
        reduce(view, axes, out, Fold { identity: zero, map: T::abs, merge: greater }, identity);
    } else if p == f64::NEG_INFINITY {
        reduce(view, axes, out, Fold { identity: T::HIGHEST, map: T::abs, merge: less }, identity);
    } else if p == 0.0 {
        let map = |x| if x == zero { zero } else { T::ONE };
        reduce(view, axes, out, Fold { identity: zero, map, merge: add }, identity);
    } else if p == 1.0 {
        reduce(view, axes, out, Fold { identity: zero, map: T::abs, merge: add }, identity);
    } else if p == 2.0 {
        if let Some(leaves) = Leaves::new::<leaves::Sum<true>>(&view, axes) {
            return leaves.fold(out, |out, sum| write(out, sum.sqrt()));
        }
        reduce(view, axes, out, Fold { identity: zero, map: |x| x * x, merge: add }, T::sqrt);
    } else {
        let (power, root) = (T::from_f64(p), T::from_f64(1.0 / p));
        let map = move |x: T| x.abs().powf(power);
        reduce(view, axes, out, Fold { identity: zero, map, merge: add }, move |sum| sum.powf(root));
    }
}
