//! Tensors that enter and leave a transform of a function (Note [Boundaries]): what they carry besides
//! their history goes along.

use super::{batch, tangents};
use crate::error::Result;
use crate::graph::mode;
use crate::tensor::Tensor;

/// A leaf on the memory of `x` for the inside of a transform. Its gradients go on to the history of `x`
/// if `tracked`.
pub fn inner_leaf(x: &Tensor, tracked: bool) -> Result<Tensor> {
    // Within a mapping a gradient may differ between samples, whatever it is taken by.
    let x = batch::within(x)?;
    let inner = x.inner_leaf(tracked)?;
    carry_over(&inner, &x)?;
    Ok(inner)
}

/// `y` as the world outside of the transform that began at `since` sees it: without what was recorded
/// inside, unless that leads out and the outside is `tracked`.
pub fn outer(y: &Tensor, since: u64, tracked: bool) -> Result<Tensor> {
    let outer = y.outer(since, tracked)?;
    if !outer.is(y) {
        carry_over(&outer, y)?;
    }
    Ok(outer)
}

/// Has `alias`, which shows the memory of `x`, carry the tangents of `x`.
fn carry_over(alias: &Tensor, x: &Tensor) -> Result<()> {
    if mode::special()
        && let Some(tangents) = tangents::carried(x)?
    {
        alias.carry(tangents);
    }
    Ok(())
}
