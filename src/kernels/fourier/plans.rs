//! How the libraries `rustfft` and `realfft` transform lines of one length: found once, and kept as long as there are
//! not too many.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use crate::dtype::{Complex, Real};
use crate::kernels::interrupt;

/// Elements of all lines together that are kept plans for, and how many plans that are.
const KEPT: usize = 1 << 21;
const PLANS: usize = 256;

/// Lines from which on memory is held for a plan, which the libraries take for granted, and how many times the length
/// they may take.
const LONG: usize = 1 << 18;
const TIMES: usize = 8;

/// Plans of one kind, by length and direction.
struct Shelf<P> {
    plans: HashMap<(usize, bool), P>,
    elements: usize,
}

impl<P: Clone> Shelf<P> {
    fn new() -> Mutex<Self> {
        Mutex::new(Shelf { plans: HashMap::new(), elements: 0 })
    }

    fn plan(shelf: &Mutex<Self>, key: (usize, bool), make: impl FnOnce() -> P) -> P {
        if let Some(plan) = shelf.lock().plans.get(&key) {
            return plan.clone();
        }
        let bytes = key.0.saturating_mul(TIMES * size_of::<Complex<f64>>());
        let reserve = (key.0 >= LONG).then(|| interrupt::reserve(bytes));
        let plan = make();
        drop(reserve);
        let mut shelf = shelf.lock();
        if shelf.elements + key.0 > KEPT || shelf.plans.len() >= PLANS {
            (shelf.plans, shelf.elements) = (HashMap::new(), 0);
        }
        if key.0 <= KEPT && shelf.plans.insert(key, plan.clone()).is_none() {
            shelf.elements += key.0;
        }
        plan
    }
}

type Both<T> = Arc<dyn Fft<T>>;
type There<T> = Arc<dyn RealToComplex<T>>;
type Back<T> = Arc<dyn ComplexToReal<T>>;

/// All plans in one precision.
pub struct Plans<T> {
    complex: Mutex<Shelf<Both<T>>>,
    there: Mutex<Shelf<There<T>>>,
    back: Mutex<Shelf<Back<T>>>,
}

/// Numbers that lines are transformed of.
pub trait Precision: Real + FftNum {
    /// The plans that are kept.
    fn plans() -> &'static Plans<Self>;
}

impl<T: FftNum> Plans<T> {
    fn new() -> Self {
        Plans { complex: Shelf::new(), there: Shelf::new(), back: Shelf::new() }
    }

    /// From complex numbers to complex numbers.
    pub(super) fn complex(&self, size: usize, forward: bool) -> Both<T> {
        let direction = if forward { FftDirection::Forward } else { FftDirection::Inverse };
        Shelf::plan(&self.complex, (size, forward), || FftPlanner::new().plan_fft(size, direction))
    }

    /// From real numbers to the first half of the complex ones.
    pub(super) fn there(&self, size: usize) -> There<T> {
        Shelf::plan(&self.there, (size, true), || RealFftPlanner::new().plan_fft_forward(size))
    }

    /// From such a half to real numbers.
    pub(super) fn back(&self, size: usize) -> Back<T> {
        Shelf::plan(&self.back, (size, false), || RealFftPlanner::new().plan_fft_inverse(size))
    }
}

impl Precision for f32 {
    fn plans() -> &'static Plans<Self> {
        static PLANS: LazyLock<Plans<f32>> = LazyLock::new(Plans::new);
        &PLANS
    }
}

impl Precision for f64 {
    fn plans() -> &'static Plans<Self> {
        static PLANS: LazyLock<Plans<f64>> = LazyLock::new(Plans::new);
        &PLANS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_made_once_and_many_make_room_for_others() {
        let shelf = Shelf::new();
        assert_eq!(Shelf::plan(&shelf, (5, true), || 1), 1);
        assert_eq!(Shelf::plan(&shelf, (5, true), || 2), 1);
        assert_eq!(Shelf::plan(&shelf, (5, false), || 3), 3);
        (0..PLANS).for_each(|size| {
            assert_eq!(Shelf::plan(&shelf, (size, true), || 4).min(4), if size == 5 { 1 } else { 4 })
        });
        assert!(shelf.lock().plans.len() < PLANS);
        assert_eq!(Shelf::plan(&shelf, (KEPT + 1, true), || 5), 5);
        assert_eq!(Shelf::plan(&shelf, (KEPT + 1, true), || 6), 6);
    }
}
