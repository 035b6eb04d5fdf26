//! Elements that lie anywhere, brought to loops that want them one after another: a block at a time, small
//! enough that the blocks of all operands stay in the nearest memory of the processor.
//!
//! A loop for each operation, element type and combination of strides would be most of the program. So
//! those loops run along slices only, and the walking is here, compiled once for each element type. What
//! lies in order is not moved, and what is repeated is repeated in copies of what was copied already: of a row that is
//! added to every row of a matrix, each block is the same.

mod operand;
mod plan;
mod rows;

use crate::kernels::geometry::strided::Strided;
use crate::kernels::pointwise::apply::{Rows, each_row, each_row_2, each_slice_1, each_slice_3};
use operand::Operand;
use plan::{Blocks, Plan};

/// Calls `visit` with all parts of a destination and the elements of its shape that belong there: with all at once, if these
/// lie in order.
pub(super) fn each_block<V: Send, A: Copy + Send + Sync + 'static>(
    out: &mut [V],
    a: &Strided<'_, A>,
    visit: &(dyn Fn(&mut [V], &[A]) + Sync),
) {
    if let Some(a) = a.as_slice() {
        return visit(out, a);
    }
    let plan = Plan::new(a.shape(), &[a.strides()], size_of::<A>());
    if let Some((len, a)) = plan.long_rows(a) {
        return each_row(out, len, &|(first, _, out): (usize, usize, &mut [V])| {
            for (row, out) in (first..).zip(out.chunks_mut(len)) {
                visit(out, &a.elements[row * a.step..][..len]);
            }
        });
    }
    let a = Operand::new(a, 0, &plan);
    plan.each(out, &|blocks: Blocks<'_, V>| {
        let mut a = a.reader(&plan);
        blocks.for_each(|(out, start)| visit(out, a.block(start, out.len())));
    });
}

/// Visits every element of a destination together with those of an operand of its shape.
pub(super) fn each_1<V: Send, A: Copy + Send + Sync + 'static>(
    out: &mut [V],
    a: &Strided<'_, A>,
    visit: impl Fn(&mut V, A) + Copy + Sync,
) {
    each_block(out, a, &|out, a| each_slice_1(out, a, visit));
}

/// Visits every element of a destination together with those of two operands of its shape.
pub(super) fn each_2<V: Send, A: Copy + Send + Sync + 'static, B: Copy + Send + Sync + 'static>(
    out: &mut [V],
    a: &Strided<'_, A>,
    b: &Strided<'_, B>,
    visit: impl Fn(&mut V, A, B) + Copy + Sync,
) {
    each_pair(out, a, b, false, &|out, len, pair| match pair {
        Pair::Both(a, b) => each_row_2(out, len, a, b, visit),
        _ => unreachable!("there are as many elements of both"),
    });
}

/// Rows of two operands that belong to a part of a destination.
#[derive(Clone, Copy)]
pub enum Pair<'a, A, B> {
    /// Of both there are as many elements.
    Both(Rows<'a, A>, Rows<'a, B>),
    /// Of the second there is one for each row of the first.
    Beside(Rows<'a, A>, Rows<'a, B>),
    /// Of the first there is one for each row of the second.
    Behind(Rows<'a, A>, Rows<'a, B>),
}

/// What is done with parts of a destination, rows of so many elements, and the rows of two operands that belong there.
pub(super) type Visit2<'a, V, A, B> = &'a (dyn Fn(&mut [V], usize, Pair<'_, A, B>) + Sync);

/// Calls `visit` with parts of a destination and the rows of two operands that belong there: with one element for a row
/// only if it takes such. One function for all that visit such elements.
pub(super) fn each_pair<V: Send, A: Copy + Send + Sync + 'static, B: Copy + Send + Sync + 'static>(
    out: &mut [V],
    a: &Strided<'_, A>,
    b: &Strided<'_, B>,
    takes_one: bool,
    visit: Visit2<'_, V, A, B>,
) {
    if let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) {
        return visit(out, out.len(), Pair::Both(Rows::one(a), Rows::one(b)));
    }
    let plan = Plan::new(a.shape(), &[a.strides(), b.strides()], size_of::<A>().max(size_of::<B>()));
    if plan.has_rows(takes_one) {
        return rows::each_matrix(out, &plan, (a.memory(), b.memory()), visit);
    }
    let (a, b) = (Operand::new(a, 0, &plan), Operand::new(b, 1, &plan));
    plan.each(out, &|blocks: Blocks<'_, V>| {
        let (mut a, mut b) = (a.reader(&plan), b.reader(&plan));
        blocks.for_each(|(out, start)| {
            let len = out.len();
            visit(out, len, Pair::Both(Rows::one(a.block(start, len)), Rows::one(b.block(start, len))));
        });
    });
}

/// What is done with parts of a destination and the elements of three operands that belong there.
type Visit3<'a, V, A, B, C> = &'a (dyn Fn(&mut [V], &[A], &[B], &[C]) + Sync);

/// Visits every element of a destination together with those of three operands of its shape.
pub(super) fn each_3<V: Send, A, B, C>(
    out: &mut [V],
    a: &Strided<'_, A>,
    b: &Strided<'_, B>,
    c: &Strided<'_, C>,
    visit: impl Fn(&mut V, A, B, C) + Copy + Sync,
) where
    A: Copy + Send + Sync + 'static,
    B: Copy + Send + Sync + 'static,
    C: Copy + Send + Sync + 'static,
{
    each_three(out, a, b, c, &|out, a, b, c| each_slice_3(out, a, b, c, visit));
}

/// `each_block` of three operands.
fn each_three<V: Send, A, B, C>(
    out: &mut [V],
    a: &Strided<'_, A>,
    b: &Strided<'_, B>,
    c: &Strided<'_, C>,
    visit: Visit3<'_, V, A, B, C>,
) where
    A: Copy + Send + Sync + 'static,
    B: Copy + Send + Sync + 'static,
    C: Copy + Send + Sync + 'static,
{
    if let (Some(a), Some(b), Some(c)) = (a.as_slice(), b.as_slice(), c.as_slice()) {
        return visit(out, a, b, c);
    }
    let widest = size_of::<A>().max(size_of::<B>()).max(size_of::<C>());
    let plan = Plan::new(a.shape(), &[a.strides(), b.strides(), c.strides()], widest);
    let (a, b, c) = (Operand::new(a, 0, &plan), Operand::new(b, 1, &plan), Operand::new(c, 2, &plan));
    plan.each(out, &|blocks: Blocks<'_, V>| {
        let (mut a, mut b, mut c) = (a.reader(&plan), b.reader(&plan), c.reader(&plan));
        blocks.for_each(|(out, start)| {
            let len = out.len();
            visit(out, a.block(start, len), b.block(start, len), c.block(start, len));
        });
    });
}
