//! What kinds of steps there are: what each remembers of a parameter, and what one is made of.

use std::cell::Cell;
use std::hint::black_box;

use crate::dispatch::modes::plain::{Plain, Reader, damaged};
use crate::dtype::Real;
use crate::error::Result;
use crate::kernels::neural::descent::{
    Adadelta, Adagrad, Adam, Adamax, Asgd, Means, NAdam, RAdam, RmsProp, Sgd, Way,
};
use crate::tensor::Array;

/// What optimisers do with a parameter. What it is multiplied by, and with what, is in 64 bits until it meets numbers.
#[derive(Clone, Copy, Debug)]
pub enum Descent {
    /// Stochastic gradient descent.
    Sgd(Sgd),
    /// Adam.
    Adam {
        /// What it has in common with its relations.
        moments: Moments,
        /// Whether steps are over the root of the greatest mean of squares so far.
        amsgrad: bool,
    },
    /// RMSprop, with the square of the mean taken from the mean of squares or without.
    RmsProp(RmsProp, bool),
    /// Adagrad.
    Adagrad {
        /// How far the first step goes.
        rate: f64,
        /// How much faster later ones become shorter.
        decay: f64,
        /// Added to the root of the sum of squares.
        eps: f64,
    },
    /// Adamax.
    Adamax(Moments),
    /// NAdam.
    NAdam {
        /// What it has in common with its relations.
        moments: Moments,
        /// How fast the momentum grows.
        momentum_decay: f64,
    },
    /// RAdam.
    RAdam(Moments),
    /// ASGD.
    Asgd {
        /// How far the first step goes.
        rate: f64,
        /// How fast parameters fall by themselves, and later steps become shorter.
        fade: f64,
        /// The power of the latter.
        alpha: f64,
        /// The step with which averaging begins.
        start: f64,
    },
    /// Adadelta.
    Adadelta(Adadelta),
}

/// What Adam and its relations have in common.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// How far a step goes.
    pub rate: f64,
    /// What stays of the mean, and of that of squares.
    pub betas: [f64; 2],
    /// Added to the root of the latter.
    pub eps: f64,
    /// How fast parameters fall by themselves.
    pub decay: f64,
}

impl Moments {
    /// What is left of a whole one after so many steps, and the root of the latter. Many parameters take the same step one
    /// after the other, and powers take longer than a small one's numbers.
    fn begun(&self, steps: f64) -> [f64; 3] {
        thread_local!(static LAST: Cell<([f64; 3], [f64; 3])> = const { Cell::new(([f64::NAN; 3], [0.0; 3])) });
        let [first, second] = self.betas;
        let of = [first, second, steps];
        let (last, begun) = LAST.get();
        // No number is the same as one that is none: those are calculated anew.
        if last == of {
            return begun;
        }
        let [first, second] = self.betas.map(|beta| 1.0 - power(beta, steps));
        let begun = [first, second, power(second, 0.5)];
        LAST.set((of, begun));
        begun
    }

    fn means(&self) -> Means {
        Means { betas: self.betas, shrink: (self.decay != 0.0).then_some(1.0 - self.rate * self.decay) }
    }
}

