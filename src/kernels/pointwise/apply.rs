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
