//! The two half types: how they lie in memory, and the way to single precision and back. Nothing is
//! calculated with them here: Note [Stored types] in `dtype`. The conversions are ours since the compiler makes one
//! vectorised loop of them; those of the crate `half` go in pieces of eight, and took longer.

use super::element::by_single;
use super::{Complex, DType, Element, Scalar};

/// A number of half precision: five bits of exponent, ten of fraction.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Half(u16);

/// The upper half of a number of single precision: its exponent, seven bits of fraction.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct BFloat16(u16);

impl Half {
    /// The number with these bits.
    pub const fn from_bits(bits: u16) -> Self {
        Half(bits)
    }

    /// Its bits.
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// The same number.
    #[inline]
    pub fn to_f32(self) -> f32 {
        /// What makes the exponents of half precision those of single precision, 2¹¹².
        const RAISED: f32 = f32::from_bits((127 + 112) << 23);
        let sign = u32::from(self.0 & 0x8000) << 16;
        let rest = u32::from(self.0 & 0x7fff) << 13;
        // Exact, of numbers without a leading one too.
        let raised = (f32::from_bits(rest) * RAISED).to_bits();
        // Infinite, or not a number.
        let bits = if rest >= 0x7c00 << 13 { rest | 0x7f80_0000 } else { raised };
        f32::from_bits(sign | bits)
    }

    /// The nearest number, of two the one whose last bit is zero.
    #[inline]
    pub fn from_f32(value: f32) -> Self {
        /// The least number that is rounded to infinity.
        const INFINITE: u32 = 0x477f_f000;
        /// The least number with a leading one.
        const NORMAL: u32 = 0x3880_0000;
        let bits = value.to_bits();
        let sign = (bits >> 16) as u16 & 0x8000;
        let rest = bits & 0x7fff_ffff;
        let half = match rest {
            0x7f80_0001.. => 0x7e00,
            INFINITE.. => 0x7c00,
            NORMAL.. => {
                let even = rest >> 13 & 1;
                (rest - ((127 - 15) << 23) + 0xfff + even) >> 13
            }
            // The sum with one half has the steps of 2⁻²⁴ in its last bits, rounded.
            _ => (f32::from_bits(rest) + 0.5).to_bits() - 0.5f32.to_bits(),
        };
        Half(sign | half as u16)
    }
}

impl BFloat16 {
    /// The number with these bits.
    pub const fn from_bits(bits: u16) -> Self {
        BFloat16(bits)
    }

    /// Its bits.
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// The same number.
    #[inline]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// The nearest number, of two the one whose last bit is zero.
    #[inline]
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        BFloat16(if value.is_nan() { 0x7fc0 } else { rounded as u16 })
    }
}

by_single!(Half, Float16);
by_single!(BFloat16, BFloat16);

impl Element for Complex<Half> {
    const DTYPE: DType = DType::Complex32;
    fn from_i64(value: i64) -> Self {
        Complex::new(Half::from_i64(value), Half::default())
    }
    fn from_f64(value: f64) -> Self {
        Complex::new(Half::from_f64(value), Half::default())
    }
    fn to_i64(self) -> i64 {
        self.re.to_i64()
    }
    fn to_f64(self) -> f64 {
        self.re.to_f64()
    }
    fn from_complex(value: Complex<f64>) -> Self {
        Complex::new(Half::from_f64(value.re), Half::from_f64(value.im))
    }
    fn to_complex(self) -> Complex<f64> {
        Complex::new(self.re.to_f64(), self.im.to_f64())
    }
    fn to_scalar(self) -> Scalar {
        Scalar::Complex(Element::to_complex(self))
    }
    fn is_true(self) -> bool {
        self.re.is_true() || self.im.is_true()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_is_itself_again_after_single_precision() {
        for bits in 0..=u16::MAX {
            let (half, brief) = (Half(bits).to_f32(), BFloat16(bits).to_f32());
            assert!(
                half.is_nan() && Half::from_f32(half).to_f32().is_nan() || Half::from_f32(half).0 == bits
            );
            assert!(
                brief.is_nan() && BFloat16::from_f32(brief).to_f32().is_nan()
                    || BFloat16::from_f32(brief).0 == bits
            );
        }
    }

    #[test]
    fn what_lies_between_two_halves_goes_to_the_nearer_one_and_from_the_middle_to_the_even_one() {
        for bits in 0..0x7bff_u16 {
            let (low, high) = (Half(bits).to_f32(), Half(bits + 1).to_f32());
            let middle = low + (high - low) / 2.0;
            assert_eq!(Half::from_f32(middle).0, bits + (bits & 1), "{bits:x}");
            assert_eq!(Half::from_f32(f32::from_bits(middle.to_bits() - 1)).0, bits);
            assert_eq!(Half::from_f32(f32::from_bits(middle.to_bits() + 1)).0, bits + 1);
        }
        assert_eq!(Half::from_f32(65519.99).to_f32(), 65504.0);
        assert_eq!(Half::from_f32(65520.0).to_f32(), f32::INFINITY);
        assert_eq!(Half::from_f32(-0.0).0, 0x8000);
        assert_eq!(BFloat16::from_f32(f32::MAX).to_f32(), f32::INFINITY);
        assert_eq!(BFloat16::from_f32(1.0 + 1.0 / 256.0).to_f32(), 1.0);
        assert_eq!(BFloat16::from_f32(1.0 + 3.0 / 256.0).to_f32(), 1.015_625);
    }
}
