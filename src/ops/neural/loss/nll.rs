//! The negative log-likelihood of classes.

use crate::dispatch::direct::misfit;
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::dispatch::operand::Value;
use crate::dtype::Scalar;
use crate::schema::{Arguments, Entry, IntoReply, inner};
use crate::shape::SharedLayout;
use smallvec::smallvec;

use super::Reduction;
use crate::dispatch::apply::{Arrays, Keep, Op, Outputs, apply_one, one, portable, single, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::modes::recording;
use crate::dispatch::record::refuse_gradients;
use crate::dtype::{DType, Element, Real, Ring};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor, mode};
use crate::kernels::neural::classes::{self as kernels, Classes};
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::reshape;
use crate::ops::indexing::gather;
use crate::ops::pointwise::{compare, select};
use crate::ops::reduction::extremes_along::placed;
use crate::ops::reduction::reduce;
use crate::ops::{div, mul, neg};
use crate::shape::{Dims, Layout};
use crate::tensor::{Array, Tensor};

/// y = -Σ wₜ xₜ, where t is the class of each sample, or that by Σ wₜ, or each sample's own. A sample
/// whose class is ignored counts nowhere.
///
/// Linear in x: with c = -wₜ, or -wₜ / Σ wₜ, dy = Σ c dxₜ, and x̄ is c ȳ at t and 0 elsewhere.
#[derive(Clone)]
pub struct NllLoss {
    reduction: Reduction,
    /// The weights of the classes and the class without any, as the caller gave them.
    weight: Option<Tensor>,
    ignored: i64,
    /// Σ wₜ, where that is known; else it is another one each time.
    total: Option<f64>,
    /// Whether a sample is a picture, of which every place has its class.
    pictures: bool,
}

/// What the target says, in the shape of the input with one class. It is made anew for every derivative:
/// keeping it would cost more memory than the target takes.
struct Targets {
    /// The dimension that classes lie along.
    dim: usize,
    /// The class of each sample; 0 where it is ignored.
    index: Tensor,
    /// c, and +0 where the class is ignored. (A weight of 0 gives -0.)
    factor: Tensor,
}

/// The dimension that classes lie along in an input of this shape.
pub(super) fn class_dim(x: &[usize]) -> usize {
    usize::from(x.len() > 1)
}

/// The numbers of the classes in a target, in order.
fn class_numbers(target: &Array) -> Result<Array> {
    Ok(copy::in_order(&*copy::as_type(target, DType::Int64)?)?.into_owned())
}

/// The weight of each class, if they have any, in order.
fn by_class(weight: Option<&Tensor>, dtype: DType) -> Result<Option<Array>> {
    let ordered = |weight: &Tensor| -> Result<Array> {
        Ok(copy::in_order(&*copy::as_type(&weight.array(), dtype)?)?.into_owned())
    };
    weight.map(ordered).transpose()
}

/// The elements of an array in order.
fn elements<T: Element>(array: &Array) -> &[T] {
    array.slice().unwrap_or_else(|| unreachable!("it was laid out in order"))
}

/// The classes of samples in an input of this shape, as kernels take them.
fn classes<'a, T: Real>(
    x: &[usize],
    target: &'a Array,
    weight: Option<&'a Array>,
    ignored: i64,
) -> Classes<'a, T> {
    let dim = class_dim(x);
    let inner = x[dim + 1..].iter().product();
    Classes { of: elements(target), count: x[dim], inner, weight: weight.map(elements), ignored }
}

impl NllLoss {
    /// The parameters, under torch's names.
    fn parameters(&self) -> Attributes {
        shown! { reduction: self.reduction, ignore_index: self.ignored }
    }

    /// What the target says of an input of this shape and type.
    fn targets(&self, target: &Tensor, x: &[usize], dtype: DType) -> Result<Targets> {
        let (dim, of) = (class_dim(x), &class_numbers(&target.array())?);
        let mut shape = x.to_vec();
        shape[dim] = 1;
        let factor = dispatch!(float dtype.wide(), T => {
            let weights = by_class(self.weight.as_ref(), T::DTYPE)?;
            let weight_of = |class: i64| weights.as_ref().map_or(T::ONE, |weights| elements(weights)[class as usize]);
            let total = T::from_f64(self.divisor(&classes::<T>(x, of, weights.as_ref(), self.ignored)));
            let factor = |&class: &i64| match class == self.ignored {
                true => T::ZERO,
                false => -weight_of(class) / total,
            };
            Tensor::from_slice(&shape, &elements(of).iter().map(factor).collect::<Vec<T>>())?
        }, else {
            unreachable!("the input was found to be of a floating-point type")
        });
        let known = |&class: &i64| if class == self.ignored { 0 } else { class };
        let index = Tensor::from_slice(&shape, &elements(of).iter().map(known).collect::<Vec<i64>>())?;
        Ok(Targets { dim, index, factor })
    }

