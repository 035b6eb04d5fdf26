//! Operations that are written in others, without a kernel or a rule of their own.

pub mod contract;
pub mod curvature;
pub mod distances;
pub mod einsum;
pub mod moments;
pub mod normal;
pub mod pairs;
pub mod places;
pub mod series;
pub mod statistics;
