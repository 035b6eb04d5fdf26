//! Elements that lie anywhere, brought to loops that want them one after another: a block at a time, small
//! enough to stay in the nearest memory of the processor.
//!
//! A loop for each operation, element type and combination of strides would be most of the program. So
//! those loops run along slices only, and the walking is here, compiled once for each element type.

use ndarray::{ArrayViewD, Axis, Slice};
use smallvec::SmallVec;
use std::borrow::Cow;

use super::apply::{each_slice_1, each_slice_2, each_slice_3};
use super::moves;
use super::parallel::parallel_items;

/// Elements of a block, roughly.
const BLOCK: usize = 1 << 12;

/// Blocks of one chunk of work.
const CHUNK: usize = 16;

/// Visits every element of a destination together with those of a view of its shape.
pub(super) fn each_1<V: Send, A: Copy + Send + Sync>(
    out: &mut [V],
    a: ArrayViewD<'_, A>,
    visit: impl Fn(&mut V, A) + Copy + Sync,
) {
    if let Some(a) = a.as_slice() {
        return each_slice_1(out, a, visit);
    }
    let a = squeezed(a);
    let plan = Plan::new(a.shape(), &[a.strides()]);
    let a = Operand::new(a, &plan);
    plan.each(out, &|out, block| each_slice_1(out, &a.of(&plan, block), visit));
}

/// Visits every element of a destination together with those of two views of its shape.
pub(super) fn each_2<V: Send, A: Copy + Send + Sync, B: Copy + Send + Sync>(
    out: &mut [V],
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    visit: impl Fn(&mut V, A, B) + Copy + Sync,
) {
    if let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) {
        return each_slice_2(out, a, b, visit);
    }
    let (a, b) = (squeezed(a), squeezed(b));
    let plan = Plan::new(a.shape(), &[a.strides(), b.strides()]);
    let (a, b) = (Operand::new(a, &plan), Operand::new(b, &plan));
    plan.each(out, &|out, block| each_slice_2(out, &a.of(&plan, block), &b.of(&plan, block), visit));
}

/// Visits every element of a destination together with those of three views of its shape.
pub(super) fn each_3<V: Send, A: Copy + Send + Sync, B: Copy + Send + Sync, C: Copy + Send + Sync>(
    out: &mut [V],
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    c: ArrayViewD<'_, C>,
    visit: impl Fn(&mut V, A, B, C) + Copy + Sync,
) {
    if let (Some(a), Some(b), Some(c)) = (a.as_slice(), b.as_slice(), c.as_slice()) {
        return each_slice_3(out, a, b, c, visit);
    }
    let (a, b, c) = (squeezed(a), squeezed(b), squeezed(c));
    let plan = Plan::new(a.shape(), &[a.strides(), b.strides(), c.strides()]);
    let (a, b, c) = (Operand::new(a, &plan), Operand::new(b, &plan), Operand::new(c, &plan));
    plan.each(out, &|out, block| {
        each_slice_3(out, &a.of(&plan, block), &b.of(&plan, block), &c.of(&plan, block), visit);
    });
}

/// Where operands of one shape are cut: into ranges along one axis, with all that is behind it. Depends on
/// shape and strides only.
struct Plan {
    /// Axes along which all operands go on as along the next one, the last first.
    merged: SmallVec<[usize; 4]>,
    axis: usize,
    /// Length of that axis, and of a range.
    size: usize,
    rows: usize,
    /// Elements behind it.
    inner: usize,
}

/// A part of the operands whose elements follow each other in row-major order.
struct Block {
    /// The position of the first element, and their number.
    start: usize,
    len: usize,
    /// The index of all dimensions before the axis, as if they were one, and the range along it.
    outer: usize,
    range: Slice,
}

/// An operand that is to be looked at block by block.
enum Operand<'a, T> {
    /// It lies in order.
    Whole(&'a [T]),
    /// All blocks show the same elements.
    Same(Vec<T>),
    View(ArrayViewD<'a, T>),
}

/// A view without its axes of length one, of which it may have one for each.
fn squeezed<'a, T>(mut view: ArrayViewD<'a, T>) -> ArrayViewD<'a, T> {
    for axis in (0..view.ndim()).rev() {
        if view.shape()[axis] == 1 {
            view.index_axis_inplace(Axis(axis), 0);
        }
    }
    view
}

