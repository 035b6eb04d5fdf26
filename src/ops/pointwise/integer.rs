//! Integers as operations see them: divisions, powers and bits. Nothing here overflows or divides by
//! zero; operations that must refuse a divisor of zero look before they calculate.

use num_traits::PrimInt;

use crate::dtype::{Number, Ring};

/// What integers can do beyond what all numbers can.
pub trait Integer: Number {
    /// a / b, rounded towards zero; 0 for b = 0
    fn quotient(self, other: Self) -> Self;
    /// a / b, rounded down; 0 for b = 0
    fn floored(self, other: Self) -> Self;
    /// a - b · quotient, with the sign of a
    fn remainder(self, other: Self) -> Self;
    /// a - b · floored, with the sign of b
    fn modulo(self, other: Self) -> Self;
    /// a to the power of b; with a negative b whatever is left of it after rounding towards zero
    fn power(self, exponent: Self) -> Self;
    /// The bits that are in both.
    fn and(self, other: Self) -> Self;
    /// The bits that are in either.
    fn or(self, other: Self) -> Self;
    /// The bits that are in one of the two.
    fn xor(self, other: Self) -> Self;
    /// The bits moved up; none are left when they are moved further than there are, or by less than none.
    fn shifted_up(self, count: Self) -> Self;
    /// The bits moved down; only the sign is left when they are moved further than there are.
    fn shifted_down(self, count: Self) -> Self;
}

/// The number of bits to move by, if it is one.
fn places<T: PrimInt>(count: T) -> Option<usize> {
    count.to_usize().filter(|&count| count < 8 * size_of::<T>())
}

impl<T: Number + PrimInt> Integer for T {
    #[inline]
    fn quotient(self, other: Self) -> Self {
        if const { size_of::<T>() <= 4 } {
            // Numbers of so few digits have no quotient that would be rounded to another integer, and of a sum with this
            // one it is the last bits, which wrap around.
            const WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;
            let quotient = (self.to_f64() / other.to_f64()).trunc() + WHOLE;
            let quotient = T::from_i64(quotient.to_bits().cast_signed());
            return if other == T::ZERO { T::ZERO } else { quotient };
        }
        match self.checked_div(&other) {
            Some(quotient) => quotient,
            None if other == T::ZERO => T::ZERO,
            // The least integer by -1 wraps around.
            None => self,
        }
    }

    fn floored(self, other: Self) -> Self {
        let quotient = self.quotient(other);
        let remainder = self.remainder(other);
        let below = remainder != T::ZERO && (remainder < T::ZERO) != (other < T::ZERO);
        if below && other != T::ZERO { Ring::sub(quotient, T::ONE) } else { quotient }
    }

    fn remainder(self, other: Self) -> Self {
        Ring::sub(self, Ring::mul(other, self.quotient(other)))
    }

    fn modulo(self, other: Self) -> Self {
        let remainder = self.remainder(other);
        let below = remainder != T::ZERO && (remainder < T::ZERO) != (other < T::ZERO);
        if below { Ring::add(remainder, other) } else { remainder }
    }

    fn power(self, exponent: Self) -> Self {
        let odd = exponent & T::ONE == T::ONE;
        if exponent < T::ZERO {
            let minus_one = Ring::sub(T::ZERO, T::ONE);
            return match self {
                base if base == T::ONE => T::ONE,
                base if base == minus_one => {
                    if odd {
                        minus_one
                    } else {
                        T::ONE
                    }
                }
                _ => T::ZERO,
            };
        }
        let (mut result, mut square, mut left) = (T::ONE, self, exponent);
        while left > T::ZERO {
            if left & T::ONE == T::ONE {
                result = Ring::mul(result, square);
            }
            square = Ring::mul(square, square);
            left = left >> 1;
        }
        result
    }

    fn and(self, other: Self) -> Self {
        self & other
    }

    fn or(self, other: Self) -> Self {
        self | other
    }

    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    fn shifted_up(self, count: Self) -> Self {
        places(count).map_or(T::ZERO, |count| self << count)
    }

