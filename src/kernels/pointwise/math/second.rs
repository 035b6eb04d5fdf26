//! The modified Bessel functions of the second kind, and Airy's function, of numbers of double precision.

use super::circular::cos;
use super::exponential::exp;
use super::logarithm::ln;
use super::{Arithmetic, polynomial};

/// What makes a modified Bessel function of one order.
struct Order {
    /// What is beside the logarithm, and its factor, in x² up to 1.
    near: [[f64; 8]; 2],
    /// √x exp(x) K(x) in 1/x from 1 on, as a quotient.
    far: [[f64; 11]; 2],
}

/// K₀ = a(x²) - b(x²) ln x, and K₁ = 1/x + x (a(x²) + b(x²) ln x), to 2⁻⁵⁴; far away to 2⁻⁵³
static ORDERS: [Order; 2] = [
    Order {
        near: [
            [
                0.115_931_515_658_412_45,
                0.278_982_878_914_603_2,
                0.025_248_929_932_160_484,
                0.000_846_035_090_725_896_1,
                1.491_471_922_985_921_2e-5,
                1.627_107_090_026_426_5e-7,
                1.208_251_520_762_424_4e-9,
                6.615_903_551_644_412e-12,
            ],
            [
                1.0,
                0.250_000_000_000_000_06,
                0.015_624_999_999_999_221,
                0.000_434_027_777_784_011_43,
                6.781_684_003_298_254e-6,
                6.781_689_246_632_508e-8,
                4.708_886_739_799_704e-10,
                2.440_627_894_854_202e-12,
            ],
        ],
        far: [
            [
                1.253_314_137_315_500_1,
                23.707_244_143_613_39,
                174.508_255_376_867_34,
                648.274_992_335_545_7,
                1_320.285_263_819_875_1,
                1_502.148_979_255_853,
                934.213_207_756_794_6,
                298.142_501_043_040_74,
                43.025_661_775_017_504,
                2.155_245_880_274_090_4,
                0.017_285_241_234_171_17,
            ],
            [
                1.0,
                19.040_644_081_373_255,
                141.547_210_708_020_63,
                533.676_455_777_947_4,
                1_111.474_672_910_028_2,
                1_308.410_573_770_896_2,
                857.759_654_604_218_2,
                297.632_880_798_079_16,
                49.389_581_005_787_79,
                3.208_609_652_012_532,
                0.050_248_622_348_532_72,
            ],
        ],
    },
    Order {
        near: [
            [
                -0.307_965_757_829_206_2,
                -0.085_370_719_728_650_79,
                -0.004_642_182_766_471_435,
                -0.000_112_536_070_367_305_47,
                -1.559_288_766_277_434_8e-6,
                -1.403_017_207_152_258e-8,
                -8.870_907_975_584_016e-11,
                -4.222_474_799_453_759e-13,
            ],
            [
                0.5,
                0.0625,
                0.002_604_166_666_666_623_6,
                5.425_347_222_256_812e-5,
                6.781_684_014_193_744e-7,
                5.651_406_252_688_167_5e-9,
                3.363_588_648_332_748_3e-11,
                1.522_750_603_604_838_3e-13,
            ],
        ],
        far: [
            [
                1.253_314_137_315_500_3,
                23.452_253_983_075_504,
                171.838_011_331_757_85,
                642.248_132_240_426_8,
                1_339.232_946_291_019_3,
                1_603.845_792_033_733_2,
                1_095.554_415_616_888_5,
                409.670_169_901_269_2,
                76.643_432_952_758_33,
                5.961_368_800_534_551,
                0.122_726_419_503_940_03,
            ],
            [
                1.0,
                18.337_191_369_123_474,
                130.347_636_937_251_96,
                465.605_855_619_013_14,
                907.490_126_142_753_1,
                982.939_025_211_506_4,
                578.509_693_199_864,
                173.433_613_288_142_3,
                23.252_891_234_298_087,
                1.056_820_592_775_884_2,
                0.006_868_229_654_470_073,
            ],
        ],
    },
];

/// Ai(x) as a(x³) - x b(x³) from -3.2 to 1.5, to 2⁻⁵¹
const AIRY_NEAR: [[f64; 14]; 2] = [
    [
        0.355_028_053_887_817_2,
        0.059_171_342_314_636_21,
        0.001_972_378_077_154_54,
        2.739_413_996_047_972_5e-5,
        2.075_313_633_369_676_5e-7,
        9.882_445_873_188_966e-10,
        3.229_557_474_896_87e-12,
        7.689_422_558_859_503e-15,
        1.393_011_327_892_109_2e-17,
        1.984_346_232_416_535_2e-20,
        2.280_839_275_263_705_2e-23,
        2.159_316_493_118_710_6e-26,
        1.702_702_917_901_903e-29,
        1.026_263_279_694_403_7e-32,
    ],
    [
        0.258_819_403_792_806_8,
        0.021_568_283_649_400_565,
        0.000_513_530_563_080_965_9,
        5.705_895_145_344_065e-6,
        3.657_625_093_169_273e-8,
        1.524_010_455_487_199_4e-10,
        4.456_170_922_475_986_4e-13,
        9.645_391_606_750_571e-16,
        1.607_565_263_536_506_9e-18,
        2.126_408_762_896_911e-21,
        2.286_446_024_704_676e-24,
        2.037_367_931_756_564e-27,
        1.520_579_782_818_380_2e-30,
        8.750_114_311_133_477e-34,
    ],
];

