//! Sine, cosine and tangent.

use super::{Arithmetic, exact_sum, of, series};
use crate::dtype::{DType, Real};

/// π/2 in three parts, for single and double precision.
const QUARTERS: [[f64; 2]; 3] = [
    [1.570_796_370_506_286_6, std::f64::consts::FRAC_PI_2],
    [-4.371_138_828_673_793e-8, 6.123_233_995_736_766e-17],
    [-1.715_124_510_005_881_9e-15, -1.497_384_904_859_169_7e-33],
];

/// (sin x - x)/x³ in x² for |x| ≤ π/4, to 2⁻²⁸ and 2⁻⁵⁸
const SIN: (&[f64], &[f64]) = (
    &[-0.166_666_549_802_224_17, 0.008_332_180_163_682_472, -0.000_195_175_185_580_776_02],
    &[
        -0.166_666_666_666_666_32,
        0.008_333_333_333_322_35,
        -0.000_198_412_698_297_584_22,
        2.755_731_367_485_406_7e-6,
        -2.505_075_543_451_008_6e-8,
        1.589_663_902_573_808e-10,
    ],
);

/// (cos x - 1 + x²/2)/x⁴ in x² for |x| ≤ π/4, to 2⁻³³ and 2⁻⁶⁴
const COS: (&[f64], &[f64]) = (
    &[0.041_666_646_719_545_64, -0.001_388_736_189_754_013_5, 0.000_024_437_912_247_818_13],
    &[
        0.041_666_666_666_666_6,
        -0.001_388_888_888_887_407_3,
        0.000_024_801_587_289_453_23,
        -2.755_731_434_460_28e-7,
        2.087_572_228_041_881_8e-9,
        -1.135_959_827_481_229_5e-11,
    ],
);

/// (tan x - x)/x³ in x² for |x| ≤ π/4, to 2⁻²⁹ and 2⁻⁵⁶
const TAN: (&[f64], &[f64]) = (
    &[
        0.333_333_515_745_198_1,
        0.133_326_058_741_158_8,
        0.054_065_989_513_397_8,
        0.021_252_633_896_256_708,
        0.010_908_561_945_940_802,
        1.431_415_207_607_396_3e-6,
        0.004_417_994_934_446_778,
    ],
    &[
        0.333_333_333_333_327_1,
        0.133_333_333_334_235_25,
        0.053_968_253_922_671_426,
        0.021_869_489_699_511_968,
        0.008_863_217_954_022_043,
        0.003_592_299_483_538_493_3,
        0.001_454_697_522_015_374_3,
        0.000_595_308_719_864_842,
        0.000_221_687_628_258_564_67,
        0.000_137_901_169_450_758_47,
        -0.000_028_261_169_476_764_45,
        0.000_091_121_954_099_824_64,
        -0.000_045_751_344_672_808_784,
        0.000_021_067_760_980_590_554,
    ],
);

/// Whether an angle is so large that π is not known here to as many digits as it takes; infinity too.
#[inline(always)]
pub fn is_many_turns<T: Real>(x: T) -> bool {
    x.abs() > T::from_f64(if T::DTYPE == DType::Float32 { 1e5 } else { 1e9 })
}

/// An angle less so many quarters of a turn.
struct Reduced<A> {
    /// The angle, within an eighth of a turn, and what rounding took from it.
    angle: A,
    rest: A,
    /// The quarters, as `Real::is_odd` and `Real::turned` take them.
    quarters: A,
}

/// An angle, unless `is_many_turns`.
#[inline(always)]
fn reduced<A: Arithmetic>(x: A) -> Reduced<A> {
    let shift = A::new(<A::Plain as Real>::ROUNDING);
    let quarters = x.times_plus(A::from_f64(std::f64::consts::FRAC_2_PI), shift);
    let n = quarters - shift;
    let high = x.less_product(n, of(QUARTERS[0]));
    // Both may be so near that all but the last digits cancel: the difference then is exact.
    let (product, lost) = n.exact_product(of(QUARTERS[1]));
    let angle = high - product;
    let rest = ((high - angle) - product) - lost;
    let rest = (-n).times_plus(of(QUARTERS[2]), rest);
    Reduced { angle, rest, quarters }
}

/// The sine of an angle and so many quarters of a turn.
#[inline(always)]
fn sine<A: Arithmetic>(x: Reduced<A>, quarters: A) -> A {
    let (one, half) = (A::from_f64(1.0), A::from_f64(0.5));
    let Reduced { angle: r, rest, .. } = x;
    let squared = r * r;
    let sine = r + (r * squared).times_plus(series(squared, SIN.0, SIN.1), rest);
    let bend = half * squared;
    let near = one - bend;
    let lost = (one - near) - bend;
    let tail = (-r).times_plus(rest, lost);
    let cosine = near + (squared * squared).times_plus(series(squared, COS.0, COS.1), tail);
    let y = if Real::is_odd(quarters.get()) { cosine } else { sine };
    A::new(y.get().turned(quarters.get()))
}

/// sin x, unless `is_many_turns`
#[inline(always)]
pub fn sin<A: Arithmetic>(x: A) -> A {
    let parts = reduced(x);
    let quarters = parts.quarters;
    let y = sine(parts, quarters);
    if x == A::from_f64(0.0) { x } else { y } // for -0
}

/// cos x, unless `is_many_turns`
#[inline(always)]
pub fn cos<A: Arithmetic>(x: A) -> A {
    let parts = reduced(x);
    let quarters = parts.quarters + A::from_f64(1.0);
    sine(parts, quarters)
}

/// tan x, unless `is_many_turns`
#[inline(always)]
pub fn tan<A: Arithmetic>(x: A) -> A {
    let Reduced { angle: r, rest, quarters } = reduced(x);
    let squared = r * r;
    let tail = squared.times_plus(rest, rest);
    let bend = (r * squared).times_plus(series(squared, TAN.0, TAN.1), tail);
    let (y, lost) = exact_sum(r, bend);
    // One over it, less what is left of one.
    let one = A::from_f64(1.0);
    let turned = -one / y;
    let left = turned.times_plus(lost, one.less_product(-turned, y));
    let y = if Real::is_odd(quarters.get()) { turned.times_plus(left, turned) } else { y };
    if x == A::from_f64(0.0) { x } else { y } // for -0
}
