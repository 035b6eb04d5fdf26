//! Images: windows as columns, padding, resampling and pixels that become channels.

pub mod fold;
pub mod grid;
pub mod pad;
pub(in crate::ops) mod resample;
pub mod shuffle;
pub mod upsample;
