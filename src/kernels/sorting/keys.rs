//! Elements as whole numbers that have their order, and with those the places where the elements were.

use crate::dtype::{DType, Ordered};
use crate::kernels::simd::vectorised;
use crate::kernels::sorting::short::{SHORT, with_room};

/// A number that is greater for what is greater, of 32 bits for elements of as many or fewer.
#[inline]
pub(in crate::kernels) fn key<T: Ordered>(x: T) -> u64 {
    match T::DTYPE {
        // Both zeros become one.
        DType::Float32 if x.to_f64().is_nan() => u64::from(u32::MAX),
        DType::Float32 => {
            let bits = (x.to_f64() as f32 + 0.0).to_bits();
            u64::from(if bits >> 31 == 0 { bits | 1 << 31 } else { !bits })
        }
        DType::Float64 if x.to_f64().is_nan() => u64::MAX,
        DType::Float64 => {
            let bits = (x.to_f64() + 0.0).to_bits();
            if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
        }
        DType::Int64 => x.to_i64() as u64 ^ 1 << 63,
        _ => (x.to_i64() + (1 << 31)) as u64,
    }
}

/// Bits of the keys of a type.
pub(super) const fn bits<T>() -> u32 {
    if size_of::<T>() <= 4 { 32 } else { 64 }
}

/// The bits of keys that are turned, so that the greatest comes first.
pub(super) const fn turned<T>(descending: bool) -> u64 {
    if descending { u64::MAX >> (64 - bits::<T>()) } else { 0 }
}

/// Writes keys, so many bits further in front.
pub(super) fn put_keys<T: Ordered>(elements: &[T], turned: u64, shift: u32, keys: &mut [u64]) {
    vectorised(
        SHORT,
        #[inline(always)]
        || keys.iter_mut().zip(elements).for_each(|(place, &x)| *place = (key(x) ^ turned) << shift),
    );
}

/// A key and a place as one number.
pub(super) trait Keyed: Copy + Ord + Send + Sync {
    fn new(key: u64, place: usize) -> Self;
    fn key(self) -> u64;
    fn place(self) -> i64;
}

impl Keyed for u64 {
    fn new(key: u64, place: usize) -> u64 {
        key << 32 | place as u64
    }
    fn key(self) -> u64 {
        self >> 32
    }
    fn place(self) -> i64 {
        (self & u64::from(u32::MAX)) as i64
    }
}

impl Keyed for u128 {
    fn new(key: u64, place: usize) -> u128 {
        u128::from(key) << 64 | place as u128
    }
    fn key(self) -> u64 {
        (self >> 64) as u64
    }
    fn place(self) -> i64 {
        self as i64
    }
}

/// Calls `visit` with the keys of a short row.
pub(super) fn with_keys<T: Ordered, R>(lane: &[T], turned: u64, visit: impl FnOnce(&[u64]) -> R) -> R {
    with_room(lane.len(), |keys| {
        put_keys(lane, turned, 0, keys);
        visit(keys)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    #[test]
    fn keys_are_ordered_as_elements_are() {
        let numbers = [f64::NEG_INFINITY, -2.0, -1e-310, 0.0, 1e-310, 3.0, f64::INFINITY, NAN];
        assert!(numbers.map(key).is_sorted_by(|a, b| a < b));
        assert!(numbers.map(|x| key(x as f32 * 1e10)).is_sorted());
        assert_eq!((key(-0.0), key(-0.0f32), key(-NAN)), (key(0.0), key(0.0f32), key(NAN)));
        assert!([i64::MIN, -1, 0, i64::MAX].map(key).is_sorted_by(|a, b| a < b));
        assert!([i32::MIN, -1, 0, i32::MAX].map(key).is_sorted_by(|a, b| a < b));
        assert!(key(0u8) < key(255u8) && key(-128i8) < key(127i8));
    }
}
