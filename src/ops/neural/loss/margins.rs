//! Losses of classes that are not less likely than the right ones by a margin, each as one node: what it consists of,
//! and kernels for where nobody sees that.

use std::sync::Arc;

use smallvec::smallvec;

use super::Reduction;
use crate::dispatch::apply::Outputs;
use crate::dispatch::composites::checkpointed::{self, AtOnce, CheckpointedOp};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::Shown;
use crate::graph::shown::shown;
use crate::kernels::neural::margins::{self as kernels, OneClass};
use crate::ops::creation::{cast, copy, create, ranges};
use crate::ops::geometry::squeeze::Squeezed;
use crate::ops::geometry::{reshape, squeeze};
use crate::ops::indexing::along::index_select;
use crate::ops::indexing::gather::{gather, scatter_add};
use crate::ops::neural::scratch::elements;
use crate::ops::pointwise::clamp::clamp_min;
use crate::ops::pointwise::{compare, logical, select};
use crate::ops::reduction::{reduce, scan};
use crate::ops::{add, div, mul, sub};
use crate::schema::{Entry, IntoReply, inner};
use crate::tensor::{Array, Tensor};

/// The number of rows and of classes of an input, of which one without two dimensions has a single row.
fn sizes(x: &Tensor) -> (usize, usize) {
    match *x.layout().shape() {
        [rows, classes] => (rows, classes),
        _ => (1, x.numel()),
    }
}

/// The rows as a matrix.
fn rows(x: &Tensor) -> Result<Tensor> {
    let (rows, classes) = sizes(x);
    reshape::reshape_to(x, &[rows, classes])
}

/// What there is of a number above zero: no more than met, or not a number, a margin is not violated.
fn violation(by: &Tensor) -> Result<Tensor> {
    select::where_(&compare::gt(by, 0)?, by, 0.0)
}

/// Whether kernels calculate with these, of which the first one and the others at `beside` have one type.
fn have_kernels(inputs: &[&Tensor], beside: &[usize]) -> bool {
    let dtype = inputs[0].dtype();
    let is_alike = |&index: &usize| inputs.get(index).is_none_or(|input| input.dtype() == dtype);
    matches!(dtype, DType::Float32 | DType::Float64) && beside.iter().all(is_alike)
}

/// A tensor's numbers in order.
fn ordered(x: &Tensor) -> Result<Array> {
    Ok(copy::in_order(&x.array())?.into_owned())
}

/// The gradient of each row, or of all, and by what it is divided.
fn given(reduction: Reduction, gradient: &Tensor, rows: usize) -> Result<Array> {
    ordered(&reduction.share(gradient, rows)?)
}

/// Refuses classes that there are not, of a target whose numbers are there.
fn check(target: &Tensor, least: i64, classes: usize, error: Error) -> Result<()> {
    if target.is_batched() || target.dtype() != DType::Int64 {
        return Ok(());
    }
    let target = ordered(target)?;
    match elements::<i64>(&target).iter().all(|class| (least..classes as i64).contains(class)) {
        true => Ok(()),
        false => Err(error.into()),
    }
}

/// Refuses what kernels could not read: no classes, targets of other rows, and classes that there are not. A target is
/// looked at again when gradients are asked for, since whoever shares its memory may have written there.
fn check_whole(x: &Tensor, target: &Tensor, least: i64, per_row: usize, error: Error) -> Result<()> {
    let (rows, classes) = sizes(x);
    if classes == 0 || target.dtype() != DType::Int64 || target.numel() != rows * per_row {
        return Err(error.into());
    }
    check(target, least, classes, error)
}

/// y = Σ wₜ max(0, m - xₜ + x)ᵖ / n over the n - 1 classes that are not the right one, t, of each row
#[derive(Clone, Copy)]
struct MultiMargin {
    squared: bool,
    margin: f64,
    reduction: Reduction,
}

impl MultiMargin {
    fn check(inputs: &[&Tensor]) -> Result<()> {
        let (_, classes) = sizes(inputs[0]);
        match inputs.get(2).is_none_or(|weight| weight.numel() == classes) {
            true => check_whole(inputs[0], inputs[1], 0, 1, Error::MarginTarget {}),
            false => Err(Error::MarginTarget {}.into()),
        }
    }

