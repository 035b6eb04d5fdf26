//! The negative log-likelihood of samples (`nll_loss`): the loss of each, given log-probabilities of all classes and
//! the index of the right one, and the gradients of the log-probabilities.

use std::mem::MaybeUninit;

use crate::dtype::Real;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;

/// The target classes of samples, and the weights of classes. A sample whose target is `ignored` has no loss.
#[derive(Clone, Copy)]
pub struct Classes<'a, T> {
    /// The target class of each sample.
    pub of: &'a [i64],
    /// How many classes there are.
    pub count: usize,
    /// The product of the dimensions behind that of the classes: how many samples lie side by side in each class.
    pub inner: usize,
    /// The weight of each class.
    pub weight: Option<&'a [T]>,
    /// The target that is ignored (`ignore_index`).
    pub ignored: i64,
}

impl<T: Real> Classes<'_, T> {
    /// The weight of a class.
    fn weight(&self, class: i64) -> T {
        self.weight.map_or(T::ONE, |weight| weight[class as usize])
    }

    /// The offset of the log-probability that a sample has for a class.
    fn place(&self, sample: usize, class: i64) -> usize {
        match self.inner {
            1 => sample * self.count + class as usize,
            inner => (sample / inner * self.count + class as usize) * inner + sample % inner,
        }
    }

    /// The sum of the weights of all samples, by which the mean is divided.
    pub fn total_weight(&self) -> f64 {
        let counted = self.of.iter().filter(|&&class| class != self.ignored);
        counted.fold(0.0, |total, &class| total + self.weight(class).to_f64())
    }

    /// The first target that is no class.
    pub fn outside(&self) -> Option<i64> {
        let is_outside = |class: i64| class != self.ignored && !(0..self.count as i64).contains(&class);
        self.of.iter().copied().find(|&class| is_outside(class))
    }
}

/// The loss of each sample: minus the log-probability of its class, times the weight of the class.
pub fn losses<T: Real>(classes: Classes<'_, T>, x: &[T], out: &mut [MaybeUninit<T>]) {
    parallel_parts(out, GRAIN, |start, part| {
        for (sample, out) in (start..).zip(part) {
            let class = classes.of[sample];
            // Not `x * 0`: the log-probability of an ignored sample may be infinite.
            out.write(match class == classes.ignored {
                true => T::ZERO,
                false => x[classes.place(sample, class)] * -classes.weight(class),
            });
        }
    });
}

/// The gradients of all log-probabilities. `gradient` is that of each sample's loss, or a single one for the reduced
/// loss; `total` is what the reduction divided by.
pub fn gradients<T: Real>(classes: Classes<'_, T>, gradient: &[T], total: T, out: &mut [MaybeUninit<T>]) {
    let Classes { count, inner, .. } = classes;
    let block = count * inner;
    parallel_parts(out, (GRAIN / block.max(1)).max(1) * block, |start, part| {
        let (first, samples) = (start / count, part.len() / count);
        part.fill(MaybeUninit::new(T::ZERO));
        for sample in first..first + samples {
            let class = classes.of[sample];
            if class != classes.ignored {
                let factor = -classes.weight(class) / total;
                let gradient = if gradient.len() == 1 { gradient[0] } else { gradient[sample] };
                part[classes.place(sample, class) - start].write(factor * gradient);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    #[test]
    fn samples_beside_each_other_and_one_after_another_lose_what_their_class_says() {
        let x: Vec<f64> = (0..24).map(f64::from).collect();
        let weight = [1.0, 2.0, 3.0];
        for (inner, places) in [(1, [0, 5, 7, 11, 14, 17, 18, 22]), (4, [0, 9, 6, 11, 20, 21, 14, 19])] {
            let of = [0, 2, 1, 2, 2, 2, 0, 1];
            let classes = Classes { of: &of, count: 3, inner, weight: Some(&weight), ignored: 1 };
            let found = written(8, |out| losses(classes, &x, out));
            let passed = written(24, |out| gradients(classes, &x[8..16], 2.0, out));
            for (sample, place) in places.into_iter().enumerate() {
                let factor = if of[sample] == 1 { 0.0 } else { -weight[of[sample] as usize] };
                assert_eq!(found[sample], factor * x[place]);
                assert_eq!(passed[place], factor * 0.5 * x[8 + sample]);
            }
            assert_eq!(passed.iter().filter(|&&x| x != 0.0).count(), 6);
            assert_eq!((classes.total_weight(), classes.outside()), (14.0, None));
        }
        let classes = Classes::<f64> { of: &[0, 9, -1], count: 3, inner: 1, weight: None, ignored: 9 };
        assert_eq!((classes.total_weight(), classes.outside()), (2.0, Some(-1)));
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let of: Vec<i64> = (0..80_000).map(|sample| sample * 7 % 5).collect();
        let x: Vec<f32> = (0..400_000).map(|index| (index % 977) as f32 * 0.1).collect();
        let classes = Classes { of: &of, count: 5, inner: 40, weight: None, ignored: 3 };
        let [one, two, four] = at_thread_counts(|| {
            let losses = written(80_000, |out| losses(classes, &x, out));
            (written(400_000, |out| gradients(classes, &losses, 3.0, out)), losses)
        });
        assert!(one == two && one == four);
    }
}
