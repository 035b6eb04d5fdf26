//! Exponential functions and logarithms as plain arithmetic, which the compiler vectorises inside an
//! elementwise loop; the functions of the standard library are calls, one element at a time.
//!
//! Each is computed in the type of its argument and is within one to three units in the last place.

use crate::dtype::{Complex, DType, Real};

/// ln 2 in two parts, for single and double precision; products of the first with exponents are exact.
const LN_2_HIGH: [f64; 2] = [0.693_145_751_953_125, 0.693_147_180_369_123_8];
const LN_2_LOW: [f64; 2] = [std::f64::consts::LN_2 - LN_2_HIGH[0], 1.908_214_929_270_587_7e-10];

/// 1/2!, 1/3!, ... 1/13!
const INVERSE_FACTORIALS: [f64; 12] = {
    let mut inverse = [0.5; 12];
    let (mut index, mut factorial) = (1, 2.0);
    while index < inverse.len() {
        factorial *= (index + 2) as f64;
        inverse[index] = 1.0 / factorial;
        index += 1;
    }
    inverse
};

/// 2/3, 2/5, ... 2/21
const ODD_FRACTIONS: [f64; 10] = {
    let mut fractions = [0.0; 10];
    let mut index = 0;
    while index < fractions.len() {
        fractions[index] = 2.0 / (2 * index + 3) as f64;
        index += 1;
    }
    fractions
};

/// The series of erf x / x in x²
const ERF: [f64; 10] = {
    let mut coefficients = [0.0; 10];
    let (mut index, mut factor) = (0, std::f64::consts::FRAC_2_SQRT_PI);
    while index < coefficients.len() {
        coefficients[index] = factor / (2 * index + 1) as f64;
        index += 1;
        factor /= -(index as f64);
    }
    coefficients
};

/// e^(x²) (1 - erf x) in 1 / (1 + x/2), for x from 1 to 4: it is met where a Chebyshev polynomial is zero, and
/// by one part in 10⁹ elsewhere
const ERFC: [f64; 8] = [
    -0.000_164_236_437_086_817_7,
    0.285_061_620_115_570_6,
    0.258_751_366_385_519_1,
    0.351_030_323_178_788_5,
    -0.110_208_294_055_693_8,
    0.571_265_175_811_981_5,
    -0.476_525_274_384_609_3,
    0.120_852_433_163_171,
];

/// One of two numbers that stand for single and double precision.
#[inline(always)]
fn of<T: Real>(numbers: [f64; 2]) -> T {
    T::from_f64(numbers[usize::from(T::DTYPE != DType::Float32)])
}

/// c₀ + x c₁ + x² c₂ ... with as many coefficients as single or double precision needs
#[inline(always)]
fn series<T: Real>(x: T, coefficients: &[f64], terms: [usize; 2]) -> T {
    let mut term = terms[usize::from(T::DTYPE != DType::Float32)] - 1;
    let mut sum = T::from_f64(coefficients[term]);
    while term > 0 {
        term -= 1;
        sum = sum * x + T::from_f64(coefficients[term]);
    }
    sum
}

/// p, k and l of eˣ = (1 + p) 2ᵏ 2ˡ with p from -0.3 to 0.42
///
/// There are two powers of two since the exponent of one may lie beyond those of normal numbers.
#[inline(always)]
fn parts_of_power<T: Real>(x: T) -> (T, T, T) {
    // Beyond these the result is infinite or zero anyway. Comparisons leave NaN as it is.
    let (greatest, least) = (of([89.0, 710.0]), of([-104.0, -746.0]));
    let x = if x > greatest { greatest } else { x };
    let x = if x < least { least } else { x };
    // x = n ln 2 + r with |r| <= ln 2 / 2
    let n = (x * T::from_f64(std::f64::consts::LOG2_E) + T::ROUNDING) - T::ROUNDING;
    let r = (x - n * of(LN_2_HIGH)) - n * of(LN_2_LOW);
    let half = (n * T::from_f64(0.5) + T::ROUNDING) - T::ROUNDING;
    (r + r * r * series(r, &INVERSE_FACTORIALS, [6, 12]), half, n - half)
}

/// eˣ
#[inline(always)]
pub fn exp<T: Real>(x: T) -> T {
    let (p, k, l) = parts_of_power(x);
    (T::ONE + p) * T::power_of_two(k) * T::power_of_two(l)
}

/// eˣ - 1, without the cancellation near zero
#[inline(always)]
pub fn exp_m1<T: Real>(x: T) -> T {
    let (p, k, l) = parts_of_power(x);
    // One power stays outside: the product of both may be infinite where the result is not.
    let first = T::power_of_two(k);
    let y = ((first - T::power_of_two(-l)) + p * first) * T::power_of_two(l);
    y.copysign(x) // for -0
}

