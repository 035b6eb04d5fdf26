//! Functions beside values that were recorded to more digits than they have here (`tools/record_functions.py`), and
//! at the ends of their ranges; each in plain arithmetic and in fused.

use super::*;
use crate::dtype::{Element, Real};

/// How far a number is from another one, in units in the last place of that one.
fn apart<T: Real>(a: T, b: f64) -> f64 {
    let power = b.abs().max(T::min_positive_value().to_f64()).log2().floor().exp2();
    (a.to_f64() - b).abs() / (power * T::epsilon().to_f64())
}

/// The function of that name, and how many units it may be off.
fn function<A: Arithmetic>(name: &str) -> (fn(A) -> A, f64) {
    match name {
        "sin" => (sin, 1.0),
        "cos" => (cos, 1.0),
        "tan" => (tan, 1.25),
        "asin" => (asin, 1.25),
        "acos" => (acos, 1.25),
        "atan" => (atan, 1.0),
        "sinh" => (sinh, 1.25),
        "cosh" => (cosh, 1.25),
        "tanh" => (tanh, 1.5),
        "exp" => (exp, 1.0),
        "exp_2" => (exp_2, 1.25),
        "exp_m1" => (exp_m1, 1.5),
        "sigmoid" => (sigmoid, 2.0),
        "ln" => (ln, 1.0),
        "ln_1p" => (ln_1p, 1.0),
        "log_2" => (log_2, 1.25),
        "log_10" => (log_10, 1.25),
        "erf" => (erf, 1.5),
        "erfc" => (erfc, 4.0),
        "erfinv" => (erfinv, 3.0),
        "erfcx" => (erfcx, 4.0),
        "normal_quantile" => (normal_quantile, if A::SINGLE { 0.6 } else { 4.0 }),
        "i0" => (i0, 4.0),
        "i0e" => (i0e, 4.0),
        "i1" => (i1, 4.0),
        "i1e" => (i1e, 4.0),
        "lgamma" => (lgamma, 1.5),
        "digamma" => (digamma, 1.5),
        name => panic!("there is no function {name}"),
    }
}

/// The function of that name of two numbers, and how many units it may be off.
fn function_of_two<A: Arithmetic>(name: &str) -> (fn(A, A) -> A, f64) {
    match name {
        "atan2" => (atan2, 1.6),
        "hypot" => (hypot, 1.25),
        "pow" => (pow, if A::SINGLE { 0.6 } else { 1.0 }),
        "fmod" => (fmod, 0.0),
        "remainder" => (remainder, 0.5),
        name => panic!("there is no function {name}"),
    }
}

fn check<A: Arithmetic>(name: &str, x: f64, other: Option<f64>, expected: f64) {
    let number = |x: f64| A::from_f64(x);
    let (result, units) = match other {
        None => {
            let (function, units) = function(name);
            (function(number(x)), units)
        }
        Some(y) => {
            let (function, units) = function_of_two(name);
            (function(number(x), number(y)), units)
        }
    };
    // What was recorded is rounded too.
    let rounding = if A::SINGLE || units == 0.0 { 0.0 } else { 0.5 };
    let off = apart(result.get(), expected);
    let kind = (A::SINGLE, A::FUSED);
    assert!(
        off <= units + rounding,
        "{name}({x}, {other:?}) = {:?}, not {expected}: {off} {kind:?}",
        result.get()
    );
}

#[test]
fn functions_are_as_near_as_they_promise_to_what_was_recorded() {
    let mut count = 0;
    for line in include_str!("recorded.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| -> f64 { word.parse().unwrap() };
        let (x, expected) = (number(words[2]), number(words[words.len() - 1]));
        let other = (words.len() == 5).then(|| number(words[3]));
        match words[0] {
            "single" => {
                check::<f32>(words[1], x, other, expected);
                check::<Fused<f32>>(words[1], x, other, expected);
            }
            _ => {
                check::<f64>(words[1], x, other, expected);
                check::<Fused<f64>>(words[1], x, other, expected);
            }
        }
        count += 1;
    }
    assert!(count > 2_000, "only {count} values");
}

/// A function at a number in both precisions and both arithmetics, where all are the same.
macro_rules! are {
    ($function:ident($($x:expr),+), $expected:expr) => {{
        let expected: f64 = $expected;
        for result in [
            $function($($x as f32),+).to_f64(),
            $function($(Fused($x as f32)),+).0.to_f64(),
            $function($($x as f64),+),
            $function($(Fused($x as f64)),+).0,
        ] {
            let same = result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
            assert!(same, "{}{:?} = {result}, not {expected}", stringify!($function), ($($x,)+));
        }
    }};
}

