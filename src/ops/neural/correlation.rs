//! Convolution as what it is: a form that is linear in the input, in the weight and in the output.
//! Given any two of them it says the third, so the derivatives of each case are the other cases.

mod direct;
mod numbers;

use std::sync::Arc;

use smallvec::smallvec;

use crate::dispatch::apply::portable;
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, single};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::modes::plain::{Row, plain};
use crate::dispatch::{binary, memory_order};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::neural::windows::Windows;
use crate::ops::add;
use crate::ops::creation::{copy, create};
use crate::ops::geometry::{permute, reshape};
use crate::ops::pointwise::arithmetic;
use crate::shape::{self, Layout};
use crate::tensor::{Array, Tensor};

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Of shape (batch, channels, …).
    Input,
    /// Of shape (out channels, channels of a group, …).
    Weight,
    /// Of shape (batch, out channels, …).
    Output,
}

impl Role {
    /// The two others, in the order in which they are given.
    fn others(self) -> [Role; 2] {
        match self {
            Role::Output => [Role::Input, Role::Weight],
            Role::Input => [Role::Output, Role::Weight],
            Role::Weight => [Role::Input, Role::Output],
        }
    }
}

/// The sizes of a convolution.
#[derive(Clone)]
pub(super) struct Geometry {
    pub(super) windows: Windows,
    pub(super) groups: usize,
    /// The shapes of input, weight and output.
    pub(super) shapes: [Vec<usize>; 3],
}

impl Geometry {
    fn shape(&self, role: Role) -> &[usize] {
        &self.shapes[role as usize]
    }

    fn batch(&self) -> usize {
        self.shapes[0][0]
    }

    /// What a convolution with these sizes is called with, under torch's names.
    fn options(&self, transposed: bool) -> Attributes {
        // Of three dimensions it has the last ones.
        let (windows, first) = (&self.windows, 5 - self.shapes[0].len());
        let beyond = |dim: usize| {
            let reach = windows.dilation[dim] * (windows.kernel[dim] - 1) + 1;
            let whole = (windows.count[dim] - 1) * windows.stride[dim] + reach;
            if transposed { windows.size[dim] + 2 * windows.padding[dim] - whole } else { 0 }
        };
        let output_padding: Vec<usize> = (first..3).map(beyond).collect();
        shown! {
            stride: &windows.stride[first..],
            padding: &windows.padding[first..],
            dilation: &windows.dilation[first..],
            transposed: transposed,
            output_padding: &*output_padding,
            groups: self.groups,
        }
    }

    /// Channels of a group: of the input, and of the output.
    fn channels(&self) -> (usize, usize) {
        (self.shapes[0][1] / self.groups, self.shapes[2][1] / self.groups)
    }
}

/// How the samples of many convolutions are one convolution.
#[derive(Clone, Copy, PartialEq)]
enum Fold {
    /// More inputs of one batch, which meet the same weight.
    Batch,
    /// More groups of channels, each with a weight of its own.
    Groups,
}

impl Fold {
    /// The dimension of a tensor in which its samples are folded.
    fn dim(self, role: Role) -> usize {
        match (self, role) {
            (Fold::Groups, Role::Input | Role::Output) => 1,
            _ => 0,
        }
    }

    fn geometry(self, one: &Geometry, size: usize) -> Geometry {
        let mut many = one.clone();
        let folded: &[Role] = match self {
            Fold::Batch => &[Role::Input, Role::Output],
            Fold::Groups => {
                many.groups *= size;
                &[Role::Input, Role::Weight, Role::Output]
            }
        };
        for &role in folded {
            many.shapes[role as usize][self.dim(role)] *= size;
        }
        many
    }

    /// A tensor with its samples in the dimension that takes them.
    fn folded(self, samples: &Samples, role: Role, size: usize) -> Result<Tensor> {
        if self == Fold::Batch && role == Role::Weight {
            return Ok(samples.value.clone());
        }
        let dim = self.dim(role);
        let value = Samples::first(samples.front(size)?).moved(dim)?;
        reshape::flatten(&value, dim as i64, dim as i64 + 1)
    }
}

