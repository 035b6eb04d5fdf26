//! What each layer normalises over, and what it asks of its arguments.

use super::{Affine, Kind, Normalise, check_types, numbers, run};
use crate::dispatch::batch;
use crate::dispatch::record::refuse_gradients;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::mode;
use crate::ops::creation::cast;
use crate::ops::geometry::reshape;
use crate::ops::reduction::{moments, reduce};
use crate::ops::{add, add_, mul, mul_, pow, rsqrt};
use crate::shape;
use crate::tensor::Tensor;

/// What batch normalisation goes by.
#[derive(Clone, Copy)]
pub struct Running<'a> {
    /// The mean of each channel so far.
    pub mean: Option<&'a Tensor>,
    /// The variance of each channel so far.
    pub variance: Option<&'a Tensor>,
    /// Whether mean and variance are those of the batch, and remembered.
    pub training: bool,
    /// How much the batch counts in what is remembered.
    pub momentum: f64,
}

/// Every channel (the second dimension) normalised over all else.
pub fn batch_norm(x: &Tensor, affine: Affine<'_>, running: Running<'_>, eps: f64) -> Result<Tensor> {
    let layout = x.layout();
    let shape = layout.shape();
    // A line of elements has no channels, so it may have no elements either.
    if shape == [0] {
        return cast::clone(x);
    }
    let channels = shape.get(1).copied().unwrap_or(0);
    for (name, tensor) in [
        ("running_mean", running.mean),
        ("running_var", running.variance),
        ("weight", affine.weight),
        ("bias", affine.bias),
    ] {
        match tensor {
            Some(tensor) if tensor.numel() != channels => {
                let got = tensor.numel();
                return Err(Error::BatchNormCount { argument: name, expected: channels, got }.into());
            }
            None if !running.training && name.starts_with("running") => {
                return Err(Error::BatchNormRunning { argument: name }.into());
            }
            _ => {}
        }
    }
    let statistics = [("running_mean", running.mean), ("running_var", running.variance)];
    refuse_gradients("native_batch_norm", statistics)?;
    shape::normalize_dim(1, layout.ndim())?;
    let mut affine_shape = vec![1; layout.ndim() - 1];
    affine_shape[0] = channels as i64;
    let seen = |statistic: &Tensor| {
        reshape::reshape(&cast::to_dtype(&statistic.detach(), x.dtype().wide())?, &affine_shape)
    };
    let given = match (running.training, running.mean, running.variance) {
        (false, Some(mean), Some(variance)) => Some((seen(mean)?, seen(variance)?)),
        _ => None,
    };
    let dims: Vec<i64> = (0..layout.ndim() as i64).filter(|&dim| dim != 1).collect();
    if running.training && x.dtype().is_float() {
        remember(x, &dims, &running)?;
    }
    let op = Normalise {
        kind: Kind::Batch,
        groups: shape::signed(shape),
        dims,
        affine: affine_shape,
        parameter: vec![channels as i64],
        weighted: false,
        biased: false,
        eps,
        given,
        running: [running.mean, running.variance].map(|held| held.map(Tensor::detach)),
    };
    run(op, x, affine, "batch_norm")
}

/// Moves the running mean and variance towards those of the batch.
fn remember(x: &Tensor, dims: &[i64], running: &Running<'_>) -> Result<()> {
    let _off = mode::GradModeGuard::off();
    let mut held = [running.mean, running.variance].into_iter().flatten();
    if x.differs() && held.any(|held| !held.differs()) {
        return Err(Error::MappedRunning {}.into());
    }
    let x = cast::widened(&x.detach())?;
    let moved = |held: &Tensor, new: &Tensor| -> Result<()> {
        let (held, version) = (held.detach(), held.version());
        mul_(&held, 1.0 - running.momentum)?;
        add_(&held, &cast::to_dtype(&mul(new, running.momentum)?, held.dtype())?)?;
        // What the operation remembers is not a write of the program's: nodes of earlier calls keep the same
        // memory, and can still run.
        held.set_version(version);
        Ok(())
    };
    // Of nothing there is no mean.
    if running.mean.or(running.variance).is_none() || x.numel() == 0 {
        return Ok(());
    }
    let [new_mean, new_variance] = match numbers::of_channels(&x)? {
        Some(found) => found,
        None => [reduce::mean(&x, Some(dims), false, None)?, moments::var(&x, Some(dims), 1.0, false)?],
    };
    if let Some(mean) = running.mean {
        moved(mean, &new_mean)?;
    }
    if let Some(variance) = running.variance {
        moved(variance, &new_variance)?;
    }
    Ok(())
}