const INFINITY: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[test]
fn functions_of_one_number_have_the_limits_of_the_exact_ones() {
    are!(exp(0.0), 1.0);
    are!(exp(-INFINITY), 0.0);
    are!(exp(INFINITY), INFINITY);
    are!(exp(-1e30), 0.0);
    are!(exp(NAN), NAN);
    are!(exp_2(10.0), 1024.0);
    are!(exp_2(-INFINITY), 0.0);
    are!(exp_2(NAN), NAN);
    are!(exp_m1(0.0), 0.0);
    are!(exp_m1(-0.0), -0.0);
    are!(exp_m1(-INFINITY), -1.0);
    are!(exp_m1(INFINITY), INFINITY);
    are!(exp_m1(NAN), NAN);
    are!(tanh(-0.0), -0.0);
    are!(tanh(INFINITY), 1.0);
    are!(tanh(-1e30), -1.0);
    are!(tanh(NAN), NAN);
    are!(sinh(-0.0), -0.0);
    are!(sinh(-INFINITY), -INFINITY);
    are!(sinh(NAN), NAN);
    are!(cosh(-INFINITY), INFINITY);
    are!(cosh(-0.0), 1.0);
    are!(erf(-0.0), -0.0);
    are!(erf(INFINITY), 1.0);
    are!(erf(-1e30), -1.0);
    are!(erf(NAN), NAN);
    are!(erfc(INFINITY), 0.0);
    are!(erfc(-INFINITY), 2.0);
    are!(erfc(0.0), 1.0);
    are!(erfc(NAN), NAN);
    are!(erfcx(INFINITY), 0.0);
    are!(erfcx(-INFINITY), INFINITY);
    are!(erfcx(-1e30), INFINITY);
    are!(erfcx(NAN), NAN);
    are!(normal_quantile(0.0), -INFINITY);
    are!(normal_quantile(0.5), 0.0);
    are!(normal_quantile(1.0), INFINITY);
    are!(normal_quantile(-1e-30), NAN);
    are!(normal_quantile(2.0), NAN);
    are!(normal_quantile(NAN), NAN);
    are!(i0(NAN), NAN);
    are!(i0(1000.0), INFINITY);
    are!(i0e(INFINITY), 0.0);
    are!(i0e(NAN), NAN);
    are!(i1(0.0), 0.0);
    are!(i1(-1000.0), -INFINITY);
    are!(i1e(-INFINITY), -0.0);
    are!(i1e(NAN), NAN);
    are!(entropy(0.0), 0.0);
    are!(entropy(1.0), -0.0);
    are!(entropy(-1.0), -INFINITY);
    are!(entropy(INFINITY), -INFINITY);
    are!(entropy(NAN), NAN);
    are!(erfinv(1.0), INFINITY);
    are!(erfinv(-1.0), -INFINITY);
    are!(erfinv(-0.0), -0.0);
    are!(erfinv(1.5), NAN);
    are!(ln(1.0), 0.0);
    are!(ln(0.0), -INFINITY);
    are!(ln(-0.0), -INFINITY);
    are!(ln(-1.0), NAN);
    are!(ln(-INFINITY), NAN);
    are!(ln(INFINITY), INFINITY);
    are!(ln(NAN), NAN);
    are!(log_2(8.0), 3.0);
    are!(log_2(0.0), -INFINITY);
    are!(log_10(1000.0), 3.0);
    are!(log_10(-1.0), NAN);
    are!(ln_1p(-0.0), -0.0);
    are!(ln_1p(-1.0), -INFINITY);
    are!(ln_1p(-2.0), NAN);
    are!(ln_1p(INFINITY), INFINITY);
    are!(ln_1p(NAN), NAN);
    are!(sin(-0.0), -0.0);
    are!(sin(NAN), NAN);
    are!(cos(0.0), 1.0);
    are!(tan(-0.0), -0.0);
    are!(asin(-0.0), -0.0);
    are!(asin(1.5), NAN);
    are!(acos(1.0), 0.0);
    are!(acos(-1.5), NAN);
    are!(atan(-0.0), -0.0);
    are!(sigmoid(0.0), 0.5);
    are!(sigmoid(-1000.0), 0.0);
    are!(sigmoid(1000.0), 1.0);
    assert!(is_many_turns(f32::INFINITY) && is_many_turns(f64::NEG_INFINITY) && !is_many_turns(f64::NAN));
}

