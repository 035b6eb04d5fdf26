//! The cross entropy of logits: `log_softmax` and a loss of its result.

use super::Reduction;
use super::nll::{class_dim, nll_loss};
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::ops::creation::create;
use crate::ops::geometry::reshape;
use crate::ops::neural::softmax::log_softmax;
use crate::ops::pointwise::{compare, select};
use crate::ops::reduction::reduce::sum;
use crate::ops::{add, div, mul, neg};
use crate::schema::{Arguments, Entry, IntoReply, inner};
use crate::tensor::Tensor;

/// The cross entropy of the logits `x` and a target: classes, or their probabilities in the shape of
/// `x`. `smoothing` is the part of the probability that is spread over all classes.
pub fn cross_entropy(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignored: i64,
    smoothing: f64,
) -> Result<Tensor> {
    if x.layout().shape() == target.layout().shape() {
        if !target.dtype().is_float() {
            return Err(Error::ProbabilityDType { dtype: target.dtype() }.into());
        }
        if ignored >= 0 {
            return Err(Error::ProbabilityIgnored {}.into());
        }
        return of_probabilities(x, target, weight, reduction, smoothing);
    }
    if !(0.0..=1.0).contains(&smoothing) {
        return Err(Error::LabelSmoothing { value: smoothing }.into());
    }
    let layout = x.layout();
    if layout.ndim() == 0 {
        return Err(Error::LossOfScalar {}.into());
    }
    let dim = class_dim(layout.shape());
    let log = log_softmax(x, dim as i64, None)?;
    let loss = nll_loss(&log, target, weight, reduction, ignored)?;
    if smoothing == 0.0 {
        return Ok(loss);
    }
    let spread = of_all_classes(&log, target, weight, reduction, ignored)?;
    let part = smoothing / layout.shape()[dim] as f64;
    add(&mul(&loss, 1.0 - smoothing)?, &mul(&spread, part)?)
}

/// A vector of weights in a shape that broadcasts against the logits.
fn by_class(weight: &Tensor, x: &[usize]) -> Result<Tensor> {
    let dim = class_dim(x);
    let mut shape = vec![1; x.len()];
    shape[dim] = x[dim];
    if weight.layout().shape() != [x[dim]] {
        return Err(
            Error::ProbabilityWeights { classes: x[dim], shape: weight.layout().shape().to_vec() }.into()
        );
    }
    reshape::reshape_to(weight, &shape)
}

/// The loss of a target that gives every class the same weight. The mean is over the samples that
/// are not ignored, by the weights of their classes.
fn of_all_classes(
    log: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignored: i64,
) -> Result<Tensor> {
    let layout = log.layout();
    let (dim, dtype) = (class_dim(layout.shape()), log.dtype());
    let weighted = match weight {
        Some(weight) => mul(log, &by_class(weight, layout.shape())?)?,
        None => log.clone(),
    };
    let losses = neg(&sum(&weighted, Some(&[dim as i64]), false, None)?)?;
    let target_of_losses = reshape::reshape_to(target, losses.layout().shape())?;
    let is_ignored = compare::eq(&target_of_losses, ignored)?;
    let losses = select::masked_fill(&losses, &is_ignored, 0.0)?;
    if reduction != Reduction::Mean {
        return reduction.apply(&losses);
    }
    let total = match weight {
        // The loss of log-probabilities that are all -1 is the sum of the weights.
        Some(weight) => {
            let minus_ones = create::full_like(&log.detach(), Scalar::Int(-1), dtype)?;
            nll_loss(&minus_ones, target, Some(weight), Reduction::Sum, ignored)?
        }
        None => sum(&compare::ne(target, ignored)?, None, false, None)?,
    };
    div(&sum(&losses, None, false, None)?, &total)
}

fn of_probabilities(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    smoothing: f64,
) -> Result<Tensor> {
    let layout = x.layout();
    if layout.ndim() == 0 {
        return Err(Error::LossOfScalar {}.into());
    }
    if !(0.0..=1.0).contains(&smoothing) {
        return Err(Error::LabelSmoothing { value: smoothing }.into());
    }
    let dim = class_dim(layout.shape());
    let classes = layout.shape()[dim];
    let log = log_softmax(x, dim as i64, None)?;
    let target = match smoothing > 0.0 {
        true => add(&mul(target, 1.0 - smoothing)?, smoothing / classes as f64)?,
        false => target.clone(),
    };
    let mut terms = mul(&log, &target)?;
    if let Some(weight) = weight {
        terms = mul(&terms, &by_class(weight, layout.shape())?)?;
    }
    match reduction {
        Reduction::None => neg(&sum(&terms, Some(&[dim as i64]), false, None)?),
        Reduction::Sum => neg(&sum(&terms, None, false, None)?),
        Reduction::Mean => {
            let samples = layout.numel().checked_div(classes).unwrap_or(0);
            div(&neg(&sum(&terms, None, false, None)?)?, samples as i64)
        }
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "cross_entropy_loss",
    &[
        "(Tensor input, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, float label_smoothing=0.0)",
    ],
    "The cross entropy of logits and class indices or class probabilities.",
    |a| {
        let (weight, reduction, ignored) = (a.optional_tensor(2), reduction(a, 3)?, a.int(4)?);
        cross_entropy(a.tensor(0)?, a.tensor(1)?, weight, reduction, ignored, a.float(5)?).reply()
    },
)];

fn reduction(arguments: &dyn Arguments, index: usize) -> Result<Reduction> {
    arguments.int(index).map(Reduction::from_number)
}
