//! The Bessel functions of both kinds, of numbers of double precision.

use std::f64::consts::FRAC_2_PI;

use super::circular::{cos, sin};
use super::logarithm::ln;
use super::{Arithmetic, polynomial};

/// What makes the Bessel functions of one order.
struct Order {
    /// The positive numbers up to `EDGE` where the function of the first kind is zero, and what rounding took from them.
    zeros: [[f64; 2]; 2],
    /// What is left of that function without its zeros.
    near: [f64; 15],
    /// What is beside the logarithm in the function of the second kind.
    beside: [f64; 17],
    /// How far both are from waves, as cosine and as sine times 8/x.
    far: [[f64; 13]; 2],
}

/// From here on the functions are taken for waves that are not quite such.
const EDGE: f64 = 8.0;

/// In x²/32 - 1 up to the edge; in 2 (8/x)² - 1 from there on.
static ORDERS: [Order; 2] = [
    Order {
        zeros: [
            [2.404_825_557_695_773, -1.176_691_651_530_894e-16],
            [5.520_078_110_286_311, 8.088_597_146_146_722e-17],
        ],
        near: [
            0.001_143_493_774_376_254_5,
            -0.002_119_794_289_479_692,
            0.001_563_643_164_593_166_1,
            -0.000_641_539_064_640_612_3,
            0.000_169_772_007_139_978_44,
            -3.157_342_540_223_544e-05,
            4.366_932_324_640_601e-06,
            -4.677_128_021_300_755e-07,
            3.998_839_345_495_987_5e-08,
            -2.794_862_967_831_268_7e-09,
            1.627_648_945_732_473e-10,
            -8.023_472_603_248_695e-12,
            3.392_332_401_492_629_7e-13,
            -1.248_296_663_799_057_4e-14,
            4.006_178_286_297_737e-16,
        ],
        beside: [
            -0.382_250_654_459_425,
            -0.828_435_890_360_458_7,
            1.647_096_478_874_546_6,
            0.144_126_323_693_024_75,
            -1.077_547_733_821_599_5,
            0.672_177_078_343_167_9,
            -0.218_957_470_961_716_4,
            0.046_367_047_681_375_125,
            -0.007_025_741_057_270_546,
            0.000_806_158_605_961_64,
            -7.279_541_882_544_516e-05,
            5.321_318_810_394_401e-06,
            -3.218_507_833_909_702e-07,
            1.639_087_501_761_939_5e-08,
            -7.130_468_040_126_112e-10,
            2.692_693_710_998_780_2e-11,
            -8.838_468_394_309_022e-13,
        ],
        far: [
            [
                0.999_457_275_788_251_9,
                -0.000_536_367_319_212_968_4,
                6.137_416_080_147_722e-06,
                -2.052_744_825_879_945_4e-07,
                1.280_376_099_076_163_2e-08,
                -1.212_109_951_905_288_4e-09,
                1.550_075_885_096_585_1e-10,
                -2.491_115_690_609_282_5e-11,
                4.783_246_450_407_067_6e-12,
                -1.016_058_640_935_102_6e-12,
                2.486_651_879_170_221e-13,
                -1.024_046_252_745_821_9e-13,
                3.227_465_923_669_637_5e-14,
            ],
            [
                -0.124_440_911_036_108_15,
                0.000_546_651_927_947_214_5,
                -1.181_711_066_106_092_9e-05,
                5.684_971_970_025_582e-07,
                -4.534_973_207_071_527e-08,
                5.146_160_460_074_18e-09,
                -7.576_039_459_098_778e-10,
                1.364_803_199_202_061_8e-10,
                -2.880_640_784_221_374_3e-11,
                6.540_951_694_630_104e-12,
                -1.708_688_825_995_859_8e-12,
                7.904_491_537_683_217e-13,
                -2.632_409_683_663_596e-13,
            ],
        ],
    },
    Order {
        zeros: [
            [3.831_705_970_207_512_5, -1.526_918_409_008_806_7e-16],
            [7.015_586_669_815_619, -9.414_165_653_410_389e-17],
        ],
        near: [
            0.000_194_989_369_858_956_25,
            -0.000_269_752_274_671_636_8,
            0.000_158_600_167_993_698_74,
            -5.408_003_239_085_506e-05,
            1.224_217_365_301_561e-05,
            -1.989_093_515_914_257e-06,
            2.442_522_260_752_020_3e-07,
            -2.352_192_254_577_854_5e-08,
            1.826_854_769_538_332e-09,
            -1.169_693_252_177_935_8e-10,
            6.284_733_818_838_032_5e-12,
            -2.875_530_868_888_297_4e-13,
            1.134_313_202_898_591_1e-14,
            -3.910_422_781_244_815e-16,
            1.180_957_543_822_391_8e-17,
        ],
        beside: [
            0.070_759_858_821_180_05,
            -0.243_377_430_791_931_14,
            0.023_367_571_720_993_584,
            0.235_072_092_066_697_55,
            -0.196_398_398_599_304_25,
            0.078_547_869_222_425_32,
            -0.019_628_756_833_099_427,
            0.003_422_490_739_918_849_5,
            -0.000_443_817_343_511_487_26,
            4.467_433_012_646_375_6e-05,
            -3.600_999_874_382_311_4e-06,
            2.380_493_042_050_053_8e-07,
            -1.315_332_252_217_698_7e-08,
            6.169_688_029_976_363e-10,
            -2.488_752_771_905_838_5e-11,
            8.760_000_901_470_383e-13,
            -2.694_693_563_374_149_7e-14,
        ],
        far: [
            [
                1.000_907_026_278_082_1,
                0.000_898_804_941_670_519_5,
                -7.959_694_698_478_657e-06,
                2.453_676_633_116_93e-07,
                -1.470_851_251_614_582e-08,
                1.360_297_066_536_911e-09,
                -1.713_127_898_085_761e-10,
                2.723_418_781_128_706_3e-11,
                -5.187_199_814_914_517_4e-12,
                1.095_809_292_725_180_1e-12,
                -2.668_914_316_041_983e-13,
                1.091_178_346_760_157_2e-13,
                -3.427_342_551_166_454_6e-14,
            ],
            [
                0.374_214_992_219_591_8,
                -0.000_769_716_705_764_040_8,
                1.456_961_480_970_388e-05,
                -6.633_568_654_309_039e-07,
                5.136_106_386_624_145_4e-08,
                -5.720_815_729_915_534e-09,
                8.315_770_668_743_603e-10,
                -1.484_250_767_009_649_7e-10,
                3.110_817_879_111_466e-11,
                -7.031_097_818_821_853e-12,
                1.828_906_065_466_445e-12,
                -8.401_208_738_069_145e-13,
                2.789_203_537_560_468e-13,
            ],
        ],
    },
];

