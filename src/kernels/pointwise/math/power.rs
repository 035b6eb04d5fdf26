//! Powers, and lengths of hypotenuses.

use std::f64::consts::LOG2_E;

use super::exponential::{EXP_2, scaled};
use super::logarithm::normal_parts;
use super::{Arithmetic, exact_sum, polynomial};

/// (2 artanh x - 2x)/x³ in x², for (1 + x)/(1 - x) from √½ to √2, to 2⁻³⁷
const LOGARITHM: [f64; 4] =
    [0.666_666_656_439_683_4, 0.400_003_354_282_936_04, 0.285_372_968_056_498_3, 0.235_823_349_397_874_7];

/// log₂ x of a number of single precision above zero, to 2⁻³⁶ of itself
#[inline(always)]
fn logarithm<A: Arithmetic>(x: A) -> A {
    let (m, n) = x.mantissa_and_exponent();
    let f = m - A::from_f64(1.0);
    let s = f / (A::from_f64(2.0) + f);
    let squared = s * s;
    let ln = (s * squared).times_plus(polynomial(squared, &LOGARITHM), s + s);
    ln.times_plus(A::from_f64(LOG2_E), n)
}

/// (artanh x / x - 1 - x²/3)/x⁴ in x², for (1 + x)/(1 - x) from √½ to √2, to 2⁻⁵⁸
const BEND: [f64; 8] = [
    0.2,
    0.142_857_142_857_146_83,
    0.111_111_111_108_280_72,
    0.090_909_091_676_671_95,
    0.076_922_974_843_805_34,
    0.066_674_021_771_358_37,
    0.058_531_227_169_880_35,
    0.058_615_417_567_211_61,
];

/// 2 log₂ e and ⅓ less their nearest numbers.
const TWICE_LOG2_E_LOW: f64 = 4.071_054_748_186_207e-17;
const THIRD_LOW: f64 = 1.850_371_707_708_594e-17;

/// log₂ x of a number of double precision above zero, and what rounding took from it, to 2⁻⁶⁶
#[inline(always)]
fn exact_logarithm<A: Arithmetic>(x: A) -> (A, A) {
    let two = A::from_f64(2.0);
    let (m, n) = normal_parts(x);
    // s = f/(2 + f), and s + s' is that more exactly.
    let f = m - A::from_f64(1.0);
    let divisor = two + f;
    let lost = f - (divisor - two);
    let s = f / divisor;
    let s_low = (f.less_product(s, divisor) - s * lost) / divisor;
    // ln m = 2s (1 + z/3 + z² bend) with z = s²
    let (z, z_low) = s.exact_product(s);
    let z_low = (s + s).times_plus(s_low, z_low);
    let third = A::from_f64(1.0 / 3.0);
    let (product, product_low) = z.exact_product(third);
    let product_low = product_low + z.times_plus(A::from_f64(THIRD_LOW), z_low * third);
    let (sum, sum_low) = exact_sum(product, (z * z).times_plus(polynomial(z, &BEND), product_low));
    let (sum, rest) = exact_sum(A::from_f64(1.0), sum);
    let (y, y_low) = s.exact_product(sum);
    let y_low = y_low + s.times_plus(rest + sum_low, s_low * sum);
    let factor = A::from_f64(2.0 * LOG2_E);
    let (log, log_low) = y.exact_product(factor);
    let log_low = log_low + y.times_plus(A::from_f64(TWICE_LOG2_E_LOW), y_low * factor);
    let (log, rest) = exact_sum(n, log);
    (log, rest + log_low)
}

/// |a|ᵇ of numbers of double precision
#[inline(always)]
fn exact_power<A: Arithmetic>(a: A, b: A) -> A {
    let (zero, infinity) = (A::from_f64(0.0), A::from_f64(f64::INFINITY));
    let (log, log_low) = exact_logarithm(a);
    let log = if a == zero { -infinity } else { log };
    let log = if a < infinity { log } else { a };
    let (exponent, low) = b.exact_product(log);
    let low = low + b * log_low;
    let (greatest, least) = (A::from_f64(1100.0), A::from_f64(-1100.0));
    let is_near = exponent < greatest && exponent > least;
    let low = if is_near { low } else { zero };
    let limited = if exponent > greatest { greatest } else { exponent };
    let limited = if limited < least { least } else { limited };
    let n = limited.rounded();
    let r = (limited - n) + low;
    scaled(r.times_plus(polynomial(r, EXP_2.1), A::from_f64(1.0)), n)
}

/// |a|ᵇ of numbers of single precision, calculated in double precision
#[inline(always)]
fn power<A: Arithmetic>(a: A, b: A) -> A {
    let (zero, infinity) = (A::from_f64(0.0), A::from_f64(f64::INFINITY));
    let log = logarithm(a);
    let log = if a == zero { -infinity } else { log };
    let log = if a < infinity { log } else { a };
    let exponent = b * log;
    let (greatest, least) = (A::from_f64(160.0), A::from_f64(-160.0));
    let limited = if exponent > greatest { greatest } else { exponent };
    let limited = if limited < least { least } else { limited };
    let n = limited.rounded();
    let r = limited - n;
    r.times_plus(polynomial(r, EXP_2.0), A::from_f64(1.0)) * n.power_of_two()
}

/// aᵇ
#[inline(always)]
pub fn pow<A: Arithmetic>(a: A, b: A) -> A {
    let (zero, one, half) = (A::from_f64(0.0), A::from_f64(1.0), A::from_f64(0.5));
    let infinity = A::from_f64(f64::INFINITY);
    let y = match A::SINGLE {
        true => A::narrowed(power(a.abs().widened(), b.widened())),
        false => exact_power(a.abs(), b),
    };
    let is_whole = b.trunc() == b;
    let halved = b * half;
    let is_odd = is_whole && halved.trunc() != halved;
    let y = if is_odd { y.copysign(a) } else { y };
    let y = if a < zero && a > -infinity && !is_whole { A::from_f64(f64::NAN) } else { y };
    let is_one = b == zero || a == one || a == -one && b.abs() == infinity;
    if is_one { one } else { y }
}

/// √(a² + b²), without overflow on the way
#[inline(always)]
pub fn hypot<A: Arithmetic>(a: A, b: A) -> A {
    let infinity = A::from_f64(f64::INFINITY);
    let (a, b) = (a.abs(), b.abs());
    let y = if A::SINGLE {
        let (a, b) = (a.widened(), b.widened());
        A::narrowed(a.times_plus(a, b * b).sqrt())
    } else {
        let (large, small) = if a > b { (a, b) } else { (b, a) };
        let (up, down) = (A::from_f64(4.149_515_568_880_993e180), A::from_f64(2.409_919_865_102_884e-181));
        let is_huge = large > A::from_f64(1e150);
        let is_tiny = large < A::from_f64(1e-150);
        let scale = if is_huge { down } else { A::from_f64(1.0) };
        let scale = if is_tiny { up } else { scale };
        let back = if is_huge { up } else { A::from_f64(1.0) };
        let back = if is_tiny { down } else { back };
        let (large, small) = (large * scale, small * scale);
        large.times_plus(large, small * small).sqrt() * back
    };
    if a == infinity || b == infinity { infinity } else { y }
}
