//! Pooling: the greatest elements of windows, and averages over them.

mod entries;
pub mod max_pool;
pub mod mean_pool;

pub use entries::ENTRIES;
