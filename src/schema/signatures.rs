//! Signatures that operations of several families have.

pub(crate) const BATCHES: &[&str] = &[
    "(Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    "(Number beta, Tensor input, Number alpha, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated",
    "(Number beta, Tensor input, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated",
];

pub(crate) const COMPARED: &[&str] =
    &["(Tensor input, Tensor other, *, Tensor out=None)", "(Tensor input, Number other, *, Tensor out=None)"];

pub(crate) const COMPARED_IN_PLACE: &[&str] =
    &["(Tensor input, Tensor other)", "(Tensor input, Number other)"];

pub(crate) const JOIN: &[&str] = &["(Tensor[] tensors, *, Tensor out=None)"];

pub(crate) const MATRIX: &[&str] = &["(Tensor A, *, Tensor out=None)"];

pub(crate) const MIXED: &[&str] = &[
    "(Tensor input, Tensor other, *, Tensor out=None)",
    "(Number self, Tensor other, *, Tensor out=None)",
    "(Tensor input, Number other, *, Tensor out=None)",
];

pub(crate) const ONE: &[&str] = &["(Tensor input)"];

pub(crate) const ONE_OUT: &[&str] = &["(Tensor input, *, Tensor out=None)"];

pub(crate) const ONE_TENSOR: &[&str] = &[
    "(Tensor input, Tensor other, *, Tensor out=None)",
    "(Number self, Tensor other)",
    "(Tensor input, Number other, *, Tensor out=None)",
];

pub(crate) const OPERAND_OR_NUMBER: &[&str] =
    &["(Tensor|Number input, Tensor|Number other, *, Tensor out=None)", "(Tensor input, Number other)"];

pub(crate) const OPERAND_OR_NUMBER_IN_PLACE: &[&str] =
    &["(Tensor input, Tensor|Number other)", "(Tensor input, Number other)"];

pub(crate) const POWERS: &[&str] = &[
    "(Tensor input, Tensor exponent, *, Tensor out=None)",
    "(Number self, Tensor exponent, *, Tensor out=None)",
    "(Tensor input, Number exponent, *, Tensor out=None)",
];

pub(crate) const TENSORS: &[&str] = &["(Tensor input, Tensor other, *, Tensor out=None)"];

pub(crate) const TENSORS_IN_PLACE: &[&str] = &["(Tensor input, Tensor other)"];
