//! Rows that are normalised, windows of images, and taps of interpolation.

pub mod normalise;
pub mod softmax;
pub mod taps;
pub mod windows;
