//! Steps of optimisers: one pass over a parameter, its state and its gradient.
//!
//! Every formula is rounded operation by operation, in the order in which the same step is written with operations on
//! tensors: an optimiser may take some steps in one way and some in the other, and gets the same bits.
//!
//! Everything that a loop calls is inlined: the compiler vectorises a loop only as a whole.

mod averages;

use crate::dtype::Real;
use crate::kernels::parallel::parallel_items;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;

pub use averages::{Adam, Adamax, Asgd, Means, NAdam, RAdam};

/// Elements of each slice that are processed together: bounds are checked once a block instead of once an element.
const BLOCK: usize = 32;
const LITTLE: usize = 8;

/// The elements of several slices at one index.
type Row<T, const N: usize> = [T; N];

/// `(written[0][i], …) = f((written[0][i], …), gradient[i])`
fn sweep<T: Real, const N: usize>(
    written: [&mut [T]; N],
    gradient: &[T],
    f: impl Fn(Row<T, N>, T) -> Row<T, N> + Copy + Sync,
) {
    sweep_by::<T, N, BLOCK, true>(written, gradient, f);
}

/// `sweep` for rarely used steps: a smaller loop, compiled once instead of for each kind of processor.
fn sweep_seldom<T: Real, const N: usize>(
    written: [&mut [T]; N],
    gradient: &[T],
    f: impl Fn(Row<T, N>, T) -> Row<T, N> + Copy + Sync,
) {
    sweep_by::<T, N, LITTLE, false>(written, gradient, f);
}

fn sweep_by<T: Real, const N: usize, const B: usize, const WIDE: bool>(
    written: [&mut [T]; N],
    gradient: &[T],
    f: impl Fn(Row<T, N>, T) -> Row<T, N> + Copy + Sync,
) {
    if gradient.len() <= GRAIN {
        return sweep_part::<T, N, B, WIDE>(written, gradient, f);
    }
    let mut parts = written.map(|slice| slice.chunks_mut(GRAIN));
    let rows = gradient.chunks(GRAIN).map(|gradient| {
        let written = parts.each_mut().map(|part| part.next().unwrap_or_default());
        (written, gradient)
    });
    parallel_items(rows, 1, |(written, gradient)| sweep_part::<T, N, B, WIDE>(written, gradient, f));
}

#[inline(never)] // Once for what is short and what is a part of more.
fn sweep_part<T: Real, const N: usize, const B: usize, const WIDE: bool>(
    written: [&mut [T]; N],
    gradient: &[T],
    f: impl Fn(Row<T, N>, T) -> Row<T, N> + Copy,
) {
    match WIDE {
        true => vectorised(
            gradient.len(),
            #[inline(always)]
            move || in_blocks::<T, N, B>(written, gradient, f),
        ),
        false => in_blocks::<T, N, B>(written, gradient, f),
    }
}

/// `f` captures by value: the compiler would reload what is borrowed after each write, which might alias it.
#[inline(always)]
fn in_blocks<T: Real, const N: usize, const B: usize>(
    mut written: [&mut [T]; N],
    gradient: &[T],
    f: impl Fn(Row<T, N>, T) -> Row<T, N> + Copy,
) {
    let (blocks, rest) = gradient.as_chunks::<B>();
    for (index, block) in blocks.iter().enumerate() {
        let mut near = [[T::ZERO; B]; N];
        for place in 0..N {
            if let Some(numbers) = written[place][index * B..].first_chunk() {
                near[place] = *numbers;
            }
        }
        for lane in 0..B {
            let mut row = [T::ZERO; N];
            for place in 0..N {
                row[place] = near[place][lane];
            }
            let row = f(row, block[lane]);
            for place in 0..N {
                near[place][lane] = row[place];
            }
        }
        for place in 0..N {
            if let Some(numbers) = written[place][index * B..].first_chunk_mut() {
                *numbers = near[place];
            }
        }
    }
    let done = gradient.len() - rest.len();
    for (index, &along) in rest.iter().enumerate() {
        let mut row = [T::ZERO; N];
        for (number, slice) in row.iter_mut().zip(&written) {
            *number = slice[done + index];
        }
        for (slice, number) in written.iter_mut().zip(f(row, along)) {
            slice[done + index] = number;
        }
    }
}

/// What is done to a gradient before the step: the options `maximize` and `weight_decay`.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Whether the objective is maximised: the gradient is negated.
    pub is_upward: bool,
    /// The weight decay: how much of the parameter is added to its gradient.
    pub decay: f64,
}

