//! Hyperbolic sine, cosine and tangent.

use super::exponential::{exp, half_exp};
use super::{Arithmetic, of, series};

/// (tanh x - x)/x³ in x² for |x| ≤ 5/8, to 2⁻²⁸ and 2⁻⁶¹
const TANH: (&[f64], &[f64]) = (
    &[
        -0.333_332_835_433_107_1,
        0.133_314_814_503_068_65,
        -0.053_742_685_783_515_36,
        0.020_647_922_264_162_62,
        -0.005_714_030_341_464_850_5,
    ],
    &[
        -0.333_333_333_333_333_15,
        0.133_333_333_333_298_22,
        -0.053_968_253_966_099_42,
        0.021_869_488_469_749_225,
        -0.008_863_234_327_783_805,
        0.003_592_114_139_771_396_3,
        -0.001_455_726_788_158_761_4,
        0.000_589_455_144_361_096_4,
        -0.000_237_020_490_085_467_44,
        0.000_091_572_905_839_978_63,
        -0.000_030_200_955_146_440_983,
        6.048_147_034_478_259e-6,
    ],
);

/// (sinh x - x)/x³ in x² for |x| ≤ 1, to 2⁻³⁴ and 2⁻⁶³
const SINH: (&[f64], &[f64]) = (
    &[
        0.166_666_664_883_965_67,
        0.008_333_350_613_929_449,
        0.000_198_360_638_476_425_85,
        2.817_451_045_261_665e-6,
    ],
    &[
        0.166_666_666_666_666_69,
        0.008_333_333_333_333_137,
        0.000_198_412_698_414_381_74,
        2.755_731_915_520_781_2e-6,
        2.505_212_341_622_019_6e-8,
        1.605_723_912_442_062_7e-10,
        7.759_345_506_041_015e-13,
    ],
);

/// tanh x, which is 1 - 2/(e²ˣ + 1)
#[inline(always)]
pub fn tanh<A: Arithmetic>(x: A) -> A {
    let (one, two, size) = (A::from_f64(1.0), A::from_f64(2.0), x.abs());
    let squared = x * x;
    let near = (x * squared).times_plus(series(squared, TANH.0, TANH.1), x);
    // From here on the result is one.
    let greatest = of([10.0, 20.0]);
    let limited = if size > greatest { greatest } else { size };
    let far = one - two / (exp(limited + limited) + one);
    (if size < A::from_f64(0.625) { near } else { far }).copysign(x) // for -0
}

/// sinh x, which is (eˣ - e⁻ˣ)/2
#[inline(always)]
pub fn sinh<A: Arithmetic>(x: A) -> A {
    let (size, squared) = (x.abs(), x * x);
    let near = (x * squared).times_plus(series(squared, SINH.0, SINH.1), x);
    let (half, rest) = half_exp(size);
    let far = half + (rest - A::from_f64(0.25) / half);
    if size < A::from_f64(1.0) { near } else { far.copysign(x) }
}

/// cosh x, which is (eˣ + e⁻ˣ)/2
#[inline(always)]
pub fn cosh<A: Arithmetic>(x: A) -> A {
    let (half, rest) = half_exp(x.abs());
    half + (rest + A::from_f64(0.25) / half)
}
