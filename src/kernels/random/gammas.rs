//! Waiting times drawn one at a time: from gamma distributions, by rejection (Marsaglia and Tsang).

use super::normal::normal;
use super::{Generator, Uniform};
use crate::dtype::Real;

/// A number of the gamma distribution of rate one with this concentration, which is one of `T`.
///
/// The constants are those of single precision, and the concentration is raised in its own type: so do the
/// draws that these are bit for bit.
pub fn gamma<T: Real>(generator: &mut Generator, concentration: f64) -> f64 {
    let unit = |generator: &mut Generator| 1.0 - f64::unit(generator);
    let (mut raised, mut scale) = (T::from_f64(concentration), 1.0);
    if concentration == 0.0 {
        return 0.0;
    }
    if concentration < 1.0 {
        // That of one more, times a power of something uniform.
        scale = unit(generator).powf(1.0 / concentration);
        raised = raised + T::ONE;
    }
    let d = (raised - T::from_f64(f64::from(1.0_f32 / 3.0))).to_f64();
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(generator, 0.0, 1.0);
        let y = 1.0 + c * x;
        if y <= 0.0 {
            continue;
        }
        // What is no number is never accepted.
        if y.is_nan() {
            return y;
        }
        let (v, u, square) = (y * y * y, unit(generator), x * x);
        let is_sure = u < 1.0 - f64::from(0.0331_f32) * square * square;
        if is_sure || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) {
            return scale * d * v;
        }
    }
}
