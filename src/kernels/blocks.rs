//! Elements that lie anywhere, brought to loops that want them one after another: a block at a time, small
//! enough that the blocks of all operands stay in the nearest memory of the processor.
//!
//! A loop for each operation, element type and combination of strides would be most of the program. So
//! those loops run along slices only, and the walking is here, compiled once for each element type. What
//! lies in order is not moved, and what is repeated is repeated in copies of what was copied already: of a row that is
//! added to every row of a matrix, each block is the same.

mod rows;

use ndarray::{ArrayViewD, Axis, Slice};
use smallvec::SmallVec;
use std::borrow::Cow;

use super::parallel::{Body, each_item};
use super::simd::vectorised;
use crate::kernels::geometry::moves;
use crate::kernels::pointwise::apply::{GRAIN, each_slice_1, each_slice_2, each_slice_3};
use rows::{each_row, pair, slice};

/// The most bytes of a block. A row of this length or longer is a block of its own, or several; of shorter ones
/// a block has as many as there is room for.
const BLOCK: usize = 1 << 12;

/// Elements of a run that is shorter than it takes to ask how long it is.
const SHORT: usize = 16;

/// How often the elements of an operand have to be repeated for all of them to be gathered beforehand.
const OFTEN: usize = 8;

/// Calls `visit` with all parts of a destination and the elements of a view of its shape that belong there: with all
/// at once, if these lie in order.
pub(super) fn each_block<V: Send, A: Copy + Send + Sync + 'static>(
    out: &mut [V],
    a: ArrayViewD<'_, A>,
    visit: &(dyn Fn(&mut [V], &[A]) + Sync),
) {
    if let Some(a) = a.as_slice() {
        return visit(out, a);
    }
    let a = squeezed(a);
    let plan = Plan::new(a.shape(), &[a.strides()], size_of::<A>());
    if plan.is_in_rows(&[a.strides()]) {
        let a = plan.rows_of(a);
        return each_row(out, &plan, &|out, row| visit(out, slice(&a, row)));
    }
    let a = Operand::new(a, &plan);
    plan.each(out, &|blocks: Blocks<'_, V>| {
        let mut a = a.reader(&plan);
        blocks.for_each(|(out, start)| visit(out, a.block(start, out.len())));
    });
}

/// Visits every element of a destination together with those of a view of its shape.
pub(super) fn each_1<V: Send, A: Copy + Send + Sync + 'static>(
    out: &mut [V],
    a: ArrayViewD<'_, A>,
    visit: impl Fn(&mut V, A) + Copy + Sync,
) {
    each_block(out, a, &|out, a| each_slice_1(out, a, visit));
}

/// Visits every element of a destination together with those of two views of its shape.
pub(super) fn each_2<V: Send, A: Copy + Send + Sync + 'static, B: Copy + Send + Sync + 'static>(
    out: &mut [V],
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    visit: impl Fn(&mut V, A, B) + Copy + Sync,
) {
    each_pair(out, a, b, false, &|out, pair| match pair {
        Pair::Both(a, b) => each_slice_2(out, a, b, visit),
        _ => unreachable!("there are as many elements of both"),
    });
}

