//! Sums of products that stay in registers: of several channels at several places, or of several elements of weights.

use std::mem::MaybeUninit;

use pulp::{Arch, Simd, WithSimd};

use crate::kernels::wide::{Wide, lanes};

/// Places of which sums are kept for each channel before they are handed on.
pub(super) const STRETCH: usize = 768;

/// The most channels that are summed together, and what they are beside a multiple of it.
pub(super) const MANY: usize = 8;
const SOME: usize = 4;

/// How many vectors a number of channels is summed in at a time.
const OF_MANY: usize = 3;
const OF_ONE: usize = 8;

/// Elements of weights that are summed together where there are many registers, and where there are few.
const ROWS: usize = 6;
const FEW_ROWS: usize = 3;

/// From so many registers on there are many.
const REGISTERS: usize = 32;

/// How many channels this processor sums together; none if it has no fused instructions for vectors.
pub(super) fn together() -> usize {
    struct Registers;
    impl WithSimd for Registers {
        type Output = usize;

        fn with_simd<S: Simd>(self, _simd: S) -> usize {
            match () {
                () if S::IS_SCALAR => 0,
                () if S::REGISTER_COUNT >= REGISTERS => MANY,
                () => SOME,
            }
        }
    }
    Arch::new().dispatch(Registers)
}

/// So many channels at a time: many, some or one.
pub(super) fn blocks(channels: usize, together: usize) -> impl Iterator<Item = usize> {
    let mut left = channels;
    std::iter::from_fn(move || {
        let width = [together, SOME, 1].into_iter().find(|&width| width <= left)?;
        left -= width;
        Some(width)
    })
}

/// The vectors at the beginning of a line.
#[inline(always)]
fn first<T: Wide, S: Simd, const V: usize>(line: &[T]) -> &[T::Of<S>; V] {
    let Some(vectors) = T::vectors::<S>(line).0.first_chunk() else {
        unreachable!("there are numbers behind")
    };
    vectors
}

/// Sums at a stretch of places for each of some channels: of what lies at distances from a place, and each channel's
/// weights of these.
pub(super) struct Stretch<'a, T> {
    pub data: &'a [T],
    pub reach: &'a [usize],
    /// For each distance, the weights of all channels.
    pub weights: &'a [T],
    pub width: usize,
    /// How many places there are.
    pub len: usize,
}

impl<T: Wide> Stretch<'_, T> {
    /// Writes the sums, `STRETCH` numbers for each channel.
    #[inline(always)]
    pub(super) fn sum<S: Simd>(&self, simd: S, out: &mut [T]) {
        match self.width {
            MANY => self.each::<S, MANY, OF_MANY>(simd, out),
            SOME => self.each::<S, SOME, OF_MANY>(simd, out),
            _ => self.each::<S, 1, OF_ONE>(simd, out),
        }
    }

    #[inline(always)]
    fn each<S: Simd, const W: usize, const V: usize>(&self, simd: S, out: &mut [T]) {
        let mut place = 0;
        while place + V * lanes::<T, S>() <= self.len {
            self.tile::<S, W, V>(simd, place, out);
            place += V * lanes::<T, S>();
        }
        while place < self.len {
            // The last vector may begin before the one in front of it ends.
            let start = place.min(self.len.saturating_sub(lanes::<T, S>()));
            self.tile::<S, W, 1>(simd, start, out);
            place = start + lanes::<T, S>();
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const W: usize, const V: usize>(&self, simd: S, place: usize, out: &mut [T]) {
        let mut sums = [[T::splat(simd, T::ZERO); V]; W];
        let data = &self.data[place..];
        for (&reach, weights) in self.reach.iter().zip(self.weights.as_chunks::<W>().0) {
            let numbers = first::<T, S, V>(&data[reach..]);
            for (sums, &weight) in sums.iter_mut().zip(weights) {
                let weight = T::splat(simd, weight);
                for (sum, &number) in sums.iter_mut().zip(numbers) {
                    *sum = T::times_plus(simd, weight, number, *sum);
                }
            }
        }
        for (line, sums) in out.chunks_exact_mut(STRETCH).zip(sums) {
            let (vectors, _) = T::vectors_mut::<S>(&mut line[place..]);
            for (place, sum) in vectors.iter_mut().zip(sums) {
                *place = sum;
            }
        }
    }
}

/// Sums over all places for each of some elements of the weights of some channels.
pub(super) struct Weights<'a, T> {
    pub data: &'a [T],
    pub gradient: &'a [T],
    /// Where places that follow one another begin in both, and how many there are each time.
    pub runs: &'a [[usize; 2]],
    pub len: usize,
    /// How far away what an element is multiplied with lies.
    pub reach: &'a [usize],
    /// How far apart the channels of the gradient lie.
    pub apart: usize,
    /// For each channel, all elements.
    pub out: &'a mut [MaybeUninit<T>],
}

impl<T: Wide> WithSimd for Weights<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.out.len() / self.reach.len() {
            SOME => self.each::<S, SOME>(simd),
            _ => self.each::<S, 1>(simd),
        }
    }
}

/// How many channels of weights are summed together.
pub(super) const CHANNELS: usize = SOME;

impl<T: Wide> Weights<'_, T> {
    #[inline(always)]
    fn each<S: Simd, const W: usize>(mut self, simd: S) {
        let (mut row, rows) = (0, self.reach.len());
        while S::REGISTER_COUNT >= REGISTERS && row + ROWS <= rows {
            self.tile::<S, W, ROWS>(simd, row);
            row += ROWS;
        }
        while row + FEW_ROWS <= rows {
            self.tile::<S, W, FEW_ROWS>(simd, row);
            row += FEW_ROWS;
        }
        while row < rows {
            self.tile::<S, W, 1>(simd, row);
            row += 1;
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const W: usize, const R: usize>(&mut self, simd: S, row: usize) {
        let mut sums = [[T::splat(simd, T::ZERO); W]; R];
        let len = self.len / lanes::<T, S>();
        for &[start, gradient] in self.runs {
            let mut lines: [&[T::Of<S>]; R] = [&[]; R];
            for (line, &reach) in lines.iter_mut().zip(&self.reach[row..]) {
                *line = &T::vectors::<S>(&self.data[start + reach..]).0[..len];
            }
            let mut gradients: [&[T::Of<S>]; W] = [&[]; W];
            for (channel, line) in gradients.iter_mut().enumerate() {
                *line = &T::vectors::<S>(&self.gradient[gradient + channel * self.apart..]).0[..len];
            }
            for place in 0..len {
                let mut along = [T::splat(simd, T::ZERO); W];
                for (along, line) in along.iter_mut().zip(&gradients) {
                    *along = line[place];
                }
                for (sums, line) in sums.iter_mut().zip(&lines) {
                    let number = line[place];
                    for (sum, &along) in sums.iter_mut().zip(&along) {
                        *sum = T::times_plus(simd, number, along, *sum);
                    }
                }
            }
        }
        let rows = self.reach.len();
        for (index, sums) in sums.into_iter().enumerate() {
            for (channel, sum) in sums.into_iter().enumerate() {
                self.out[channel * rows + row + index].write(T::total(simd, sum));
            }
        }
    }
}
