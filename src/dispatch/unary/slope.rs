//! Derivatives that are functions of vectors: a gradient becomes the next one in one pass, where nothing is recorded.

use super::Elementwise;
use crate::dispatch::binary;
use crate::dispatch::binary::Elementwise2;
use crate::dispatch::modes::recording;
use crate::error::Result;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::tensor::Tensor;

/// t · dy/dx from t and what is kept.
#[derive(Clone, Copy)]
pub(super) struct Sloped<E>(pub(super) E);

impl<E: Elementwise> Elementwise2 for Sloped<E> {
    const NAME: &'static str = E::NAME;
    const NODE: &'static str = E::NODE;
    const VECTOR: Vectors = Vectors::All;
    const LITTLE: bool = E::LITTLE;
    const INTEGERS: bool = false;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, t: A, kept: A) -> A {
        self.0.passed(t, kept)
    }
}

/// `t · dy/dx`, if that is a function of vectors and nothing is recorded.
pub(crate) fn at_once<E: Elementwise>(op: E, kept: &Tensor, t: &Tensor) -> Option<Result<Tensor>> {
    if !E::SLOPE
        || !recording::is_undivided(&[kept, t])
        || !kept.dtype().is_float()
        || t.dtype() != kept.dtype()
    {
        return None;
    }
    // Where what derivatives stand in front of says how the result lies, that is told by operations.
    if E::DERIVATIVE_FIRST && !(kept.layout().is_row_major() && t.layout().is_row_major()) {
        return None;
    }
    Some(binary::apply(Sloped(op), t.into(), kept.into()))
}
