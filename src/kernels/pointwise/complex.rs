//! Functions of complex numbers, near and far: no step on the way is larger than the largest number where the result
//! is not, none cancels what the result needs, and infinities, NaN and zeros of both signs are as the C standard has
//! them (annex G).
//!
//! They go the way of Kahan, their inverses (`inverse`) that of Hull, Fairgrieve and Tang.

mod inverse;

use crate::dtype::Complex;

pub use inverse::{acos, acosh, asin, asinh, atan, atanh};

/// Above this squares are not to be had, below its reciprocal neither.
const FAR: f64 = 1e150;

/// 2⁶⁰⁰
const LIFT: f64 = f64::from_bits((1023 + 600) << 52);

/// The reciprocal of its root.
const LIFT_BACK: f64 = f64::from_bits((1023 - 300) << 52);

/// Above this eˣ is infinite.
const STEEP: f64 = 709.0;

fn of(re: f64, im: f64) -> Complex<f64> {
    Complex::new(re, im)
}

/// i z, or the parts exchanged: odd functions of one kind become those of the other by it.
fn exchanged(z: Complex<f64>) -> Complex<f64> {
    of(z.im, z.re)
}

/// eˣ times a number, where eˣ alone may be too large.
fn exp_times(x: f64, share: f64) -> f64 {
    if x > STEEP && x < f64::INFINITY { (x / 2.0).exp() * share * (x / 2.0).exp() } else { x.exp() * share }
}

/// eᶻ
pub fn exp(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        of(x.exp(), y)
    } else if x.is_infinite() && !y.is_finite() {
        if x < 0.0 { of(0.0, 0.0) } else { of(x, f64::NAN) }
    } else {
        of(exp_times(x, y.cos()), exp_times(x, y.sin()))
    }
}

/// eᶻ - 1
pub fn expm1(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    if !x.is_finite() || x > STEEP {
        return exp(z) - 1.0;
    }
    let half = (y / 2.0).sin();
    of(x.exp_m1() * y.cos() - 2.0 * half * half, if y == 0.0 { y } else { x.exp() * y.sin() })
}

/// ln(1 + z)
pub fn log1p(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    let angle = y.atan2(1.0 + x);
    if x.hypot(y) < 0.5 {
        let square = x * (2.0 + x) + y * y;
        // What squares too small: the rest is the number itself.
        return of(if square == 0.0 { x } else { square.ln_1p() / 2.0 }, angle);
    }
    of((1.0 + x).hypot(y).ln(), angle)
}

/// √z. Nothing is branched on, as in `quotient`.
#[inline(always)]
pub fn sqrt(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    let most = if x.abs() > y.abs() { x.abs() } else { y.abs() };
    // By powers of four out of where squares are none or too large.
    let (scale, back) = if most < 1.0 / FAR { (LIFT, LIFT_BACK) } else { (1.0, 1.0) };
    let (scale, back) = if most > FAR { (1.0 / LIFT, 1.0 / LIFT_BACK) } else { (scale, back) };
    let (a, b) = (x.abs() * scale, y * scale);
    let size = (a * a + b * b).sqrt();
    let size = if a == f64::INFINITY { a } else { size };
    let root = ((a + size) * 0.5).sqrt() * back;
    let other = y / (root + root);
    let (re, im) = if x >= 0.0 { (root, other) } else { (other.abs(), root.copysign(y)) };
    let is_settled = ((x == 0.0) & (y == 0.0)) | y.is_infinite();
    of(if is_settled { y.abs() } else { re }, if is_settled { y } else { im })
}

/// 1/z. Nothing is branched on, as in `quotient`.
#[inline(always)]
pub fn reciprocal(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    let is_nothing = (x == 0.0) & (y == 0.0);
    let is_infinite = (x.is_infinite() | y.is_infinite()) & !x.is_nan() & !y.is_nan();
    let found = quotient(of(1.0, 0.0), z);
    let re = if is_infinite { 0.0_f64.copysign(x) } else { found.re };
    let im = if is_infinite { 0.0_f64.copysign(-y) } else { found.im };
    of(if is_nothing { f64::INFINITY } else { re }, if is_nothing { f64::NAN } else { im })
}

/// a/b, the greater part of b divided out first, so that nothing overflows on the way. Nothing is branched on, so that
/// loops take several at once.
#[inline(always)]
pub fn quotient(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let is_real = (b.im == 0.0) & (b.re != 0.0) & b.re.is_finite();
    let is_wide = b.re.abs() >= b.im.abs();
    let (most, least) = if is_wide { (b.re, b.im) } else { (b.im, b.re) };
    let (first, second) = if is_wide { (a.re, a.im) } else { (a.im, a.re) };
    let ratio = least / most;
    let scale = most + least * ratio;
    let (sum, product) = (first + second * ratio, first * ratio);
    let difference = if is_wide { second - product } else { product - second };
    let (re, im) = if is_real { (a.re, a.im) } else { (sum, difference) };
    Complex::new(re / scale, im / scale)
}

