//! Powers, and lengths of hypotenuses.

use super::exponential::EXP_2;
use super::{Arithmetic, polynomial};

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
    ln.times_plus(A::from_f64(std::f64::consts::LOG2_E), n)
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

/// aᵇ of numbers of single precision
#[inline(always)]
pub fn pow<A: Arithmetic>(a: A, b: A) -> A {
    let (zero, one, half) = (A::from_f64(0.0), A::from_f64(1.0), A::from_f64(0.5));
    let infinity = A::from_f64(f64::INFINITY);
    let y = A::narrowed(power(a.abs().widened(), b.widened()));
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
