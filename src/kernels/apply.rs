//! The loops under every elementwise kernel: visiting the elements of a destination together with
//! those of zero to three inputs, which lie one after another. What is done with them is said in `map`
//! and `zip`; inputs that lie otherwise come here by way of `blocks`.
//!
//! Destinations are visited as `&mut V`: `V` is `MaybeUninit<U>` for fresh outputs, which are only
//! written, and the element type itself for outputs in place.
//!
//! Note [Visitors by value]
//! ----
//! What a visitor holds, such as a factor, lies behind a pointer in these loops, and every element that is
//! written might change it, as far as the compiler can tell. They therefore own a copy of their visitor.

use ndarray::ArrayViewD;

use super::blocks::{Operand, Plan, squeezed};
use super::parallel::parallel_parts;
use super::simd::vectorised;

/// Elements of one chunk: at least some ten microseconds of work.
pub(super) const GRAIN: usize = 1 << 16;

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
