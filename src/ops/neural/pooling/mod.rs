//! Pooling: the greatest elements of windows, and averages over them.

pub mod max_pool;
pub mod mean_pool;