#[test]
fn functions_of_two_numbers_have_the_limits_of_the_exact_ones() {
    are!(atan2(0.0, 1.0), 0.0);
    are!(atan2(-0.0, 1.0), -0.0);
    are!(atan2(0.0, 0.0), 0.0);
    are!(atan2(-0.0, 0.0), -0.0);
    are!(atan2(NAN, 1.0), NAN);
    are!(atan2(INFINITY, NAN), NAN);
    are!(hypot(3.0, -4.0), 5.0);
    are!(hypot(NAN, -INFINITY), INFINITY);
    are!(hypot(NAN, 1.0), NAN);
    are!(hypot(0.0, -0.0), 0.0);
    are!(pow(-2.0, 3.0), -8.0);
    are!(fmod(7.5, -2.0), 1.5);
    are!(fmod(-7.5, 2.0), -1.5);
    are!(fmod(-4.0, 2.0), -0.0);
    are!(fmod(1.0, 0.0), NAN);
    are!(fmod(INFINITY, 2.0), NAN);
    are!(fmod(2.0, -INFINITY), 2.0);
    are!(remainder(-7.5, 2.0), 0.5);
    are!(remainder(7.5, -2.0), -0.5);
}

#[test]
fn powers_are_those_of_the_standard_library_where_they_are_exact_or_have_none() {
    let numbers =
        [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, INFINITY, -INFINITY, NAN, 1e-45, 2.5, 1e300];
    for a in numbers {
        for b in numbers {
            let near = |result: f64, expected: f64, units: f64| {
                let same = result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
                let is_near = expected.is_normal() && apart(result, expected) <= units;
                assert!(same || is_near, "{a} to the power of {b} is {result}, not {expected}");
            };
            near(pow(a, b), a.powf(b), 1.0);
            near(pow(Fused(a), Fused(b)).0, a.powf(b), 1.0);
            let (a, b) = (a as f32, b as f32);
            let expected = (f64::from(a).powf(f64::from(b))) as f32;
            near(f64::from(pow(a, b)), f64::from(expected), 0.0);
            near(f64::from(pow(Fused(a), Fused(b)).0), f64::from(expected), 0.0);
        }
    }
}

#[test]
fn powers_of_double_precision_are_off_by_less_than_a_unit() {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for round in 0..200_000 {
        let spread = [0.001, 1.0, 40.0, 1400.0][round % 4];
        let a = ((next() - 0.5) * spread).exp2();
        let b = (next() - 0.5) * 2.0 * 1020.0 / a.log2().abs().max(0.02);
        let expected = a.powf(b);
        for result in [pow(a, b), pow(Fused(a), Fused(b)).0] {
            assert!(apart(result, expected) <= 1.5, "{a} to the power of {b} is {result}, not {expected}");
        }
    }
}

#[test]
fn logarithms_of_one_and_a_share_are_those_of_any_number() {
    for step in 0..=100_000 {
        let x = f64::from(step) / 1e5;
        for (result, expected) in
            [(ln_1p_of_share(x), x.ln_1p()), (ln_1p_of_share(Fused(x * 1e-9)).0, (x * 1e-9).ln_1p())]
        {
            assert!(apart(result, expected) <= 1.0, "{x}: {result}, not {expected}");
        }
        let x = x as f32;
        let expected = f64::from(x).ln_1p();
        assert!(apart(ln_1p_of_share(x), expected) <= 1.0, "{x}");
        assert!(apart(ln_1p_of_share(Fused(x)).0, expected) <= 1.0, "{x}");
    }
}

/// Numbers of all sizes and both signs.
fn of_all_sizes() -> impl Iterator<Item = f64> {
    let sizes = (-400..400).map(|power| f64::from(power) * 0.8);
    let numbers = sizes.flat_map(|power| (0..40).map(move |part| (power + f64::from(part) * 0.0173).exp2()));
    let near = (-40_000..40_000).map(|part| f64::from(part) * 0.018);
    numbers.flat_map(|x| [x, -x]).chain(near)
}

/// A function, and a shorter way to the same for some numbers.
type Ways<A> = [fn(A) -> A; 2];

/// Checks that the shorter ways of numbers that have them lead to the same bits. Answers how many numbers had one.
fn shorter<A: Arithmetic>() -> usize {
    let powers: [Ways<A>; 2] = [[exp, exp_of_near], [|x| sigmoid(-x), |x| sigmoid_of_near(-x)]];
    let mut count = 0;
    for x in of_all_sizes() {
        let x = A::from_f64(x);
        let has_power = if has_normal_power(x.get()) { &powers[..] } else { &[] };
        for [whole, short] in has_power {
            let (whole, short) = (whole(x).get().to_f64(), short(x).get().to_f64());
            assert_eq!(whole.to_bits(), short.to_bits(), "of {}", x.get().to_f64());
            count += 1;
        }
    }
    count
}

#[test]
fn shorter_ways_lead_to_the_same_bits() {
    let counts = [shorter::<f32>(), shorter::<f64>(), shorter::<Fused<f32>>(), shorter::<Fused<f64>>()];
    assert!(counts.iter().all(|&count| count > 50_000), "{counts:?}");
    assert!(!has_normal_power(89.0_f32) && !has_normal_power(-87.5_f32) && !has_normal_power(f64::NAN));
}
