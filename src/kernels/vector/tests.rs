use super::*;
use crate::kernels::pointwise::math;
use crate::kernels::testing::{at_thread_counts, written};

#[derive(Clone, Copy)]
struct Sine;

impl Function<0> for Sine {
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        math::sin(x)
    }

    const HAS_FAR: bool = true;

    fn is_far<T: Real>(&self, x: T, []: [T; 0]) -> bool {
        math::is_many_turns(x)
    }

    fn far<T: Real>(&self, x: T, []: [T; 0]) -> T {
        x.sin()
    }
}

#[derive(Clone, Copy)]
struct Angle;

impl Function<1> for Angle {
    fn at<A: Arithmetic>(&self, x: A, [y]: [A; 1]) -> A {
        math::atan2(x, y)
    }
}

fn numbers<T: Real>(len: usize) -> Vec<T> {
    (0..len).map(|index| T::from_f64(((index * 31) % 977) as f64 * 0.37 - 170.0)).collect()
}

/// The function of each number by itself, and of all at once.
fn compared<T: Real>() {
    for len in [0, 1, 3, 5, 31, 64, 65, 100, 1023, 1024, 1030, 70_001] {
        let (mut a, b) = (numbers::<T>(len), numbers::<T>(len + 7).split_off(7));
        if len > 40 {
            a[17] = T::from_f64(3e30);
        }
        let all = written(len, |out| map(&a, [], out, Sine));
        let single = a.iter().map(|x| written(1, |out| map(&[*x], [], out, Sine))[0]);
        assert_eq!(all, single.collect::<Vec<T>>());
        let all = written(len, |out| map(&a, [&b], out, Angle));
        let single = a.iter().zip(&b).map(|(x, y)| written(1, |out| map(&[*x], [&[*y]], out, Angle))[0]);
        assert_eq!(all, single.collect::<Vec<T>>());
        map_in_place(&mut a, [&b], Angle);
        assert_eq!(a, all);
    }
}

#[test]
fn a_number_does_not_depend_on_its_neighbours() {
    compared::<f32>();
    compared::<f64>();
}

/// 2x above zero, and -1 elsewhere.
#[derive(Clone, Copy)]
struct Kinked;

impl Function<0> for Kinked {
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        if x > A::from_f64(0.0) { x * A::from_f64(2.0) } else { A::from_f64(-1.0) }
    }

    const HAS_EASY: bool = true;

    fn is_easy<T: Real>(&self, x: T) -> bool {
        x > T::ZERO
    }

    fn factor<T: Real>(&self) -> T {
        T::from_f64(2.0)
    }
}

#[test]
fn stretches_of_easy_numbers_are_what_others_are() {
    let mut a: Vec<f64> = (1..5000).map(f64::from).collect();
    a[3000] = -5.0;
    a[4000] = f64::NAN;
    let found = written(a.len(), |out| map(&a, [], out, Kinked));
    let expected = |x: &f64| if *x > 0.0 { x * 2.0 } else { -1.0 };
    assert_eq!(found, a.iter().map(expected).collect::<Vec<_>>());
}

/// 3x from one on, and 7 elsewhere, without a look at which it is where all are from one on.
#[derive(Clone, Copy)]
struct Raised;

impl Function<0> for Raised {
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        let one = A::from_f64(1.0);
        if x < one { A::from_f64(7.0) } else { x * A::from_f64(3.0) }
    }

    const HAS_NEAR: bool = true;

    fn is_near<T: Real>(&self, x: T) -> bool {
        x >= T::ONE
    }

    fn near<A: Arithmetic>(&self, x: A) -> A {
        x * A::from_f64(3.0)
    }
}

#[test]
fn chunks_of_near_numbers_go_the_shorter_way_and_others_do_not() {
    let mut a: Vec<f64> = (1..5000).map(f64::from).collect();
    (a[2000], a[4998]) = (-5.0, 0.0);
    let found = written(a.len(), |out| map(&a, [], out, Raised));
    let expected = |x: &f64| if *x < 1.0 { 7.0 } else { x * 3.0 };
    assert_eq!(found, a.iter().map(expected).collect::<Vec<_>>());
    map_in_place(&mut a, [], Raised);
    assert_eq!(found, a);
}

/// The number less one, or what is the same for whole numbers.
#[derive(Clone, Copy)]
struct Before;

impl Function<0> for Before {
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        x - A::from_f64(1.0)
    }

    const HAS_TWIN: bool = true;

    fn has_twin<T: Real>(&self, x: T) -> bool {
        x != T::from_f64(900.0)
    }

    fn twin<A: Arithmetic>(&self, x: A) -> A {
        x + A::from_f64(-1.0)
    }
}

#[test]
fn numbers_go_either_way() {
    let a: Vec<f64> = (0..1500).map(f64::from).collect();
    let found = written(a.len(), |out| map(&a, [], out, Before));
    assert!(found.iter().zip(&a).all(|(y, x)| *y == x - 1.0));
}

#[test]
fn the_bits_are_the_same_at_any_number_of_threads() {
    let a = numbers::<f32>(200_000);
    let [one, two, four] = at_thread_counts(|| written(a.len(), |out| map(&a, [], out, Sine)));
    assert!(one == two && one == four);
}
