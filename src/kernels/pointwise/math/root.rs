//! Square roots without the instruction for them.

use super::Arithmetic;
use crate::dtype::Real;

/// From which number on nothing vanishes of what rounding took from products.
const LEAST: f64 = f64::from_bits((1023 - 800) << 52);

/// Whether `root_by_products` is for this number.
#[inline(always)]
pub fn has_root_by_products<T: Real>(x: T) -> bool {
    x >= T::from_f64(LEAST) && x < T::from_f64(f64::INFINITY)
}

/// The square root of double precision in fused arithmetic, with the bits that the instruction for it has: by units of
/// the processor that are idle while it divides and takes roots.
#[inline(always)]
pub fn root_by_products<A: Arithmetic>(x: A) -> A {
    let half = A::from_f64(0.5);
    // y = 1/√x to 4, 12 and 37 bits
    let mut y = A::new(x.get().near_inverse_root());
    for _ in 0..2 {
        let off = (-x).times_plus(y * y, A::from_f64(1.0));
        y = (y * off).times_plus(off.times_plus(A::from_f64(0.375), half), y);
    }
    // √x and ½/√x to all bits but the last
    let (root, inverse) = (x * y, half * y);
    let off = (-root).times_plus(inverse, half);
    let (root, inverse) = (root.times_plus(off, root), inverse.times_plus(off, inverse));
    (-root).times_plus(root, x).times_plus(inverse, root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::pointwise::math::Fused;

    #[test]
    fn roots_by_products_have_the_bits_of_the_instruction() {
        let mut bits = 0x1234_5678_9abc_def1_u64;
        let ends =
            [LEAST, f64::MAX, 1.0, 1.0 - f64::EPSILON / 2.0, 1.0 + f64::EPSILON, 4.0 - 2.0 * f64::EPSILON];
        let any = std::iter::from_fn(|| {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            Some(f64::from_bits(bits))
        });
        for x in ends.into_iter().chain(any.take(200_000)) {
            if has_root_by_products(x) {
                assert_eq!(root_by_products(Fused(x)).0.to_bits(), x.sqrt().to_bits(), "{x:e}");
            }
        }
        let without = [0.0, -0.0, -1.0, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        assert!(without.into_iter().all(|x| !has_root_by_products(x)));
    }
}
