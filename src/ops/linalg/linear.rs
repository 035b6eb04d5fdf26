//! The linear layer's function: `y = x wᵀ + b`, for inputs of any rank. Neither kernel nor rule
//! lives here.

use crate::dispatch::batch;
use crate::error::{Error, Result};
use crate::ops::geometry::{permute, reshape};
use crate::ops::linalg::add_products::{Weights, addmm};
use crate::ops::linalg::matmul::matmul;
use crate::ops::{add, add_};
use crate::schema::{Entry, IntoReply, OutPolicy, Types, inner};
use crate::tensor::Tensor;

/// `x wᵀ + b` along the last dimension of x.
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let layout = x.layout();
    let (ndim1, ndim2) = (layout.ndim(), weight.ndim());
    if ndim1 == 0 || ndim2 == 0 {
        return Err(Error::MatmulScalar { operation: "linear", ndim1, ndim2 }.into());
    }
    let turned = permute::t(weight)?;
    let Some(bias) = bias else { return matmul(x, &turned) };
    if ndim1 == 2 {
        return addmm(bias, x, &turned, Weights::default());
    }
    let is_row = matches!(*bias.layout().shape(), [_] | [1, _]);
    if let (true, true, Some((&columns, outer))) =
        (is_row, layout.is_contiguous(), layout.shape().split_last())
    {
        // All rows at once, with the bias added in the same pass.
        let rows = reshape::reshape_to(x, &[outer.iter().product(), columns])?;
        let y = addmm(bias, &rows, &turned, Weights::default())?;
        let mut shape = outer.to_vec();
        shape.extend(y.layout().shape().last());
        return reshape::reshape_to(&y, &shape);
    }
    let y = matmul(x, &turned)?;
    // What is added may differ between samples where the product does not.
    if batch::is_batched(bias) {
        return add(&y, bias);
    }
    add_(&y, bias)?;
    Ok(y)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "linear",
    &["(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor out=None)"],
    "The linear transformation `input @ weight.T + bias`.",
    |a| linear(a.tensor(0)?, a.tensor(1)?, a.optional_tensor(2)).reply(),
)
.written(&OutPolicy::PLAIN.typed(Types::Same))
.operators(&[("=", "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")])];