    /// What single losses are divided by.
    fn divisor<T: Real>(&self, classes: &Classes<'_, T>) -> f64 {
        match self.reduction {
            Reduction::Mean => self.total.unwrap_or_else(|| classes.total_weight()),
            _ => 1.0,
        }
    }

    /// The gradient of the input, if it is not recorded.
    fn gradient_at_once(&self, x: &Tensor, target: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        let is_recorded = !mode::is_grad_enabled() && recording::is_alone(&[x, target, g]);
        if !(mode::is_plain() || is_recorded && self.weight.is_none())
            || g.dtype() != x.dtype()
            || x.numel() == 0
            || !matches!(g.dtype(), DType::Float32 | DType::Float64)
        {
            return Ok(None);
        }
        let own = Gradient { loss: self.clone(), layout: x.layout() };
        recording::as_one_of("NllLossBackward0", &[target, g], 1, own).map(|mut found| found.pop())
    }

    /// `gradient_at_once` of an input that lies so.
    fn gradient(&self, layout: &Layout, target: &Tensor, g: &Tensor) -> Result<Tensor> {
        let (g, target) = (g.array(), class_numbers(&target.array())?);
        let mut found = Array::uninit_shape(layout.shape(), g.dtype)?;
        dispatch!(float g.dtype, T => {
            let (g, weight) = (copy::in_order(&g)?, by_class(self.weight.as_ref(), g.dtype)?);
            let classes = classes::<T>(layout.shape(), &target, weight.as_ref(), self.ignored);
            kernels::gradients(classes, elements(&g), T::from_f64(self.divisor(&classes)), found.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(Tensor::from_array(found))
    }
}

/// The gradient of an input that lies so, of target and gradient, as a recorded operation.
#[derive(Clone)]
struct Gradient {
    loss: NllLoss,
    layout: SharedLayout,
}

impl Portable for Gradient {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let [target, g] = intercept::tensors(operands)[..] else { return Err(misfit()) };
        self.loss.gradient(&self.layout, target, g).map(|found| smallvec![found])
    }
}

/// Whether all classes are those of an input that lies so.
#[derive(Clone)]
struct Within {
    layout: SharedLayout,
    ignored: i64,
}

impl Portable for Within {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let of = class_numbers(&intercept::only(operands)?.array())?;
        match classes::<f32>(self.layout.shape(), &of, None, self.ignored).outside() {
            Some(target) => Err(Error::TargetRange { target }.into()),
            None => Ok(Outputs::new()),
        }
    }
}

/// The shape of the losses of single samples.
fn single_shape(x: &[usize]) -> Dims {
    let mut shape = Dims::from_slice(x);
    shape.remove(class_dim(x));
    shape
}

impl Op for NllLoss {
    type Saved = [Option<SavedTensor>; 4];
    const SAVED: &'static [&'static str] = &["self", "target", "weight", "total_weight"];