/// The third from the two others.
#[derive(Clone)]
pub(super) struct Correlation {
    pub(super) gives: Role,
    pub(super) geometry: Arc<Geometry>,
}

impl Correlation {
    fn turned(&self, gives: Role) -> Correlation {
        Correlation { gives, geometry: self.geometry.clone() }
    }

    /// What the convolution is called with, if this is one, and if it is a gradient the one that it belongs to.
    pub(super) fn options(&self) -> Attributes {
        self.geometry.options(self.gives == Role::Input)
    }

    /// Whether results have the channels last in memory, as either operand has. Of volumes they have where torch
    /// leaves the work to a library, which is said in sizes, groups and element types.
    pub(super) fn has_channels_last(&self, x: &Array, weight: &Array) -> bool {
        let (spatial, groups, kernel) = (x.layout.ndim() - 2, self.geometry.groups, weight.layout.shape());
        let last = |layout: &Layout| {
            // One row is laid out in order first.
            (spatial != 1 || layout.is_contiguous()) && memory_order::has_channels_last(layout, spatial)
        };
        let is_large = || {
            let sizes = x.layout.shape();
            sizes[0] > 1
                || kernel[3..].iter().all(|&size| size > 3)
                || sizes[..4].iter().product::<usize>() > 20480
        };
        let is_fast = || x.dtype.is_float() && x.dtype != DType::Float64 && (groups > 1 || is_large());
        (last(&x.layout) || last(&weight.layout)) && (spatial < 3 || is_fast())
    }

    /// How many channels the result has.
    pub(super) fn channels(&self) -> usize {
        self.geometry.shape(self.gives)[1]
    }

    /// The numbers, from operands that have the shapes that the geometry says, and a number for each channel of the
    /// result that is added.
    pub(super) fn numbers(&self, left: &Array, right: &Array, bias: Option<&Array>) -> Result<Array> {
        let (left, right, dtype) = (copy::in_order(left)?, copy::in_order(right)?, left.dtype);
        let bias = bias.map(copy::in_order).transpose()?;
        let found = dispatch!(float dtype, T => {
            direct::calculate::<T>(self.gives, &self.geometry, [&left, &right], bias.as_deref())?
        }, else { None });
        if let Some(found) = found {
            return Ok(found);
        }
        let y = dispatch!(number dtype, T => {
            numbers::by_matrices::<T>(self.gives, &self.geometry, &left, &right)?
        }, else { return Err(Error::NotImplementedFor { operation: "convolution", dtype }.into()) });
        let Some(bias) = bias else { return Ok(y) };
        let mut shape = vec![1; y.layout.ndim()];
        shape[1] = bias.layout.numel();
        let bias = bias.in_shape(&shape)?;
        binary::numbers(arithmetic::PLUS, &y, &bias)
    }

    /// The third from the two others, recorded.
    pub(super) fn of(&self, left: &Tensor, right: &Tensor) -> Result<Tensor> {
        apply_one(self.clone(), &[left, right])
    }

    /// `of` for many samples at once, which lie along the first dimension of the result.
    pub(super) fn of_samples(&self, left: &Samples, right: &Samples, size: usize) -> Result<Tensor> {
        if size == 0 {
            let shape: Vec<i64> = shape::signed(&[&[0], self.geometry.shape(self.gives)].concat());
            return create::zeros(&shape, left.value.dtype());
        }
        let roles = self.gives.others();
        let pairs = [(left, roles[0]), (right, roles[1])];
        let one_weight = |&(samples, role): &(&Samples, Role)| role == Role::Weight && samples.dim.is_none();
        let fold = if pairs.iter().any(one_weight) { Fold::Batch } else { Fold::Groups };
        let geometry = Arc::new(fold.geometry(&self.geometry, size));
        let [left, right] = pairs.map(|(samples, role)| fold.folded(samples, role, size));
        let y = Correlation { gives: self.gives, geometry }.of(&left?, &right?)?;
        let dim = fold.dim(self.gives);
        let each = self.geometry.shape(self.gives)[dim] as i64;
        let y = reshape::unflatten(&y, dim as i64, &[size as i64, each])?;
        permute::movedim(&y, &[dim as i64], &[0])
    }

