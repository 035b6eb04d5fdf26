//! Angles: the inverses of circular functions.

use super::{Arithmetic, of, series};

/// π/2 less its nearest number, of single and of double precision.
const QUARTER_LOW: [f64; 2] = [-4.371_139_000_186_241e-8, 6.123_233_995_736_766e-17];

/// (arctan x - x)/x³ in x² for |x| ≤ 3/5, to 2⁻²⁹ and 2⁻⁶⁰
const ATAN: (&[f64], &[f64]) = (
    &[
        -0.333_332_916_884_224_56,
        0.199_976_491_264_051_54,
        -0.142_412_985_810_046_16,
        0.107_172_569_503_501_11,
        -0.072_461_388_438_443_57,
        0.029_651_679_690_162_122,
    ],
    &[
        -0.333_333_333_333_332_3,
        0.199_999_999_999_737_86,
        -0.142_857_142_833_339_72,
        0.111_111_110_018_948_86,
        -0.090_909_061_166_018_95,
        0.076_922_551_208_129_41,
        -0.066_660_297_420_893_63,
        0.058_768_789_143_096_1,
        -0.052_290_785_816_238_21,
        0.046_065_019_795_273_075,
        -0.038_269_572_582_078_03,
        0.027_190_836_417_723_77,
        -0.013_972_138_930_379_33,
        0.003_709_439_843_491_889_3,
    ],
);

/// (arcsin x - x)/x³ in x² for |x| ≤ ½, to 2⁻²⁸ and 2⁻⁵⁶
const ASIN: (&[f64], &[f64]) = (
    &[
        0.166_667_539_109_800_03,
        0.074_952_467_030_984_2,
        0.045_476_109_641_102_914,
        0.024_153_701_857_844_07,
        0.042_206_822_210_827_8,
    ],
    &[
        0.166_666_666_666_653_83,
        0.075_000_000_003_425_95,
        0.044_642_856_824_000_834,
        0.030_381_959_306_228_782,
        0.022_371_754_176_644_477,
        0.017_359_760_769_803_06,
        0.013_884_703_324_629_715,
        0.012_172_581_641_673_16,
        0.006_513_885_138_740_925,
        0.019_565_616_294_167_015,
        -0.016_281_125_869_666_27,
        0.031_950_155_445_972_27,
    ],
);

/// π/2 and its rest.
#[inline(always)]
fn quarter<A: Arithmetic>() -> (A, A) {
    (A::from_f64(std::f64::consts::FRAC_PI_2), of(QUARTER_LOW))
}

/// s and b with s + b the arcsine of s, where s is |x| if that is at most ½, and else √((1 - |x|)/2): then twice the
/// angle is what |x| is less a quarter turn. Says whether it was at most ½.
#[inline(always)]
fn parts_of_arcsine<A: Arithmetic>(x: A) -> (A, A, bool) {
    let (half, size) = (A::from_f64(0.5), x.abs());
    let is_near = size <= half;
    let distance = half * (A::from_f64(1.0) - size);
    let squared = if is_near { size * size } else { distance };
    let s = if is_near { size } else { distance.sqrt() };
    (s, s * squared * series(squared, ASIN.0, ASIN.1), is_near)
}

/// arcsin x
#[inline(always)]
pub fn asin<A: Arithmetic>(x: A) -> A {
    let ((quarter, low), two) = (quarter::<A>(), A::from_f64(2.0));
    let (s, bend, is_near) = parts_of_arcsine(x);
    let (large, lost) = super::exact_sum(quarter, -(two * s));
    let far = large + (lost - two.times_plus(bend, -low));
    (if is_near { s + bend } else { far }).copysign(x)
}

/// arccos x
#[inline(always)]
pub fn acos<A: Arithmetic>(x: A) -> A {
    let ((quarter, low), two) = (quarter::<A>(), A::from_f64(2.0));
    let (s, bend, is_near) = parts_of_arcsine(x);
    let (large, lost) = super::exact_sum(quarter, -s.copysign(x));
    let near = large + (lost - (bend.copysign(x) - low));
    let (large, lost) = super::exact_sum(quarter, -s);
    let behind = two * (large + (lost - (bend - low)));
    let far = if x < A::from_f64(0.0) { behind } else { two * (s + bend) };
    if is_near { near } else { far }
}

/// The arctangent of `top / bottom`, for 0 ≤ `top` ≤ `bottom`; if `is_turned`, a quarter turn less that.
#[inline(always)]
fn angle<A: Arithmetic>(top: A, bottom: A, is_turned: bool) -> A {
    let (quarter, low) = quarter::<A>();
    let zero = A::from_f64(0.0);
    let is_large = top > bottom * A::from_f64(0.6);
    // Half of both, so that their sum is a number.
    let scale = A::from_f64(0.5);
    let (less, more) = (top * scale - bottom * scale, top * scale + bottom * scale);
    let t = (if is_large { less } else { top }) / (if is_large { more } else { bottom });
    let squared = t * t;
    let bend = t * squared * series(squared, ATAN.0, ATAN.1);
    let (t, bend) = if is_turned { (-t, -bend) } else { (t, bend) };
    let eighths = A::from_f64(if is_large { 0.5 } else { 0.0 });
    let eighths = if is_turned && !is_large { A::from_f64(1.0) } else { eighths };
    let (base, base_low) = (quarter * eighths, low * eighths);
    let (sum, lost) = super::exact_sum(base, t);
    let lost = if base == zero { zero } else { lost };
    sum + (lost + (base_low + bend))
}

/// arctan x
#[inline(always)]
pub fn atan<A: Arithmetic>(x: A) -> A {
    let (one, size) = (A::from_f64(1.0), x.abs());
    let is_turned = size > one;
    let (top, bottom) = if is_turned { (one, size) } else { (size, one) };
    angle(top, bottom, is_turned).copysign(x)
}

/// The angle of the point (x, y).
#[inline(always)]
pub fn atan2<A: Arithmetic>(y: A, x: A) -> A {
    let (one, zero) = (A::from_f64(1.0), A::from_f64(0.0));
    let (quarter, low) = quarter::<A>();
    let (width, height) = (x.abs(), y.abs());
    let is_turned = height > width;
    let (top, bottom) = if is_turned { (width, height) } else { (height, width) };
    // The origin lies in the direction of its signs, and so do the corners of the plane.
    let bottom = if bottom == zero { one } else { bottom };
    let is_corner = top == A::from_f64(f64::INFINITY);
    let (top, bottom) = if is_corner && top == bottom { (one, one) } else { (top, bottom) };
    let first = angle(top, bottom, is_turned);
    let (sum, lost) = super::exact_sum(quarter + quarter, -first);
    let behind = sum + (lost + (low + low));
    (if one.copysign(x) < zero { behind } else { first }).copysign(y)
}
