//! Maps whose keys the engine makes itself, numbers that are often close to each other: these are spread, and nothing is
//! done against somebody who would choose them badly.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map of such keys.
pub type SpreadMap<Key, Value> = HashMap<Key, Value, BuildHasherDefault<Mixer>>;

/// Spreads numbers that are close to each other.
#[derive(Default)]
pub struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