    /// What gives the gradient of the operand with that index, and of what.
    fn turned_toward<'a, T>(
        &self,
        index: usize,
        operands: [&'a T; 2],
        gradient: &'a T,
    ) -> (Correlation, [&'a T; 2]) {
        let role = self.gives.others()[index];
        let value = |wanted: Role| match self.gives.others().iter().position(|&other| other == wanted) {
            Some(place) => operands[place],
            None => gradient,
        };
        (self.turned(role), role.others().map(value))
    }

    /// The gradient of the operand with that index.
    pub(super) fn toward(&self, index: usize, operands: [&Tensor; 2], gradient: &Tensor) -> Result<Tensor> {
        let (turned, [left, right]) = self.turned_toward(index, operands, gradient);
        turned.of(left, right)
    }

    /// The numbers of that.
    pub(super) fn numbers_toward(
        &self,
        index: usize,
        operands: [&Array; 2],
        gradient: &Array,
    ) -> Result<Array> {
        let (turned, [left, right]) = self.turned_toward(index, operands, gradient);
        turned.numbers(left, right, None)
    }

    /// What the result becomes when one operand moves.
    pub(super) fn moved(
        &self,
        operands: [&Tensor; 2],
        tangents: [Option<&Tensor>; 2],
    ) -> Result<Option<Tensor>> {
        let left = tangents[0].map(|tangent| self.of(tangent, operands[1])).transpose()?;
        let right = tangents[1].map(|tangent| self.of(operands[0], tangent)).transpose()?;
        match (left, right) {
            (Some(left), Some(right)) => add(&left, &right).map(Some),
            (left, right) => Ok(left.or(right)),
        }
    }
}

impl Op for Correlation {
    type Saved = [SavedTensor; 2];

    fn name(&self) -> &'static str {
        match self.gives {
            Role::Weight => "ConvolutionBackwardBackward0",
            Role::Input | Role::Output => "ConvolutionBackward0",
        }
    }

    fn dispatch_attributes(&self) -> Attributes {
        self.options()
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let y = self.numbers(&inputs[0], &inputs[1], None)?;
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1)]
    }

    fn vjp(&self, [left, right]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (left, right) = (at.load(left)?, at.load(right)?);
        let toward = |index| self.toward(index, [&left, &right], single(gradients));
        (0..2).map(|index| at.needs(index).then(|| toward(index)).transpose()).collect()
    }

    fn jvp(
        &self,
        [left, right]: &Self::Saved,
        at: &At<'_>,
        tangents: &[Option<Tensor>],
    ) -> Result<Gradients> {
        let (left, right) = (at.load(left)?, at.load(right)?);
        Ok(smallvec![self.moved([&left, &right], [tangents[0].as_ref(), tangents[1].as_ref()])?])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let y = self.of_samples(&call.inputs[0], &call.inputs[1], call.size)?;
        Ok(smallvec![Samples::first(y)])
    }
}

/// The type in which a convolution of these operands is computed is theirs: they share it.
pub(super) fn same_type(left: DType, right: DType) -> Result<()> {
    match left == right {
        true => Ok(()),
        false => Err(Error::ConvolutionDTypes { input: left, weight: right }.into()),
    }
}

plain! {
    struct Geometry { windows, groups, shapes }
    struct Correlation { gives, geometry }
    struct Windows { size, kernel, stride, padding, dilation, count }
}

plain! {
    enum Role { Input, Weight, Output }
}

/// How these are written as plain data.
pub(crate) const ROWS: &[Row] = &[portable::row::<Correlation>("correlation")];
