//! Steps along running means: the relations of Adam, and what averages the parameters themselves.

use super::{Row, Way, sweep, sweep_seldom, toward};
use crate::dtype::{Real, Ring};

/// The greater of two numbers; what is not a number stays that.
#[inline(always)]
fn greater<T: Real>(a: T, b: T) -> T {
    if a > b || Ring::is_nan(a) { a } else { b }
}

/// A step of Adamax.
#[derive(Clone, Copy, Debug)]
pub struct Adamax {
    /// How far it goes, with what makes up for a mean that has just begun.
    pub length: f64,
    /// What stays of the mean, and of the greatest gradient.
    pub betas: [f64; 2],
    /// Added to the size of a gradient.
    pub eps: f64,
}

impl Adamax {
    /// m = m + (1 - β) (g - m), u = max(γ u, |g| + ε), p -= l m / u
    pub fn step<T: Real>(self, way: Way, written: [&mut [T]; 3], g: &[T]) {
        let (gradient, nearer) = (way.of::<T>(), toward::<T>(1.0 - self.betas[0]));
        let [kept, eps, back] = [self.betas[1], self.eps, -self.length].map(T::from_f64);
        sweep_seldom(
            written,
            g,
            #[inline(always)]
            move |[p, mean, most], g| {
                let g = gradient(p, g);
                let mean = nearer(mean, g);
                let most = greater(most * kept, g.abs() + eps);
                [p + mean / most * back, mean, most]
            },
        );
    }
}

/// The running means of a gradient and of its square, and what a parameter is multiplied by before.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    /// What stays of the mean, and of that of squares.
    pub betas: [f64; 2],
    /// What the parameter is multiplied by before, if by anything.
    pub shrink: Option<f64>,
}

impl Means {
    /// The parameter, the means, and the gradient that these have met.
    pub(super) fn moved<T: Real>(self, way: Way) -> impl Fn(Row<T, 3>, T) -> (Row<T, 3>, T) + Copy + Sync {
        let (gradient, nearer) = (way.of::<T>(), toward::<T>(1.0 - self.betas[0]));
        let [kept, fresh] = [self.betas[1], 1.0 - self.betas[1]].map(T::from_f64);
        let (shrinks, shrink) = (self.shrink.is_some(), T::from_f64(self.shrink.unwrap_or(1.0)));
        #[inline(always)]
        move |[p, mean, square], g| {
            let g = gradient(p, g);
            let p = if shrinks { p * shrink } else { p };
            ([p, nearer(mean, g), square * kept + g * g * fresh], g)
        }
    }
}

/// A step of NAdam.
#[derive(Clone, Copy, Debug)]
pub struct NAdam {
    /// How far it goes along the gradient, and along the mean.
    pub lengths: [f64; 2],
    /// What the mean of squares is divided by, since it has just begun.
    pub spread: f64,
    /// What it is of.
    pub means: Means,
    /// Added to the root.
    pub eps: f64,
}

impl NAdam {
    /// p -= k g / (√(v / s) + ε) + l m / (√(v / s) + ε)
    pub fn step<T: Real>(self, way: Way, written: [&mut [T]; 3], g: &[T]) {
        let moved = self.means.moved::<T>(way);
        let [spread, eps] = [self.spread, self.eps].map(T::from_f64);
        let [along, on] = self.lengths.map(|length| T::from_f64(-length));
        sweep_seldom(
            written,
            g,
            #[inline(always)]
            move |row, g| {
                let ([p, mean, square], g) = moved(row, g);
                let over = (square / spread).sqrt() + eps;
                [p + g / over * along + mean / over * on, mean, square]
            },
        );
    }
}