    fn parts(self, inputs: &[&Tensor]) -> Result<Outputs> {
        let (x, target) = (inputs[0], inputs[1]);
        let (count, classes) = sizes(x);
        check(target, 0, classes, Error::MarginTarget {})?;
        let (flat, rows) = (reshape::reshape_to(target, &[count])?, rows(x)?);
        let places = squeeze::unsqueeze(&flat, 1)?;
        let mut losses = violation(&add(&sub(self.margin, &gather(&rows, 1, &places)?)?, &rows)?)?;
        if self.squared {
            losses = mul(&losses, &losses)?;
        }
        if let Some(weight) = inputs.get(2) {
            losses = mul(&losses, &squeeze::unsqueeze(&index_select(weight, 0, &flat)?, 1)?)?;
        }
        let all = ranges::arange(0i64.into(), (classes as i64).into(), 1i64.into(), DType::Int64)?;
        let losses = cast::to_dtype(&select::where_(&compare::ne(&all, &places)?, &losses, 0.0)?, x.dtype())?;
        let mut losses = div(&reduce::sum(&losses, Some(&[1]), false, None)?, classes as f64)?;
        if x.ndim() < 2 && target.ndim() == 0 {
            losses = squeeze::squeeze(&losses, Squeezed::One(0))?;
        }
        Ok(smallvec![self.reduction.apply(&losses)?])
    }
}

/// Calls `of` with the classes of rows as kernels take them.
macro_rules! one_class {
    ($own:expr, $target:expr, $weight:expr, $T:ty) => {
        OneClass {
            of: elements::<i64>($target),
            weight: $weight.as_ref().map(|weight| elements::<$T>(weight)),
            margin: <$T as crate::dtype::Element>::from_f64($own.margin),
            squared: $own.squared,
        }
    };
}

