//! The way of a call: the doors through which operations run, one for each kind of operation, and the layers
//! that a call passes between a door and the numbers. What the operations are stands in `ops`.

pub mod accumulate;
pub mod apply;
pub(crate) mod attribute_override;
pub mod batch;
pub mod binary;
pub mod composites;
pub mod custom;
pub mod default_dtype;
pub mod direct;
pub(crate) mod erased;
pub(crate) mod fixed;
pub mod forward_mode;
pub(crate) mod fused;
pub(crate) mod half;
pub mod in_place;
pub mod kept;
pub mod long_work;
pub(crate) mod memory_order;
pub mod modes;
pub mod operand;
pub mod record;
pub(crate) mod repeated;
pub mod transform;
pub mod unary;
pub mod view;
