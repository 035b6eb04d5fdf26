//! Moving elements between views of one shape, whatever their strides. Nothing is done with the elements
//! on the way; where something is, `blocks` moves them into order first.

mod crosswise;
mod repeated;
mod small;

use ndarray::{ArrayView2, ArrayViewD, ArrayViewMut2, ArrayViewMutD, Axis, Ix2, Zip, arr0, s};
use std::mem::MaybeUninit;

use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::{Body, each_item};
use crate::kernels::pointwise::apply::{GRAIN, each_slice, each_slice_1};
use crate::kernels::simd::vectorised;

/// So few elements are moved one by one.
const FEW: usize = 16;

/// A shorter axis costs more to begin with than to go along.
const SHORT: usize = 16;

/// The elements of a view in row-major order.
pub fn gather<T: Copy + Send + Sync + 'static>(a: ArrayViewD<'_, T>, out: &mut [MaybeUninit<T>]) {
    in_pieces(ordered(a.shape(), out), a, put_first);
}

/// Elements in row-major order as a view. Their number is the product of the shape by convention.
pub(in crate::kernels) fn ordered<'a, V>(shape: &[usize], out: &'a mut [V]) -> ArrayViewMutD<'a, V> {
    match ArrayViewMutD::from_shape(shape, out) {
        Ok(view) => view,
        Err(_) => unreachable!("there are as many elements as in the shape"),
    }
}

/// The elements of a view in row-major order, in memory of their own.
pub(in crate::kernels) fn gathered<T: Copy + Send + Sync + 'static>(a: &ArrayViewD<'_, T>) -> Vec<T> {
    let Some(&first) = a.first() else { return Vec::new() };
    let mut elements = interrupt::filled(a.len(), first);
    move_into(ordered(a.shape(), &mut elements), a.view());
    elements
}

/// `move_into` on this thread, and in one go.
pub(in crate::kernels) fn move_here<T: Copy + Send + Sync + 'static>(
    out: ArrayViewMutD<'_, T>,
    a: ArrayViewD<'_, T>,
) {
    let (out, a) = simplified(out, a);
    move_piece(out, a, put);
}

/// An element in the place of another. It has a name because each function that is passed has loops of its own, and a
/// closure is another one for each type of who writes it down.
#[inline(always)] // A loop is vectorised in one piece only.
pub(in crate::kernels) fn put<T>(out: &mut T, a: T) {
    *out = a;
}

/// An element where none was.
#[inline(always)]
pub(in crate::kernels) fn put_first<T>(out: &mut MaybeUninit<T>, a: T) {
    out.write(a);
}

/// Writes the elements of a matrix of so many rows and columns to one in which its rows are columns, both row by row.
pub(in crate::kernels) fn turn<V: Send, T: Copy + 'static>(
    a: &[T],
    [rows, columns]: [usize; 2],
    out: &mut [V],
    write: impl Fn(&mut V, T) + Copy,
) {
    crosswise::turn_rows(a, [rows, columns], out, write);
}

/// Writes the elements of one view to those of another.
pub fn move_into<T: Copy + Send + Sync + 'static>(out: ArrayViewMutD<'_, T>, a: ArrayViewD<'_, T>) {
    in_pieces(out, a, put);
}

/// `out[i] = value`
pub fn fill<T: Copy + Send + Sync + 'static>(mut out: ArrayViewMutD<'_, T>, value: T) {
    // The order of the elements in memory is as good as any.
    if let Some(slice) = out.as_slice_memory_order_mut() {
        return each_slice(slice, move |out| *out = value);
    }
    let one = arr0(value).into_dyn();
    match one.broadcast(out.shape()) {
        Some(repeated) => move_into(out, repeated),
        None => unreachable!("one element goes into every shape"),
    }
}

/// Moves piece by piece.
fn in_pieces<V: Send, T: Copy + Send + Sync + 'static>(
    mut out: ArrayViewMutD<'_, V>,
    a: ArrayViewD<'_, T>,
    write: impl Fn(&mut V, T) + Copy + Sync,
) {
    if let (Some(out), Some(a)) = (out.as_slice_mut(), a.as_slice()) {
        return each_slice_1(out, a, write);
    }
    let (mut out, a) = simplified(out, a);
    let body: &dyn for<'a> Body<(ArrayViewMutD<'a, V>, ArrayViewD<'a, T>)> =
        &|(out, a): (ArrayViewMutD<'_, V>, ArrayViewD<'_, T>)| move_piece(out, a, write);
    let Some((axis, size)) = cut(a.shape()) else { return body.run((out, a)) };
    let pieces = out.axis_chunks_iter_mut(axis, size).zip(a.axis_chunks_iter(axis, size));
    each_item(pieces, 1, body);
}