    fn name(&self) -> &'static str {
        if self.pictures { "NllLoss2DBackward0" } else { "NllLossBackward0" }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        self.parameters()
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let (single, target) = (single_shape(x.layout.shape()), class_numbers(&inputs[1])?);
        let loss = dispatch!(float x.dtype, T => {
            let mut losses = Array::uninit_shape(&single, x.dtype)?;
            let (x, weight) = (copy::in_order(x)?, by_class(self.weight.as_ref(), x.dtype)?);
            let classes = classes::<T>(x.layout.shape(), &target, weight.as_ref(), self.ignored);
            kernels::losses(classes, elements(&x), losses.fresh());
            match self.reduction {
                Reduction::Mean => {
                    let sum = Reduction::Sum.finish(losses)?;
                    let total = T::from_f64(self.divisor(&classes));
                    crate::dispatch::unary::compute::<T, T>(&sum, x.dtype, move |sum| sum / total)?
                }
                other => other.finish(losses)?,
            }
        }, else {
            return Err(Error::NotImplementedFor { operation: "nll_loss_out_frame", dtype: x.dtype }.into())
        });
        Ok(smallvec![loss])
    }

    fn is_together(&self) -> bool {
        true
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        let total =
            self.total.and_then(|total| Tensor::from_scalar(Scalar::Float(total), keep.dtype(0)).ok());
        let [weight, total] = [&self.weight, &total].map(|kept| kept.as_ref().map(SavedTensor::constant));
        [Some(keep.input(0)), Some(keep.input(1)), weight, total]
    }

    fn vjp(
        &self,
        [x, target, weight, _]: &Self::Saved,
        at: &At<'_>,
        gradients: &Gradients,
    ) -> Result<Gradients> {
        // They were read already, but whoever changed them since did not mean this gradient.
        for saved in [target, weight].into_iter().flatten() {
            at.load(saved)?;
        }
        let (Some(x), Some(target)) = (x, target) else { unreachable!("both are kept") };
        let (x, target) = (at.load(x)?, at.load(target)?);
        if let Some(found) = self.gradient_at_once(&x, &target, single(gradients))? {
            return Ok(smallvec![Some(found), None]);
        }
        let (mut g, dtype, x) = (single(gradients).clone(), x.dtype(), x.layout());
        let Targets { dim, index, factor } = self.targets(&target, x.shape(), dtype)?;
        if self.reduction == Reduction::None {
            g = reshape::reshape_to(&g, index.layout().shape())?;
        }
        let x = placed(&mul(&factor, &g)?, dim, &index, x.shape())?;
        Ok(smallvec![Some(x), None])
    }

    fn inputs(&self) -> Option<Inputs> {
        Some(smallvec![Some(0)])
    }

    fn jvp(
        &self,
        [_, target, ..]: &Self::Saved,
        at: &At<'_>,
        tangents: &[Option<Tensor>],
    ) -> Result<Gradients> {
        let Some(target) = target else { unreachable!("the target is kept") };
        let (x, target) = (tangent(tangents), at.load(target)?);
        let (layout, dtype) = (x.layout(), x.dtype());
        let Targets { dim, index, factor } = self.targets(&target, layout.shape(), dtype)?;
        let moved = mul(&gather::gather(x, dim as i64, &index)?, &factor)?;
        one(match self.reduction {
            Reduction::None => reshape::reshape_to(&moved, &single_shape(layout.shape()))?,
            _ => reduce::sum(&moved, None, false, None)?,
        })
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("the loss of many samples at once is composed")
    }
}

/// The negative log-likelihood of the classes in `target`, from log-probabilities that lie along
/// dimension 1 of `x`, or 0 if it is the only one.
pub fn nll_loss(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignored: i64,
) -> Result<Tensor> {
    let (layout, target_layout) = (x.layout(), target.layout());
    let (shape, target_shape) = (layout.shape(), target_layout.shape());
    check_shapes(shape, target_shape)?;
    refuse_gradients("nll_loss_forward", [("weight", weight)])?;
    let classes = shape[class_dim(shape)];
    check_weight(weight, classes)?;
    let (dtype, target_dtype) = (x.dtype(), target.dtype());
    if !dtype.is_float() {
        return Err(Error::NotImplementedFor { operation: "nll_loss_out_frame", dtype }.into());
    }
    if !matches!(target_dtype, DType::Int64 | DType::UInt8) {
        return Err(Error::TargetDType { dtype: target_dtype }.into());
    }
    if let Some(got) = weight.map(Tensor::dtype).filter(|&weight| weight != dtype) {
        return Err(Error::ScalarTypeExpected { expected: dtype, got }.into());
    }
    if batch::highest([x, target].into_iter().chain(weight)).is_some() {
        return composed(x, target, weight, reduction, ignored);
    }
    recording::checked_by("NllLossBackward0", &[target], Within { layout: layout.clone(), ignored })?;
    let is_recorded = recording::is_on();
    if is_recorded && weight.is_some() {
        return composed(x, target, weight, reduction, ignored);
    }
    let total = dispatch!(float dtype.wide(), T => {
        let weights = by_class(weight, T::DTYPE)?;
        let of = class_numbers(&target.array())?;
        let classes = self::classes::<T>(shape, &of, weights.as_ref(), ignored);
        match reduction {
            Reduction::None => Some(0.0),
            _ if is_recorded => None,
            _ => Some(classes.total_weight()),
        }
    }, else {
        unreachable!("the input was found to be of a floating-point type")
    });
    if matches!(shape.len(), 3 | 5..) {
        // Places are in one line, of pictures that are one line high.
        let (first, rest) = (shape[0], shape[2..].iter().product());
        let flat = reshape::reshape_to(x, &[first, shape[1], 1, rest])?;
        let target = reshape::reshape_to(target, &[first, 1, rest])?;
        let loss = nll_loss(&flat, &target, weight, reduction, ignored)?;
        return match reduction {
            Reduction::None => reshape::reshape_to(&loss, target_shape),
            _ => Ok(loss),
        };
    }
    let (weight, pictures) = (weight.map(Tensor::detach), shape.len() > 2);
    apply_one(NllLoss { reduction, weight, ignored, total, pictures }, &[x, target])
}