/// |z|
#[inline(always)]
pub fn size(z: Complex<f64>) -> f64 {
    let (x, y) = (z.re.abs(), z.im.abs());
    let most = if x > y { x } else { y };
    // By powers of two out of where squares are none or too large.
    let is_small = most < 1.0 / FAR;
    let (scale, back) = if is_small { (LIFT, 1.0 / LIFT) } else { (1.0, 1.0) };
    let (scale, back) = if most > FAR { (1.0 / LIFT, LIFT) } else { (scale, back) };
    let (a, b) = (x * scale, y * scale);
    let size = (a * a + b * b).sqrt() * back;
    if (x == f64::INFINITY) | (y == f64::INFINITY) { f64::INFINITY } else { size }
}

/// cosh z = cosh x cos y + i sinh x sin y
pub fn cosh(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    let size = x.abs();
    if y == 0.0 {
        return of(x.cosh(), y * 1.0_f64.copysign(x));
    }
    if x == 0.0 {
        return of(y.cos(), if y.is_finite() { x * y.sin() } else { 0.0 });
    }
    if size > STEEP && y.is_finite() {
        return of(exp_times(size, y.cos() / 2.0), exp_times(size, y.sin() / 2.0) * 1.0_f64.copysign(x));
    }
    if x.is_infinite() {
        return of(f64::INFINITY, f64::NAN);
    }
    of(x.cosh() * y.cos(), x.sinh() * y.sin())
}

/// sinh z = sinh x cos y + i cosh x sin y
pub fn sinh(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    let size = x.abs();
    if y == 0.0 {
        return of(x.sinh(), y);
    }
    if x == 0.0 {
        return of(if y.is_finite() { x * y.cos() } else { x }, y.sin());
    }
    if size > STEEP && y.is_finite() {
        return of(exp_times(size, y.cos() / 2.0) * 1.0_f64.copysign(x), exp_times(size, y.sin() / 2.0));
    }
    if x.is_infinite() {
        return of(x, f64::NAN);
    }
    of(x.sinh() * y.cos(), x.cosh() * y.sin())
}