impl AtOnce for MultiMargin {
    fn fits(&self, inputs: &[&Tensor]) -> bool {
        have_kernels(inputs, &[2, 3])
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        Self::check(inputs)?;
        let (x, target) = (inputs[0], inputs[1]);
        let (count, classes) = sizes(x);
        let weight = inputs.get(2).map(|weight| ordered(weight)).transpose()?;
        let shape: &[usize] = if x.ndim() < 2 && target.ndim() == 0 { &[] } else { &[count] };
        let (x, target) = (ordered(x)?, ordered(target)?);
        let mut losses = Array::uninit_shape(shape, x.dtype)?;
        dispatch!(float x.dtype, T => {
            one_class!(self, &target, weight, T).losses(elements::<T>(&x), classes, losses.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(smallvec![Tensor::from_array(self.reduction.finish(losses)?)])
    }

    fn backward(&self, kept: &[&Tensor], gradient: &Tensor, _wanted: &[bool]) -> Result<Outputs> {
        Self::check(kept)?;
        let (count, classes) = sizes(kept[0]);
        let weight = kept.get(2).map(|weight| ordered(weight)).transpose()?;
        let (x, target) = (ordered(kept[0])?, ordered(kept[1])?);
        let given = given(self.reduction, gradient, count)?;
        let mut y = Array::uninit_shape(x.layout.shape(), x.dtype)?;
        dispatch!(float x.dtype, T => {
            let classes_of = one_class!(self, &target, weight, T);
            classes_of.gradients(elements::<T>(&x), classes, elements(&given), y.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(smallvec![Tensor::from_array(y)])
    }
}

/// `MultiMargin` of rows whose right classes are in `target`.
pub fn multi_margin_loss(
    x: &Tensor,
    target: &Tensor,
    (order, margin): (i64, f64),
    weight: Option<&Tensor>,
    reduction: Reduction,
) -> Result<Tensor> {
    let own = MultiMargin { squared: order == 2, margin, reduction };
    let names: &[&str] = match weight {
        Some(_) => &["self", "target", "weight", ""],
        None => &["self", "target", ""],
    };
    let mut shown = shown! { margin: Scalar::Float(margin), p: order, reduction: reduction };
    if weight.is_none() {
        shown.push(("weight", Shown::NoTensor));
    }
    let operation = CheckpointedOp {
        shown,
        at_once: Some(Arc::new(own)),
        ..CheckpointedOp::new("multi_margin_loss", "MultiMarginLossBackward0", names, 1, move |inputs| {
            own.parts(inputs)
        })
    };
    match weight {
        Some(weight) => checkpointed::apply_one(operation, &[x, target, weight]),
        None => checkpointed::apply_one(operation, &[x, target]),
    }
}

/// y = Σ max(0, 1 - xₜ + x) / n over the listed classes t of each row, of n, and all that are not listed
#[derive(Clone, Copy)]
struct MultilabelMargin {
    reduction: Reduction,
}

impl MultilabelMargin {
    fn parts(self, inputs: &[&Tensor]) -> Result<Outputs> {
        let (x, target) = (inputs[0], inputs[1]);
        let (_, classes) = sizes(x);
        check(target, -1, classes, Error::MultilabelMarginTarget {})?;
        let (own, targets) = (rows(x)?, rows(target)?);
        let ends = cast::to_dtype(&compare::lt(&targets, 0)?, DType::Int64)?;
        let listed = compare::eq(&scan::cumsum(&ends, 1, None)?, 0)?;
        let places = clamp_min(&targets, 0)?;
        let times = cast::to_dtype(&listed, DType::Int64)?;
        let times = scatter_add(&create::zeros_like(&targets)?, 1, &places, &times)?;
        let right = compare::gt(&times, 0)?;
        // Row by row: the listed classes down, all classes across.
        let picked = squeeze::unsqueeze(&gather(&own, 1, &places)?, 2)?;
        let losses = violation(&add(&sub(1.0, &picked)?, &squeeze::unsqueeze(&own, 1)?)?)?;
        let others = squeeze::unsqueeze(&logical::not(&right)?, 1)?;
        let counted = logical::and(&squeeze::unsqueeze(&listed, 2)?, &others)?;
        let losses = cast::to_dtype(&select::where_(&counted, &losses, 0.0)?, x.dtype())?;
        let mut losses = div(&reduce::sum(&losses, Some(&[1, 2]), false, None)?, classes as f64)?;
        if x.ndim() < 2 {
            losses = squeeze::squeeze(&losses, Squeezed::One(0))?;
        }
        let shape = x.layout().shape().to_vec();
        let right = reshape::reshape_to(&cast::to_dtype(&right, x.dtype())?, &shape)?;
        Ok(smallvec![self.reduction.apply(&losses)?, right])
    }
}

impl AtOnce for MultilabelMargin {
    fn fits(&self, inputs: &[&Tensor]) -> bool {
        have_kernels(inputs, &[2, 3])
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let (count, classes) = sizes(inputs[0]);
        check_whole(inputs[0], inputs[1], -1, classes, Error::MultilabelMarginTarget {})?;
        let shape: &[usize] = if inputs[0].ndim() < 2 { &[] } else { &[count] };
        let (x, target) = (ordered(inputs[0])?, ordered(inputs[1])?);
        let mut right = Array::uninit_shape(x.layout.shape(), x.dtype)?;
        let mut losses = Array::uninit_shape(shape, x.dtype)?;
        dispatch!(float x.dtype, T => {
            let targets = elements::<i64>(&target);
            kernels::right_classes(targets, classes, right.fresh::<T>());
            kernels::several_losses(elements::<T>(&x), targets, elements(&right), classes, losses.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(smallvec![Tensor::from_array(self.reduction.finish(losses)?), Tensor::from_array(right)])
    }

    fn backward(&self, kept: &[&Tensor], gradient: &Tensor, _wanted: &[bool]) -> Result<Outputs> {
        let (count, classes) = sizes(kept[0]);
        check_whole(kept[0], kept[1], -1, classes, Error::MultilabelMarginTarget {})?;
        let (x, target, right) = (ordered(kept[0])?, ordered(kept[1])?, ordered(kept[2])?);
        let given = given(self.reduction, gradient, count)?;
        let mut y = Array::uninit_shape(x.layout.shape(), x.dtype)?;
        dispatch!(float x.dtype, T => {
            let (targets, right) = (elements::<i64>(&target), elements(&right));
            let own = (classes, elements(&given));
            kernels::several_gradients(elements::<T>(&x), targets, right, own, y.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(smallvec![Tensor::from_array(y)])
    }
}

/// `MultilabelMargin` of rows whose right classes come first in those of `target`.
pub fn multilabel_margin_loss(x: &Tensor, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
    let own = MultilabelMargin { reduction };
    let names = &["self", "target", "", "is_target"];
    let (operation, node) = ("multilabel_margin_loss_forward", "MultilabelMarginLossBackward0");
    let operation = CheckpointedOp {
        constant: 0b10,
        shown: shown! { reduction: reduction },
        at_once: Some(Arc::new(own)),
        ..CheckpointedOp::new(operation, node, names, 1, move |inputs| own.parts(inputs))
    };
    let mut outputs = checkpointed::apply(operation, &[x, target])?;
    Ok(outputs.swap_remove(0))
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "multi_margin_loss",
        &["(Tensor input, Tensor target, int p, float margin, Tensor? weight, int reduction)"],
        "By how much other classes are not less likely than the right one by a margin.",
        |a| {
            let (order, reduction) = ((a.int(2)?, a.float(3)?), Reduction::from_number(a.int(5)?));
            multi_margin_loss(a.tensor(0)?, a.tensor(1)?, order, a.optional_tensor(4), reduction).reply()
        },
    ),
    inner(
        "multilabel_margin_loss",
        &["(Tensor input, Tensor target, int reduction)"],
        "By how much other classes are not less likely than the right ones by one.",
        |a| multilabel_margin_loss(a.tensor(0)?, a.tensor(1)?, Reduction::from_number(a.int(2)?)).reply(),
    ),
];
