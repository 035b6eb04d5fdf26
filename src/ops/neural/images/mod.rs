//! Images: windows as columns, padding, resampling and pixels that become channels.

pub mod fold;
pub mod grid;
pub mod pad;
pub(super) mod resample;
pub mod shuffle;
pub mod upsample;
