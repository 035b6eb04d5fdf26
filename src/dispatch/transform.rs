//! Tensors that enter and leave a function transform such as `func.grad` (Note [Boundaries]), with their tangents
//! and samples.

use crate::dispatch::batch;
use crate::dispatch::forward_mode::tangents;
use crate::error::Result;
use crate::graph::mode;
use crate::graph::tangents::live;
use crate::tensor::Tensor;

/// A leaf on the memory of `x` for the inside of a transform. Its gradients go on to the history of `x`
/// if `tracked`.
pub fn inner_leaf(x: &Tensor, tracked: bool) -> Result<Tensor> {
    // Within a mapping a gradient may differ between samples, whatever it is taken by.
    let x = batch::within(x)?;
    let inner = x.inner_leaf(tracked)?;
    if mode::special()
        && let Some(tangents) = tangents::carried(&x)?
    {
        inner.carry(tangents);
    }
    Ok(inner)
}

/// `y` as the world outside of the transform that began at `since` sees it: without what was recorded
/// inside, unless that leads out and the outside is `tracked`. The same goes for its tangents.
pub fn outer(y: &Tensor, since: u64, tracked: bool) -> Result<Tensor> {
    let result = y.outer(since, tracked)?;
    if mode::special() {
        for level in live() {
            let Some(tangent) = tangents::tangent(y, level)? else { continue };
            let outside = outer(&tangent, since, tracked)?;
            if !(result.is(y) && outside.is(&tangent)) {
                result.set_tangent(level, Some(outside));
            }
        }
    }
    Ok(result)
}