impl Way {
    /// The gradient at a parameter.
    fn of<T: Real>(self) -> impl Fn(T, T) -> T + Copy + Sync {
        let (is_upward, decays, decay) = (self.is_upward, self.decay != 0.0, T::from_f64(self.decay));
        #[inline(always)]
        move |p, g| {
            let g = if is_upward { -g } else { g };
            if decays { g + p * decay } else { g }
        }
    }
}

/// A step of stochastic gradient descent.
#[derive(Clone, Copy, Debug)]
pub struct Sgd {
    /// How far it goes.
    pub rate: f64,
    /// What stays of earlier gradients.
    pub momentum: f64,
    /// What is left away of the present one beside them.
    pub dampening: f64,
    /// Whether the momentum is looked ahead along.
    pub nesterov: bool,
}

impl Sgd {
    /// p -= r g
    pub fn plain<T: Real>(self, way: Way, p: &mut [T], g: &[T]) {
        let (gradient, back) = (way.of::<T>(), T::from_f64(-self.rate));
        sweep(
            [p],
            g,
            #[inline(always)]
            move |[p], g| [p + gradient(p, g) * back],
        );
    }

    /// b = m b + (1 - d) g, p -= r b, or r (g + m b)
    pub fn with_momentum<T: Real>(self, way: Way, [p, buffer]: [&mut [T]; 2], g: &[T]) {
        let gradient = way.of::<T>();
        let [back, momentum, fresh] = [-self.rate, self.momentum, 1.0 - self.dampening].map(T::from_f64);
        let looks_ahead = self.nesterov;
        sweep(
            [p, buffer],
            g,
            #[inline(always)]
            move |[p, buffer], g| {
                let g = gradient(p, g);
                let buffer = buffer * momentum + g * fresh;
                let along = if looks_ahead { g + buffer * momentum } else { buffer };
                [p + along * back, buffer]
            },
        );
    }
}

/// The way from one number to another, as much of it as a weight says.
fn toward<T: Real>(weight: f64) -> impl Fn(T, T) -> T + Copy + Sync {
    let (is_near, share, left) = (weight.abs() < 0.5, T::from_f64(weight), T::from_f64(1.0 - weight));
    #[inline(always)]
    move |a, b| {
        let between = b - a;
        if is_near { a + between * share } else { b - between * left }
    }
}

/// A step of RMSprop.
#[derive(Clone, Copy, Debug)]
pub struct RmsProp {
    /// How far it goes.
    pub rate: f64,
    /// What stays of the mean of squares.
    pub alpha: f64,
    /// Added to its root.
    pub eps: f64,
    /// What stays of earlier steps.
    pub momentum: f64,
}

impl RmsProp {
    /// v = α v + (1 - α) g², p -= r g / (√v + ε)
    pub fn plain<T: Real>(self, way: Way, written: [&mut [T]; 2], g: &[T]) {
        let (gradient, moved) = (way.of::<T>(), self.moved::<T>());
        let back = T::from_f64(-self.rate);
        sweep(
            written,
            g,
            #[inline(always)]
            move |[p, square], g| {
                let g = gradient(p, g);
                let square = moved(square, g);
                [p + self.over(g, square) * back, square]
            },
        );
    }

    /// The same with the square of the mean taken from the mean of squares.
    pub fn centred<T: Real>(self, way: Way, written: [&mut [T]; 3], g: &[T]) {
        let (gradient, moved, nearer) = (way.of::<T>(), self.moved::<T>(), toward::<T>(1.0 - self.alpha));
        let back = T::from_f64(-self.rate);
        sweep(
            written,
            g,
            #[inline(always)]
            move |[p, square, mean], g| {
                let g = gradient(p, g);
                let (square, mean) = (moved(square, g), nearer(mean, g));
                [p + self.over(g, square - mean * mean) * back, square, mean]
            },
        );
    }

    /// `plain` along a running sum of steps: b = m b + g / (√v + ε), p -= r b
    pub fn with_momentum<T: Real>(self, way: Way, written: [&mut [T]; 3], g: &[T]) {
        let (gradient, moved) = (way.of::<T>(), self.moved::<T>());
        let [back, momentum] = [-self.rate, self.momentum].map(T::from_f64);
        sweep(
            written,
            g,
            #[inline(always)]
            move |[p, square, buffer], g| {
                let g = gradient(p, g);
                let square = moved(square, g);
                let buffer = buffer * momentum + self.over(g, square);
                [p + buffer * back, square, buffer]
            },
        );
    }

