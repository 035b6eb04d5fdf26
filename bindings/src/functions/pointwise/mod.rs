//! Functions of elements.

pub(in crate::functions) mod arithmetic;
pub(in crate::functions) mod blends;
pub(in crate::functions) mod bounds;
pub(in crate::functions) mod complexes;
pub(in crate::functions) mod elementwise;
pub(in crate::functions) mod mathematics;
