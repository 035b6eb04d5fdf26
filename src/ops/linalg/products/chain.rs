//! Products of many matrices, multiplied in the order that costs least.

use crate::error::{Error, Result};
use crate::ops::geometry::{reshape, squeeze};
use crate::ops::linalg::products::mm;
use crate::schema::{Entry, inner, joined};
use crate::shape;
use crate::tensor::Tensor;

/// Fails unless the tensors can be multiplied one with the next.
fn check(tensors: &[&Tensor]) -> Result<()> {
    let [first, .., last] = tensors else {
        return Err(Error::ChainLength { count: tensors.len() }.into());
    };
    for (end, tensor) in [("first", first), ("last", last)] {
        if !(1..=2).contains(&tensor.ndim()) {
            return Err(Error::ChainEnd { end, ndim: tensor.ndim() }.into());
        }
    }
    for (position, tensor) in tensors.iter().enumerate() {
        let is_between = (1..tensors.len() - 1).contains(&position);
        if is_between && tensor.ndim() != 2 {
            return Err(Error::ChainRank { position, ndim: tensor.ndim() }.into());
        }
        if tensor.dtype() != first.dtype() {
            let (first, dtype) = (first.dtype(), tensor.dtype());
            return Err(Error::ChainDTypes { position, first, dtype }.into());
        }
    }
    for (position, pair) in tensors.windows(2).enumerate() {
        let (layout, next) = (pair[0].layout(), pair[1].layout());
        if layout.shape().last() != next.shape().first() {
            let (shape, following) = (layout.shape().to_vec(), next.shape().to_vec());
            return Err(Error::ChainSizes { position, next: position + 1, shape, following }.into());
        }
    }
    Ok(())
}

/// After which matrix each stretch of matrices is best divided, by the first and the last of the stretch; `sizes` are
/// those of the matrices, one behind the other.
struct Splits {
    count: usize,
    splits: Vec<usize>,
}

impl Splits {
    fn new(sizes: &[usize]) -> Splits {
        let count = sizes.len() - 1;
        let (mut costs, mut splits) = (vec![0u128; count * count], vec![0; count * count]);
        for length in 1..count {
            for start in 0..count - length {
                let end = start + length;
                let cost = |split: usize| {
                    let product = [start, split + 1, end + 1].map(|place| sizes[place] as u128);
                    let inside = costs[start * count + split] + costs[(split + 1) * count + end];
                    inside.saturating_add(product.iter().product())
                };
                let best = (start..end).min_by_key(|&split| cost(split)).unwrap_or(start);
                (costs[start * count + end], splits[start * count + end]) = (cost(best), best);
            }
        }
        // Of three matrices the first two are multiplied first where it is all the same.
        if let &[a, b, c, d] = sizes {
            let [a, b, c, d] = [a, b, c, d].map(|size| size as u128);
            splits[2] = usize::from((b * c + a * b) * d >= (b * c + c * d) * a);
        }
        Splits { count, splits }
    }

    /// The product of a stretch.
    fn product(&self, matrices: &[Tensor], start: usize, end: usize) -> Result<Tensor> {
        if start == end {
            return Ok(matrices[start].clone());
        }
        let split = self.splits[start * self.count + end];
        mm(&self.product(matrices, start, split)?, &self.product(matrices, split + 1, end)?)
    }
}

/// The product of several matrices, of which the first and the last may be vectors.
pub fn multi_dot(tensors: &[&Tensor]) -> Result<Tensor> {
    check(tensors)?;
    let (mut sizes, mut shape) = (vec![], vec![]);
    let mut matrices = Vec::with_capacity(tensors.len());
    for (position, tensor) in tensors.iter().enumerate() {
        let (layout, is_last) = (tensor.layout(), position + 1 == tensors.len());
        let is_row = position == 0 && layout.ndim() == 1;
        sizes.push(if is_row { 1 } else { layout.shape()[0] });
        if position == 0 && !is_row {
            shape.push(layout.shape()[0]);
        }
        if is_last && layout.ndim() == 2 {
            shape.push(layout.shape()[1]);
        }
        if is_last {
            sizes.push(if layout.ndim() == 2 { layout.shape()[1] } else { 1 });
        }
        matrices.push(match layout.ndim() {
            1 if is_row => squeeze::unsqueeze(tensor, 0)?,
            1 => squeeze::unsqueeze(tensor, -1)?,
            _ => (*tensor).clone(),
        });
    }
    let found = Splits::new(&sizes).product(&matrices, 0, matrices.len() - 1)?;
    reshape::view(&found, &shape::signed(&shape))
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "linalg_multi_dot",
    &["(Tensor[] tensors)"],
    "The product of several matrices, of which the first and the last may be vectors.",
    |a| joined(a, multi_dot),
)];
