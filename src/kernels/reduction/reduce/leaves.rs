//! Rows that are a leaf each, folded in vectors, with the bits of a leaf: `rows::LANES` states side by side, and what is
//! left over merged into the first of them, until a tree takes all together. As a plain loop that takes up to five times
//! as long where rows are short, since the states go to memory and back.

use std::any::Any;
use std::marker::PhantomData;

use ndarray::ArrayViewD;
use pulp::{Arch, Simd, WithSimd};

use super::rows::{LANES, LEAF, whole_rows};
use crate::dtype::Number;
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::wide::{Wide, lanes};

/// How elements are taken together.
pub(super) trait Merge: Copy + 'static {
    /// Whether it is the same in which order elements are taken together.
    const FREE: bool = false;

    /// What no element is, so that it changes nothing.
    fn identity<T: Wide>() -> T;

    /// What is merged of elements.
    #[inline(always)] // Vectors stay in registers only within one function.
    fn map<T: Wide, S: Simd>(_simd: S, x: T::Of<S>) -> T::Of<S> {
        x
    }

    /// Two states as one, lane by lane.
    fn merge<T: Wide, S: Simd>(simd: S, a: T::Of<S>, b: T::Of<S>) -> T::Of<S>;

    /// The same of one lane.
    fn one<T: Wide>(a: T, b: T) -> T;
}

/// a + b, of squares if they are `SQUARED`
#[derive(Clone, Copy)]
pub(super) struct Sum<const SQUARED: bool>;

impl<const SQUARED: bool> Merge for Sum<SQUARED> {
    fn identity<T: Wide>() -> T {
        T::ZERO
    }

    #[inline(always)]
    fn map<T: Wide, S: Simd>(simd: S, x: T::Of<S>) -> T::Of<S> {
        if SQUARED { T::times(simd, x, x) } else { x }
    }

    #[inline(always)]
    fn merge<T: Wide, S: Simd>(simd: S, a: T::Of<S>, b: T::Of<S>) -> T::Of<S> {
        T::plus(simd, a, b)
    }

    #[inline(always)]
    fn one<T: Wide>(a: T, b: T) -> T {
        a + b
    }
}

/// a b
#[derive(Clone, Copy)]
pub(super) struct Product;

impl Merge for Product {
    fn identity<T: Wide>() -> T {
        T::ONE
    }

    #[inline(always)]
    fn merge<T: Wide, S: Simd>(simd: S, a: T::Of<S>, b: T::Of<S>) -> T::Of<S> {
        T::times(simd, a, b)
    }

    #[inline(always)]
    fn one<T: Wide>(a: T, b: T) -> T {
        a * b
    }
}

/// The greater of two, or the one that is NaN.
#[inline]
pub(super) fn greater<T: Number>(a: T, b: T) -> T {
    let greater = if a > b { a } else { b };
    if a.is_nan() { a } else { greater }
}

/// The lesser of two, or the one that is NaN.
#[inline]
pub(super) fn less<T: Number>(a: T, b: T) -> T {
    let less = if a < b { a } else { b };
    if a.is_nan() { a } else { less }
}

/// The greater one or the lesser one, or the one that is NaN
#[derive(Clone, Copy)]
pub(super) struct Extreme<const GREATEST: bool>;

impl<const GREATEST: bool> Merge for Extreme<GREATEST> {
    const FREE: bool = true;

    fn identity<T: Wide>() -> T {
        if GREATEST { T::LOWEST } else { T::HIGHEST }
    }

    #[inline(always)]
    fn merge<T: Wide, S: Simd>(simd: S, a: T::Of<S>, b: T::Of<S>) -> T::Of<S> {
        T::extreme::<S, GREATEST>(simd, a, b)
    }

    #[inline(always)]
    fn one<T: Wide>(a: T, b: T) -> T {
        if GREATEST { greater(a, b) } else { less(a, b) }
    }
}

/// What folds rows of so many elements.
type FoldRows<T> = fn(&[T], usize, &mut [T]);

/// Rows, how long they are, and what folds them.
pub(super) struct Leaves<'a, T> {
    elements: &'a [T],
    len: usize,
    fold: FoldRows<T>,
}

/// Rows that are folded before their states are put where they belong.
const NEAR: usize = 64;

