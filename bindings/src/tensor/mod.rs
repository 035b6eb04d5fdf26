//! `rushlight.Tensor` as Python sees it: the object, its operators, attributes and indexing.

mod attributes;
pub(crate) mod construct;
pub(crate) mod history;
mod index;
mod number;
pub(crate) mod numpy;
pub(crate) mod object;
mod operators;
pub(crate) mod shown;
pub(crate) mod text;
pub(crate) mod values;