/// Elements of two operands that belong to a part of a destination.
pub enum Pair<'a, A, B> {
    /// Of both there are as many.
    Both(&'a [A], &'a [B]),
    /// Of the second there is one for all of the first.
    Beside(&'a [A], B),
    /// Of the first there is one for all of the second.
    Behind(A, &'a [B]),
}

/// What is done with parts of a destination and the elements of two views that belong there.
pub(super) type Visit2<'a, V, A, B> = &'a (dyn Fn(&mut [V], Pair<'_, A, B>) + Sync);

/// Calls `visit` with parts of a destination and the elements of two views that belong there: with one element for many
/// only if it takes such. One function for all that visit such elements.
pub(super) fn each_pair<V: Send, A: Copy + Send + Sync + 'static, B: Copy + Send + Sync + 'static>(
    out: &mut [V],
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    takes_one: bool,
    visit: Visit2<'_, V, A, B>,
) {
    if let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) {
        return visit(out, Pair::Both(a, b));
    }
    let (a, b) = (squeezed(a), squeezed(b));
    let plan = Plan::new(a.shape(), &[a.strides(), b.strides()], size_of::<A>().max(size_of::<B>()));
    if takes_one && plan.is_beside(a.strides(), b.strides()) || plan.is_in_rows(&[a.strides(), b.strides()]) {
        let (a, b) = (plan.rows_of(a), plan.rows_of(b));
        return each_row(out, &plan, &|out, row| visit(out, pair(&a, &b, row)));
    }
    let takes_one = takes_one && plan.is_within_row();
    let (a, b) = (Operand::new(a, &plan), Operand::new(b, &plan));
    plan.each(out, &|blocks: Blocks<'_, V>| {
        let (mut a, mut b) = (a.reader(&plan), b.reader(&plan));
        blocks.for_each(|(out, start)| {
            let len = out.len();
            let ones = if takes_one { (a.one(start, len), b.one(start, len)) } else { (None, None) };
            visit(
                out,
                match ones {
                    (None, Some(b)) => Pair::Beside(a.block(start, len), b),
                    (Some(a), None) => Pair::Behind(a, b.block(start, len)),
                    _ => Pair::Both(a.block(start, len), b.block(start, len)),
                },
            );
        });
    });
}

/// What is done with parts of a destination and the elements of three views that belong there.
type Visit3<'a, V, A, B, C> = &'a (dyn Fn(&mut [V], &[A], &[B], &[C]) + Sync);

/// Visits every element of a destination together with those of three views of its shape.
pub(super) fn each_3<V: Send, A, B, C>(
    out: &mut [V],
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    c: ArrayViewD<'_, C>,
    visit: impl Fn(&mut V, A, B, C) + Copy + Sync,
) where
    A: Copy + Send + Sync + 'static,
    B: Copy + Send + Sync + 'static,
    C: Copy + Send + Sync + 'static,
{
    each_three(out, a, b, c, &|out, a, b, c| each_slice_3(out, a, b, c, visit));
}

/// `each_pair` of three views.
fn each_three<V: Send, A, B, C>(
    out: &mut [V],
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    c: ArrayViewD<'_, C>,
    visit: Visit3<'_, V, A, B, C>,
) where
    A: Copy + Send + Sync + 'static,
    B: Copy + Send + Sync + 'static,
    C: Copy + Send + Sync + 'static,
{
    if let (Some(a), Some(b), Some(c)) = (a.as_slice(), b.as_slice(), c.as_slice()) {
        return visit(out, a, b, c);
    }
    let (a, b, c) = (squeezed(a), squeezed(b), squeezed(c));
    let widest = size_of::<A>().max(size_of::<B>()).max(size_of::<C>());
    let plan = Plan::new(a.shape(), &[a.strides(), b.strides(), c.strides()], widest);
    let (a, b, c) = (Operand::new(a, &plan), Operand::new(b, &plan), Operand::new(c, &plan));
    plan.each(out, &|blocks: Blocks<'_, V>| {
        let (mut a, mut b, mut c) = (a.reader(&plan), b.reader(&plan), c.reader(&plan));
        blocks.for_each(|(out, start)| {
            let len = out.len();
            visit(out, a.block(start, len), b.block(start, len), c.block(start, len));
        });
    });
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

/// Whether a large view goes through columns where rows are wanted.
fn is_crosswise<T>(view: &ArrayViewD<'_, T>) -> bool {
    let Some((last, before)) = view.strides().split_last() else { return false };
    view.len() > BLOCK && last.abs() > 1 && before.contains(&1)
}

/// Where operands of one shape are cut: into ranges along one axis, with all that is behind it. Depends on
/// shape and strides only.
struct Plan {
    /// Axes along which all operands go on as along the next one, the last first.
    merged: SmallVec<[usize; 4]>,
    /// The sizes of what is left.
    sizes: SmallVec<[usize; 4]>,
    axis: usize,
    /// Length of that axis, and of a range.
    size: usize,
    rows: usize,
    /// Elements behind it.
    inner: usize,
}

impl Plan {
    /// The plan for squeezed operands of this shape with these strides. The widest elements have so many bytes.
    fn new(shape: &[usize], strides: &[&[isize]], widest: usize) -> Plan {
        let mut sizes: SmallVec<[usize; 4]> = shape.into();
        let mut merged = SmallVec::new();
        for axis in (1..shape.len()).rev() {
            if strides.iter().all(|strides| strides[axis - 1] == strides[axis] * shape[axis] as isize) {
                merged.push(axis - 1);
                let size = sizes.remove(axis);
                sizes[axis - 1] *= size;
            }
        }
        let block = BLOCK / widest.max(1);
        let inner = |axis: usize| sizes.iter().skip(axis + 1).product::<usize>();
        let axis = (0..sizes.len()).find(|&axis| inner(axis) <= block).unwrap_or(0);
        let (size, inner) = (sizes.get(axis).copied().unwrap_or(1), inner(axis));
        let most = (block / inner.max(1)).max(1);
        let rows = size.div_ceil(size.div_ceil(most).max(1)).max(1);
        Plan { merged, sizes, axis, size, rows, inner }
    }

    /// A squeezed operand with as few axes as the plan has.
    fn merged_in<'a, T>(&self, mut view: ArrayViewD<'a, T>) -> ArrayViewD<'a, T> {
        for &axis in &self.merged {
            view.merge_axes(Axis(axis), Axis(axis + 1));
            view.index_axis_inplace(Axis(axis), 0);
        }
        view
    }

    /// Elements in all ranges of the axis, and in one.
    fn lengths(&self) -> (usize, usize) {
        (self.size * self.inner, self.rows * self.inner)
    }

    /// Calls `body` with all blocks of a destination, several blocks at a time.
    fn each<V: Send>(&self, out: &mut [V], body: &dyn for<'a> Body<Blocks<'a, V>>) {
        let (whole, part) = self.lengths();
        let blocks = |start, out| Blocks { whole, part, start, out };
        if out.len() <= GRAIN {
            return body.run(blocks(0, out));
        }
        let outer = whole * (GRAIN / whole).max(1);
        let chunk = if whole < GRAIN { outer } else { part * (GRAIN / part) };
        let chunks = out.chunks_mut(outer).enumerate().flat_map(|(index, out)| {
            let chunks = out.chunks_mut(chunk).enumerate();
            chunks.map(move |(inside, out)| blocks(index * outer + inside * chunk, out))
        });
        each_item(chunks, 1, body);
    }

    /// Where the element at `start` lies, the first of a range, if one step along each axis is so many elements.
    fn offset(&self, strides: &[usize], start: usize) -> usize {
        let (whole, _) = self.lengths();
        let (mut outer, first) = (start / whole, start % whole / self.inner);
        let mut offset = first * strides.get(self.axis).copied().unwrap_or(0);
        for (&size, &stride) in self.sizes[..self.axis].iter().zip(strides).rev() {
            offset += outer % size * stride;
            outer /= size;
        }
        offset
    }

    /// The axes of a block of so many elements, of which one step is so many: lengths and steps. What goes on as along
    /// the next axis is one with it.
    fn axes(&self, strides: &[usize], len: usize) -> Axes {
        let mut axes = Axes::new();
        let sizes = std::iter::once(len / self.inner).chain(self.sizes.iter().skip(self.axis + 1).copied());
        for (size, &stride) in sizes.zip(strides.iter().skip(self.axis)).filter(|(size, _)| *size != 1) {
            match axes.last_mut() {
                Some(last) if last.1 == stride * size => *last = (last.0 * size, stride),
                _ => axes.push((size, stride)),
            }
        }
        axes
    }

    /// The block of a view that has `len` elements from `start` on.
    fn part<'a, T>(&self, mut view: ArrayViewD<'a, T>, start: usize, len: usize) -> ArrayViewD<'a, T> {
        let (whole, _) = self.lengths();
        let (mut outer, first) = (start / whole, start % whole / self.inner);
        for axis in (0..self.axis).rev() {
            let size = view.shape()[axis];
            view.collapse_axis(Axis(axis), outer % size);
            outer /= size;
        }
        view.slice_axis_inplace(Axis(self.axis), Slice::from(first..first + len / self.inner));
        view
    }
}

