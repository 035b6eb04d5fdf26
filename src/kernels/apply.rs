//! The loops under every elementwise kernel: visiting the elements of a destination together with
//! those of zero to three inputs of the same shape, whatever the strides. What is done with the
//! elements is said in `map` and `zip`.
//!
//! Destinations are visited as `&mut V`: `V` is `MaybeUninit<U>` for fresh outputs, which are only
//! written, and the element type itself for outputs in place.
//!
//! Note [Visitors by value]
//! ----
//! What a visitor holds, such as a factor, lies behind a pointer in these loops, and every element that is
//! written might change it, as far as the compiler can tell. They therefore own a copy of their visitor.

use ndarray::{ArrayView1, ArrayViewD, ArrayViewMut1, ArrayViewMutD, Axis, Slice, Zip};
use std::mem::MaybeUninit;

use super::parallel::{parallel_items, parallel_parts};
use super::simd::vectorised;

/// Elements of one chunk: at least some ten microseconds of work.
pub(super) const GRAIN: usize = 1 << 16;

/// Columns that a transposing loop goes through together, so that cache lines are used whole.
const TILE: usize = 32;

/// A shorter innermost axis is left to the elements' own loop.
const SHORTEST_LANE: usize = 8;

/// A fresh row-major output as a view. The length is the product of the shape by convention.
pub(super) fn fresh<'a, U>(
    shape: &[usize],
    out: &'a mut [MaybeUninit<U>],
) -> ArrayViewMutD<'a, MaybeUninit<U>> {
    match ArrayViewMutD::from_shape(shape, out) {
        Ok(view) => view,
        Err(_) => unreachable!("a fresh output has as many elements as its shape"),
    }
}

/// Visits every element of a slice.
#[inline]
pub(super) fn each_slice<V: Send>(out: &mut [V], visit: impl Fn(&mut V) + Copy + Sync) {
    parallel_slice(out, |_, part| vectorised(part.len(), || part.iter_mut().for_each(visit)));
}

/// Visits every element of a slice together with that of another.
#[inline]
pub(super) fn each_slice_1<V: Send, A: Copy + Sync>(
    out: &mut [V],
    a: &[A],
    visit: impl Fn(&mut V, A) + Copy + Sync,
) {
    parallel_slice(out, |start, part| {
        let a = &a[start..start + part.len()];
        vectorised(part.len(), || {
            let own = visit;
            part.iter_mut().zip(a).for_each(|(out, &a)| own(out, a));
        });
    });
}

/// Visits every element of a slice together with those of two others.
#[inline]
pub(super) fn each_slice_2<V: Send, A: Copy + Sync, B: Copy + Sync>(
    out: &mut [V],
    a: &[A],
    b: &[B],
    visit: impl Fn(&mut V, A, B) + Copy + Sync,
) {
    parallel_slice(out, |start, part| {
        let (a, b) = (&a[start..start + part.len()], &b[start..start + part.len()]);
        vectorised(part.len(), || {
            let own = visit;
            part.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| own(out, a, b));
        });
    });
}

/// Visits every element of a slice together with those of three others.
#[inline]
pub(super) fn each_slice_3<V: Send, A: Copy + Sync, B: Copy + Sync, C: Copy + Sync>(
    out: &mut [V],
    a: &[A],
    b: &[B],
    c: &[C],
    visit: impl Fn(&mut V, A, B, C) + Copy + Sync,
) {
    parallel_slice(out, |start, part| {
        let range = start..start + part.len();
        let (a, b, c) = (&a[range.clone()], &b[range.clone()], &c[range]);
        vectorised(part.len(), || {
            let own = visit;
            part.iter_mut().zip(a).zip(b).zip(c).for_each(|(((out, &a), &b), &c)| own(out, a, b, c));
        });
    });
}

/// Hands out a slice in chunks; short slices are one chunk without any further ado. The body is
/// compiled once for both ways, as a function of its own.
#[inline]
fn parallel_slice<V: Send>(out: &mut [V], body: impl Fn(usize, &mut [V]) + Sync) {
    let body: &(dyn Fn(usize, &mut [V]) + Sync) = &body;
    if out.len() <= GRAIN { body(0, out) } else { parallel_parts(out, GRAIN, body) }
}