    /// `centred` along a running sum of steps.
    pub fn centred_with_momentum<T: Real>(self, way: Way, written: [&mut [T]; 4], g: &[T]) {
        let (gradient, moved, nearer) = (way.of::<T>(), self.moved::<T>(), toward::<T>(1.0 - self.alpha));
        let [back, momentum] = [-self.rate, self.momentum].map(T::from_f64);
        sweep(
            written,
            g,
            #[inline(always)]
            move |[p, square, mean, buffer], g| {
                let g = gradient(p, g);
                let (square, mean) = (moved(square, g), nearer(mean, g));
                let buffer = buffer * momentum + self.over(g, square - mean * mean);
                [p + buffer * back, square, mean, buffer]
            },
        );
    }

    fn moved<T: Real>(self) -> impl Fn(T, T) -> T + Copy + Sync {
        let [kept, fresh] = [self.alpha, 1.0 - self.alpha].map(T::from_f64);
        #[inline(always)]
        move |square, g| square * kept + g * g * fresh
    }

    #[inline(always)]
    fn over<T: Real>(self, g: T, square: T) -> T {
        g / (square.sqrt() + T::from_f64(self.eps))
    }
}

/// A step of Adagrad.
#[derive(Clone, Copy, Debug)]
pub struct Adagrad {
    /// How far it goes, of one parameter's own count of steps.
    pub rate: f64,
    /// Added to the root of the sum of squares.
    pub eps: f64,
}

impl Adagrad {
    /// s += g², p -= r g / (√s + ε)
    pub fn plain<T: Real>(self, way: Way, written: [&mut [T]; 2], g: &[T]) {
        let gradient = way.of::<T>();
        let [back, eps] = [-self.rate, self.eps].map(T::from_f64);
        sweep(
            written,
            g,
            #[inline(always)]
            move |[p, sum], g| {
                let g = gradient(p, g);
                let sum = sum + g * g;
                [p + g / (sum.sqrt() + eps) * back, sum]
            },
        );
    }
}

/// A step of Adadelta.
#[derive(Clone, Copy, Debug)]
pub struct Adadelta {
    /// How much of it is gone.
    pub rate: f64,
    /// What stays of the means of squares, of gradients and of steps.
    pub rho: f64,
    /// Added to both.
    pub eps: f64,
}

impl Adadelta {
    /// v = ρ v + (1 - ρ) g², d = √(u + ε) / √(v + ε) g, u = ρ u + (1 - ρ) d², p -= r d
    pub fn step<T: Real>(self, way: Way, written: [&mut [T]; 3], g: &[T]) {
        let gradient = way.of::<T>();
        let [kept, fresh, eps, back] = [self.rho, 1.0 - self.rho, self.eps, -self.rate].map(T::from_f64);
        sweep_seldom(
            written,
            g,
            #[inline(always)]
            move |[p, square, passed], g| {
                let g = gradient(p, g);
                let square = square * kept + g * g * fresh;
                let far = (passed + eps).sqrt() / (square + eps).sqrt() * g;
                [p + far * back, square, passed * kept + far * far * fresh]
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::at_thread_counts;

    #[test]
    fn a_number_does_not_depend_on_its_neighbours_or_on_threads() {
        let means = Means { betas: [0.9, 0.99], shrink: Some(0.99) };
        let adam = Adam { length: 0.01, spread: 0.3, means, eps: 1e-8 };
        let way = Way { is_upward: true, decay: 0.1 };
        let numbers = |len: usize, seed: usize| -> Vec<f32> {
            (0..len).map(|index| ((index * 31 + seed) % 977) as f32 * 0.01 + 0.5).collect()
        };
        for len in [1, 7, 32, 33, 200, 150_001] {
            let given = [1, 2, 3, 4].map(|seed| numbers(len, seed));
            let g = numbers(len, 5);
            let all = at_thread_counts(|| {
                let mut written = given.clone();
                adam.with_greatest(way, written.each_mut().map(Vec::as_mut_slice), &g);
                written
            });
            assert!(all.iter().all(|written| *written == all[0]));
            for index in [0, len / 2, len - 1] {
                let mut alone = given.each_ref().map(|numbers| vec![numbers[index]]);
                adam.with_greatest(way, alone.each_mut().map(Vec::as_mut_slice), &g[index..=index]);
                assert_eq!(alone, all[0].each_ref().map(|numbers| vec![numbers[index]]));
            }
        }
    }
}