/// 2 √π x^¼ exp(ζ) Ai(x) in 1/ζ from 1.5 on, with ζ = ⅔ x^1.5, as a quotient, to 2⁻⁵⁴
const AIRY_RIGHT: [[f64; 10]; 2] = [
    [
        1.0,
        17.056_176_468_023_87,
        110.868_409_122_929_36,
        353.914_567_827_109_9,
        597.054_362_965_519_1,
        534.456_242_874_822_7,
        242.250_390_601_349_38,
        49.759_463_675_610_67,
        3.654_901_665_866_331_6,
        0.050_504_035_217_954_345,
    ],
    [
        1.0,
        17.125_620_912_468_296,
        112.020_554_865_311_01,
        361.095_832_052_245_27,
        618.563_754_070_197_1,
        567.388_135_671_729,
        267.640_838_948_593_1,
        58.850_148_976_057_89,
        4.911_491_714_866_771,
        0.092_693_861_453_914_42,
    ],
];

/// √π |x|^¼ times the size of the wave on the left of -3.2, in 1/ζ², as a quotient, to 2⁻⁵³
const AIRY_SIZE: [[f64; 8]; 2] = [
    [
        0.999_999_999_999_999_9,
        132.963_621_443_689_93,
        5_844.615_249_764_438,
        106_551.519_570_055_16,
        828_982.721_250_728,
        2_543_346.220_192_963_7,
        2_448_269.950_984_947,
        376_925.617_091_249_73,
    ],
    [
        1.0,
        132.998_343_665_911_34,
        5_849.178_150_394_287_5,
        106_747.571_202_935_35,
        832_401.587_654_859,
        2_567_676.732_079_881,
        2_509_912.707_344_335,
        413_333.267_779_493_53,
    ],
];

/// ζ times by how much its angle is beyond ζ - π/4, likewise, to 2⁻⁵⁰
const AIRY_ANGLE: [[f64; 9]; 2] = [
    [
        -0.069_444_444_444_444_39,
        -13.492_727_315_183_627,
        -916.834_969_310_813_2,
        -27_837.467_450_239_186,
        -400_501.960_551_118_1,
        -2_667_840.224_622_951,
        -7_421_848.539_953_855,
        -6_700_637.896_429_495,
        -887_049.695_675_381_3,
    ],
    [
        1.0,
        194.806_847_412_712_05,
        13_300.483_986_198_97,
        407_364.737_420_275_05,
        5_956_590.942_205_133,
        40_946_493.695_509_1,
        121_625_737.209_717_83,
        128_393_121.711_401_21,
        29_276_206.388_007_22,
    ],
];

/// Where Airy's function is taken from its series.
const AIRY_ENDS: [f64; 2] = [-3.2, 1.5];

#[inline(always)]
fn quotient<A: Arithmetic, const N: usize>(x: A, [above, below]: &[[f64; N]; 2]) -> A {
    polynomial(x, above) / polynomial(x, below)
}

/// K₀(x) or K₁(x), times exp(x) if it is `scaled`.
#[inline(always)]
pub fn second<A: Arithmetic>(x: A, is_first: bool, is_scaled: bool) -> A {
    let (zero, one, infinity) = (A::from_f64(0.0), A::from_f64(1.0), A::from_f64(f64::INFINITY));
    let order = &ORDERS[usize::from(is_first)];
    // Neither way is gone where it does not hold; NaN stays what it is.
    let near = if x > one { one } else { x };
    let square = near * near;
    let (beside, factor) = (polynomial(square, &order.near[0]), polynomial(square, &order.near[1]));
    let product = factor * ln(near);
    let near = if is_first { near.times_plus(beside + product, one / near) } else { beside - product };
    let large = if x < one { one } else { x };
    let inverse = one / large;
    let far = quotient(inverse, &order.far) * inverse.sqrt();
    let is_near = x <= one;
    // What is near is found as it is, what is far scaled.
    let power = exp(if is_scaled { x } else { -x });
    let y = if is_near { near } else { far };
    let y = if is_near == is_scaled { y * power } else { y };
    let y = if x == zero { infinity } else { y };
    let y = if x == infinity { zero } else { y };
    if x < zero { A::from_f64(f64::NAN) } else { y }
}

/// Ai(x), unless the angle of its wave is many turns; NaN where nothing is known.
#[inline(always)]
pub fn airy<A: Arithmetic>(x: A) -> A {
    let (one, quarter) = (A::from_f64(1.0), A::from_f64(std::f64::consts::FRAC_PI_4));
    let [left, right] = AIRY_ENDS.map(A::from_f64);
    let inside = if x > right { right } else { x };
    let inside = if inside < left { left } else { inside };
    let cube = inside * inside * inside;
    let near = (-inside).times_plus(polynomial(cube, &AIRY_NEAR[1]), polynomial(cube, &AIRY_NEAR[0]));
    let size = x.abs();
    let size = if size < right { right } else { size };
    let root = size.sqrt();
    let angle = size * root * A::from_f64(2.0 / 3.0);
    let (inverse, height) = (one / angle, A::from_f64(0.564_189_583_547_756_3) / root.sqrt()); // 1/√π
    let falling = quotient(inverse, &AIRY_RIGHT) * exp(-angle) * A::from_f64(0.5);
    let least = A::from_f64(3.8);
    let inverse = if angle < least { one / least } else { inverse };
    let square = inverse * inverse;
    let turned = (angle - quarter) + inverse * quotient(square, &AIRY_ANGLE);
    let wave = quotient(square, &AIRY_SIZE) * cos(turned);
    let y = if x > right { height * falling } else { near };
    let y = if x < left { height * wave } else { y };
    if size < A::from_f64(f64::INFINITY) { y } else { A::from_f64(f64::NAN) }
}
