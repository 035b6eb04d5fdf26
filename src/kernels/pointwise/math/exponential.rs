//! Powers of e and of two, and the logistic function.

use super::{Arithmetic, exact_sum, of, series};
use crate::dtype::Real;

/// ln 2 in two parts, for single and double precision; products of the first with exponents are exact.
pub(super) const LN_2_HIGH: [f64; 2] = [0.693_145_751_953_125, 0.693_147_180_369_123_8];
pub(super) const LN_2_LOW: [f64; 2] = [std::f64::consts::LN_2 - LN_2_HIGH[0], 1.908_214_929_270_587_7e-10];

/// (eˣ - 1 - x)/x² for |x| ≤ ln 2 / 2, to 2⁻²⁸ and 2⁻⁶⁴
const EXP: (&[f64], &[f64]) = (
    &[
        0.500_000_009_560_309_3,
        0.166_665_186_201_520_1,
        0.041_666_207_073_869_72,
        0.008_368_921_392_520_063,
        0.001_395_032_529_217_198_5,
    ],
    &[
        0.5,
        0.166_666_666_666_666_85,
        0.041_666_666_666_666_73,
        0.008_333_333_333_316_591,
        0.001_388_888_888_885_854_5,
        0.000_198_412_698_974_166_85,
        0.000_024_801_587_373_501_927,
        2.755_723_388_210_756e-6,
        2.755_723_357_477_215e-7,
        2.511_236_305_877_172_2e-8,
        2.092_687_605_420_787_3e-9,
    ],
);

/// (2ˣ - 1)/x for |x| ≤ ½, to 2⁻³⁴ and 2⁻⁶⁴
pub(super) const EXP_2: (&[f64], &[f64]) = (
    &[
        0.693_147_180_541_726_2,
        0.240_226_510_788_121_63,
        0.055_504_109_621_303_33,
        0.009_618_036_470_148_745,
        0.001_333_343_120_225_837_2,
        0.000_154_672_562_566_403_1,
        0.000_015_314_845_734_255_44,
    ],
    &[
        std::f64::consts::LN_2,
        0.240_226_506_959_100_72,
        0.055_504_108_664_821_7,
        0.009_618_129_107_628_492,
        0.001_333_355_814_639_004_7,
        0.000_154_035_303_933_458_8,
        0.000_015_252_733_856_608_259,
        1.321_548_682_952_712_3e-6,
        1.017_805_105_291_684_7e-7,
        7.054_889_461_414_759e-9,
        4.456_697_742_133_403e-10,
        2.574_024_207_444_807_5e-11,
    ],
);

/// r, t and n of eˣ = (1 + r + t) 2ⁿ with r + t from -0.3 to 0.42 and a small t
#[inline(always)]
pub(super) fn parts_of_power<A: Arithmetic>(x: A) -> (A, A, A) {
    // Beyond these the result is infinite or zero anyway. Comparisons leave NaN as it is.
    let (greatest, least) = (of([91.0, 711.0]), of([-105.0, -747.0]));
    let x = if x > greatest { greatest } else { x };
    parts_of_near_power(if x < least { least } else { x })
}

/// The same of numbers whose power is neither infinite nor zero.
#[inline(always)]
fn parts_of_near_power<A: Arithmetic>(x: A) -> (A, A, A) {
    // x = n ln 2 + r + rest with |r| <= ln 2 / 2
    let n = x.rounded_product(A::from_f64(std::f64::consts::LOG2_E));
    let high = (-n).times_plus(of(LN_2_HIGH), x);
    let low = of(LN_2_LOW);
    let r = (-n).times_plus(low, high);
    let rest = (-n).times_plus(low, high - r);
    (r, (r * r).times_plus(series(r, EXP.0, EXP.1), rest), n)
}

/// x 2ⁿ for x from ½ to 2, and an n with whose half powers are normal numbers.
#[inline(always)]
pub(super) fn scaled<A: Arithmetic>(x: A, n: A) -> A {
    let half = (n * A::from_f64(0.5)).rounded();
    x * half.power_of_two() * (n - half).power_of_two()
}

