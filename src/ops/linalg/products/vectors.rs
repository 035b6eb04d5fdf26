//! The inner product of two vectors: `dot`, `vdot`.

use crate::schema::Operator;
use smallvec::smallvec;
use std::sync::Arc;

use super::{check_mapped, is_direct, product};
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernels::linalg::gemm;
use crate::ops::conjugate;
use crate::ops::creation::copy;
use crate::ops::linalg::bilinear::Product;
use crate::ops::mul;
use crate::ops::reduction::reduce;
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

/// y = Σ aᵢ bᵢ, or with the conjugates of a
///
/// ā = ȳ b, b̄ = ȳ a; with conjugates the gradient of what is conjugated is conjugated once more
#[derive(Clone, Copy)]
struct Vectors {
    conjugated: bool,
}

impl Product for Vectors {
    const FACTORS: &'static [&'static str] = &["self", "tensor"];

    fn factors(&self) -> &'static [&'static str] {
        if self.conjugated { &["self", "other"] } else { Self::FACTORS }
    }

    fn name(&self) -> &'static str {
        if self.conjugated { "VdotBackward0" } else { "DotBackward0" }
    }

    fn compute(&self, a: &Array, b: &Array) -> Result<Array> {
        let (a, b) = (copy::in_order(a)?, copy::in_order(b)?);
        if a.dtype.is_complex() {
            let row = |x: &Array| {
                let (shape, strides) = (smallvec![1, x.layout.numel()], smallvec![1, 1]);
                Layout::strided(shape, strides, x.layout.offset()).map(|layout| x.with_layout(layout))
            };
            let a = if self.conjugated {
                Array { dtype: a.dtype.conjugated(), ..row(&a)? }.resolved()
            } else {
                row(&a)?
            };
            return product(&[], (&a, false), (&row(&b)?, true));
        }
        dispatch!(number a.dtype, T => match (a.slice::<T>(), b.slice::<T>()) {
            (Some(a), Some(b)) => Array::from_slice(&[], &[gemm::dot(a, b)]),
            _ => unreachable!("the elements lie in a row"),
        }, else { Err(Error::NotImplementedFor { operation: "dot", dtype: a.dtype }.into()) })
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(*self))
    }

    fn left(&self, b: &Tensor, g: &Tensor, _like: &Layout) -> Result<Tensor> {
        let gradient = mul(g, b)?;
        if self.conjugated { conjugate::conj(gradient) } else { Ok(gradient) }
    }

    fn right(&self, a: &Tensor, g: &Tensor, _like: &Layout) -> Result<Tensor> {
        if self.conjugated { mul(g, &conjugate::conj(a.clone())?) } else { mul(g, a) }
    }

    fn batch(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        let a = if self.conjugated { conjugate::conj(a.clone())? } else { a.clone() };
        reduce::sum(&mul(&a, b)?, Some(&[-1]), false, None)
    }

    fn multiplications(&self, a: &Layout, _b: &Layout) -> u64 {
        a.numel() as u64
    }
}

impl Direct for Vectors {
    fn takes(&self, operands: &[Lies<'_>], result: (&Layout, DType)) -> bool {
        let is_in_a_row =
            |operand: &Lies<'_>| matches!(operand, Lies::Tensor(layout, _) if layout.is_contiguous());
        is_direct(operands, result) && operands.iter().all(is_in_a_row)
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let &[Source::Array(a, ..), Source::Array(b, ..)] = sources else { return Err(misfit()) };
        dispatch!(float a.dtype, T => {
            let (Some(x), Some(y)) = (a.slice::<T>(), b.slice::<T>()) else { return Err(misfit()) };
            target.write(&[a, b], |product| _ = product[0].write(gemm::dot(x, y)));
        }, else { return Err(misfit()) });
        Ok(())
    }
}

/// The inner product of two vectors.
pub fn dot(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    vectors(a, b, false)
}

/// The inner product of two vectors, the first conjugated, which changes no real number.
pub fn vdot(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    vectors(a, b, true)
}

fn vectors(a: &Tensor, b: &Tensor, conjugated: bool) -> Result<Tensor> {
    check_mapped("dot", [1, 1], a, b)?;
    let (left, right) = (a.layout(), b.layout());
    let (&[length1], &[length2]) = (left.shape(), right.shape()) else {
        return Err(Error::DotDimensions { ndim1: left.ndim(), ndim2: right.ndim() }.into());
    };
    if a.dtype() != b.dtype() {
        return Err(Error::DotDTypes { dtype1: a.dtype(), dtype2: b.dtype() }.into());
    }
    if length1 != length2 {
        return Err(Error::DotSizes { length1, length2 }.into());
    }
    Vectors { conjugated }.call(a, b)
}

/// What torch's dispatcher calls the operators that no entry names.
pub(crate) const OPERATORS: &[Operator] = &[
    ("DotBackward0", "dot(Tensor self, Tensor tensor) -> Tensor"),
    ("VdotBackward0", "vdot(Tensor self, Tensor other) -> Tensor"),
];