/// The last dimensions normalised, element by element weighed.
pub fn layer_norm(x: &Tensor, normalized: &[i64], affine: Affine<'_>, eps: f64) -> Result<Tensor> {
    let layout = x.layout();
    check_types(x.dtype(), [affine.weight, affine.bias, None, None])?;
    check_normalized(layout.shape(), normalized, affine, ", ")
        .map_err(|error| batch::told_of_all(error, &[x]))?;
    let dims: Vec<i64> = (-(normalized.len() as i64)..0).collect();
    let op = Normalise {
        kind: Kind::Layer,
        groups: shape::signed(layout.shape()),
        dims,
        affine: normalized.to_vec(),
        parameter: normalized.to_vec(),
        weighted: false,
        biased: false,
        eps,
        given: None,
        running: [None, None],
    };
    run(op, x, affine, "LayerNormKernelImpl")
}

fn check_normalized(
    shape: &[usize],
    normalized: &[i64],
    affine: Affine<'_>,
    gap: &'static str,
) -> Result<()> {
    if normalized.is_empty() {
        return Err(Error::NormalizedShapeEmpty {}.into());
    }
    for (argument, tensor) in [("weight", affine.weight), ("bias", affine.bias)] {
        if let Some(tensor) = tensor
            && shape::signed(tensor.layout().shape()) != normalized
        {
            let got = tensor.layout().shape().to_vec();
            return Err(Error::NormalizedAffine { argument, got, normalized: normalized.to_vec() }.into());
        }
    }
    let tail = shape.len().checked_sub(normalized.len()).map(|lead| shape::signed(&shape[lead..]));
    if tail.as_deref() != Some(normalized) {
        let sizes: Vec<String> = normalized.iter().map(i64::to_string).collect();
        let list = format!("{gap}{}", sizes.join(", "));
        let (normalized, shape) = (normalized.to_vec(), shape.to_vec());
        return Err(Error::NormalizedShape { normalized, list, shape }.into());
    }
    Ok(())
}

/// The channels (the second dimension) normalised in groups, with what follows them.
pub fn group_norm(x: &Tensor, groups: i64, affine: Affine<'_>, eps: f64) -> Result<Tensor> {
    let layout = x.layout();
    let shape = layout.shape();
    let &[batch, channels, ..] = shape else {
        return Err(Error::GroupNormRank { ndim: shape.len() }.into());
    };
    if groups <= 0 {
        return Err(Error::GroupNormCount { groups }.into());
    }
    if channels as i64 % groups != 0 {
        return Err(Error::GroupNormChannels { shape: shape.to_vec(), groups }.into());
    }
    for (argument, tensor) in [("weight", affine.weight), ("bias", affine.bias)] {
        if let Some(tensor) = tensor
            && tensor.layout().shape() != [channels]
        {
            // torch shows the shape of the weight of both, and that of nothing.
            let got = affine.weight.map_or(vec![0], |weight| weight.layout().shape().to_vec());
            let shape = shape.to_vec();
            return Err(Error::GroupNormAffine { argument, got, shape }.into());
        }
    }
    let mut affine_shape = vec![1; shape.len() - 1];
    affine_shape[0] = channels as i64;
    let rest: usize = shape[1..].iter().product();
    let op = Normalise {
        kind: Kind::Group,
        groups: vec![batch as i64, groups, rest as i64 / groups],
        dims: vec![2],
        affine: affine_shape,
        parameter: vec![channels as i64],
        weighted: false,
        biased: false,
        eps,
        given: None,
        running: [None, None],
    };
    run(op, x, affine, "GroupNormKernelImpl")
}

/// The last dimensions over the root of their mean square.
pub fn rms_norm(x: &Tensor, normalized: &[i64], weight: Option<&Tensor>, eps: Option<f64>) -> Result<Tensor> {
    if x.ndim() < normalized.len() {
        return Err(Error::NormalizedRank { least: normalized.len(), ndim: x.ndim() }.into());
    }
    check_normalized(x.layout().shape(), normalized, Affine { weight, bias: None }, "")
        .map_err(|error| batch::told_of_all(error, &[x]))?;
    if !x.dtype().is_differentiable() {
        return Err(Error::NotImplementedFor { operation: "rms_norm", dtype: x.dtype() }.into());
    }
    let dtype = x.dtype();
    let x = &cast::widened(x)?;
    let least = match x.dtype().to_real() {
        DType::Float32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    let ndim = x.ndim() as i64;
    let dims: Vec<i64> = (1..=normalized.len() as i64).map(|behind| ndim - behind).collect();
    let square = reduce::mean(&pow(x, 2)?, Some(&dims), true, None)?;
    let square = add(&square, eps.unwrap_or(least))?;
    let y = mul(x, &rsqrt(&square)?)?;
    let y = weight.map_or(Ok(y.clone()), |weight| mul(&y, weight))?;
    cast::to_dtype(&y, dtype)
}