/// The blocks of a piece of the destination, each with the position of its first element.
struct Blocks<'a, V> {
    /// Elements in all ranges of the axis, and in one.
    whole: usize,
    part: usize,
    start: usize,
    out: &'a mut [V],
}

impl<'a, V> Iterator for Blocks<'a, V> {
    type Item = (&'a mut [V], usize);

    fn next(&mut self) -> Option<Self::Item> {
        let out = std::mem::take(&mut self.out);
        if out.is_empty() {
            return None;
        }
        let start = self.start;
        let len = self.part.min(self.whole - start % self.whole).min(out.len());
        let (block, rest) = out.split_at_mut(len);
        (self.start, self.out) = (start + len, rest);
        Some((block, start))
    }
}

/// Lengths of axes, the first one first, and how many elements a step along them is.
type Axes = SmallVec<[(usize, usize); 4]>;

/// An operand that is to be looked at block by block.
enum Operand<'a, T: Clone> {
    /// Elements that lie in order, and how many of them a step along each axis is: none, where they are repeated.
    Spread(Cow<'a, [T]>, SmallVec<[usize; 4]>),
    View(ArrayViewD<'a, T>),
}

impl<'a, T: Copy + Send + Sync + 'static> Operand<'a, T> {
    /// A squeezed operand.
    fn new(view: ArrayViewD<'a, T>, plan: &Plan) -> Operand<'a, T> {
        let (mut own, mut times, mut count) = (view.clone(), 1, 1);
        let mut strides: SmallVec<[usize; 4]> = SmallVec::from_elem(0, view.ndim());
        for (axis, stride) in strides.iter_mut().enumerate().rev() {
            let size = view.shape()[axis];
            if view.strides()[axis] == 0 {
                own.index_axis_inplace(Axis(axis), 0);
                times *= size;
            } else {
                *stride = count;
                count *= size;
            }
        }
        let elements = match own.to_slice() {
            Some(elements) => Cow::Borrowed(elements),
            // Block by block, a column would be gone through for each of its elements.
            None if times >= OFTEN || is_crosswise(&view) => Cow::Owned(moves::gathered(&own)),
            None => return Operand::View(plan.merged_in(view)),
        };
        for &axis in &plan.merged {
            strides.remove(axis);
        }
        Operand::Spread(elements, strides)
    }

    fn reader<'o>(&'o self, plan: &'o Plan) -> Reader<'o, 'a, T> {
        Reader { operand: self, plan, gathered: Vec::new(), from: None }
    }
}

/// An operand whose blocks are looked at one after another, each gathered where the one before it was.
struct Reader<'o, 'a, T: Clone> {
    operand: &'o Operand<'a, T>,
    plan: &'o Plan,
    gathered: Vec<T>,
    /// Where the elements lie that `gathered` begins with, if they are spread.
    from: Option<usize>,
}

impl<T: Copy + Send + Sync + 'static> Reader<'_, '_, T> {
    /// The elements of a block: where they lie, if they lie in order.
    fn block(&mut self, start: usize, len: usize) -> &[T] {
        match self.operand {
            Operand::Spread(elements, strides) => {
                let offset = self.plan.offset(strides, start);
                if self.from == Some(offset) && len <= self.gathered.len() {
                    return &self.gathered[..len];
                }
                let axes = self.plan.axes(strides, len);
                if let [(_, 1)] | [] = axes[..] {
                    return &elements[offset..][..len];
                }
                self.gathered.resize(len, elements[offset]);
                self.from = Some(offset);
                lay(&elements[offset..], &axes, &mut self.gathered);
                &self.gathered
            }
            Operand::View(view) => {
                let part = self.plan.part(view.view(), start, len);
                if let Some(elements) = part.to_slice() {
                    return elements;
                }
                let Some(&first) = part.first() else { return &[] };
                self.gathered.resize(len, first);
                moves::move_here(moves::ordered(part.shape(), &mut self.gathered), part);
                &self.gathered
            }
        }
    }
}

