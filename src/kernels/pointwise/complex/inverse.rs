//! The inverse functions of complex numbers, which go the way of Hull, Fairgrieve and Tang (ACM TOMS 23, 1997).

use std::f64::consts::{FRAC_PI_2, LN_2, PI};

use super::{FAR, exchanged, of};
use crate::dtype::Complex;

/// What the inverse sine and cosine of a number with parts of zero or more have in common.
struct Inverse {
    /// The real parts.
    asin: f64,
    acos: f64,
    /// The imaginary part, of one its negative.
    im: f64,
}

impl Inverse {
    /// Of numbers that are none of those below.
    fn of(x: f64, y: f64) -> Inverse {
        if x > FAR || y > FAR {
            // The logarithm of twice the size.
            let im = (x / 2.0).hypot(y / 2.0).ln() + 2.0 * LN_2;
            return Inverse { asin: x.atan2(y), acos: y.atan2(x), im };
        }
        // Beside the real line, where squares of y are nothing.
        if y <= f64::EPSILON * (x - 1.0).abs() {
            return Inverse::beside(x, y);
        }
        if y < 1.0 / FAR {
            // So near to one that the root of y is what counts.
            return Inverse { asin: FRAC_PI_2 - y.sqrt(), acos: y.sqrt(), im: y.sqrt() };
        }
        let (right, left) = ((x + 1.0).hypot(y), (x - 1.0).hypot(y));
        let a = (right + left) / 2.0;
        let b = x / a;
        let (asin, acos) = if b <= 0.6417 {
            (b.asin(), b.acos())
        } else {
            let apart = a + x;
            let root = match x <= 1.0 {
                true => (apart / 2.0 * (y * y / (right + x + 1.0) + (left + (1.0 - x)))).sqrt(),
                false => y * ((apart / (right + x + 1.0) + apart / (left + (x - 1.0))) / 2.0).sqrt(),
            };
            (x.atan2(root), root.atan2(x))
        };
        let im = if a <= 1.5 {
            let rest = match x < 1.0 {
                true => y * y / (right + (x + 1.0)) + y * y / (left + (1.0 - x)),
                false => y * y / (right + (x + 1.0)) + (left + (x - 1.0)),
            } / 2.0;
            (rest + (rest * (a + 1.0)).sqrt()).ln_1p()
        } else {
            (a + (a * a - 1.0).sqrt()).ln()
        };
        Inverse { asin, acos, im }
    }

    fn beside(x: f64, y: f64) -> Inverse {
        if x < 1.0 {
            let im = y / ((1.0 - x) * (1.0 + x)).sqrt();
            return Inverse { asin: x.asin(), acos: x.acos(), im };
        }
        let root = ((x - 1.0) * (x + 1.0)).sqrt();
        let slope = if root > 0.0 { y / root } else { 0.0 };
        Inverse { asin: FRAC_PI_2 - slope, acos: slope, im: ((x - 1.0) + root).ln_1p() }
    }
}

/// arcsin z
pub fn asin(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    if x.is_nan() || y.is_nan() {
        return match () {
            () if x.is_infinite() => of(f64::NAN, x),
            () if y.is_infinite() => of(f64::NAN, y),
            () if x == 0.0 => z,
            () => of(f64::NAN, f64::NAN),
        };
    }
    let found = Inverse::of(x.abs(), y.abs());
    of(found.asin.copysign(x), found.im.copysign(y))
}

/// arccos z
pub fn acos(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re, z.im);
    if x.is_nan() || y.is_nan() {
        return match () {
            () if x.is_infinite() => of(f64::NAN, -f64::INFINITY),
            () if y.is_infinite() => of(f64::NAN, -y),
            () if x == 0.0 => of(FRAC_PI_2, f64::NAN),
            () => of(f64::NAN, f64::NAN),
        };
    }
    let found = Inverse::of(x.abs(), y.abs());
    of(if x.is_sign_negative() { PI - found.acos } else { found.acos }, found.im.copysign(-y))
}

/// arsinh z = -i arcsin iz
pub fn asinh(z: Complex<f64>) -> Complex<f64> {
    exchanged(asin(exchanged(z)))
}

/// arcosh z = ±i arccos z
pub fn acosh(z: Complex<f64>) -> Complex<f64> {
    let w = acos(z);
    match (w.re.is_nan(), w.im.is_nan()) {
        (true, _) => of(w.im.abs(), w.re),
        (false, true) => of(w.im, w.im),
        _ => of(w.im.abs(), w.re.copysign(z.im)),
    }
}

/// artanh z
pub fn atanh(z: Complex<f64>) -> Complex<f64> {
    let (x, y) = (z.re.abs(), z.im.abs());
    let signed = |re: f64, im: f64| of(re.copysign(z.re), im.copysign(z.im));
    if y == 0.0 && x <= 1.0 {
        return of(z.re.atanh(), z.im);
    }
    if x == 0.0 {
        return of(z.re, z.im.atan());
    }
    if x.is_nan() || y.is_nan() {
        return match () {
            () if x.is_infinite() => of(0.0_f64.copysign(z.re), f64::NAN),
            () if y.is_infinite() => signed(0.0, FRAC_PI_2),
            () => of(f64::NAN, f64::NAN),
        };
    }
    if x > 1.0 / f64::EPSILON || y > 1.0 / f64::EPSILON {
        let size = x.hypot(y);
        let re =
            if size.is_infinite() && (x.is_infinite() || y.is_infinite()) { 0.0 } else { x / size / size };
        return signed(re, FRAC_PI_2);
    }
    let re = match x == 1.0 && y < f64::EPSILON {
        true => (LN_2 - y.ln()) / 2.0,
        false => (4.0 * x / ((x - 1.0) * (x - 1.0) + y * y)).ln_1p() / 4.0,
    };
    let im = match x == 1.0 {
        true => 2.0_f64.atan2(-y) / 2.0,
        false => (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y) / 2.0,
    };
    signed(re, im)
}

/// arctan z = -i artanh iz
pub fn atan(z: Complex<f64>) -> Complex<f64> {
    exchanged(atanh(exchanged(z)))
}