/// Two views of the same elements with as few axes as possible: the destination's in the order of its memory, axes
/// of length one left out, and those as one along which both go on as along the next one.
fn simplified<'o, 'a, V, T>(
    mut out: ArrayViewMutD<'o, V>,
    mut a: ArrayViewD<'a, T>,
) -> (ArrayViewMutD<'o, V>, ArrayViewD<'a, T>) {
    if out.len() <= FEW || out.ndim() < 2 {
        return (out, a);
    }
    if out.strides().windows(2).any(|pair| pair[0].abs() < pair[1].abs()) {
        let mut order: Vec<usize> = (0..out.ndim()).collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(out.strides()[axis].abs()));
        (out, a) = (out.permuted_axes(order.as_slice()), a.permuted_axes(order));
    }
    for axis in (0..out.ndim()).rev() {
        if out.shape()[axis] == 1 {
            out.index_axis_inplace(Axis(axis), 0);
            a.index_axis_inplace(Axis(axis), 0);
        }
    }
    for axis in (1..out.ndim()).rev() {
        let len = out.shape()[axis] as isize;
        let goes_on = |strides: &[isize]| strides[axis - 1] == strides[axis] * len;
        if goes_on(out.strides()) && goes_on(a.strides()) {
            out.merge_axes(Axis(axis - 1), Axis(axis));
            out.index_axis_inplace(Axis(axis - 1), 0);
            a.merge_axes(Axis(axis - 1), Axis(axis));
            a.index_axis_inplace(Axis(axis - 1), 0);
        }
    }
    (out, a)
}

/// The axis along which large views are cut to share them between threads, the longest but the last, and the length
/// of a piece; nothing where one piece is enough. Depends on shapes only.
fn cut(shape: &[usize]) -> Option<(Axis, usize)> {
    let len: usize = shape.iter().product();
    let (_, outer) = shape.split_last()?;
    if len <= GRAIN {
        return None;
    }
    let longest = (0..outer.len()).max_by_key(|&axis| (outer[axis], std::cmp::Reverse(axis)));
    Some(match longest {
        Some(axis) if outer[axis] > 1 => (Axis(axis), (GRAIN / (len / outer[axis])).max(1)),
        _ => (Axis(outer.len()), GRAIN),
    })
}

/// Moves matrix by matrix: of the last axis and the one along which the source lies in order, or else the one before
/// it, or the longest if that is short.
fn move_piece<V: Send, T: Copy + Sync + 'static>(
    mut out: ArrayViewMutD<'_, V>,
    mut a: ArrayViewD<'_, T>,
    write: impl Fn(&mut V, T) + Copy + Sync,
) {
    if a.len() <= FEW {
        return Zip::from(out).and(a).for_each(|out, &a| write(out, a));
    }
    let mut steps = Steps::default();
    if small::move_blocks(&mut out, &a, write, &mut steps) {
        return;
    }
    while out.ndim() < 2 {
        (out, a) = (out.insert_axis(Axis(0)), a.insert_axis(Axis(0)));
    }
    let last = out.ndim() - 1;
    let is_apart = a.strides()[last].abs() > 1;
    let in_order = (0..last).rev().find(|&axis| is_apart && a.strides()[axis] == 1 && a.shape()[axis] > 1);
    let is_short = a.shape()[last - 1] < SHORT;
    let row = in_order.or_else(|| (0..last).filter(|_| is_short).max_by_key(|&axis| a.shape()[axis]));
    if let Some(row) = row {
        out.swap_axes(row, last - 1);
        a.swap_axes(row, last - 1);
    }
    each_matrix(out, a, &mut |out, a| {
        if in_order.is_some() && out.strides()[1] == 1 {
            crosswise::turn(out, a, write, &mut steps);
        } else {
            move_rows(out, a, write, &mut steps);
        }
    });
}

/// Calls `visit` with the matrices of the last two axes.
fn each_matrix<V, T>(
    mut out: ArrayViewMutD<'_, V>,
    a: ArrayViewD<'_, T>,
    visit: &mut dyn FnMut(ArrayViewMut2<'_, V>, ArrayView2<'_, T>),
) {
    if out.ndim() > 2 {
        let parts = out.outer_iter_mut().zip(a.outer_iter());
        return parts.for_each(|(out, a)| each_matrix(out, a, visit));
    }
    if let (Ok(out), Ok(a)) = (out.into_dimensionality::<Ix2>(), a.into_dimensionality::<Ix2>()) {
        visit(out, a);
    }
}

