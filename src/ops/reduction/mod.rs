//! Many elements as one, over all dimensions or some, and running results along a dimension.

pub mod extremes_along;
pub mod extremes_over;
pub mod middle;
pub mod moments;
pub mod norm;
pub mod over;
pub mod product;
pub mod reduce;
pub mod running;
pub mod scan;
pub mod truth;
