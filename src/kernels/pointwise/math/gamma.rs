//! The logarithm of the gamma function and its derivative, the latter of numbers of single precision: they are calculated
//! in double precision, since much cancels around the places where they are zero.

use std::f64::consts::PI;

use super::circular::{sin, tan};
use super::logarithm::ln;
use super::{Arithmetic, polynomial};

/// Stirling's series less its first terms, in 1/x², times x: Bernoulli's numbers.
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];

/// ln Γ(2 + x)/x in x up to one half on both sides, to 2⁻⁵⁴
const AROUND_TWO: [f64; 18] = [
    0.422_784_335_098_467_13,
    0.322_467_033_424_113_2,
    -0.067_352_301_053_195_63,
    0.020_580_808_427_783_38,
    -0.007_385_551_028_935_545,
    0.002_890_510_330_865_901,
    -0.001_192_753_900_998_308_7,
    0.000_509_669_519_652_667_3,
    -0.000_223_154_977_462_927_23,
    9.945_761_692_157_133e-5,
    -4.492_372_756_424_765_6e-5,
    2.050_601_970_174_762e-5,
    -9.456_288_515_101_72e-6,
    4.382_854_538_384_666_5e-6,
    -1.974_310_688_842_106_7e-6,
    9.242_852_225_162_277e-7,
    -5.811_277_768_921_246e-7,
    2.747_539_005_190_966_3e-7,
];

/// ln Γ(1 + x)/x in x from minus a quarter to one half, to 2⁻⁵³
const AROUND_ONE: [f64; 23] = [
    -0.577_215_664_901_532_9,
    0.822_467_033_424_113_2,
    -0.400_685_634_386_531,
    0.270_580_808_427_783_26,
    -0.207_385_551_028_832_63,
    0.169_557_176_997_957_72,
    -0.144_049_896_748_100_65,
    0.125_509_669_433_277_4,
    -0.111_334_267_163_743_82,
    0.100_099_464_873_689_33,
    -0.090_953_977_489_511_33,
    0.083_353_522_448_363_66,
    -0.076_932_935_881_922_85,
    0.071_440_489_923_565_4,
    -0.066_676_430_037_953_37,
    0.062_411_310_194_921_97,
    -0.058_556_691_713_715_01,
    0.055_836_549_220_708_38,
    -0.055_179_452_730_814_83,
    0.053_624_894_256_218_25,
    -0.043_449_265_140_368_43,
    0.023_480_157_976_071_475,
    -0.005_984_776_659_115_886,
];

/// The terms of its derivative, in 1/x², times x².
const DERIVATIVE: [f64; 7] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0];

/// From so many on the series hold: smaller numbers are moved by so many.
const SHIFT: u8 = 8;

/// A number from one half on, or one less it, made as large as the series want it.
struct Shifted<A> {
    /// The number.
    z: A,
    /// The product of the numbers that were passed, and its derivative.
    product: A,
    slope: A,
    /// Whether it is one less the number.
    is_reflected: bool,
}

#[inline(always)]
fn shifted<A: Arithmetic>(x: A) -> Shifted<A> {
    let (one, zero) = (A::from_f64(1.0), A::from_f64(0.0));
    let is_reflected = x < A::from_f64(0.5);
    let x = if is_reflected { one - x } else { x };
    let (mut product, mut slope) = (one, zero);
    for step in 0..SHIFT {
        let next = x + A::from_f64(f64::from(step));
        slope = slope.times_plus(next, product);
        product = product * next;
    }
    let is_small = x < A::from_f64(f64::from(SHIFT));
    Shifted {
        z: if is_small { x + A::from_f64(f64::from(SHIFT)) } else { x },
        product: if is_small { product } else { one },
        slope: if is_small { slope } else { zero },
        is_reflected,
    }
}

/// π times what is behind the point of a number.
#[inline(always)]
fn angle<A: Arithmetic>(x: A) -> A {
    let half = A::from_f64(0.5);
    let rest = x - x.trunc();
    let rest = if rest > half { rest - A::from_f64(1.0) } else { rest };
    let rest = if rest < -half { rest + A::from_f64(1.0) } else { rest };
    rest * A::from_f64(PI)
}