/// Moves row by row. How the elements of a row lie is the same for all of them, so it is looked at once. Not inlined:
/// what moves elements of one size is one function then, whatever they are.
#[inline(never)]
fn move_rows<V: Send, T: Copy + Sync>(
    mut out: ArrayViewMut2<'_, V>,
    a: ArrayView2<'_, T>,
    write: impl Fn(&mut V, T) + Copy + Sync,
    steps: &mut Steps,
) {
    let (len, is_ordered) = (a.ncols(), out.strides()[1] == 1);
    if let (0, 1, Some(out)) = (a.strides()[0], a.strides()[1], out.as_slice_mut()) {
        return repeated::move_repeated(out, &a, write, steps);
    }
    let backwards = a.slice(s![.., ..;-1]);
    match a.strides()[1] {
        1 if is_ordered => vectorised(
            a.len(),
            #[inline(always)]
            || {
                each_row(
                    out,
                    a,
                    steps,
                    #[inline(always)]
                    |out, a| move_slice(out, a, write),
                );
            },
        ),
        -1 if is_ordered && (4..=32).contains(&len) => vectorised(
            a.len(),
            #[inline(always)]
            || each_row(out, backwards, steps, |out, a| move_slice_backwards(out, a, write)),
        ),
        -1 if is_ordered => each_row(out, backwards, steps, |out, a| {
            out.iter_mut().zip(a.iter().rev()).for_each(|(out, &a)| write(out, a));
        }),
        0 if is_ordered => each_row(out, a.slice_move(s![.., ..1]), steps, |out, a| {
            out.iter_mut().for_each(|out| write(out, a[0]));
        }),
        // There are no vectors of what lies apart.
        _ => {
            for (out, a) in out.outer_iter_mut().zip(a.outer_iter()) {
                steps.take(len);
                Zip::from(out).and(a).for_each(|out, &a| write(out, a));
            }
        }
    }
}

/// Calls `visit` with all rows, which lie in order.
#[inline(always)]
fn each_row<V, T>(
    mut out: ArrayViewMut2<'_, V>,
    a: ArrayView2<'_, T>,
    steps: &mut Steps,
    visit: impl Fn(&mut [V], &[T]),
) {
    for (out, a) in out.outer_iter_mut().zip(a.outer_iter()) {
        steps.take(out.len());
        match (out.into_slice_memory_order(), a.to_slice()) {
            (Some(out), Some(a)) => visit(out, a),
            _ => unreachable!("rows lie in order"),
        }
    }
}

/// Moves elements that lie in order. Of so few that a call takes longer, the first and the last are moved, which are
/// all.
#[inline(always)]
pub(in crate::kernels) fn move_slice<V: Send, T: Copy + Sync>(
    out: &mut [V],
    a: &[T],
    write: impl Fn(&mut V, T) + Copy + Sync,
) {
    match a.len() {
        4..=7 => move_ends::<4, V, T>(out, a, write),
        8..=15 => move_ends::<8, V, T>(out, a, write),
        16..=32 => move_ends::<16, V, T>(out, a, write),
        ..4 => out.iter_mut().zip(a).for_each(|(out, &a)| write(out, a)),
        _ => move_pieces(out, a, write),
    }
}

/// Elements of a piece of a row.
const PIECE: usize = 64;

/// Moves elements piece by piece. A row that lies a little behind where it comes from, counted from where pages begin,
/// takes ten times as long if all of it is left to a call: that copies byte by byte, for each store looks as if it
/// were read by the next loads.
#[inline(always)]
fn move_pieces<V, T: Copy>(out: &mut [V], a: &[T], write: impl Fn(&mut V, T) + Copy) {
    if a.len() < PIECE {
        return move_ends::<{ PIECE / 2 }, V, T>(out, a, write);
    }
    for (out, a) in out.as_chunks_mut::<PIECE>().0.iter_mut().zip(a.as_chunks::<PIECE>().0) {
        // The compiler does not know where a piece lies, and so cannot make one call of all of them.
        let a = *std::hint::black_box(a);
        out.iter_mut().zip(a).for_each(|(out, a)| write(out, a));
    }
    if let (Some(out), Some(&a)) = (out.last_chunk_mut::<PIECE>(), a.last_chunk::<PIECE>()) {
        out.iter_mut().zip(a).for_each(|(out, a)| write(out, a));
    }
}

