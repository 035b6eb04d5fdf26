//! The numbers of attention: a stretch of queries at a time, so that their scores stay at hand and are never there
//! for all of them.

use std::mem::MaybeUninit;

use ndarray::{ArrayView2, ArrayView4, Ix4, s};

use crate::dtype::Real;
use crate::error::Result;
use crate::kernels::interrupt;
use crate::kernels::linalg::gemm;
use crate::kernels::neural::attention::{Scores, turn};
use crate::kernels::parallel::parallel_items;
use crate::kernels::pointwise::zip;
use crate::ops::neural::scratch::{elements, room};
use crate::shape::SharedLayout;
use crate::tensor::Array;

/// Scores of a stretch of queries.
const STRETCH: usize = 1 << 15;

/// Multiplications that make up a share of the work of a thread.
const SHARE: usize = 1 << 20;

/// Queries of a head: the head, where they begin, and room for what they find.
type Stretch<'a, T> = (usize, usize, &'a mut [MaybeUninit<T>], &'a mut [T]);

/// Queries, keys and values of heads of samples; heads of queries may share the others.
pub(super) struct Heads<'a, T> {
    q: ArrayView4<'a, T>,
    k: ArrayView4<'a, T>,
    v: ArrayView4<'a, T>,
    mask: Option<ArrayView4<'a, T>>,
    scale: f64,
    is_causal: bool,
}

impl<'a, T: Real> Heads<'a, T> {
    /// The heads of these arrays, if that is what they are.
    pub(super) fn of(arrays: &'a [Array], scale: f64, is_causal: bool) -> Option<Heads<'a, T>> {
        let [q, k, v, masks @ ..] = arrays else { return None };
        if arrays.iter().any(|array| array.dtype != T::DTYPE || array.layout.numel() == 0) {
            return None;
        }
        let four = |array: &'a Array| array.view::<T>().into_dimensionality::<Ix4>().ok();
        let (q, k, v) = (four(q)?, four(k)?, four(v)?);
        let (samples, heads, queries, size) = q.dim();
        let (_, shared, keys, _) = k.dim();
        let fits = k.dim() == (samples, shared, keys, size) && v.dim().0 == samples && v.dim().1 == shared;
        if !fits || v.dim().2 != keys || !heads.is_multiple_of(shared) {
            return None;
        }
        let mask = match masks.first() {
            None => None,
            Some(mask) => Some(four(mask).filter(|mask| mask.dim() == (samples, heads, queries, keys))?),
        };
        Some(Heads { q, k, v, mask, scale, is_causal })
    }

    /// How many heads of queries share keys and values.
    fn sharing(&self) -> usize {
        self.q.dim().1 / self.k.dim().1
    }

    /// Queries of a stretch.
    fn stretch(&self) -> usize {
        (STRETCH / self.k.dim().2).clamp(16, 128).min(self.q.dim().2)
    }

    /// Multiplications of a product of all queries of a head with its keys.
    fn work(&self) -> usize {
        let (_, _, queries, size) = self.q.dim();
        queries * size * self.k.dim().2
    }

    /// Some queries of a head, counted through all samples: their matrices.
    fn part(&self, head: usize, start: usize, count: usize) -> Part<'_, T> {
        let heads = self.q.dim().1;
        let (sample, head) = (head / heads, head % heads);
        let shared = head / self.sharing();
        let end = start + count;
        let keys = self.k.dim().2;
        // Who sees nothing behind itself needs nothing of what is behind the last.
        let seen = if self.is_causal { end.min(keys) } else { keys };
        Part {
            q: self.q.slice(s![sample, head, start..end, ..]),
            k: self.k.slice(s![sample, shared, ..seen, ..]),
            v: self.v.slice(s![sample, shared, ..seen, ..]),
            mask: self.mask.as_ref().map(|mask| mask.slice(s![sample, head, start..end, ..seen])),
            scale: self.scale,
            first: self.is_causal.then_some(start + 1),
            seen,
        }
    }