/// tanh z
pub fn tanh(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    if x.is_nan() {
        return of(x, if y == 0.0 { y } else { f64::NAN });
    }
    if x.is_infinite() {
        let side = if y.is_finite() { y.sin() * y.cos() } else { y };
        return of(1.0_f64.copysign(x), 0.0_f64.copysign(side));
    }
    if !y.is_finite() {
        return of(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    if x.abs() >= 22.0 {
        let fall = (-x.abs()).exp();
        return of(1.0_f64.copysign(x), 4.0 * y.sin() * y.cos() * fall * fall);
    }
    let (t, s) = (y.tan(), x.sinh());
    let (beta, rho) = (1.0 + t * t, (1.0 + s * s).sqrt());
    let whole = 1.0 + beta * s * s;
    of(beta * rho * s / whole, t / whole)
}

/// sin z = -i sinh iz
pub fn sin(z: Complex<f64>) -> Complex<f64> {
    exchanged(sinh(exchanged(z)))
}

/// cos z = cosh iz
pub fn cos(z: Complex<f64>) -> Complex<f64> {
    cosh(of(-z.im, z.re))
}

/// tan z = -i tanh iz
pub fn tan(z: Complex<f64>) -> Complex<f64> {
    exchanged(tanh(exchanged(z)))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, LN_2, PI};

    use super::*;

    /// Numbers of many sizes on both axes and beside them, none so large or small that its square is nothing.
    fn numbers() -> impl Iterator<Item = Complex<f64>> {
        let parts = || {
            let sizes = [1e-9, 1e-3, 0.3, 0.9, 1.0, 1.1, 2.5, 20.0];
            sizes.into_iter().flat_map(|part| [part, -part]).chain([0.0])
        };
        parts().flat_map(move |x| parts().map(move |y| of(x, y)))
    }

    fn near(a: Complex<f64>, b: Complex<f64>, bound: f64) -> bool {
        (a - b).norm() <= bound * (1.0 + b.norm())
    }

    #[test]
    fn functions_undo_their_inverses() {
        for z in numbers() {
            assert!(near(sin(asin(z)), z, 1e-13), "arcsin {z}");
            assert!(near(cos(acos(z)), z, 1e-13), "arccos {z}");
            assert!(near(sinh(asinh(z)), z, 1e-13), "arsinh {z}");
            assert!(near(cosh(acosh(z)), z, 1e-13), "arcosh {z}");
            assert!(near(expm1(log1p(z)), z, 1e-13) || z == of(-1.0, 0.0), "ln(1 + {z})");
            assert!(near(sqrt(z) * sqrt(z), z, 1e-14), "root of {z}");
            assert!(near(reciprocal(z) * z, of(1.0, 0.0), 1e-14) || z == Complex::ZERO, "1/{z}");
            let is_pole = (z * z - 1.0).norm() < 1e-12 || (z * z + 1.0).norm() < 1e-12;
            assert!(is_pole || near(tanh(atanh(z)), z, 1e-12), "artanh {z}");
            assert!(is_pole || near(tan(atan(z)), z, 1e-12), "arctan {z}");
        }
    }

    #[test]
    fn sizes_and_quotients_are_those_of_plain_formulas_near_and_far() {
        for z in numbers() {
            for power in [1.0, 2.0_f64.powi(-1040), 2.0_f64.powi(-600), 2.0_f64.powi(600), 2.0_f64.powi(1000)]
            {
                let (far, expected) = (z * power, z.norm());
                let exact = if power < 1e-300 { far.re.hypot(far.im) / power } else { expected };
                assert!((size(far) / power - exact).abs() <= 4e-16 * exact, "|{far}|");
                let ratio = of(0.5, -3.0);
                if z.norm() > 0.0 && power > 1e-300 {
                    assert!(near(quotient(far * ratio, far), ratio, 1e-15), "by {far}");
                }
            }
        }
        assert_eq!(size(of(f64::NAN, f64::NEG_INFINITY)), f64::INFINITY);
        assert!(size(of(f64::NAN, 1.0)).is_nan() && size(of(1.0, f64::NAN)).is_nan());
        assert_eq!(size(of(f64::MAX, f64::MAX)), f64::INFINITY);
        assert_eq!(quotient(of(f64::INFINITY, 1.0), of(2.0, 0.0)), of(f64::INFINITY, 0.5));
        assert!(quotient(of(1.0, 1.0), of(0.0, 0.0)).re.is_nan());
    }

    #[test]
    fn near_zero_nothing_cancels() {
        let small = of(3e-20, -4e-20);
        for function in [expm1, log1p, sin, sinh, tan, tanh, asin, asinh, atan, atanh] {
            assert!((function(small) - small).norm() < 1e-35);
        }
    }

    #[test]
    fn far_away_nothing_overflows() {
        for x in [1e8, 1e30, 1e160, 1e300] {
            for (a, b) in [(x, 1.0), (1.0, x), (x, x), (x, 0.0), (0.0, x)] {
                let z = of(-a, b);
                let size = LN_2 + (a / 2.0).hypot(b / 2.0).ln() + LN_2;
                assert!(near(asin(z), of(-a.atan2(b), size), 1e-8), "arcsin {z}");
                assert!(near(acos(z), of(PI - b.atan2(a), -size), 1e-8), "arccos {z}");
                assert!(near(asinh(z), of(-size, b.atan2(a)), 1e-8), "arsinh {z}");
                assert!(near(acosh(z), of(size, PI - b.atan2(a)), 1e-8), "arcosh {z}");
                assert!(near(atan(z), of(-FRAC_PI_2, 0.0), 1e-7), "arctan {z}");
                assert!(reciprocal(z).norm() > 0.0, "1/{z}");
                assert!(sqrt(z).is_finite(), "root of {z}");
            }
            assert_eq!(tanh(of(x, 1.0)).re, 1.0);
            assert_eq!(tan(of(1.0, -x)).im, -1.0);
            assert_eq!(exp(of(-x, 1.0)).norm(), 0.0);
        }
        assert!(exp(of(709.9, PI / 4.0)).is_finite() && sinh(of(709.9, PI / 4.0)).is_finite());
    }

    #[test]
    fn zeros_have_signs_and_infinities_directions() {
        assert_eq!(exp(of(f64::INFINITY, 0.0)), of(f64::INFINITY, 0.0));
        assert_eq!(acosh(of(-1.0, -0.0)).im, -PI);
        assert_eq!(asin(of(0.0, f64::INFINITY)), of(0.0, f64::INFINITY));
        assert_eq!(tanh(of(f64::INFINITY, 1.0)), of(1.0, 0.0));
        assert_eq!(sqrt(of(f64::NEG_INFINITY, 1.0)), of(0.0, f64::INFINITY));
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        let (none, most) = (f64::NAN, f64::INFINITY);
        for (z, root) in [
            ((0.0, 0.0), (0.0, 0.0)),
            ((-0.0, -0.0), (0.0, -0.0)),
            ((none, most), (most, most)),
            ((-1.0, -most), (most, -most)),
            ((-most, -0.0), (0.0, -most)),
            ((-most, none), (none, most)),
            ((most, none), (most, none)),
            ((most, -3.0), (most, -0.0)),
            ((none, 1.0), (none, none)),
            ((2.0, none), (none, none)),
            ((-4.0, -0.0), (0.0, -2.0)),
            ((5e-324, 0.0), (2.0_f64.powi(-537), 0.0)),
            ((-2.0_f64.powi(1000), 0.0), (0.0, 2.0_f64.powi(500))),
        ] {
            let found = sqrt(of(z.0, z.1));
            assert!(same(found.re, root.0) && same(found.im, root.1), "root of {z:?}: {found}");
        }
        assert_eq!(reciprocal(of(f64::INFINITY, 1.0)), of(0.0, 0.0));
        assert!(sinh(of(f64::INFINITY, f64::NAN)).re.is_infinite());
        assert!(atan(of(f64::NAN, 1.0)).re.is_nan());
    }
}