/// Arrays are moved by value: then it need not be asked whether they overlap.
#[inline(always)]
pub(in crate::kernels) fn move_ends<const N: usize, V, T: Copy>(
    out: &mut [V],
    a: &[T],
    write: impl Fn(&mut V, T) + Copy,
) {
    if let (Some(out), Some(&a)) = (out.first_chunk_mut::<N>(), a.first_chunk::<N>()) {
        out.iter_mut().zip(a).for_each(|(out, a)| write(out, a));
    }
    if let (Some(out), Some(&a)) = (out.last_chunk_mut::<N>(), a.last_chunk::<N>()) {
        out.iter_mut().zip(a).for_each(|(out, a)| write(out, a));
    }
}

/// `move_slice` of a few elements from the last to the first.
#[inline(always)]
fn move_slice_backwards<V, T: Copy>(out: &mut [V], a: &[T], write: impl Fn(&mut V, T) + Copy) {
    match a.len() {
        ..8 => move_ends_backwards::<4, V, T>(out, a, write),
        8..16 => move_ends_backwards::<8, V, T>(out, a, write),
        _ => move_ends_backwards::<16, V, T>(out, a, write),
    }
}

#[inline(always)]
fn move_ends_backwards<const N: usize, V, T: Copy>(out: &mut [V], a: &[T], write: impl Fn(&mut V, T) + Copy) {
    if let (Some(out), Some(a)) = (out.first_chunk_mut::<N>(), a.last_chunk::<N>()) {
        out.iter_mut().zip(a.iter().rev()).for_each(|(out, &a)| write(out, a));
    }
    if let (Some(out), Some(a)) = (out.last_chunk_mut::<N>(), a.first_chunk::<N>()) {
        out.iter_mut().zip(a.iter().rev()).for_each(|(out, &a)| write(out, a));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;
    use ndarray::{ArrayD, IxDyn};

    fn numbers(shape: &[usize]) -> ArrayD<f32> {
        let len: usize = shape.iter().product();
        let values = (0..len).map(|index| index as f32).collect();
        ArrayD::from_shape_vec(shape, values).unwrap()
    }

    #[test]
    fn filling_reaches_exactly_the_viewed_elements() {
        let mut a = numbers(&[100, 90]);
        let before = a.clone();
        let mut half = a.view_mut();
        half.slice_axis_inplace(Axis(1), ndarray::Slice::from(..).step_by(2));
        fill(half, 100.0);
        for ((index, &after), &before) in a.indexed_iter().zip(&before) {
            assert_eq!(after, if index[1] % 2 == 0 { 100.0 } else { before });
        }
        fill(a.view_mut().reversed_axes(), 7.0);
        assert!(a.iter().all(|&x| x == 7.0));
    }

    #[test]
    fn elements_move_between_any_strides() {
        let mut moved = 0;
        for shape in [&[][..], &[0], &[7], &[3, 4], &[40, 30, 2], &[300, 200], &[2, 90_000]] {
            let a = numbers(shape);
            for view in [a.view(), a.t()] {
                let wide = [view.shape(), &[2]].concat();
                let last = Axis(wide.len() - 1);
                let mut out = ArrayD::from_elem(IxDyn(&wide), -1.0f32);
                move_into(out.index_axis_mut(last, 1), view.view());
                assert_eq!(out.index_axis(last, 1), view);
                assert!(out.index_axis(last, 0).iter().all(|&x| x == -1.0));
                moved += 1;
            }
        }
        assert_eq!(moved, 14);
    }

    #[test]
    fn small_blocks_are_moved_one_by_one() {
        let mut moved = 0;
        for shape in [&[500, 3, 4][..], &[1, 3, 3], &[70, 2, 3, 4], &[9, 8, 8], &[300, 9, 8]] {
            let a = numbers(shape);
            let mut view = a.view();
            view.swap_axes(shape.len() - 2, shape.len() - 1);
            let found = written(view.len(), |out| gather(view.view(), out));
            assert!(found.iter().eq(view.iter()), "{shape:?}");
            let backwards = view.slice_axis(Axis(1), ndarray::Slice::from(..).step_by(-1));
            assert!(written(view.len(), |out| gather(backwards.view(), out)).iter().eq(backwards.iter()));
            moved += 1;
        }
        assert_eq!(moved, 5);
    }
}