/// 1 / (1 + e⁻ˣ)
#[inline(always)]
pub fn sigmoid<T: Real>(x: T) -> T {
    T::ONE / (T::ONE + exp(-x))
}

/// tanh |x| = (e²ˣ - 1) / (e²ˣ + 1)
#[inline(always)]
pub fn tanh<T: Real>(x: T) -> T {
    // From here on the result is one.
    let (doubled, greatest) = (x.abs() + x.abs(), of([20.0, 40.0]));
    let doubled = if doubled > greatest { greatest } else { doubled };
    let less_one = exp_m1(doubled);
    (less_one / (less_one + T::from_f64(2.0))).copysign(x)
}

/// erf x; in double precision by a call
#[inline(always)]
pub fn erf<T: Real>(x: T) -> T {
    if T::DTYPE != DType::Float32 {
        return T::from_f64(libm::erf(x.as_()));
    }
    let near = x * series(x * x, &ERF, [10, 10]);
    // From four on the result is one.
    let (size, greatest) = (x.abs(), T::from_f64(4.0));
    let size = if size > greatest { greatest } else { size };
    let inverse = T::ONE / (T::ONE + T::from_f64(0.5) * size);
    let far = T::ONE - exp(-size * size) * series(inverse, &ERFC, [8, 8]);
    if size < T::ONE { near } else { far.copysign(x) }
}

/// ln x
#[inline(always)]
pub fn ln<T: Real>(x: T) -> T {
    // Numbers below the normal ones have no exponent of their own.
    let is_small = x < T::min_positive_value();
    let normal = if is_small { x * of([33_554_432.0, 18_014_398_509_481_984.0]) } else { x };
    let (m, n) = normal.mantissa_and_exponent();
    let n = if is_small { n - of([25.0, 54.0]) } else { n };
    let y = n * of(LN_2_HIGH) + ln_of_mantissa(m, n * of(LN_2_LOW));
    // Comparisons with NaN are false.
    let y = if x < T::HIGHEST { y } else { x };
    let below = if x == T::ZERO { T::LOWEST } else { T::nan() };
    if x > T::ZERO { y } else { below }
}

/// ln m + more for m from √½ to √2, by 2 artanh (f / (2 + f)) with f = m - 1
#[inline(always)]
fn ln_of_mantissa<T: Real>(m: T, more: T) -> T {
    let f = m - T::ONE;
    let s = f / (T::from_f64(2.0) + f);
    let squared = s * s;
    let rest = squared * series(squared, &ODD_FRACTIONS, [4, 10]);
    // f - f²/2 + ..., where f is exact, instead of 2s, which is rounded
    let half = T::from_f64(0.5) * f * f;
    f - (half - (s * (half + rest) + more))
}

/// ln (1 + x), without the cancellation near zero
#[inline(always)]
pub fn ln_1p<T: Real>(x: T) -> T {
    let sum = T::ONE + x;
    // What rounding took from the sum is made up for.
    let y = ln(sum) + (x - (sum - T::ONE)) / sum;
    let y = if sum == T::ONE { x } else { y };
    if sum > T::ZERO && sum < T::HIGHEST { y } else { ln(sum) }
}