/// Visits every element of a view.
pub(super) fn each<V: Send>(mut out: ArrayViewMutD<'_, V>, visit: impl Fn(&mut V) + Copy + Sync) {
    // No other operand: the order of the elements in memory is as good as any.
    match out.as_slice_memory_order_mut() {
        Some(slice) => each_slice(slice, visit),
        None => in_pieces(out, &[], |mut out, _| out.iter_mut().for_each(visit)),
    }
}

/// Visits every element of a view together with that of an input of the same shape.
pub(super) fn each_1<V: Send, A: Copy + Sync>(
    mut out: ArrayViewMutD<'_, V>,
    a: ArrayViewD<'_, A>,
    visit: impl Fn(&mut V, A) + Copy + Sync,
) {
    if let (Some(out), Some(a)) = (out.as_slice_mut(), a.as_slice()) {
        return each_slice_1(out, a, visit);
    }
    in_pieces(out, &[a.strides()], |mut out, piece| {
        let a = piece.of(&a);
        match lane_axis(out.shape()) {
            Some(axis) => {
                Zip::from(out.lanes_mut(axis)).and(a.lanes(axis)).for_each(|out, a| lane_1(out, a, visit))
            }
            None => Zip::from(out).and(a).for_each(|out, &a| visit(out, a)),
        }
    });
}

/// Visits every element of a view together with those of two inputs of the same shape.
pub(super) fn each_2<V: Send, A: Copy + Sync, B: Copy + Sync>(
    mut out: ArrayViewMutD<'_, V>,
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    visit: impl Fn(&mut V, A, B) + Copy + Sync,
) {
    if let (Some(out), Some(a), Some(b)) = (out.as_slice_mut(), a.as_slice(), b.as_slice()) {
        return each_slice_2(out, a, b, visit);
    }
    in_pieces(out, &[a.strides(), b.strides()], |mut out, piece| {
        let (a, b) = (piece.of(&a), piece.of(&b));
        match lane_axis(out.shape()) {
            Some(axis) => Zip::from(out.lanes_mut(axis))
                .and(a.lanes(axis))
                .and(b.lanes(axis))
                .for_each(|out, a, b| lane_2(out, a, b, visit)),
            None => Zip::from(out).and(a).and(b).for_each(|out, &a, &b| visit(out, a, b)),
        }
    });
}

/// Visits every element of a view together with those of three inputs of the same shape.
pub(super) fn each_3<V: Send, A: Copy + Sync, B: Copy + Sync, C: Copy + Sync>(
    mut out: ArrayViewMutD<'_, V>,
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    c: ArrayViewD<'_, C>,
    visit: impl Fn(&mut V, A, B, C) + Copy + Sync,
) {
    if let (Some(out), Some(a), Some(b), Some(c)) =
        (out.as_slice_mut(), a.as_slice(), b.as_slice(), c.as_slice())
    {
        return each_slice_3(out, a, b, c, visit);
    }
    in_pieces(out, &[a.strides(), b.strides(), c.strides()], |mut out, piece| {
        let (a, b, c) = (piece.of(&a), piece.of(&b), piece.of(&c));
        match lane_axis(out.shape()) {
            Some(axis) => Zip::from(out.lanes_mut(axis))
                .and(a.lanes(axis))
                .and(b.lanes(axis))
                .and(c.lanes(axis))
                .for_each(|out, a, b, c| lane_3(out, a, b, c, visit)),
            None => Zip::from(out).and(a).and(b).and(c).for_each(|out, &a, &b, &c| visit(out, a, b, c)),
        }
    });
}

fn lane_1<V: Send, A: Copy + Sync>(
    mut out: ArrayViewMut1<'_, V>,
    a: ArrayView1<'_, A>,
    visit: impl Fn(&mut V, A) + Copy + Sync,
) {
    match (out.as_slice_mut(), a.as_slice(), repeated(&a)) {
        (Some(out), Some(a), _) => each_slice_1(out, a, visit),
        (Some(out), _, Some(a)) => each_slice(out, move |out| visit(out, a)),
        _ => out.iter_mut().zip(a).for_each(|(out, &a)| visit(out, a)),
    }
}

