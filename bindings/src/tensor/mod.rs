//! `rushlight.Tensor` as Python sees it: the object, its operators, attributes and indexing.

mod attributes;
mod history;
mod number;
pub(crate) mod object;
mod operators;
mod values;