/// ln(eᵃ + eᵇ)
pub fn log_add_exp(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let is_nan = |x: Complex<f64>| x.re.is_nan() || x.im.is_nan();
    if is_nan(a) || is_nan(b) {
        return Complex::new(f64::NAN, f64::NAN);
    }
    let (least, most) = if a.re < b.re { (a, b) } else { (b, a) };
    if least.re == most.re && !least.re.is_finite() {
        return if least.re < 0.0 { least } else { (least.exp() + most.exp()).ln() };
    }
    most + ((least - most).exp() + 1.0).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Function = fn(f64) -> f64;

    /// How far a number is from another one of a type, in units in the last place of that one.
    fn apart<T: Real>(a: f64, b: f64) -> f64 {
        let power = b.abs().max(T::min_positive_value().to_f64()).log2().floor().exp2();
        (a - b).abs() / (power * T::epsilon().to_f64())
    }

    /// Compares with the standard library over many numbers, which must all be within some units.
    fn compare(name: &str, ours: [Function; 2], exact: Function, numbers: &[f64], units: f64) {
        let mut checked = 0;
        for &x in numbers {
            let expected = exact(x);
            let off = apart::<f64>(ours[0](x), expected);
            assert!(off <= units, "{name}({x}) = {}, not {expected}", ours[0](x));
            let single = f64::from(x as f32);
            let expected = f64::from(exact(single) as f32);
            if expected.is_finite() {
                let off = apart::<f32>(ours[1](single), expected);
                assert!(off <= units, "{name}({single}) = {}, not {expected}", ours[1](single));
                checked += 1;
            }
        }
        assert!(checked > 10_000, "{name}: only {checked} numbers");
    }

    /// Both signs, from the least numbers to beyond what is asked for.
    fn numbers(greatest: f64) -> Vec<f64> {
        let steps = (1..8_000).map(|step| f64::from(step) * greatest / 8_000.0);
        let scales = (0..8_000).map(|step| greatest * 0.995f64.powi(step));
        steps.chain(scales).flat_map(|x| [x, -x]).collect()
    }

    /// The function in double and in single precision.
    macro_rules! both {
        ($function:ident) => {
            [$function::<f64> as Function, |x| f64::from($function(x as f32))]
        };
    }

    #[test]
    fn functions_are_within_a_few_units_in_the_last_place() {
        compare("exp", both!(exp), f64::exp, &numbers(700.0), 1.0);
        compare("exp_m1", both!(exp_m1), f64::exp_m1, &numbers(700.0), 2.0);
        compare("tanh", both!(tanh), f64::tanh, &numbers(50.0), 3.0);
        compare("erf", both!(erf), libm::erf, &numbers(5.0), 2.0);
        let positive: Vec<f64> = numbers(1e30).into_iter().map(f64::abs).collect();
        compare("ln", both!(ln), f64::ln, &positive, 1.0);
        let around_one: Vec<f64> = numbers(0.5).into_iter().map(|x| 1.0 + x).collect();
        compare("ln", both!(ln), f64::ln, &around_one, 1.0);
        compare("ln_1p", both!(ln_1p), f64::ln_1p, &numbers(0.999), 2.0);
        compare("ln_1p", both!(ln_1p), f64::ln_1p, &positive, 2.0);
    }

    /// The function at a number in single and double precision, where both are the same.
    macro_rules! both_are {
        ($function:ident($x:expr), $expected:expr) => {
            let (x, expected): (f64, f64) = ($x, $expected);
            for result in both!($function).map(|function| function(x)) {
                let same = result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
                assert!(same, "{}({x}) = {result}, not {expected}", stringify!($function));
            }
        };
    }

    #[test]
    fn functions_have_the_limits_of_the_exact_ones() {
        let (infinity, nan) = (f64::INFINITY, f64::NAN);
        both_are!(exp(0.0), 1.0);
        both_are!(exp(-infinity), 0.0);
        both_are!(exp(infinity), infinity);
        both_are!(exp(-1e30), 0.0);
        both_are!(exp(nan), nan);
        assert_eq!(exp(-745.0f64), (-745.0f64).exp());
        assert_eq!((exp(88.5f32), exp(-103.0f32)), (88.5f64.exp() as f32, (-103.0f64).exp() as f32));
        both_are!(exp_m1(0.0), 0.0);
        both_are!(exp_m1(-0.0), -0.0);
        both_are!(exp_m1(-infinity), -1.0);
        both_are!(exp_m1(infinity), infinity);
        both_are!(exp_m1(nan), nan);
        assert!(exp_m1(88.7f32).is_finite() && exp_m1(709.7f64).is_finite());
        both_are!(tanh(-0.0), -0.0);
        both_are!(tanh(infinity), 1.0);
        both_are!(tanh(-1e30), -1.0);
        both_are!(tanh(nan), nan);
        assert_eq!((tanh(1e-40f32), tanh(5e-324f64)), (1e-40, 5e-324));
        both_are!(erf(-0.0), -0.0);
        both_are!(erf(infinity), 1.0);
        both_are!(erf(-1e30), -1.0);
        both_are!(erf(nan), nan);
        both_are!(ln(1.0), 0.0);
        both_are!(ln(0.0), -infinity);
        both_are!(ln(-0.0), -infinity);
        both_are!(ln(-1.0), nan);
        both_are!(ln(-infinity), nan);
        both_are!(ln(infinity), infinity);
        both_are!(ln(nan), nan);
        assert_eq!((ln(1e-45f32), ln(5e-324f64)), (1e-45f32.ln(), 5e-324f64.ln()));
        both_are!(ln_1p(-0.0), -0.0);
        both_are!(ln_1p(-1.0), -infinity);
        both_are!(ln_1p(-2.0), nan);
        both_are!(ln_1p(infinity), infinity);
        both_are!(ln_1p(nan), nan);
        assert_eq!((ln_1p(1e-40f32), ln_1p(5e-324f64)), (1e-40, 5e-324));
        both_are!(sigmoid(0.0), 0.5);
        both_are!(sigmoid(-1000.0), 0.0);
        both_are!(sigmoid(1000.0), 1.0);
    }
}
