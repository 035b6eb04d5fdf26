//! What optimisers that count their steps do last, where numbers of the host's may not depend on the count.

use std::hint::black_box;

use crate::dispatch::modes::recording;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::ops::creation::copy;
use crate::ops::pointwise::blend;
use crate::ops::{add_, div, sqrt};
use crate::tensor::Tensor;

/// p ← p - r/(1 - βᵗ) · m / (√s / √(1 - γᵗ) + ε), of which t is an element of a tensor
pub fn advance(
    parameter: &Tensor,
    [mean, square, step]: [&Tensor; 3],
    rate: f64,
    [first, second]: [f64; 2],
    eps: f64,
) -> Result<()> {
    recording::overwriting(
        "AdvanceBackward0",
        &[parameter],
        &[mean, square, step],
        move |targets, others| {
            let steps = others[2].item()?.to_f64();
            let left = |share: f64| 1.0 - share.powf(steps);
            // A root is not what languages take for a power of one half.
            let spread = div(&sqrt(others[1])?, left(second).powf(black_box(0.5)))?;
            add_(&spread, eps)?;
            // The memory alone: that it is written to is counted once.
            let target = Tensor::from_array(targets[0].memory());
            let length = -(rate / left(first));
            let next = blend::addcdiv(&target, others[0], &spread, Scalar::Float(length))?;
            copy::write(&target.memory(), &next.array())
        },
    )?;
    parameter.bump_version()
}
