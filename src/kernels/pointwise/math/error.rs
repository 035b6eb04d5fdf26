//! The error function and its complement.

use super::exponential::{exp, parts_of_power, scaled};
use super::logarithm::ln;
use super::{Arithmetic, of, polynomial, series};

/// erf x / x - 1 in x² for |x| ≤ 1, to 2⁻³⁰ and 2⁻⁵⁷
const NEAR: (&[f64], &[f64]) = (
    &[
        0.128_379_165_905_591,
        -0.376_126_270_775_780_1,
        0.112_835_994_961_422_15,
        -0.026_854_415_582_497_366,
        0.005_189_479_381_834_389,
        -0.000_802_034_368_028_084_9,
        0.000_078_874_600_651_155_08,
    ],
    &[
        0.128_379_167_095_512_56,
        -0.376_126_389_031_835_5,
        0.112_837_916_709_452_37,
        -0.026_866_170_643_273_797,
        0.005_223_977_607_404_377,
        -0.000_854_832_598_881_690_4,
        0.000_120_552_952_951_791_23,
        -0.000_014_924_744_195_025_167,
        1.644_751_210_718_991_4e-6,
        -1.620_913_473_085_324e-7,
        1.372_280_410_591_942_6e-8,
        -7.800_877_880_669_889e-10,
    ],
);

/// -ln erfc x from 1 to 4 and to 6, to 2⁻³⁰ and 2⁻⁵⁷ of the result for one
const FAR: (&[f64], &[f64]) = (
    &[
        0.000_331_733_421_743_875_3,
        1.127_126_061_835_367_1,
        0.638_088_406_310_730_8,
        0.103_151_604_894_650_33,
        -0.021_857_574_439_921_496,
        0.002_952_061_054_586_883_4,
        -0.000_186_782_028_986_708_35,
    ],
    &[
        4.842_168_722_613_126e-7,
        1.128_374_262_563_176_3,
        0.636_642_881_035_576,
        0.102_705_428_767_012_91,
        -0.018_993_838_256_239_078,
        -0.000_405_693_455_761_430_16,
        0.001_910_893_850_208_725_8,
        -0.000_766_638_469_781_223,
        0.000_132_558_595_389_688_2,
        0.000_021_489_791_497_297_81,
        -0.000_023_296_114_895_427_152,
        8.810_992_690_352_754e-6,
        -2.169_511_507_545_683_3e-6,
        3.793_384_070_705_188_3e-7,
        -4.721_131_420_304_227e-8,
        4.005_329_586_065_206e-9,
        -2.084_433_464_402_386_4e-10,
        5.030_318_419_237_136e-12,
    ],
);

/// (1 + 2x) exp(x²) erfc x in (x - 4)/(x + 4), for x from 0.4 to 10.6 and to 28, to 2⁻²⁷ and 2⁻⁵⁸
const COMPLEMENT: (&[f64], &[f64]) = (
    &[
        1.232_995_115_664_876_6,
        -0.139_621_031_715_505_94,
        0.015_380_083_439_960_047,
        0.068_093_196_846_235_87,
        -0.101_050_484_931_116_82,
        0.093_778_012_309_514_09,
        -0.066_215_414_406_854_87,
        0.036_987_293_723_871_564,
        -0.016_687_640_441_422_038,
        0.005_193_316_648_175_355,
    ],
    &[
        1.232_995_118_625_552_6,
        -0.139_621_116_840_562_53,
        0.015_379_652_102_618_735,
        0.068_097_054_254_693_87,
        -0.101_039_066_036_236_5,
        0.093_732_834_998_313_57,
        -0.066_330_365_814,
        0.037_167_515_537_867_47,
        -0.016_197_734_033_761_676,
        0.005_031_969_977_682_757,
        -0.000_757_773_478_130_395_7,
        -0.000_199_256_720_847_258_38,
        0.000_150_622_611_724_203_73,
        -0.000_024_398_969_406_061_05,
        -0.000_011_225_016_668_780_397,
        5.708_630_266_822_092e-6,
        2.999_756_903_416_535e-7,
        -8.225_613_187_014_972e-7,
        6.668_570_390_270_75e-8,
        1.056_907_823_330_903_1e-7,
        -1.210_750_799_805_906_4e-8,
        -1.048_167_769_361_113_9e-8,
    ],
);

/// erfinv x / x in w - 2½ with w = -ln(1 - x²) up to 5, to 2⁻²⁷
const INVERSE_NEAR: [f64; 10] = [
    1.501_409_359_524_145,
    0.246_640_284_225_275_34,
    -0.004_177_387_898_166_663,
    -0.001_252_737_932_013_753_6,
    0.000_218_345_289_723_855_34,
    -4.965_558_170_784_574_5e-6,
    -3.462_916_124_388_879_6e-6,
    4.666_329_468_325_638e-7,
    2.324_923_305_828_728_2e-8,
    -8.823_452_905_629_435e-9,
];

/// The same in √w - 3⅛ for greater ones, up to those of single precision, to 2⁻²⁷
const INVERSE_FAR: [f64; 10] = [
    2.958_320_130_239_050_7,
    1.003_718_682_801_15,
    0.007_049_193_350_205_825,
    -0.005_300_597_634_449_081,
    0.003_780_568_725_083_175,
    -0.002_523_476_414_800_191_3,
    0.001_313_206_116_783_468,
    -0.000_318_070_552_863_852_3,
    -0.000_175_568_438_017_188_06,
    0.000_125_857_405_591_649_35,
];

/// erf x of numbers up to one
#[inline(always)]
fn near<A: Arithmetic>(x: A) -> A {
    x.times_plus(series(x * x, NEAR.0, NEAR.1), x)
}

/// erf x, which is one less a power from one on
#[inline(always)]
pub fn erf<A: Arithmetic>(x: A) -> A {
    let (one, size) = (A::from_f64(1.0), x.abs());
    // From here on the result is one.
    let greatest = of([4.0, 6.0]);
    let limited = if size > greatest { greatest } else { size };
    let far = one - exp(-series(limited, FAR.0, FAR.1));
    if size < one { near(x) } else { far.copysign(x) }
}

/// erfc x, without the cancellation where it is small
#[inline(always)]
pub fn erfc<A: Arithmetic>(x: A) -> A {
    let (one, two, size) = (A::from_f64(1.0), A::from_f64(2.0), x.abs());
    // From here on the result is zero.
    let greatest = of([10.6, 28.0]);
    let limited = if size > greatest { greatest } else { size };
    let four = A::from_f64(4.0);
    let share = series((limited - four) / (limited + four), COMPLEMENT.0, COMPLEMENT.1);
    let (squared, rest) = limited.exact_product(limited);
    let (r, tail, n) = parts_of_power(-squared);
    let power = one + (r + (-rest).times_plus(one + (r + tail), tail));
    let far = scaled(power * (share / two.times_plus(limited, one)), n);
    let far = if x < A::from_f64(0.0) { two - far } else { far };
    if size < A::from_f64(0.5) { one - near(x) } else { far }
}

/// The number whose error function is x, of single precision.
#[inline(always)]
pub fn erfinv<A: Arithmetic>(x: A) -> A {
    let one = A::from_f64(1.0);
    let w = -ln((one - x) * (one + x));
    let near = polynomial(w - A::from_f64(2.5), &INVERSE_NEAR);
    let far = polynomial(w.sqrt() - A::from_f64(3.125), &INVERSE_FAR);
    let y = x * (if w < A::from_f64(5.0) { near } else { far });
    if x.abs() == one { A::from_f64(f64::INFINITY).copysign(x) } else { y }
}
