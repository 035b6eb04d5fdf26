//! Elements named by places.

pub mod gather;