impl Plan {
    /// The plan for squeezed operands of this shape with these strides.
    fn new(shape: &[usize], strides: &[&[isize]]) -> Plan {
        let mut sizes: SmallVec<[usize; 4]> = shape.into();
        let mut merged = SmallVec::new();
        for axis in (1..shape.len()).rev() {
            if strides.iter().all(|strides| strides[axis - 1] == strides[axis] * shape[axis] as isize) {
                merged.push(axis - 1);
                let size = sizes.remove(axis);
                sizes[axis - 1] *= size;
            }
        }
        let inner = |axis: usize| sizes.iter().skip(axis + 1).product::<usize>();
        let axis = (0..sizes.len()).find(|&axis| inner(axis) <= BLOCK).unwrap_or(0);
        let (size, inner) = (sizes.get(axis).copied().unwrap_or(1), inner(axis));
        let rows = size.div_ceil((size * inner).div_ceil(BLOCK).max(1)).max(1);
        Plan { merged, axis, size, rows, inner }
    }

    fn block(&self, outer: usize, index: usize) -> Block {
        let first = index * self.rows;
        let last = self.size.min(first + self.rows);
        let len = (last - first) * self.inner;
        Block { start: (outer * self.size + first) * self.inner, len, outer, range: Slice::from(first..last) }
    }

    /// Calls `body` with each block of a destination in row-major order.
    fn each<V: Send>(&self, out: &mut [V], body: &(dyn Fn(&mut [V], &Block) + Sync)) {
        let (whole, part) = (self.size * self.inner, self.rows * self.inner);
        match out.len() {
            0 => {}
            len if len == part => body(out, &self.block(0, 0)),
            _ => {
                let outer = out.chunks_mut(whole).enumerate();
                let parts = outer.flat_map(|(outer, out)| {
                    let parts = out.chunks_mut(part).enumerate();
                    parts.map(move |(index, out)| (out, self.block(outer, index)))
                });
                parallel_items(parts.collect(), CHUNK, |(out, block)| body(out, &block));
            }
        }
    }

    fn part<'a, T>(&self, mut view: ArrayViewD<'a, T>, block: &Block) -> ArrayViewD<'a, T> {
        let mut outer = block.outer;
        for axis in (0..self.axis).rev() {
            let size = view.shape()[axis];
            view.collapse_axis(Axis(axis), outer % size);
            outer /= size;
        }
        view.slice_axis_inplace(Axis(self.axis), block.range);
        view
    }
}

impl<'a, T: Copy + Send + Sync> Operand<'a, T> {
    /// A squeezed operand.
    fn new(mut view: ArrayViewD<'a, T>, plan: &Plan) -> Operand<'a, T> {
        if let Some(elements) = view.to_slice() {
            return Operand::Whole(elements);
        }
        for &axis in &plan.merged {
            view.merge_axes(Axis(axis), Axis(axis + 1));
            view.index_axis_inplace(Axis(axis), 0);
        }
        match view.strides().iter().take(plan.axis + 1).all(|&stride| stride == 0) {
            true => Operand::Same(moves::gathered(&plan.part(view, &plan.block(0, 0)))),
            false => Operand::View(view),
        }
    }

    /// The elements of a block: where they lie, if they lie in order.
    fn of(&self, plan: &Plan, block: &Block) -> Cow<'_, [T]> {
        match self {
            Operand::Whole(elements) => Cow::Borrowed(&elements[block.start..block.start + block.len]),
            Operand::Same(elements) => Cow::Borrowed(&elements[..block.len]),
            Operand::View(view) => {
                let part = plan.part(view.view(), block);
                match part.to_slice() {
                    Some(elements) => Cow::Borrowed(elements),
                    None => Cow::Owned(moves::gathered(&part)),
                }
            }
        }
    }
}