/// A step of RAdam.
#[derive(Clone, Copy, Debug)]
pub struct RAdam {
    /// How far it goes.
    pub rate: f64,
    /// What the mean is divided by, since it has just begun.
    pub begun: f64,
    /// What it is of.
    pub means: Means,
    /// Added to the root of the mean of squares.
    pub eps: f64,
    /// What is divided by that root, and by how much more the step is shortened, once enough was seen.
    pub sure: Option<[f64; 2]>,
}

impl RAdam {
    /// p -= r m / b, or r (m / b) (s / (√v + ε)) c
    pub fn step<T: Real>(self, way: Way, written: [&mut [T]; 3], g: &[T]) {
        let moved = self.means.moved::<T>(way);
        let [rate, begun, eps] = [self.rate, self.begun, self.eps].map(T::from_f64);
        let (is_sure, [spread, share]) =
            (self.sure.is_some(), self.sure.unwrap_or([1.0; 2]).map(T::from_f64));
        sweep_seldom(
            written,
            g,
            #[inline(always)]
            move |row, g| {
                let ([p, mean, square], _) = moved(row, g);
                let far = mean / begun * rate;
                // A number over a tensor is a multiple of its reciprocal.
                let over = T::ONE / (square.sqrt() + eps);
                let far = if is_sure { far * (over * spread) * share } else { far };
                [p - far, mean, square]
            },
        );
    }
}

/// A step of ASGD.
#[derive(Clone, Copy, Debug)]
pub struct Asgd {
    /// How far it goes.
    pub eta: f64,
    /// How fast parameters fall by themselves.
    pub fade: f64,
    /// How much of the parameter goes into the mean.
    pub share: f64,
}

impl Asgd {
    /// p = (1 - f e) p - e g, a += s (p - a)
    pub fn step<T: Real>(self, way: Way, written: [&mut [T]; 2], g: &[T]) {
        let gradient = way.of::<T>();
        let [shrink, back, share] = [1.0 - self.fade * self.eta, -self.eta, self.share].map(T::from_f64);
        let is_all = self.share == 1.0;
        sweep_seldom(
            written,
            g,
            #[inline(always)]
            move |[p, mean], g| {
                let p = p * shrink + gradient(p, g) * back;
                [p, if is_all { p } else { mean + (p - mean) * share }]
            },
        );
    }
}

/// A step of Adam, of one parameter's own count of steps.
#[derive(Clone, Copy, Debug)]
pub struct Adam {
    /// How far it goes, with what makes up for means that have just begun.
    pub length: f64,
    /// What the root of the mean of squares is divided by, for the same reason.
    pub spread: f64,
    /// What it is of.
    pub means: Means,
    /// Added to the root.
    pub eps: f64,
}

impl Adam {
    /// m = m + (1 - β) (g - m), v = β v + (1 - β) g², p -= l m / (√v / s + ε)
    pub fn plain<T: Real>(self, way: Way, written: [&mut [T]; 3], g: &[T]) {
        let (moved, advance) = (self.means.moved::<T>(way), self.advance::<T>());
        sweep(
            written,
            g,
            #[inline(always)]
            move |row, g| {
                let ([p, mean, square], _) = moved(row, g);
                [advance(p, mean, square), mean, square]
            },
        );
    }

    /// The same over the root of the greatest v so far.
    pub fn with_greatest<T: Real>(self, way: Way, written: [&mut [T]; 4], g: &[T]) {
        let (moved, advance) = (self.means.moved::<T>(way), self.advance::<T>());
        sweep(
            written,
            g,
            #[inline(always)]
            move |[p, mean, square, most], g| {
                let ([p, mean, square], _) = moved([p, mean, square], g);
                let most = greater(most, square);
                [advance(p, mean, most), mean, square, most]
            },
        );
    }

    fn advance<T: Real>(self) -> impl Fn(T, T, T) -> T + Copy + Sync {
        let [spread, eps, back] = [self.spread, self.eps, -self.length].map(T::from_f64);
        #[inline(always)]
        move |p, mean, square| p + mean / (square.sqrt() / spread + eps) * back
    }
}
