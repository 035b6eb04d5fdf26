//! Logarithms.

use std::f64::consts::{LOG2_E, LOG10_E};

use super::exponential::{LN_2_HIGH, LN_2_LOW};
use super::{Arithmetic, exact_sum, of, polynomial};
use crate::dtype::Complex;

/// (ln(1 + x) - x + x²/2)/x³ for 1 + x from √½ to √2, to 2⁻³⁰
const LN_SINGLE: [f64; 9] = [
    0.333_333_104_100_634_9,
    -0.249_999_873_638_459_7,
    0.200_022_283_932_665_25,
    -0.166_692_106_845_285_13,
    0.142_185_965_092_790_74,
    -0.123_850_036_399_305_67,
    0.118_740_482_489_072_61,
    -0.117_863_939_336_040_1,
    0.069_089_406_018_266_46,
];

/// (2 artanh x - 2x)/x³ in x², for (1 + x)/(1 - x) from √½ to √2, to 2⁻⁵⁸
const LN_DOUBLE: [f64; 7] = [
    0.666_666_666_666_673_5,
    0.399_999_999_994_122_1,
    0.285_714_287_428_246_67,
    0.222_221_985_352_634_63,
    0.181_835_660_536_056_7,
    0.153_140_108_282_283_92,
    0.147_963_135_578_752_6,
];

/// log₂ e and log₁₀ e less their nearest numbers, for single and double precision.
const LOG2_E_LOW: [f64; 2] = [LOG2_E - LOG2_E as f32 as f64, 2.035_527_374_093_103_3e-17];
const LOG10_E_LOW: [f64; 2] = [LOG10_E - LOG10_E as f32 as f64, 1.098_319_650_216_765e-17];

/// log₁₀ 2 in two parts; products of the first with exponents are exact.
const LOG10_2_HIGH: [f64; 2] = [0.301_025_390_625, 0.301_029_995_663_157];
const LOG10_2_LOW: [f64; 2] = [std::f64::consts::LOG10_2 - LOG10_2_HIGH[0], 8.241_712_586_023_572e-13];

/// m and n with x = m 2ⁿ and m from √½ to √2, for numbers above zero
#[inline(always)]
pub(super) fn normal_parts<A: Arithmetic>(x: A) -> (A, A) {
    // Numbers below the normal ones have no exponent of their own.
    let is_small = x < A::new(num_traits::Float::min_positive_value());
    let normal = if is_small { x * of([33_554_432.0, 18_014_398_509_481_984.0]) } else { x };
    let (m, n) = normal.mantissa_and_exponent();
    (m, n - if is_small { of([25.0, 54.0]) } else { A::from_f64(0.0) })
}

/// f, r and n with x = (1 + f) 2ⁿ and ln(1 + f) = f + r, for numbers above zero
#[inline(always)]
fn parts_of_logarithm<A: Arithmetic>(x: A) -> (A, A, A) {
    let (m, n) = normal_parts(x);
    let f = m - A::from_f64(1.0);
    (f, rest_of_logarithm(f), n)
}

/// ln(1 + f) - f for 1 + f from √½ to √2
#[inline(always)]
fn rest_of_logarithm<A: Arithmetic>(f: A) -> A {
    let half = A::from_f64(0.5);
    if A::SINGLE {
        return f * f * f.times_plus(polynomial(f, &LN_SINGLE), -half);
    }
    let s = f / (A::from_f64(2.0) + f);
    let squared = s * s;
    let bend = half * f * f;
    s.times_plus(squared.times_plus(polynomial(squared, &LN_DOUBLE), bend), -bend)
}

/// The result for numbers above zero and below infinity, and those for all others.
#[inline(always)]
fn with_limits<A: Arithmetic>(x: A, y: A) -> A {
    // Comparisons with NaN are false.
    let y = if x < A::from_f64(f64::INFINITY) { y } else { x };
    let below = A::from_f64(if x == A::from_f64(0.0) { f64::NEG_INFINITY } else { f64::NAN });
    if x > A::from_f64(0.0) { y } else { below }
}

/// n ln 2 + f + r
#[inline(always)]
fn joined<A: Arithmetic>(n: A, f: A, r: A) -> A {
    // The first is larger, or nothing at all.
    let (sum, rest) = exact_sum(n * of(LN_2_HIGH), f);
    sum + (rest + n.times_plus(of(LN_2_LOW), r))
}

/// ln x
#[inline(always)]
pub fn ln<A: Arithmetic>(x: A) -> A {
    let (f, r, n) = parts_of_logarithm(x);
    with_limits(x, joined(n, f, r))
}

/// The logarithm to another base: of e in two parts, and of two in two parts.
#[inline(always)]
fn to_base<A: Arithmetic>(x: A, e: [A; 2], two: [A; 2]) -> A {
    let (f, r, n) = parts_of_logarithm(x);
    let (t, rest) = f.exact_product(e[0]);
    let rest = r.times_plus(e[0], f.times_plus(e[1], rest));
    let (sum, lost) = exact_sum(n * two[0], t);
    with_limits(x, sum + (lost + n.times_plus(two[1], rest)))
}

/// log₂ x
#[inline(always)]
pub fn log_2<A: Arithmetic>(x: A) -> A {
    to_base(x, [A::from_f64(LOG2_E), of(LOG2_E_LOW)], [A::from_f64(1.0), A::from_f64(0.0)])
}

/// log₁₀ x
#[inline(always)]
pub fn log_10<A: Arithmetic>(x: A) -> A {
    to_base(x, [A::from_f64(LOG10_E), of(LOG10_E_LOW)], [of(LOG10_2_HIGH), of(LOG10_2_LOW)])
}

/// ln (1 + x), without the cancellation near zero
#[inline(always)]
pub fn ln_1p<A: Arithmetic>(x: A) -> A {
    let one = A::from_f64(1.0);
    let sum = one + x;
    let (f, r, n) = parts_of_logarithm(sum);
    // What rounding took from the sum is made up for.
    let y = joined(n, f, r + (x - (sum - one)) / sum);
    let y = if sum == one { x } else { y };
    with_limits(sum, y)
}

/// ln (1 + x) of numbers from zero to one
#[inline(always)]
pub fn ln_1p_of_share<A: Arithmetic>(x: A) -> A {
    let (zero, one) = (A::from_f64(0.0), A::from_f64(1.0));
    let is_large = x > A::from_f64(std::f64::consts::SQRT_2 - 1.0);
    let below = x - one;
    let f = if is_large { below * A::from_f64(0.5) } else { x };
    // What rounding took from the difference, which is only below one half, times a slope of 1/(1 + f) there.
    let lost = if is_large { (x - (below + one)) * A::from_f64(0.5 * 1.37) } else { zero };
    joined(if is_large { one } else { zero }, f, rest_of_logarithm(f) + lost)
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

/// -x ln x, 0 at 0 and -∞ below
#[inline(always)]
pub fn entropy<A: Arithmetic>(x: A) -> A {
    let zero = A::from_f64(0.0);
    let y = -x * ln(x);
    let y = if x < zero { A::from_f64(f64::NEG_INFINITY) } else { y };
    if x == zero { zero } else { y }
}
