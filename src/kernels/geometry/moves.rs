//! Moving elements between views of one shape, whatever their strides. Nothing is done with the elements
//! on the way; where something is, `blocks` moves them into order first.

use ndarray::{ArrayView1, ArrayViewD, ArrayViewMut1, ArrayViewMutD, Axis, Ix2, Zip, arr0};
use std::mem::MaybeUninit;

use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_items;
use crate::kernels::pointwise::apply::{GRAIN, each_slice, each_slice_1};

/// Columns that a transposing loop goes through together, so that cache lines are used whole.
const TILE: usize = 32;

/// A shorter innermost axis is left to the elements' own loop.
const SHORTEST_LANE: usize = 8;

/// The elements of a view in row-major order.
pub fn gather<T: Copy + Send + Sync>(a: ArrayViewD<'_, T>, out: &mut [MaybeUninit<T>]) {
    in_pieces(ordered(a.shape(), out), a, |out, a| {
        out.write(a);
    });
}

/// Elements in row-major order as a view. Their number is the product of the shape by convention.
pub(in crate::kernels) fn ordered<'a, V>(shape: &[usize], out: &'a mut [V]) -> ArrayViewMutD<'a, V> {
    match ArrayViewMutD::from_shape(shape, out) {
        Ok(view) => view,
        Err(_) => unreachable!("there are as many elements as in the shape"),
    }
}

/// The elements of a view in row-major order, in memory of their own.
pub(in crate::kernels) fn gathered<T: Copy + Send + Sync>(a: &ArrayViewD<'_, T>) -> Vec<T> {
    let mut elements = interrupt::room(a.len());
    gather_behind(&mut elements, a, &mut Steps::default());
    elements
}

/// Adds the elements of a view in row-major order to others.
pub(in crate::kernels) fn gather_behind<T: Copy>(
    elements: &mut Vec<T>,
    a: &ArrayViewD<'_, T>,
    steps: &mut Steps,
) {
    if a.is_empty() {
        return;
    }
    if a.ndim() < 2 {
        return a.lanes(Axis(0)).into_iter().for_each(|lane| gather_lane(elements, lane, steps));
    }
    if a.strides()[0] != 0 {
        return match a.view().into_dimensionality::<Ix2>() {
            Ok(rows) => rows.rows().into_iter().for_each(|row| gather_lane(elements, row, steps)),
            Err(_) => a.outer_iter().for_each(|part| gather_behind(elements, &part, steps)),
        };
    }
    // What is repeated is gathered once, then copied in ever longer pieces.
    let start = elements.len();
    gather_behind(elements, &a.index_axis(Axis(0), 0), steps);
    let end = start + a.len();
    while elements.len() < end {
        steps.take(elements.len() - start);
        let again = (elements.len() - start).min(end - elements.len());
        elements.extend_from_within(start..start + again);
    }
}

fn gather_lane<T: Copy>(elements: &mut Vec<T>, lane: ArrayView1<'_, T>, steps: &mut Steps) {
    steps.take(lane.len());
    match Lane::of(lane) {
        Lane::InOrder(lane) => elements.extend_from_slice(lane),
        Lane::Repeated(element, len) => elements.resize(elements.len() + len, element),
        Lane::Strided(lane) => elements.extend(lane),
    }
}

/// How the elements lie that are read along one axis.
enum Lane<'a, T> {
    InOrder(&'a [T]),
    /// One element, so many times.
    Repeated(T, usize),
    Strided(ArrayView1<'a, T>),
}

impl<'a, T: Copy> Lane<'a, T> {
    fn of(lane: ArrayView1<'a, T>) -> Lane<'a, T> {
        match (lane.to_slice(), lane.first()) {
            (Some(elements), _) => Lane::InOrder(elements),
            (_, Some(&element)) if lane.strides() == [0] => Lane::Repeated(element, lane.len()),
            _ => Lane::Strided(lane),
        }
    }
}

/// Writes the elements of one view to those of another.
pub fn move_into<T: Copy + Send + Sync>(out: ArrayViewMutD<'_, T>, a: ArrayViewD<'_, T>) {
    in_pieces(out, a, |out, a| *out = a);
}

/// `out[i] = value`
pub fn fill<T: Copy + Send + Sync>(mut out: ArrayViewMutD<'_, T>, value: T) {
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

/// Cuts both views along one axis and moves piece by piece.
///
/// Large views are cut along the longest axis but the last to share them between threads. Where the source
/// runs along another axis than the destination (a transposed view), the last axis is cut into narrow
/// tiles instead. Both depend on shapes and strides only.
fn in_pieces<V: Send, T: Copy + Sync>(
    mut out: ArrayViewMutD<'_, V>,
    a: ArrayViewD<'_, T>,
    write: impl Fn(&mut V, T) + Copy + Sync,
) {
    if let (Some(out), Some(a)) = (out.as_slice_mut(), a.as_slice()) {
        return each_slice_1(out, a, write);
    }
    let Some((axis, size)) = cut(&a) else { return move_piece(out, a, write) };
    let pieces = out.axis_chunks_iter_mut(axis, size).zip(a.axis_chunks_iter(axis, size)).collect();
    parallel_items(pieces, 1, |(out, a)| move_piece(out, a, write));
}

/// The axis to cut along, and the length of a piece; nothing where one piece is enough.
fn cut<T>(a: &ArrayViewD<'_, T>) -> Option<(Axis, usize)> {
    let len = a.len();
    let (&last, outer) = a.shape().split_last()?;
    if len <= GRAIN / 16 {
        return None;
    }
    let (step, rest) = a.strides().split_last()?;
    let is_crosswise = step.abs() > 1 && rest.iter().any(|other| other.abs() == 1);
    let longest = (0..outer.len()).max_by_key(|&axis| (outer[axis], std::cmp::Reverse(axis)));
    Some(match longest {
        Some(_) if is_crosswise && last > TILE => (Axis(outer.len()), TILE),
        Some(axis) if outer[axis] > 1 => (Axis(axis), (GRAIN / (len / outer[axis])).max(1)),
        _ => (Axis(outer.len()), GRAIN),
    })
}

fn move_piece<V: Send, T: Copy + Sync>(
    mut out: ArrayViewMutD<'_, V>,
    a: ArrayViewD<'_, T>,
    write: impl Fn(&mut V, T) + Copy + Sync,
) {
    let mut steps = Steps::default();
    match a.shape() {
        [.., last] if *last >= SHORTEST_LANE => {
            let axis = Axis(a.ndim() - 1);
            Zip::from(out.lanes_mut(axis)).and(a.lanes(axis)).for_each(|out, a| {
                steps.take(a.len());
                move_lane(out, a, write);
            });
        }
        _ => Zip::from(out).and(a).for_each(|out, &a| {
            steps.take(1);
            write(out, a);
        }),
    }
}

fn move_lane<V: Send, T: Copy + Sync>(
    mut out: ArrayViewMut1<'_, V>,
    a: ArrayView1<'_, T>,
    write: impl Fn(&mut V, T) + Copy + Sync,
) {
    match (out.as_slice_mut(), Lane::of(a)) {
        (Some(out), Lane::InOrder(a)) => each_slice_1(out, a, write),
        (Some(out), Lane::Repeated(a, _)) => each_slice(out, move |out| write(out, a)),
        _ => out.iter_mut().zip(a).for_each(|(out, &a)| write(out, a)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