/// p from 0.7 to 1.42 and n with eˣ = p 2ⁿ, as `Real::raised_by` takes it, for numbers whose power is neither infinite
/// nor zero
#[inline(always)]
fn shifted_power<A: Arithmetic>(x: A) -> (A, A) {
    let shift = A::new(<A::Plain as Real>::ROUNDING);
    let shifted = x.times_plus(A::from_f64(std::f64::consts::LOG2_E), shift);
    let n = shifted - shift;
    // What rounding takes from r is an eighth of a unit of the result.
    let r = (-n).times_plus(of(LN_2_LOW), (-n).times_plus(of(LN_2_HIGH), x));
    (A::from_f64(1.0) + (r * r).times_plus(series(r, EXP.0, EXP.1), r), shifted)
}

/// What exponents of numbers that are not normal are raised by.
const LIFT: f64 = 64.0;

/// eˣ
#[inline(always)]
pub fn exp<A: Arithmetic>(x: A) -> A {
    let (zero, infinity) = (A::from_f64(0.0), A::from_f64(f64::INFINITY));
    // What is zero is not made by products that vanish, which take a processor a hundred times as long.
    let is_zero = x < of([-104.0, -746.0]);
    let near = if is_zero { zero } else { x };
    let (power, shifted) = shifted_power(near);
    // Where the result is no normal number it has a greater exponent first, so that it is rounded once.
    let is_small = x < of([-87.0, -708.0]);
    let power = if is_small { power * A::from_f64(1.0).raised(A::from_f64(LIFT)) } else { power };
    let y = A::new(power.get().raised_by(shifted.get()));
    let y = if is_small { y * A::from_f64(1.0).raised(A::from_f64(-LIFT)) } else { y };
    let y = if is_zero { zero } else { y };
    // Infinity from here on; NaN stays what it is.
    if x < of([88.722_839_355_468_75, 709.782_712_893_384_1]) { y } else { x * infinity }
}

/// Whether the power of a number is a normal number: such powers are shorter to calculate
#[inline(always)]
pub fn has_normal_power<T: Real>(x: T) -> bool {
    (x > of([-87.0, -708.0])) & (x < of([88.0, 709.0]))
}

/// eˣ of numbers whose power is a normal number
#[inline(always)]
pub fn exp_of_near<A: Arithmetic>(x: A) -> A {
    let (power, shifted) = shifted_power(x);
    A::new(power.get().raised_by(shifted.get()))
}

/// eˣ/2 and what rounding took from it, also where eˣ is infinite
#[inline(always)]
pub(super) fn half_exp<A: Arithmetic>(x: A) -> (A, A) {
    let (r, tail, n) = parts_of_power(x);
    let (sum, rest) = exact_sum(A::from_f64(1.0), r);
    let (sum, rest) = exact_sum(sum, rest + tail);
    let n = n - A::from_f64(1.0);
    (scaled(sum, n), scaled(rest, n))
}

/// 2ˣ
#[inline(always)]
pub fn exp_2<A: Arithmetic>(x: A) -> A {
    let (greatest, least) = (of([129.0, 1025.0]), of([-151.0, -1076.0]));
    let x = if x > greatest { greatest } else { x };
    let x = if x < least { least } else { x };
    let n = x.rounded();
    let r = x - n;
    scaled(r.times_plus(series(r, EXP_2.0, EXP_2.1), A::from_f64(1.0)), n)
}

/// eˣ - 1, without the cancellation near zero
#[inline(always)]
pub fn exp_m1<A: Arithmetic>(x: A) -> A {
    let (r, tail, n) = parts_of_power(x);
    let half = (n * A::from_f64(0.5)).rounded();
    // One power stays outside: the product of both may be infinite where the result is not.
    let (first, second) = (half.power_of_two(), n - half);
    let large = r.times_plus(first, first - (-second).power_of_two());
    let y = tail.times_plus(first, large) * second.power_of_two();
    y.copysign(x) // for -0
}

/// 1 / (1 + e⁻ˣ)
#[inline(always)]
pub fn sigmoid<A: Arithmetic>(x: A) -> A {
    A::from_f64(1.0) / (A::from_f64(1.0) + exp(-x))
}

/// The same of numbers whose negatives have powers that are normal numbers
#[inline(always)]
pub fn sigmoid_of_near<A: Arithmetic>(x: A) -> A {
    A::from_f64(1.0) / (A::from_f64(1.0) + exp_of_near(-x))
}
