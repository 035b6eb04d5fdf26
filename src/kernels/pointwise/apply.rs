//! The loops under every elementwise kernel: visiting the elements of a destination together with
//! those of zero to three inputs, which lie one after another. What is done with them is said in `map`
//! and `zip`; inputs that lie otherwise come by way of `blocks`.
//!
//! Destinations are visited as `&mut V`: `V` is `MaybeUninit<U>` for fresh outputs, which are only
//! written, and the element type itself for outputs in place.
//!
//! What a visitor holds, such as a factor, lies behind a pointer in these loops, and every element that is
//! written might change it, as far as the compiler can tell. They therefore own a copy of their visitor.

use crate::kernels::parallel::{Body, each_part};
use crate::kernels::simd::vectorised;

/// Elements of one chunk: at least some ten microseconds of work.
pub(in crate::kernels) const GRAIN: usize = 1 << 16;

/// Visits every element of a slice.
#[inline]
pub(in crate::kernels) fn each_slice<V: Send>(out: &mut [V], visit: impl Fn(&mut V) + Copy + Sync) {
    parallel_slice(out, |_, part| {
        vectorised(
            part.len(),
            #[inline(always)]
            || part.iter_mut().for_each(visit),
        )
    });
}

/// Visits every element of a slice together with that of another.
#[inline]
pub(in crate::kernels) fn each_slice_1<V: Send, A: Copy + Sync>(
    out: &mut [V],
    a: &[A],
    visit: impl Fn(&mut V, A) + Copy + Sync,
) {
    parallel_slice(out, |start, part| {
        let a = &a[start..start + part.len()];
        vectorised(
            part.len(),
            #[inline(always)]
            || {
                let own = visit;
                part.iter_mut().zip(a).for_each(|(out, &a)| own(out, a));
            },
        );
    });
}

/// So few elements are visited one by one, in less time than it takes to choose and call a loop for more.
const FEW: usize = 8;

/// Visits every element of a slice together with those of two others.
#[inline]
pub(in crate::kernels) fn each_slice_2<V: Send, A: Copy + Sync, B: Copy + Sync>(
    out: &mut [V],
    a: &[A],
    b: &[B],
    visit: impl Fn(&mut V, A, B) + Copy + Sync,
) {
    if out.len() <= FEW {
        return out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| visit(out, a, b));
    }
    parallel_slice(out, |start, part| {
        let (a, b) = (&a[start..start + part.len()], &b[start..start + part.len()]);
        vectorised(
            part.len(),
            #[inline(always)]
            || {
                let own = visit;
                part.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| own(out, a, b));
            },
        );
    });
}

/// Rows of one length, in order each.
#[derive(Clone, Copy)]
pub struct Rows<'a, T> {
    /// Where the first one begins, and all that follows.
    pub elements: &'a [T],
    /// How far behind the one before each begins.
    pub step: usize,
}

impl<'a, T> Rows<'a, T> {
    /// A row, or one element.
    pub fn one(elements: &'a [T]) -> Rows<'a, T> {
        Rows { elements, step: 0 }
    }

    /// The elements of a row, which has so many.
    pub fn row(&self, row: usize, len: usize) -> &'a [T] {
        self.part(row, 0, len)
    }

    /// The element that stands for a row.
    pub fn element(&self, row: usize) -> T
    where
        T: Copy,
    {
        self.elements[row * self.step]
    }

    /// So many elements of a row, from this one on.
    #[inline(always)]
    fn part(&self, row: usize, start: usize, len: usize) -> &'a [T] {
        &self.elements[row * self.step + start..][..len]
    }
}

/// Visits every element of rows of so many together with those of two other operands.
pub(in crate::kernels) fn each_row_2<V: Send, A: Copy + Sync, B: Copy + Sync>(
    out: &mut [V],
    len: usize,
    a: Rows<'_, A>,
    b: Rows<'_, B>,
    visit: impl Fn(&mut V, A, B) + Copy + Sync,
) {
    if out.len() <= FEW.min(len) {
        let pairs = a.elements.iter().zip(b.elements);
        return out.iter_mut().zip(pairs).for_each(|(out, (&a, &b))| visit(out, a, b));
    }
    each_row(out, len, &|(first, start, part): RowsOf<'_, V>| {
        vectorised(
            part.len(),
            #[inline(always)]
            || {
                let own = visit;
                for (row, part) in (first..).zip(part.chunks_mut(len)) {
                    let (a, b) = (a.part(row, start, part.len()), b.part(row, start, part.len()));
                    part.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| own(out, a, b));
                }
            },
        );
    });
}

/// Visits every element of rows of so many together with those of another operand and one element for the row.
pub(in crate::kernels) fn each_row_beside<V: Send, A: Copy + Sync, B: Copy + Sync>(
    out: &mut [V],
    len: usize,
    a: Rows<'_, A>,
    b: Rows<'_, B>,
    visit: impl Fn(&mut V, A, B) + Copy + Sync,
) {
    each_row(out, len, &|(first, start, part): RowsOf<'_, V>| {
        vectorised(
            part.len(),
            #[inline(always)]
            || {
                let own = visit;
                for (row, part) in (first..).zip(part.chunks_mut(len)) {
                    let (a, b) = (a.part(row, start, part.len()), b.element(row));
                    part.iter_mut().zip(a).for_each(|(out, &a)| own(out, a, b));
                }
            },
        );
    });
}

/// Rows, or a part of one row: the number of the first, where in it the part begins, and the elements.
pub(in crate::kernels) type RowsOf<'a, V> = (usize, usize, &'a mut [V]);

/// Hands out rows of so many elements in chunks, a long one that is the only one too.
pub(in crate::kernels) fn each_row<V: Send>(
    out: &mut [V],
    len: usize,
    body: &dyn for<'a> Body<RowsOf<'a, V>>,
) {
    let is_one = out.len() <= len;
    if out.is_empty() {
        return;
    }
    if out.len() <= GRAIN {
        return body.run((0, 0, out));
    }
    let grain = if is_one { GRAIN } else { (GRAIN / len).max(1) * len };
    each_part(out, grain, &|(start, part): (usize, &mut [V])| match is_one {
        true => body.run((0, start, part)),
        false => body.run((start / len, 0, part)),
    });
}

/// Visits every element of a slice together with those of three others.
#[inline]
pub(in crate::kernels) fn each_slice_3<V: Send, A: Copy + Sync, B: Copy + Sync, C: Copy + Sync>(
    out: &mut [V],
    a: &[A],
    b: &[B],
    c: &[C],
    visit: impl Fn(&mut V, A, B, C) + Copy + Sync,
) {
    parallel_slice(out, |start, part| {
        let range = start..start + part.len();
        let (a, b, c) = (&a[range.clone()], &b[range.clone()], &c[range]);
        vectorised(
            part.len(),
            #[inline(always)]
            || {
                let own = visit;
                part.iter_mut().zip(a).zip(b).zip(c).for_each(|(((out, &a), &b), &c)| own(out, a, b, c));
            },
        );
    });
}

/// Hands out a slice in chunks; short slices are one chunk without any further ado. The body is
/// compiled once for both ways, as a function of its own.
#[inline]
fn parallel_slice<V: Send>(out: &mut [V], body: impl Fn(usize, &mut [V]) + Sync) {
    let body: &dyn for<'a> Body<(usize, &'a mut [V])> = &|(start, part): (usize, &mut [V])| body(start, part);
    if out.len() <= GRAIN { body.run((0, out)) } else { each_part(out, GRAIN, body) }
}