impl Descent {
    /// What is remembered of a parameter, in the order of `Step::states`.
    pub fn states(&self) -> &'static [&'static str] {
        match self {
            Descent::Sgd(Sgd { momentum: 0.0, .. }) => &[],
            Descent::Sgd(_) => &["momentum_buffer"],
            Descent::Adam { amsgrad: false, .. } | Descent::NAdam { .. } | Descent::RAdam(_) => {
                &["exp_avg", "exp_avg_sq"]
            }
            Descent::Adam { amsgrad: true, .. } => &["exp_avg", "exp_avg_sq", "max_exp_avg_sq"],
            Descent::RmsProp(RmsProp { momentum, .. }, is_centred) => match (*momentum > 0.0, is_centred) {
                (false, false) => &["square_avg"],
                (false, true) => &["square_avg", "grad_avg"],
                (true, false) => &["square_avg", "momentum_buffer"],
                (true, true) => &["square_avg", "grad_avg", "momentum_buffer"],
            },
            Descent::Adagrad { .. } => &["sum"],
            Descent::Adamax(_) => &["exp_avg", "exp_inf"],
            Descent::Asgd { .. } => &["ax"],
            Descent::Adadelta(_) => &["square_avg", "acc_delta"],
        }
    }

    /// The single numbers that are remembered of it, in the order of `Step::scalars`: how many steps there were is the
    /// first.
    pub fn scalars(&self) -> &'static [&'static str] {
        match self {
            Descent::Sgd(_) => &[],
            Descent::NAdam { .. } => &["step", "mu_product"],
            Descent::Asgd { .. } => &["step", "eta", "mu"],
            _ => &["step"],
        }
    }

    /// How far a step goes, and what stays of earlier ones: what schedules change.
    fn scheduled(&mut self) -> (&mut f64, Option<&mut f64>) {
        match self {
            Descent::Sgd(Sgd { rate, momentum, .. })
            | Descent::RmsProp(RmsProp { rate, momentum, .. }, _) => (rate, Some(momentum)),
            Descent::Adam { moments, .. } | Descent::NAdam { moments, .. } => {
                (&mut moments.rate, Some(&mut moments.betas[0]))
            }
            Descent::Adamax(moments) | Descent::RAdam(moments) => {
                (&mut moments.rate, Some(&mut moments.betas[0]))
            }
            Descent::Adagrad { rate, .. } | Descent::Asgd { rate, .. } => (rate, None),
            Descent::Adadelta(Adadelta { rate, .. }) => (rate, None),
        }
    }

    /// What stays of earlier steps, and how far one goes.
    pub(super) fn numbers(mut self) -> [f64; 2] {
        let (rate, inertia) = self.scheduled();
        [inertia.map_or(0.0, |inertia| *inertia), *rate]
    }

    /// The same of which as much stays, and which goes as far, as this; a file may say the latter alone.
    pub(super) fn with_numbers(mut self, numbers: &[f64]) -> Descent {
        let (rate, inertia) = self.scheduled();
        if let Some(&other) = numbers.last() {
            *rate = other;
        }
        if let (Some(inertia), [other, _]) = (inertia, numbers) {
            *inertia = *other;
        }
        self
    }

    /// Counts one more step, and moves on what else is a single number. Answers what the step is made of: how many there
    /// are, and the others.
    pub(super) fn count(&self, scalars: &[&Array]) -> Counted {
        let mut counted = Counted::default();
        if let [count, ..] = scalars {
            counted.steps = changed(count, |count, _| count + 1.0)[1];
        }
        match (*self, scalars) {
            (Descent::NAdam { momentum_decay, moments }, [_, product]) => {
                let momentum =
                    |step: f64| moments.betas[0] * (1.0 - 0.5 * power(0.96, step * momentum_decay));
                let (now, then) = (momentum(counted.steps), momentum(counted.steps + 1.0));
                let product = changed(product, |product, round| product * round(now))[1];
                counted.others = [
                    moments.rate * (1.0 - now) / (1.0 - product),
                    moments.rate * then / (1.0 - product * then),
                ];
            }
            (Descent::Asgd { rate, fade, alpha, start }, [_, eta, share]) => {
                let steps = counted.steps;
                let [eta, _] = changed(eta, |_, _| rate / power(1.0 + fade * rate * steps, alpha));
                let [share, _] = changed(share, |_, _| 1.0 / (steps - start).max(1.0));
                counted.others = [eta, share];
            }
            _ => {}
        }
        counted
    }

    /// One pass over the numbers of a parameter, its states and its gradient.
    pub(super) fn move_along<T: Real>(&self, way: Way, counted: Counted, arrays: &[&Array]) {
        let Counted { steps, others } = counted;
        let [rest @ .., last] = arrays else { return };
        let Some(g) = last.slice::<T>() else { return };
        Array::overwrite_slices(rest, &[last], |written| match (*self, written) {
            (Descent::Sgd(step), [p]) => step.plain(way, p, g),
            (Descent::Sgd(step), [p, buffer]) => step.with_momentum(way, [p, buffer], g),
            (Descent::Adam { moments, .. }, written) => {
                let [first, _, spread] = moments.begun(steps);
                let length = moments.rate / first;
                let step = Adam { length, spread, means: moments.means(), eps: moments.eps };
                match written {
                    [p, mean, square] => step.plain(way, [p, mean, square], g),
                    [p, mean, square, most] => step.with_greatest(way, [p, mean, square, most], g),
                    _ => {}
                }
            }
            (Descent::RmsProp(step, _), [p, square]) => step.plain(way, [p, square], g),
            (Descent::RmsProp(step, true), [p, square, mean]) => step.centred(way, [p, square, mean], g),
            (Descent::RmsProp(step, false), [p, square, buffer]) => {
                step.with_momentum(way, [p, square, buffer], g);
            }
            (Descent::RmsProp(step, _), [p, square, mean, buffer]) => {
                step.centred_with_momentum(way, [p, square, mean, buffer], g);
            }
            (Descent::Adagrad { rate, decay, eps }, [p, sum]) => {
                let step = Adagrad { rate: rate / (1.0 + (steps - 1.0) * decay), eps };
                step.plain(way, [p, sum], g);
            }
            (Descent::Adamax(moments), [p, mean, most]) => {
                let Moments { rate, betas, eps, .. } = moments;
                let step = Adamax { length: rate / moments.begun(steps)[0], betas, eps };
                step.step(way, [p, mean, most], g);
            }
            (Descent::NAdam { moments, .. }, [p, mean, square]) => {
                let spread = moments.begun(steps)[1];
                let step = NAdam { lengths: others, spread, means: moments.means(), eps: moments.eps };
                step.step(way, [p, mean, square], g);
            }
            (Descent::RAdam(moments), [p, mean, square]) => {
                let Moments { rate, eps, .. } = moments;
                let begun = moments.begun(steps)[0];
                let step = RAdam { rate, begun, means: moments.means(), eps, sure: sure(&moments, steps) };
                step.step(way, [p, mean, square], g);
            }
            (Descent::Asgd { fade, .. }, [p, mean]) => {
                let [eta, share] = others;
                Asgd { eta, fade, share }.step(way, [p, mean], g);
            }
            (Descent::Adadelta(step), [p, square, passed]) => step.step(way, [p, square, passed], g),
            _ => {}
        });
    }
}