impl<'a, T: Copy + Default + Send + Sync + 'static> Leaves<'a, T> {
    /// The rows of a view that is reduced along its last axis, if each is a leaf of several lanes and there are vectors of
    /// such elements. Where any order will do, rows may be longer than leaves, and the whole view may be a row.
    pub(super) fn new<M: Merge>(view: &ArrayViewD<'a, T>, axes: &[usize]) -> Option<Self> {
        let (elements, len) = match M::FREE {
            true if axes.len() == view.ndim() && view.len() >= LANES => (view.to_slice()?, view.len()),
            true => whole_rows(view, axes, |len| len >= LANES)?,
            false => whole_rows(view, axes, |len| (LANES..=LEAF).contains(&len) && view.ndim() > 1)?,
        };
        let (single, double): (FoldRows<f32>, FoldRows<f64>) = (fold_rows::<f32, M>, fold_rows::<f64, M>);
        let all: [&dyn Any; 2] = [&single, &double];
        let fold = all.into_iter().find_map(|fold| fold.downcast_ref::<FoldRows<T>>().copied())?;
        Some(Leaves { elements, len, fold })
    }

    /// Puts the state of each row.
    pub(super) fn fold<V: Send>(&self, out: &mut [V], put: impl Fn(&mut V, T) + Sync) {
        let Leaves { elements, len, fold } = *self;
        if let ([out], true) = (&mut *out, len > GRAIN) {
            // Of a single row there are parts, if any order will do.
            let mut states = interrupt::filled(len.div_ceil(GRAIN), T::default());
            parallel_parts(&mut states, 1, |start, states| {
                for (state, part) in states.chunks_mut(1).zip(elements[start * GRAIN..].chunks(GRAIN)) {
                    fold(part, part.len(), state);
                }
            });
            let mut state = [T::default()];
            fold(&states, states.len(), &mut state);
            return put(out, state[0]);
        }
        parallel_parts(out, (GRAIN / len).max(1), |start, part| {
            let rows = elements[start * len..].chunks(NEAR * len);
            for (part, rows) in part.chunks_mut(NEAR).zip(rows) {
                let mut states = [T::default(); NEAR];
                let states = &mut states[..part.len()];
                fold(rows, len, states);
                part.iter_mut().zip(states).for_each(|(out, state)| put(out, *state));
            }
        });
    }
}

/// Folds rows of so many elements.
fn fold_rows<T: Wide, M: Merge>(elements: &[T], len: usize, states: &mut [T]) {
    Arch::new().dispatch(Rows { elements, len, states, merge: PhantomData::<M> });
}

struct Rows<'a, T, M> {
    elements: &'a [T],
    len: usize,
    states: &'a mut [T],
    merge: PhantomData<M>,
}

impl<T: Wide, M: Merge> WithSimd for Rows<'_, T, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (row, state) in self.elements.chunks_exact(self.len).zip(self.states) {
            // As many vectors as make all lanes.
            *state = match LANES / lanes::<T, S>() {
                2 => leaf::<T, M, S, 2>(simd, row),
                4 => leaf::<T, M, S, 4>(simd, row),
                8 => leaf::<T, M, S, 8>(simd, row),
                16 => leaf::<T, M, S, 16>(simd, row),
                _ => leaf::<T, M, S, LANES>(simd, row),
            };
        }
    }
}

/// The state of a row, in so many vectors.
#[inline(always)]
fn leaf<T: Wide, M: Merge, S: Simd, const V: usize>(simd: S, row: &[T]) -> T {
    let nothing = T::splat(simd, M::identity());
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut states = [nothing; V];
    let (pairs, chunks) = if M::FREE { chunks.as_chunks::<2>() } else { ([].as_slice(), chunks) };
    if !pairs.is_empty() {
        // Twice as many need not wait for each other.
        let mut others = [nothing; V];
        for [chunk, next] in pairs {
            let chunks = T::vectors::<S>(chunk).0.iter().zip(T::vectors::<S>(next).0);
            for ((state, other), (&x, &y)) in states.iter_mut().zip(&mut others).zip(chunks) {
                *state = M::merge::<T, S>(simd, *state, M::map::<T, S>(simd, x));
                *other = M::merge::<T, S>(simd, *other, M::map::<T, S>(simd, y));
            }
        }
        for (state, other) in states.iter_mut().zip(others) {
            *state = M::merge::<T, S>(simd, *state, other);
        }
    }
    for chunk in chunks {
        for (state, &x) in states.iter_mut().zip(T::vectors::<S>(chunk).0) {
            *state = M::merge::<T, S>(simd, *state, M::map::<T, S>(simd, x));
        }
    }
    for (state, part) in states.iter_mut().zip(rest.chunks(lanes::<T, S>())) {
        let part = T::part(simd, part, M::identity());
        *state = M::merge::<T, S>(simd, *state, M::map::<T, S>(simd, part));
    }
    let mut width = V;
    while width > 1 {
        width /= 2;
        for at in 0..width {
            states[at] = M::merge::<T, S>(simd, states[at], states[at + width]);
        }
    }
    let mut line = [M::identity(); LANES];
    if let Some(place) = T::vectors_mut::<S>(&mut line).0.first_mut() {
        *place = states[0];
    }
    let mut width = lanes::<T, S>();
    while width > 1 {
        width /= 2;
        for at in 0..width {
            line[at] = M::one(line[at], line[at + width]);
        }
    }
    line[0]
}
