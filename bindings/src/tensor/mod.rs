//! `rushlight.Tensor` as Python sees it: the object, its operators, attributes and indexing.

pub(crate) mod object;