/// The loss as operations that need not know the classes, each sample having its own.
fn composed(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignored: i64,
) -> Result<Tensor> {
    let layout = x.layout();
    let dim = class_dim(layout.shape());
    let mut shape = layout.shape().to_vec();
    shape[dim] = 1;
    let target = reshape::reshape_to(&cast::to_dtype(target, DType::Int64)?, &shape)?;
    let counts = compare::ne(&target, ignored)?;
    let index = select::where_(&counts, &target, 0i64)?;
    let picked = gather::gather(x, dim as i64, &index)?;
    let weights = match weight {
        Some(weight) => {
            let line = reshape::reshape_to(&index, &[index.numel()])?;
            reshape::reshape_to(&gather::gather(weight, 0, &line)?, &shape)?
        }
        None => create::ones_like(&picked.detach())?,
    };
    let weights = select::where_(&counts, &weights, 0.0)?;
    let losses = select::where_(&counts, &neg(&mul(&picked, &weights)?)?, 0.0)?;
    match reduction {
        Reduction::None => {
            shape.remove(dim);
            reshape::reshape_to(&losses, &shape)
        }
        Reduction::Sum => reduce::sum(&losses, None, false, None),
        Reduction::Mean => {
            let [loss, total] = [&losses, &weights].map(|x| reduce::sum(x, None, false, None));
            div(&loss?, &total?)
        }
    }
}

/// Whether there is a weight for each class, if there are weights.
fn check_weight(weight: Option<&Tensor>, classes: usize) -> Result<()> {
    match weight.map(Tensor::layout) {
        Some(layout) if layout.shape() != [classes] => {
            Err(Error::ClassWeights { classes, shape: layout.shape().to_vec() }.into())
        }
        _ => Ok(()),
    }
}

fn check_shapes(shape: &[usize], target: &[usize]) -> Result<()> {
    let as_input: Vec<usize> =
        shape.iter().enumerate().filter(|&(dim, _)| dim != 1).map(|(_, &size)| size).collect();
    let first = |sizes: &[usize]| sizes.first().copied().unwrap_or(0);
    let (input, batch) = (first(shape), first(target));
    match (shape.len(), target.len()) {
        (0, _) => Err(Error::LossOfScalar {}.into()),
        (1, 0) => Ok(()),
        (1, 1) if target[0] == 1 => Ok(()),
        (1, 1) => Err(Error::SingleTarget { size: target[0] }.into()),
        (2.., count) if count == 0 || input != batch => {
            Err(Error::TargetBatch { input, target: batch }.into())
        }
        (2, 1) => Ok(()),
        (1 | 2, _) => Err(Error::TargetDimensions {}.into()),
        (4, ndim) if ndim != 3 => Err(Error::TargetSpatial { ndim }.into()),
        _ if as_input == target => Ok(()),
        (4, _) => Err(Error::TargetSizes { input: shape.to_vec(), target: target.to_vec() }.into()),
        _ => Err(Error::TargetShape { expected: as_input, got: target.to_vec() }.into()),
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "nll_loss_nd",
    &["(Tensor input, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100)"],
    "The negative log likelihood of class indices.",
    |a| {
        let weight = a.optional_tensor(2);
        nll_loss(a.tensor(0)?, a.tensor(1)?, weight, reduction(a, 3)?, a.int(4)?).reply()
    },
)
    .operators(&[("NllLoss2DBackward0", "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor output, Tensor total_weight)"), ("NllLossBackward0", "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor output, Tensor total_weight)")])];

fn reduction(arguments: &dyn Arguments, index: usize) -> Result<Reduction> {
    arguments.int(index).map(Reduction::from_number)
}

plain! {
    struct NllLoss { reduction, weight, ignored, total, pictures }
    struct Gradient { loss, layout }
    struct Within { layout, ignored }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<NllLoss>("nll loss"),
    Row::of::<Gradient>("nll loss gradient"),
    Row::of::<Within>("classes are there"),
];
