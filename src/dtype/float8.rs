//! The floating-point types of eight bits: how they lie in memory, and the way to single precision and back. Nothing is
//! calculated with them here: Note [Stored types] in `dtype`.

use super::element::by_single;
use super::{DType, Element, Scalar};

/// How the eight bits of a type are read.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the fraction.
    fraction: u32,
    /// What is added to exponents.
    bias: u32,
    /// The bits of the greatest number.
    greatest: u8,
    /// The bits of what is too large.
    over: u8,
    /// Whether the zero has no sign, and the bits of the other zero say that there is no number.
    one_zero: bool,
}

/// Four bits of exponent and three of fraction, no infinities: what is too large becomes the greatest number.
const E4M3_FN: Format = Format { fraction: 3, bias: 7, greatest: 0x7e, over: 0x7e, one_zero: false };
/// The same with one zero.
const E4M3_FNUZ: Format = Format { fraction: 3, bias: 8, greatest: 0x7f, over: 0x80, one_zero: true };
/// Five bits of exponent and two of fraction.
const E5M2: Format = Format { fraction: 2, bias: 15, greatest: 0x7b, over: 0x7c, one_zero: false };
/// The same with one zero and no infinities.
const E5M2_FNUZ: Format = Format { fraction: 2, bias: 16, greatest: 0x7f, over: 0x80, one_zero: true };

impl Format {
    /// The number with these bits.
    fn widened(self, bits: u8) -> f32 {
        let (sign, rest) = (u32::from(bits & 0x80) << 24, bits & 0x7f);
        if self.one_zero && bits == 0x80 || rest > self.greatest {
            let infinite = rest == self.over && self.fraction == 2;
            return f32::from_bits(sign | if infinite { 0x7f80_0000 } else { 0x7fc0_0000 });
        }
        // The exponent of single precision, without its own one: exact, of numbers without a leading one too.
        let raised = f32::from_bits((254 - self.bias) << 23);
        let number = f32::from_bits(u32::from(rest) << (23 - self.fraction)) * raised;
        f32::from_bits(sign | number.to_bits())
    }

    /// The nearest number, of two the one whose last bit is zero.
    fn narrowed(self, value: f32) -> u8 {
        let bits = value.to_bits();
        let (sign, rest) = ((bits >> 24) as u8 & 0x80, bits & 0x7fff_ffff);
        let dropped = 23 - self.fraction;
        let near = match rest {
            0x7f80_0001.. => return if self.one_zero { 0x80 } else { sign | 0x7f },
            // With a leading one.
            _ if rest >> 23 > 127 - self.bias => {
                let even = rest >> dropped & 1;
                (rest - ((127 - self.bias) << 23) + ((1 << (dropped - 1)) - 1) + even) >> dropped
            }
            // The sum with this power of two has the steps of the least numbers in its last bits, rounded.
            _ => {
                let power = f32::from_bits((127 - self.bias + 1 + dropped) << 23);
                (f32::from_bits(rest) + power).to_bits() - power.to_bits()
            }
        };
        match near {
            near if near > u32::from(self.greatest) => match self.one_zero {
                true => self.over,
                false => sign | self.over,
            },
            0 if self.one_zero => 0,
            near => sign | near as u8,
        }
    }
}

/// Implements a type of eight bits, by way of single precision: a line for what it is, its name, the variant, and the
/// two conversions.
macro_rules! float8 {
    ($(#[$meta:meta])* $T:ident, $widened:expr, $narrowed:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default)]
        #[repr(transparent)]
        pub struct $T(u8);

        impl $T {
            /// The number with these bits.
            pub const fn from_bits(bits: u8) -> Self {
                $T(bits)
            }

            /// Its bits.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The same number.
            pub fn to_f32(self) -> f32 {
                $widened(self.0)
            }

            /// The nearest number, of two the one whose last bit is zero.
            pub fn from_f32(value: f32) -> Self {
                $T($narrowed(value))
            }
        }

        by_single!($T, $T);
    };
}
float8!(
    /// A number of four bits of exponent and three of fraction; none is infinite.
    Float8E4M3Fn,
    |bits| E4M3_FN.widened(bits),
    |value| E4M3_FN.narrowed(value)
);
float8!(
    /// A number of four bits of exponent and three of fraction; none is infinite, and zero has no sign.
    Float8E4M3FnUz,
    |bits| E4M3_FNUZ.widened(bits),
    |value| E4M3_FNUZ.narrowed(value)
);
float8!(
    /// A number of five bits of exponent and two of fraction.
    Float8E5M2,
    |bits| E5M2.widened(bits),
    |value| E5M2.narrowed(value)
);
float8!(
    /// A number of five bits of exponent and two of fraction; none is infinite, and zero has no sign.
    Float8E5M2FnUz,
    |bits| E5M2_FNUZ.widened(bits),
    |value| E5M2_FNUZ.narrowed(value)
);
float8!(
    /// A power of two: the exponent of a number of single precision, and nothing else.
    Float8E8M0FnU,
    power,
    exponent
);

/// The power of two with this exponent.
fn power(bits: u8) -> f32 {
    match bits {
        // 2⁻¹²⁷ has no leading one.
        0 => f32::from_bits(1 << 22),
        255 => f32::NAN,
        bits => f32::from_bits(u32::from(bits) << 23),
    }
}

/// The exponent of the nearest power of two, of two the greater one but for the least.
fn exponent(value: f32) -> u8 {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 23) as u8, bits & 0x7f_ffff);
    let is_up = fraction > 1 << 22 || fraction == 1 << 22 && exponent > 0;
    if exponent < 255 && is_up { exponent + 1 } else { exponent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_itself_again_after_single_precision() {
        for bits in 0..=u8::MAX {
            let again: [(f32, u8); 5] = [
                (Float8E4M3Fn(bits).to_f32(), Float8E4M3Fn::from_f32(Float8E4M3Fn(bits).to_f32()).0),
                (Float8E4M3FnUz(bits).to_f32(), Float8E4M3FnUz::from_f32(Float8E4M3FnUz(bits).to_f32()).0),
                (Float8E5M2(bits).to_f32(), Float8E5M2::from_f32(Float8E5M2(bits).to_f32()).0),
                (Float8E5M2FnUz(bits).to_f32(), Float8E5M2FnUz::from_f32(Float8E5M2FnUz(bits).to_f32()).0),
                (Float8E8M0FnU(bits).to_f32(), Float8E8M0FnU::from_f32(Float8E8M0FnU(bits).to_f32()).0),
            ];
            for (number, found) in again {
                assert!(number.is_nan() || found == bits, "{number} of {bits:x} is {found:x}");
            }
        }
    }

    #[test]
    fn what_is_too_large_is_what_the_type_has_for_it() {
        assert_eq!(Float8E4M3Fn::from_f32(464.0).to_f32(), 448.0);
        assert_eq!(Float8E4M3Fn::from_f32(f32::NEG_INFINITY).to_f32(), -448.0);
        assert!(Float8E4M3Fn::from_f32(f32::NAN).to_f32().is_nan());
        assert_eq!(Float8E5M2::from_f32(-1e9).to_f32(), f32::NEG_INFINITY);
        assert_eq!(Float8E5M2FnUz::from_f32(1e9).0, 0x80);
        assert_eq!(Float8E4M3FnUz::from_f32(-0.0).0, 0);
        assert_eq!(Float8E8M0FnU::from_f32(3.0).to_f32(), 4.0);
    }
}