/// ln |Γ(x)| to the digits of single precision
#[inline(always)]
fn wide_lgamma<A: Arithmetic>(x: A) -> A {
    let infinity = A::from_f64(f64::INFINITY);
    let Shifted { z, product, is_reflected, .. } = shifted(x);
    let inverse = A::from_f64(1.0) / z;
    let tail = inverse * polynomial(inverse * inverse, &STIRLING);
    let constant = A::from_f64(0.918_938_533_204_672_8); // ln(2π)/2
    let series = (z - A::from_f64(0.5)) * ln(z) - z + (constant + tail);
    let reflected = product * (A::from_f64(PI) / sin(angle(x)).abs());
    let log = ln(if is_reflected { reflected } else { product });
    let y = if is_reflected { log - series } else { series - log };
    // Where both are the same they may differ by a rounding.
    let y = if x == A::from_f64(1.0) || x == A::from_f64(2.0) { A::from_f64(0.0) } else { y };
    if x.abs() == infinity { infinity } else { y }
}

/// ln |Γ(x)| to all digits of double precision
#[inline(always)]
fn whole_lgamma<A: Arithmetic>(x: A) -> A {
    let (zero, one, infinity) = (A::from_f64(0.0), A::from_f64(1.0), A::from_f64(f64::INFINITY));
    let [half, two, above] = [0.5, 2.0, 2.5].map(A::from_f64);
    let (y, is_below) = (x.abs(), x < zero);
    let (is_tiny, is_small, is_large) = (y < half, y < A::from_f64(1.5), y >= A::from_f64(8.5));
    // Down to near two: what was passed on the way is a factor.
    let (mut near, mut product) = (y, one);
    for _ in 0..6 {
        let is_above = near >= above;
        let next = near - one;
        product = if is_above { product * next } else { product };
        near = if is_above { next } else { near };
    }
    // Or up; exactly, where the logarithm is nearly zero.
    let distance = if is_small { y - one } else { near - two };
    let distance = if is_tiny { y } else { distance };
    let distance = if is_large { zero } else { distance };
    let around = distance * polynomial(distance, &AROUND_TWO);
    // Below zero it is what follows from Γ(1 + y) = y Γ(y).
    let product = if is_tiny { y + one } else { product };
    let is_passed = is_small != is_below;
    let log = ln(if is_large {
        y
    } else if is_passed {
        product * y
    } else {
        product
    });
    let near = if is_small { around - log } else { around + log };
    let to_one = y - one;
    let is_near_one = is_small && !is_below && y >= A::from_f64(0.75);
    let near = if is_near_one { to_one * polynomial(to_one, &AROUND_ONE) } else { near };
    let inverse = one / y;
    let tail = inverse * polynomial(inverse * inverse, &STIRLING);
    let constant = A::from_f64(0.918_938_533_204_672_8); // ln(2π)/2
    let series = (y - if is_below { -half } else { half }) * log - y + (constant + tail);
    let found = if is_large { series } else { near };
    let sine = sin(angle(y)).abs();
    let reflected = -ln(sine * A::from_f64(1.0 / PI)) - found;
    let found = if is_below { reflected } else { found };
    let found = if found == zero { zero } else { found }; // for -0
    if is_below && sine == zero || y == infinity { infinity } else { found }
}

/// ψ(x)
#[inline(always)]
fn wide_digamma<A: Arithmetic>(x: A) -> A {
    let (zero, infinity) = (A::from_f64(0.0), A::from_f64(f64::INFINITY));
    let Shifted { z, product, slope, is_reflected } = shifted(x);
    let inverse = A::from_f64(1.0) / z;
    let squared = inverse * inverse;
    let tail = squared.times_plus(polynomial(squared, &DERIVATIVE), A::from_f64(0.5) * inverse);
    let y = (ln(z) - tail) - slope / product;
    let y = if is_reflected { y - A::from_f64(PI) / tan(angle(x)) } else { y };
    let is_pole = x < zero && x.trunc() == x;
    let y = if is_pole { A::from_f64(f64::NAN) } else { y };
    let y = if x == infinity { infinity } else { y };
    if x == zero { infinity.copysign(-x) } else { y }
}

/// ln |Γ(x)|
#[inline(always)]
pub fn lgamma<A: Arithmetic>(x: A) -> A {
    let x = x.widened();
    A::narrowed(if A::SINGLE { wide_lgamma(x) } else { whole_lgamma(x) })
}

/// ψ(x), the derivative of that, of numbers of single precision
#[inline(always)]
pub fn digamma<A: Arithmetic>(x: A) -> A {
    A::narrowed(wide_digamma(x.widened()))
}
