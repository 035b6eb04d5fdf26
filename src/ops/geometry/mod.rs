//! The same elements in another geometry: views, and what moves elements without calculating.

pub mod expand;
pub mod join;
pub mod part;
pub mod permute;
pub mod rearrange;
pub mod reinterpret;
pub mod reshape;
pub mod resize;
pub mod split;
pub mod squeeze;
pub mod strided;
pub mod triangle;
pub mod view_copy;