    /// The weighed values in order, and ln Σ eˢ of every query.
    pub(super) fn weighed(&self) -> Result<[Array; 2]> {
        let (samples, heads, queries, _) = self.q.dim();
        let size = self.v.dim().3;
        let mut y = Array::uninit_shape(&[samples, heads, queries, size], T::DTYPE)?;
        let mut logs = Array::zeroed(&SharedLayout::contiguous(&[samples, heads, queries])?, T::DTYPE)?;
        let stretch = self.stretch();
        let each = y.fresh::<T>().chunks_mut(queries * size).zip(logs.owned::<T>().chunks_mut(queries));
        let parts = each.enumerate().flat_map(|(head, (y, logs))| {
            let parts = y.chunks_mut(stretch * size).zip(logs.chunks_mut(stretch)).enumerate();
            parts.map(move |(index, (y, logs))| (head, index * stretch, y, logs))
        });
        let share = SHARE.div_ceil((self.work() / queries * stretch).max(1));
        // Some stretches share the memory that they need one after the other.
        let mut shares: Vec<Vec<_>> = Vec::new();
        for part in parts {
            match shares.last_mut().filter(|last| last.len() < share) {
                Some(last) => last.push(part),
                None => shares.push(vec![part]),
            }
        }
        parallel_items(shares, 1, |parts: Vec<Stretch<'_, T>>| {
            let mut scores = room::<T>(stretch * self.k.dim().2);
            for (head, start, y, logs) in parts {
                interrupt::unwind_if_due();
                let part = self.part(head, start, logs.len());
                part.products(&mut scores);
                part.scores(&mut scores).weigh(logs);
                gemm::matmul(part.matrix(&scores), part.v, y);
            }
        });
        Ok([y, logs])
    }

    /// The gradients of queries, keys and values that are `wanted` from that of the result, in order; what is not
    /// wanted is empty.
    pub(super) fn gradients(&self, g: &Array, logs: &[T], wanted: [bool; 3]) -> Result<[Array; 3]> {
        let Ok(g) = g.view::<T>().into_dimensionality::<Ix4>() else {
            unreachable!("the gradient has the shape of the result")
        };
        let zeros = |wanted: bool, array: &ArrayView4<'_, T>| {
            let shape: &[usize] = if wanted { array.shape() } else { &[0] };
            Array::zeroed(&SharedLayout::contiguous(shape)?, T::DTYPE)
        };
        let mut found = [zeros(wanted[0], &self.q)?, zeros(wanted[1], &self.k)?, zeros(wanted[2], &self.v)?];
        let (_, _, queries, size) = self.q.dim();
        let (samples, shared, keys, _) = self.k.dim();
        let (sharing, depth) = (self.sharing(), self.v.dim().3);
        let [to_q, to_k, to_v] = &mut found;
        let [mut to_q, mut to_k, mut to_v] = [
            to_q.owned::<T>().chunks_mut(sharing * queries * size),
            to_k.owned::<T>().chunks_mut(keys * size),
            to_v.owned::<T>().chunks_mut(keys * depth),
        ];
        let items = (0..samples * shared).map(|item| {
            (item, [&mut to_q, &mut to_k, &mut to_v].map(|parts| parts.next().unwrap_or_default()))
        });
        let share = SHARE.div_ceil((self.work() * sharing).max(1));
        parallel_items(items, share, |(item, [to_q, to_k, to_v]): (usize, [&mut [T]; 3])| {
            let stretch = self.stretch();
            let [mut weights, mut turned] = [(); 2].map(|()| room::<T>(stretch * keys));
            let mut sums = room::<T>(keys.max(stretch) * size.max(depth));
            for (head, start) in (0..sharing)
                .flat_map(|of| (0..queries).step_by(stretch).map(move |start| (item * sharing + of, start)))
            {
                interrupt::unwind_if_due();
                let count = stretch.min(queries - start);
                let part = self.part(head, start, count);
                let at = head * queries + start;
                part.products(&mut weights);
                part.scores(&mut weights).weigh_again(&logs[at..at + count]);
                let (sample, own) = (head / self.q.dim().1, head % self.q.dim().1);
                let g = g.slice(s![sample, own, start..start + count, ..]);
                if !to_v.is_empty() {
                    gemm::matmul(
                        part.matrix(&weights).reversed_axes(),
                        g,
                        &mut sums.fresh()[..part.seen * depth],
                    );
                    add(to_v, &elements(&sums)[..part.seen * depth]);
                }
                if to_q.is_empty() && to_k.is_empty() {
                    continue;
                }
                gemm::matmul(g, part.v.t(), &mut turned.fresh()[..count * part.seen]);
                let len = count * part.seen;
                turn(&elements::<T>(&weights)[..len], &mut turned.owned()[..len], part.seen, self.scale);
                let turned = part.matrix(&turned);
                if !to_q.is_empty() {
                    gemm::matmul(turned, part.k, &mut sums.fresh()[..count * size]);
                    let at = (head % sharing * queries + start) * size;
                    add(&mut to_q[at..], &elements(&sums)[..count * size]);
                }
                if !to_k.is_empty() {
                    gemm::matmul(turned.t(), part.q, &mut sums.fresh()[..part.seen * size]);
                    add(to_k, &elements(&sums)[..part.seen * size]);
                }
            }
        });
        Ok(found)
    }
}

/// Some queries of a head and what they see.
struct Part<'a, T> {
    q: ArrayView2<'a, T>,
    k: ArrayView2<'a, T>,
    v: ArrayView2<'a, T>,
    mask: Option<ArrayView2<'a, T>>,
    scale: f64,
    /// How many keys the first query sees, if each sees one more than the one before.
    first: Option<usize>,
    /// How many keys are seen by any.
    seen: usize,
}

impl<'a, T: Real> Part<'a, T> {
    /// The products of queries and keys, at the start of a fresh array.
    fn products(&self, scores: &mut Array) {
        gemm::matmul(self.q, self.k.t(), &mut scores.fresh()[..self.q.nrows() * self.seen]);
    }

    /// These as what becomes weights.
    fn scores<'s>(&'s self, scores: &'s mut Array) -> Scores<'s, T> {
        Scores {
            products: &mut scores.owned()[..self.q.nrows() * self.seen],
            width: self.seen,
            scale: self.scale,
            mask: self.mask.as_ref().map(|mask| mask.view()),
            seen: self.first,
        }
    }

    /// A row for each query, a column for each key that is seen.
    fn matrix<'s>(&self, array: &'s Array) -> ArrayView2<'s, T> {
        let shape = (self.q.nrows(), self.seen);
        ArrayView2::from_shape(shape, &elements(array)[..shape.0 * shape.1])
            .unwrap_or_else(|_| unreachable!("the matrix has as many elements"))
    }
}

fn add<T: Real>(to: &mut [T], from: &[T]) {
    zip::zip_slice_in_place(&mut to[..from.len()], from, |a, b| a + b);
}