    fn shifted_down(self, count: Self) -> Self {
        match places(count) {
            Some(count) => self >> count,
            None if self < T::ZERO => Ring::sub(T::ZERO, T::ONE),
            None => T::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All quotients of these numbers beside those of wider ones.
    fn divided<T: Integer + PrimInt>(numbers: impl Iterator<Item = i64> + Clone) {
        for (a, b) in numbers.clone().flat_map(|a| numbers.clone().map(move |b| (a, b))) {
            let (x, y) = (T::from_i64(a), T::from_i64(b));
            let quotient = a.checked_div(b).unwrap_or(0);
            assert_eq!(x.quotient(y), T::from_i64(quotient), "{a} by {b}");
            if b != 0 {
                assert_eq!(x.floored(y), T::from_i64((a as f64 / b as f64).floor() as i64), "{a} by {b}");
                assert_eq!(Integer::remainder(x, y), T::from_i64(a % b), "{a} by {b}");
            }
        }
    }

    #[test]
    fn narrow_numbers_are_divided_as_wide_ones() {
        divided::<u8>(0..256);
        divided::<i8>(-128..128);
        let around = |at: i64| at - 2..at + 3;
        divided::<i16>(around(0).chain(-32768..-32764).chain(32764..32768));
        let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
        divided::<i32>(around(0).chain(around(7919)).chain(least..least + 3).chain(most - 2..most + 1));
    }

    #[test]
    fn quotients_and_remainders_fit_each_other_in_both_roundings() {
        let mut checked = 0;
        for a in i8::MIN..=i8::MAX {
            for b in i8::MIN..=i8::MAX {
                let (wide_a, wide_b) = (i64::from(a), i64::from(b));
                if b == 0 {
                    assert_eq!((a.quotient(b), a.floored(b)), (0, 0));
                    continue;
                }
                assert_eq!(a.quotient(b), (wide_a / wide_b) as i8);
                assert_eq!(a.remainder(b), (wide_a % wide_b) as i8);
                let floored = (wide_a as f64 / wide_b as f64).floor() as i64;
                assert_eq!(a.floored(b), floored as i8, "{a} {b}");
                assert_eq!(a.modulo(b), (wide_a - floored * wide_b) as i8, "{a} {b}");
                checked += 1;
            }
        }
        assert_eq!(checked, 256 * 255);
    }

    #[test]
    fn quotients_of_32_bits_are_exact_at_their_ends() {
        let numbers = [i32::MIN, i32::MIN + 1, -65_537, -3, -1, 1, 2, 46_341, 65_535, i32::MAX - 1, i32::MAX];
        for a in numbers {
            for b in numbers {
                assert_eq!(a.quotient(b), a.wrapping_div(b), "{a} {b}");
                assert_eq!(a.remainder(b), a.wrapping_rem(b), "{a} {b}");
            }
            assert_eq!([a.quotient(0), a.floored(0)], [0, 0]);
        }
    }

    #[test]
    fn powers_wrap_around_and_round_to_zero() {
        assert_eq!(3i32.power(4), 81);
        assert_eq!(2u8.power(9), 0);
        assert_eq!((-2i64).power(63), i64::MIN);
        assert_eq!([1i32.power(-5), (-1i32).power(-3), (-1i32).power(-2), 7i32.power(-1)], [1, -1, 1, 0]);
        assert_eq!(0i32.power(0), 1);
    }

    #[test]
    fn bits_are_moved_out_at_either_end() {
        assert_eq!([1i32.shifted_up(31), 1i32.shifted_up(32), 1i32.shifted_up(-1)], [i32::MIN, 0, 0]);
        assert_eq!([(-8i64).shifted_down(1), (-8i64).shifted_down(70), 8i64.shifted_down(-1)], [-4, -1, 0]);
        assert_eq!([200u8.shifted_down(3), 200u8.shifted_down(9)], [25, 0]);
    }
}
