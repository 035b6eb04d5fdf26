//! Normally distributed numbers: pairs of uniform ones through the Box-Muller transform.
//!
//! Long runs are transformed in blocks of sixteen; for `f32` with polynomials that the compiler
//! vectorises, the same and in the same order of operations as torch's, so that the numbers agree
//! to the last bit.

use std::f64::consts::{PI, SQRT_2};

use super::{Generator, Uniform, generator_fill};

/// Numbers in a block: the first half are radii, the second half angles.
const BLOCK: usize = 16;

/// Floating-point types with a Box-Muller transform of their own.
pub trait Normal: Uniform {
    /// The radius and the angle of a pair of uniform numbers, as a point of the plane.
    #[doc(hidden)]
    fn point(first: Self, second: Self) -> (Self, Self);
}

impl Normal for f64 {
    #[inline(always)]
    fn point(first: f64, second: f64) -> (f64, f64) {
        let radius = (-2.0 * (1.0 - first).ln()).sqrt();
        let angle = 2.0 * PI * second;
        (radius * angle.cos(), radius * angle.sin())
    }
}

impl Normal for f32 {
    #[inline(always)]
    fn point(first: f32, second: f32) -> (f32, f32) {
        let radius = (-2.0 * logarithm(1.0 - first)).sqrt();
        let (sine, cosine) = sine_and_cosine((2.0 * PI) as f32 * second);
        (radius * cosine, radius * sine)
    }
}

/// Fills a contiguous run of memory. Runs of sixteen and more are drawn otherwise than shorter
/// ones, so cutting a run in two gives other numbers.
pub fn fill_normal<T: Normal>(generator: &mut Generator, out: &mut [T], mean: f64, deviation: f64) {
    let len = out.len();
    if len < BLOCK {
        return fill_normal_singly(generator, out, mean, deviation);
    }
    T::fill_unit(generator, out);
    let (mean, deviation) = (T::from_f64(mean), T::from_f64(deviation));
    let transform =
        |blocks: &mut [[T; BLOCK]]| pulp::Arch::new().dispatch(Blocks { blocks, mean, deviation });
    transform(out.as_chunks_mut().0);
    // What is left over is not filled up: the last sixteen are drawn anew.
    if let Some(last) = out.last_chunk_mut::<BLOCK>().filter(|_| !len.is_multiple_of(BLOCK)) {
        T::fill_unit(generator, last);
        transform(std::slice::from_mut(last));
    }
}

/// The transform of many blocks, as work for the widest vector instructions of this processor.
/// A closure would do, but is too big for the compiler to compile it anew for each of them.
struct Blocks<'a, T> {
    blocks: &'a mut [[T; BLOCK]],
    mean: T,
    deviation: T,
}

impl<T: Normal> pulp::NullaryFnOnce for Blocks<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for block in self.blocks {
            for index in 0..BLOCK / 2 {
                let (x, y) = T::point(block[index], block[index + BLOCK / 2]);
                block[index] = x.mul_add(self.deviation, self.mean);
                block[index + BLOCK / 2] = y.mul_add(self.deviation, self.mean);
            }
        }
    }
}

/// Fills one number after the other, as memory that is not contiguous and short runs are filled.
pub fn fill_normal_singly<T: Normal>(generator: &mut Generator, out: &mut [T], mean: f64, deviation: f64) {
    generator_fill(generator, out, |generator| T::from_f64(normal(generator, mean, deviation)));
}

/// One number. Every other one is the second of a pair, kept by the generator.
pub(super) fn normal(generator: &mut Generator, mean: f64, deviation: f64) -> f64 {
    let standard = generator.spare_normal.take().unwrap_or_else(|| {
        let (first, second) = (f64::unit(generator), f64::unit(generator));
        let radius = (-2.0 * (-second).ln_1p()).sqrt();
        let angle = 2.0 * PI * first;
        generator.spare_normal = Some(radius * angle.sin());
        radius * angle.cos()
    });
    standard.mul_add(deviation, mean)
}

/// ln x for normal numbers: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and a polynomial in m - 1.
#[inline(always)]
fn logarithm(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 9] = [
        7.037_683_6e-2,
        -1.151_461e-1,
        1.167_699_87e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_7e-1,
        2.000_071_4e-1,
        -2.499_999_4e-1,
        3.333_333e-1,
    ];
    // ln 2 in two parts, of which the first has few enough bits for exact products.
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    let bits = x.to_bits();
    let half = f32::from_bits(bits & 0x007f_ffff | 0x3f00_0000);
    let small = half < (0.5 * SQRT_2) as f32;
    let exponent = (bits >> 23) as i32 - if small { 127 } else { 126 };
    let exponent = exponent as f32;
    let rest = (half - 1.0) + if small { half } else { 0.0 };
    let square = rest * rest;
    let cubic = polynomial(&COEFFICIENTS, rest) * rest;
    let correction = (-0.5f32).mul_add(square, cubic.mul_add(square, exponent * LN_2.1));
    exponent.mul_add(LN_2.0, rest + correction)
}

/// sin x and cos x for small x >= 0: the distance to the nearest multiple of a right angle goes
/// through two polynomials, and the quadrant says which is which, and their signs.
#[inline(always)]
fn sine_and_cosine(x: f32) -> (f32, f32) {
    // Half a right angle in three parts, negated.
    const EIGHTH: [f32; 3] = [-0.785_156_25, -2.418_756_5e-4, -3.774_895e-8];
    let eighths = (x * (4.0 / PI) as f32) as i32;
    let eighths = (eighths + 1) & !1;
    let turns = eighths as f32;
    let rest = EIGHTH.iter().fold(x, |rest, part| turns.mul_add(*part, rest));
    let square = rest * rest;
    let cosine = polynomial(&[2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2], square) * square;
    let cosine = cosine.mul_add(square, -0.5 * square) + 1.0;
    let sine = polynomial(&[-1.951_529_6e-4, 8.332_161e-3, -1.666_665_5e-1], square) * square;
    let sine = sine.mul_add(rest, rest);
    let (sine, cosine) = if eighths & 2 == 0 { (sine, cosine) } else { (cosine, sine) };
    let sine_sign = (eighths as u32 & 4) << 29;
    let cosine_sign = (!(eighths - 2) as u32 & 4) << 29;
    (f32::from_bits(sine.to_bits() ^ sine_sign), f32::from_bits(cosine.to_bits() ^ cosine_sign))
}

/// The polynomial with these coefficients, highest power first.
#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f32; N], x: f32) -> f32 {
    coefficients[1..].iter().fold(coefficients[0], |sum, coefficient| sum.mul_add(x, *coefficient))
}
