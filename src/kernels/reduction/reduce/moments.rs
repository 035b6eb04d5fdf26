//! Reductions in two passes, the second around a result of the first: variance and log-sum-exp.

use ndarray::{ArrayView, ArrayViewD};
use std::mem::MaybeUninit;
use std::ops::Range;

use super::leaves::greater;
use super::{Fold, fold_slice, reduce_with};
use crate::dtype::{Element, Number, Real};
use crate::kernels::blocks;
use crate::kernels::geometry::dense::dense;
use crate::kernels::geometry::strided::Strided;
use crate::kernels::interrupt;
use crate::kernels::neural::softmax;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::map;
use crate::kernels::pointwise::math::exp;
use crate::shape::contiguous_strides;

/// Mean, and variance with `count - correction` as its divisor, both accumulated in double
/// precision.
pub fn var_mean<T: Real>(
    view: ArrayViewD<'_, T>,
    axes: &[usize],
    correction: f64,
    var: &mut [MaybeUninit<T>],
    mean: &mut [MaybeUninit<T>],
) {
    let count = axes.iter().map(|&axis| view.shape()[axis]).product::<usize>() as f64;
    let divisor = (count - correction).max(0.0);
    let mut centres = interrupt::filled(var.len(), 0.0);
    let fold = Fold { identity: 0.0, map: <T as Element>::to_f64, merge: |a, b| a + b };
    reduce_with(view.view(), axes, &mut centres, fold, move |out, sum: f64| *out = sum / count);
    let square = |x: T, centre: f64| {
        let distance = x.to_f64() - centre;
        distance * distance
    };
    sum_around(view, axes, &centres, var, square, move |sum, _| T::from_f64(sum / divisor));
    map::map_slice(&centres, mean, T::from_f64);
}

/// The logarithm of the sum of exponentials, shifted by the greatest element so that it neither
/// overflows nor vanishes.
pub fn logsumexp<T: Real>(view: ArrayViewD<'_, T>, axes: &[usize], out: &mut [MaybeUninit<T>]) {
    if let (Some(neighbours), false) = (neighbours(axes), view.is_empty()) {
        return softmax::logsumexp(view, neighbours, out);
    }
    let mut shifts = interrupt::filled(out.len(), T::LOWEST);
    let fold = Fold { identity: T::LOWEST, map: std::convert::identity, merge: greater };
    // An infinite shift would give inf - inf.
    reduce_with(view.view(), axes, &mut shifts, fold, |out, greatest: T| {
        *out = if greatest.is_infinite() { T::ZERO } else { greatest };
    });
    sum_around(view, axes, &shifts, out, |x, shift: T| exp(x - shift), |sum: T, shift| sum.ln() + shift);
}

/// Axes that follow one another, from the first to behind the last.
fn neighbours(axes: &[usize]) -> Option<Range<usize>> {
    let (&first, &last) = (axes.iter().min()?, axes.iter().max()?);
    (last - first + 1 == axes.len()).then_some(first..last + 1)
}

/// Sums `f(x, centre)` where every result has a centre of its own.
fn sum_around<T: Real, C: Copy + Send + Sync + 'static, A: Number>(
    view: ArrayViewD<'_, T>,
    axes: &[usize],
    centres: &[C],
    out: &mut [MaybeUninit<T>],
    f: impl Fn(T, C) -> A + Copy + Sync,
    finish: impl Fn(A, C) -> T + Copy + Sync,
) {
    let fold = Fold { identity: A::ZERO, map: |x: A| x, merge: A::add };
    let kept = view.ndim() - axes.len();
    let trailing = axes.iter().all(|&axis| axis >= kept);
    let len = axes.iter().map(|&axis| view.shape()[axis]).product::<usize>();
    if let (true, 1.., Some(elements)) = (trailing, len, view.as_slice()) {
        return parallel_parts(out, (GRAIN / len).max(1), |start, part| {
            let rows = elements[start * len..].chunks_exact(len);
            for ((out, row), &centre) in part.iter_mut().zip(rows).zip(&centres[start..]) {
                let fold = Fold { identity: A::ZERO, map: move |x| f(x, centre), merge: A::add };
                out.write(finish(fold_slice(row, fold), centre));
            }
        });
    }
    let mut kept = view.shape().to_vec();
    axes.iter().for_each(|&axis| kept[axis] = 1);
    let mut strides = contiguous_strides(&kept);
    axes.iter().for_each(|&axis| strides[axis] = 0);
    let shape = view.raw_dim();
    let elements = dense(&view);
    let elements = Strided::in_order(&elements, view.shape());
    let broadcast = Strided::new(centres, view.shape(), &strides);
    let mut terms = interrupt::filled(view.len(), A::ZERO);
    blocks::each_2(&mut terms, &elements, &broadcast, move |out, x, centre| *out = f(x, centre));
    let Ok(terms) = ArrayView::from_shape(shape, &terms) else {
        unreachable!("there is a term for each element");
    };
    let mut sums = interrupt::filled(out.len(), A::ZERO);
    reduce_with(terms, axes, &mut sums, fold, |out, sum| *out = sum);
    apply::each_slice_2(out, &sums, centres, move |out, sum, centre| {
        out.write(finish(sum, centre));
    });
}