/// J₀(x) or J₁(x), or those of the `IS_SECOND` kind, unless the angle is many turns.
#[inline(always)]
pub fn bessel<A: Arithmetic, const IS_SECOND: bool>(x: A, is_first: bool) -> A {
    let (zero, one, edge) = (A::from_f64(0.0), A::from_f64(1.0), A::from_f64(EDGE));
    let (order, size) = (&ORDERS[usize::from(is_first)], x.abs());
    // Neither way is gone where it does not hold; NaN stays what it is.
    let near = if size > edge { edge } else { size };
    let place = (near * near).times_plus(A::from_f64(2.0 / (EDGE * EDGE)), -one);
    let mut first = polynomial(place, &order.near);
    for [zero, rest] in order.zeros {
        let apart = (near - A::from_f64(zero)) - A::from_f64(rest);
        first = first * (apart * (near + A::from_f64(zero)));
    }
    let first = if is_first { first * near } else { first };
    let near = if IS_SECOND {
        let (turn, beside) = (A::from_f64(FRAC_2_PI), polynomial(place, &order.beside));
        let logarithm = ln(near) * first;
        match is_first {
            false => logarithm.times_plus(turn, beside),
            true => (logarithm - one / near).times_plus(turn, near * beside),
        }
    } else {
        first
    };
    let large = if size < edge { edge } else { size };
    let inverse = edge / large;
    let place = (inverse * inverse).times_plus(A::from_f64(2.0), -one);
    let [straight, across] = [0, 1].map(
        #[inline(always)]
        |part| polynomial(place, &order.far[part]),
    );
    let across = across * (inverse * A::from_f64(1.0 / EDGE));
    // √2 times cosine and sine of the angle, an eighth of a turn back, and another quarter for the first order.
    let (sine, cosine) = (sin(large), cos(large));
    let (sum, difference) = (sine + cosine, sine - cosine);
    let (ahead, aside) = if is_first { (difference, -sum) } else { (sum, difference) };
    let wave = if IS_SECOND {
        straight.times_plus(aside, across * ahead)
    } else {
        straight.times_plus(ahead, -(across * aside))
    };
    let far = wave * (A::from_f64(1.0 / std::f64::consts::PI) / large).sqrt();
    let y = if size <= edge { near } else { far };
    if IS_SECOND {
        let y = if x == zero { A::from_f64(f64::NEG_INFINITY) } else { y };
        return if x < zero { A::from_f64(f64::NAN) } else { y };
    }
    let y = if is_first { y * one.copysign(x) } else { y };
    if x == zero && !is_first { one } else { y }
}