fn lane_2<V: Send, A: Copy + Sync, B: Copy + Sync>(
    mut out: ArrayViewMut1<'_, V>,
    a: ArrayView1<'_, A>,
    b: ArrayView1<'_, B>,
    visit: impl Fn(&mut V, A, B) + Copy + Sync,
) {
    if let (Some(out), Some(a), Some(b)) = (out.as_slice_mut(), a.as_slice(), b.as_slice()) {
        return each_slice_2(out, a, b, visit);
    }
    // An operand that repeats one element leaves a loop over the other.
    if let Some(b) = repeated(&b) {
        return lane_1(out, a, move |out, a| visit(out, a, b));
    }
    if let Some(a) = repeated(&a) {
        return lane_1(out, b, move |out, b| visit(out, a, b));
    }
    out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| visit(out, a, b));
}

fn lane_3<V: Send, A: Copy + Sync, B: Copy + Sync, C: Copy + Sync>(
    mut out: ArrayViewMut1<'_, V>,
    a: ArrayView1<'_, A>,
    b: ArrayView1<'_, B>,
    c: ArrayView1<'_, C>,
    visit: impl Fn(&mut V, A, B, C) + Copy + Sync,
) {
    if let (Some(out), Some(a), Some(b), Some(c)) =
        (out.as_slice_mut(), a.as_slice(), b.as_slice(), c.as_slice())
    {
        return each_slice_3(out, a, b, c, visit);
    }
    out.iter_mut().zip(a).zip(b).zip(c).for_each(|(((out, &a), &b), &c)| visit(out, a, b, c));
}

/// The element that a lane repeats by a stride of zero.
fn repeated<T: Copy>(lane: &ArrayView1<'_, T>) -> Option<T> {
    if lane.strides() == [0] { lane.first().copied() } else { None }
}

/// The axis to run the innermost loop along: the last one, in which the outputs are contiguous. If
/// that is too short to be worth a loop there is none.
fn lane_axis(shape: &[usize]) -> Option<Axis> {
    match shape {
        [.., last] if *last >= SHORTEST_LANE => Some(Axis(shape.len() - 1)),
        _ => None,
    }
}

/// A part of the operands along one axis.
struct Piece {
    /// Axis and range, or nothing for the whole.
    cut: Option<(Axis, Slice)>,
}

impl Piece {
    /// The part of one operand that belongs to this piece.
    fn of<'a, T>(&self, operand: &ArrayViewD<'a, T>) -> ArrayViewD<'a, T> {
        let mut part = operand.clone();
        if let Some((axis, range)) = self.cut {
            part.slice_axis_inplace(axis, range);
        }
        part
    }
}

/// Cuts the operands along one axis and calls `body` with each piece of the destination.
///
/// Large operands are cut along the longest axis but the last to share them between threads. Where
/// an input runs along another axis than the destination (a transposed view), the last axis is cut
/// into narrow tiles instead. Both depend on shapes and strides only.
fn in_pieces<V: Send>(
    out: ArrayViewMutD<'_, V>,
    inputs: &[&[isize]],
    body: impl Fn(ArrayViewMutD<'_, V>, Piece) + Sync,
) {
    each_piece(out, inputs, &body);
}

fn each_piece<V: Send>(
    out: ArrayViewMutD<'_, V>,
    inputs: &[&[isize]],
    body: &(dyn Fn(ArrayViewMutD<'_, V>, Piece) + Sync),
) {
    let len = out.len();
    let shape = out.shape();
    let Some((&last, outer)) = shape.split_last() else {
        return body(out, Piece { cut: None });
    };
    if len <= GRAIN / 16 {
        return body(out, Piece { cut: None });
    }
    let crosswise = |strides: &&[isize]| {
        let (step, rest) = strides.split_last().map_or((0, &[][..]), |(step, rest)| (step.abs(), rest));
        step > 1 && rest.iter().any(|other| other.abs() == 1)
    };
    let longest = (0..outer.len()).max_by_key(|&axis| (shape[axis], std::cmp::Reverse(axis)));
    let (axis, size) = match longest {
        Some(_) if inputs.iter().any(crosswise) && last > TILE => (outer.len(), TILE),
        Some(axis) if shape[axis] > 1 => (axis, (GRAIN / (len / shape[axis])).max(1)),
        _ => (outer.len(), GRAIN),
    };
    let axis = Axis(axis);
    let mut out = out;
    let mut start = 0;
    let pieces = out.axis_chunks_iter_mut(axis, size).map(|part| {
        let range = Slice::from(start..start + part.len_of(axis));
        start += part.len_of(axis);
        (part, Piece { cut: Some((axis, range)) })
    });
    parallel_items(pieces.collect(), 1, |(part, piece)| body(part, piece));
}