/// Lays elements out along axes. There are as many turns of this inside of each other as there are axes, of which a
/// block has few: each is longer than one.
fn lay<T: Copy + Send + Sync>(elements: &[T], axes: &[(usize, usize)], out: &mut [T]) {
    match *axes {
        [] => out.copy_from_slice(&elements[..1]),
        [(len, 1)] => out.copy_from_slice(&elements[..len]),
        [(run, 0)] => repeat_each(&elements[..1], run, out),
        [(len, 1), (run, 0)] => repeat_each(&elements[..len], run, out),
        [(times, 0), ref inner @ ..] => {
            let mut there = out.len() / times;
            lay(elements, inner, &mut out[..there]);
            while there < out.len() {
                let more = there.min(out.len() - there);
                out.copy_within(..more, there);
                there += more;
            }
        }
        [(times, stride), ref inner @ ..] => {
            let parts = out.chunks_exact_mut(out.len() / times);
            parts.enumerate().for_each(|(index, part)| lay(&elements[index * stride..], inner, part));
        }
    }
}

/// Writes every element so many times.
fn repeat_each<T: Copy + Send + Sync>(elements: &[T], run: usize, out: &mut [T]) {
    vectorised(
        out.len(),
        #[inline(always)]
        || {
            if run >= SHORT {
                let runs = out.chunks_exact_mut(run).zip(elements);
                return runs.for_each(|(run, &element)| run.fill(element));
            }
            // More than the run, in one go: what is too much is overwritten by those that follow.
            for (index, &element) in elements.iter().enumerate() {
                match out[index * run..].first_chunk_mut::<SHORT>() {
                    Some(room) => *room = [element; SHORT],
                    None => out[index * run..][..run].fill(element),
                }
            }
        },
    );
}