/// What a step of RAdam makes of the mean of squares, once enough were seen: what is divided by its root, and the share
/// that is gone.
fn sure(moments: &Moments, steps: f64) -> Option<[f64; 2]> {
    let second = moments.betas[1];
    let rest = moments.begun(steps)[1];
    let most = 2.0 / (1.0 - second) - 1.0;
    let seen = most - 2.0 * steps * power(second, steps) / rest;
    (seen > 5.0).then(|| {
        let share = (seen - 4.0) * (seen - 2.0) * most / ((most - 4.0) * (most - 2.0) * seen);
        [power(rest, 0.5), power(share, 0.5)]
    })
}

/// How many steps there are, and what else a step is made of.
#[derive(Clone, Copy, Default)]
pub(super) struct Counted {
    steps: f64,
    others: [f64; 2],
}

/// Overwrites a single number, of what it is and of how its type rounds. Answers what it was and what it is.
fn changed(array: &Array, next: impl Fn(f64, fn(f64) -> f64) -> f64) -> [f64; 2] {
    fn rounded<T: Real>(number: f64) -> f64 {
        T::from_f64(number).to_f64()
    }
    fn change<T: Real>(array: &Array, next: impl Fn(f64, fn(f64) -> f64) -> f64) -> [f64; 2] {
        let mut both = [0.0; 2];
        array.overwrite_slice::<T>([], |numbers| {
            if let [number] = numbers {
                let before = number.to_f64();
                *number = T::from_f64(next(before, rounded::<T>));
                both = [before, number.to_f64()];
            }
        });
        both
    }
    dispatch!(float array.dtype, T => change::<T>(array, next), else { [0.0; 2] })
}

/// As languages have it: a root is not taken for a power of one half, which may round in another way.
fn power(base: f64, exponent: f64) -> f64 {
    base.powf(black_box(exponent))
}

impl Plain for Moments {
    fn write(&self, to: &mut Vec<u8>) {
        let Moments { rate, betas: [first, second], eps, decay } = *self;
        [rate, first, second, eps, decay].write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Moments> {
        let [rate, first, second, eps, decay] = <[f64; 5]>::read(from)?;
        Ok(Moments { rate, betas: [first, second], eps, decay })
    }
}

impl Plain for Descent {
    fn write(&self, to: &mut Vec<u8>) {
        match *self {
            Descent::Sgd(sgd) => {
                0u8.write(to);
                sgd.write(to);
            }
            Descent::Adam { moments, amsgrad } => {
                1u8.write(to);
                (moments, amsgrad).write(to);
            }
            Descent::RmsProp(own, is_centred) => {
                2u8.write(to);
                (own, is_centred).write(to);
            }
            Descent::Adagrad { rate, decay, eps } => (3u8, [rate, decay, eps]).write(to),
            Descent::Adamax(moments) => (4u8, moments).write(to),
            Descent::NAdam { moments, momentum_decay } => {
                5u8.write(to);
                (moments, momentum_decay).write(to);
            }
            Descent::RAdam(moments) => (6u8, moments).write(to),
            Descent::Asgd { rate, fade, alpha, start } => (7u8, [rate, fade, alpha, start]).write(to),
            Descent::Adadelta(Adadelta { rate, rho, eps }) => (8u8, [rate, rho, eps]).write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Descent> {
        Ok(match u8::read(from)? {
            0 => Descent::Sgd(Sgd::read(from)?),
            1 => {
                let (moments, amsgrad) = <(Moments, bool)>::read(from)?;
                Descent::Adam { moments, amsgrad }
            }
            2 => {
                let (own, is_centred) = <(RmsProp, bool)>::read(from)?;
                Descent::RmsProp(own, is_centred)
            }
            3 => {
                let [rate, decay, eps] = <[f64; 3]>::read(from)?;
                Descent::Adagrad { rate, decay, eps }
            }
            4 => Descent::Adamax(Moments::read(from)?),
            5 => {
                let (moments, momentum_decay) = <(Moments, f64)>::read(from)?;
                Descent::NAdam { moments, momentum_decay }
            }
            6 => Descent::RAdam(Moments::read(from)?),
            7 => {
                let [rate, fade, alpha, start] = <[f64; 4]>::read(from)?;
                Descent::Asgd { rate, fade, alpha, start }
            }
            8 => {
                let [rate, rho, eps] = <[f64; 3]>::read(from)?;
                Descent::Adadelta(Adadelta { rate, rho, eps })
            }
            _ => return Err(damaged("a step is unknown")),
        })
    }
}
