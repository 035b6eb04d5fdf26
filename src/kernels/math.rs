//! Exponential functions as plain arithmetic, which the compiler vectorises inside an elementwise
//! loop; the functions of the standard library are calls, one element at a time.
//!
//! Single precision is computed in double precision and rounded once, so it is as good as exact;
//! double precision is within one unit in the last place.

use crate::dtype::{Complex, DType, Real};

/// Adding this to a small number leaves its nearest integer in the low bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts; products of the first with small integers are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// 1/2!, 1/3!, ... 1/13!
const INVERSE_FACTORIALS: [f64; 12] = {
    let mut inverse = [0.5; 12];
    let (mut index, mut factorial) = (1, 2.0);
    while index < inverse.len() {
        factorial *= (index + 2) as f64;
        inverse[index] = 1.0 / factorial;
        index += 1;
    }
    inverse
};

/// e to the power of `x`
#[inline(always)]
pub fn exp<T: Real>(x: T) -> T {
    match T::DTYPE {
        DType::Float32 => T::from_f64(exp_with::<7>(x.as_())),
        _ => T::from_f64(exp_with::<12>(x.as_())),
    }
}

/// 1 / (1 + e^-x)
#[inline(always)]
pub fn sigmoid<T: Real>(x: T) -> T {
    T::ONE / (T::ONE + exp(-x))
}

/// `exp` with this many terms after 1 + r of the series.
#[inline(always)]
fn exp_with<const TERMS: usize>(x: f64) -> f64 {
    // Beyond these the result is infinite or zero anyway. Comparisons leave NaN as it is.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    // x = n ln 2 + r with |r| <= ln 2 / 2
    let rounded = x * std::f64::consts::LOG2_E + ROUNDING;
    let n = rounded - ROUNDING;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let mut series = INVERSE_FACTORIALS[TERMS - 1];
    let mut term = TERMS - 1;
    while term > 0 {
        term -= 1;
        series = series * r + INVERSE_FACTORIALS[term];
    }
    let power = 1.0 + (r + r * r * series);
    // 2^n in two factors, since n may lie beyond the exponents of normal numbers.
    let n = rounded.to_bits().wrapping_sub(ROUNDING.to_bits()) as i64;
    let two_to = |n: i64| f64::from_bits((n.wrapping_add(1023) as u64) << 52);
    let half = n >> 1;
    power * two_to(half) * two_to(n.wrapping_sub(half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_within_one_unit_in_the_last_place() {
        let mut checked = 0;
        for step in -7_000..7_000 {
            let x = f64::from(step) * 0.1013;
            let (ours, exact) = (exp(x), x.exp());
            if exact.is_normal() {
                let apart = ours.to_bits().abs_diff(exact.to_bits());
                assert!(apart <= 1, "exp({x}) = {ours}, not {exact}");
                checked += 1;
            }
            let single = x as f32;
            let exact = f64::from(single).exp() as f32;
            let apart = exp(single).to_bits().abs_diff(exact.to_bits());
            assert!(apart <= 1, "exp({single}) = {}, not {exact}", exp(single));
        }
        assert!(checked > 13_000);
    }

    #[test]
    fn exp_has_the_limits_of_the_exponential_function() {
        assert_eq!(exp(0.0f64), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(f64::INFINITY), f64::INFINITY);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(-1e30f32), 0.0);
        assert_eq!(exp(-745.0f64), (-745.0f64).exp());
        assert!(exp(f32::NAN).is_nan() && exp(f64::NAN).is_nan());
        assert_eq!(sigmoid(0.0f32), 0.5);
        assert_eq!(sigmoid(-1000.0f64), 0.0);
        assert_eq!(sigmoid(1000.0f32), 1.0);
    }
}

/// ln(eᵃ + eᵇ)
pub fn log_add_exp(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let is_nan = |x: Complex<f64>| x.re.is_nan() || x.im.is_nan();
    if is_nan(a) || is_nan(b) {
        return Complex::new(f64::NAN, f64::NAN);
    }
    let (least, most) = if a.re < b.re { (a, b) } else { (b, a) };
    if least.re == most.re && !least.re.is_finite() {
        return if least.re < 0.0 { least } else { (least.exp() + most.exp()).ln() };
    }
    most + ((least - most).exp() + 1.0).ln()
}
