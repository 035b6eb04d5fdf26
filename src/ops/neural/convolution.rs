//! Convolutions, plain and transposed, over one to three dimensions.

mod options;

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::warn_once;
use crate::schema::{Arguments, Entry, IntoReply, Operator, Reply, function};
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::convolution_gradients;
use super::correlation::{Correlation, Geometry, Role, same_type};
use super::images::pad;
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, single};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::memory_order;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor};
use crate::ops::complex::I;
use crate::ops::conjugate::{imag, real};
use crate::ops::creation::cast;
use crate::ops::geometry::{reshape, squeeze};
use crate::ops::reduction::reduce;
use crate::ops::{add, mul, sub};
use crate::shape;
use crate::tensor::{Array, Tensor};

pub(in crate::ops) use super::correlation::ROWS as CORRELATIONS;
pub use options::Options;
use options::{each, three};

/// y = w ∗ x + b, or with the transposed convolution in the place of w
///
/// x̄ and w̄ are the other cases of the correlation; b̄ = Σ ȳ over all but the channels
#[derive(Clone)]
pub(super) struct Convolution {
    correlation: Correlation,
    biased: bool,
}

impl Convolution {
    /// The sums over all but the channels, as a bias has them.
    pub(super) fn summed(g: &Tensor) -> Result<Tensor> {
        let others: Vec<i64> = (0..g.ndim() as i64).filter(|&dim| dim != 1).collect();
        reduce::sum(g, Some(&others), false, None)
    }

    /// A vector of channels as large as a result.
    pub(super) fn spread_to(bias: &Tensor, result: &Tensor) -> Result<Tensor> {
        crate::dispatch::view::expand_to(&Self::spread(bias, result.ndim())?, result.layout().shape())
    }

    /// A vector of channels as it is added to a result.
    fn spread(bias: &Tensor, ndim: usize) -> Result<Tensor> {
        let mut shape = vec![1; ndim];
        shape[1] = -1;
        reshape::reshape(bias, &shape)
    }
}

impl Op for Convolution {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["input", "weight"];

    fn name(&self) -> &'static str {
        "ConvolutionBackward0"
    }

    fn inputs(&self) -> Option<Inputs> {
        Some(smallvec![Some(0), Some(1), self.biased.then_some(2)])
    }

    fn is_together(&self) -> bool {
        true
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        let bias = if self.biased { self.correlation.channels() } else { 0 };
        let mut shown = self.correlation.options();
        shown.extend(shown! { bias_sym_sizes_opt: &[bias][..] });
        shown
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let bias = self.biased.then(|| &inputs[2]);
        let y = self.correlation.numbers(&inputs[0], &inputs[1], bias)?;
        let y = if self.correlation.has_channels_last(&inputs[0], &inputs[1]) {
            memory_order::channels_last(y)?
        } else {
            y
        };
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1)]
    }

    fn vjp(&self, [x, weight]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, weight, g) = (at.load(x)?, at.load(weight)?, single(gradients));
        let wanted = [at.needs(0), at.needs(1), self.biased && at.needs(2)];
        let found = convolution_gradients::gradients(&self.correlation, wanted, [&x, &weight, g])?;
        Ok(found.into_iter().take(2 + usize::from(self.biased)).collect())
    }

    fn jvp(&self, [x, weight]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (x, weight) = (at.load(x)?, at.load(weight)?);
        let moved = self.correlation.moved([&x, &weight], [tangents[0].as_ref(), tangents[1].as_ref()])?;
        let form = at.node.form(0).layout.clone();
        let Some(bias) = tangents.get(2).cloned().flatten() else { return Ok(smallvec![moved]) };
        let bias = Self::spread(&bias, form.ndim())?;
        Ok(smallvec![Some(match moved {
            Some(moved) => add(&moved, &bias)?,
            None => cast::clone(&crate::dispatch::view::expand(&bias, &shape::signed(form.shape()))?)?,
        })])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let y = self.correlation.of_samples(&call.inputs[0], &call.inputs[1], call.size)?;
        let Some(bias) = call.inputs.get(2) else { return Ok(smallvec![Samples::first(y)]) };
        let mut shape = vec![1; y.ndim()];
        shape[0] = if bias.dim.is_some() { call.size as i64 } else { 1 };
        shape[2] = -1;
        let bias = reshape::reshape(&bias.moved(0)?, &shape)?;
        Ok(smallvec![Samples::first(add(&y, &bias)?)])
    }
}

fn check_bias_type(x: &Tensor, bias: Option<&Tensor>) -> Result<()> {
    match bias.map(Tensor::dtype).filter(|&bias| bias != x.dtype()) {
        Some(bias) => Err(Error::ConvolutionBiasDType { input: x.dtype(), bias }.into()),
        None => Ok(()),
    }
}

/// `weight ∗ x + bias` over all dimensions behind the first two.
pub fn convolution(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, options: &Options) -> Result<Tensor> {
    let (x_layout, weight_layout) = (x.layout(), weight.layout());
    let (shape, kernel) = (x_layout.shape(), weight_layout.shape());
    if kernel.len() < 3 {
        return Err(Error::ConvolutionWeight {}.into());
    }
    let count = kernel.len() - 2;
    let mut options = options.clone();
    options.stride = each("stride", &options.stride, count)?;
    options.padding = each("padding", &options.padding, count)?;
    options.dilation = each("dilation", &options.dilation, count)?;
    options.output_padding = each("output_padding", &options.output_padding, count)?;
    options.check_signs()?;
    options.check_shapes(shape, kernel, bias)?;
    check_bias_type(x, bias)?;
    same_type(x.dtype(), weight.dtype())?;
    let groups = options.groups as usize;
    let (gives, geometry) = if options.transposed {
        let sizes = options.grown(&shape[2..], &kernel[2..])?;
        let (mut windows, _) = options.windows(&sizes, &kernel[2..])?;
        windows.count = three(&shape::signed(&shape[2..]), 1);
        let mut result = vec![shape[0], kernel[1] * groups];
        result.extend(sizes);
        (Role::Input, Geometry { windows, groups, shapes: [result, kernel.to_vec(), shape.to_vec()] })
    } else {
        let (windows, sizes) = options.windows(&shape[2..], &kernel[2..])?;
        let mut result = vec![shape[0], kernel[0]];
        result.extend(sizes);
        (Role::Output, Geometry { windows, groups, shapes: [shape.to_vec(), kernel.to_vec(), result] })
    };
    let correlation = Correlation { gives, geometry: Arc::new(geometry) };
    let mut inputs: SmallVec<[&Tensor; 3]> = smallvec![x, weight];
    inputs.extend(bias);
    apply_one(Convolution { correlation, biased: bias.is_some() }, &inputs)
}

/// `convolution` over `spatial` dimensions, of one sample or a batch.
pub fn convolution_nd(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    spatial: usize,
    options: &Options,
) -> Result<Tensor> {
    if x.dtype().is_complex() && x.dtype() == weight.dtype() {
        return of_parts(x, weight, bias, spatial, options);
    }
    let ndim = x.ndim();
    if ndim == spatial + 2 {
        return convolution(x, weight, bias, options);
    }
    if ndim != spatial + 1 {
        let operation = match (spatial, options.transposed) {
            (1, false) => "conv1d",
            (2, false) => "conv2d",
            (_, false) => "conv3d",
            (1, true) => "conv_transpose1d",
            (2, true) => "conv_transpose2d",
            (_, true) => "conv_transpose3d",
        };
        let shape = x.layout().shape().to_vec();
        return Err(
            Error::ConvolutionInput { operation, single: spatial + 1, batched: spatial + 2, shape }.into()
        );
    }
    let y = convolution(&squeeze::unsqueeze(x, 0)?, weight, bias, options)?;
    squeeze::squeeze(&y, squeeze::Squeezed::One(0))
}

/// A convolution of complex numbers by three of real ones: with w = u + iv and x = r + is,
/// w ∗ x = u ∗ r - v ∗ s + i ((u + v) ∗ (r + s) - u ∗ r - v ∗ s)
fn of_parts(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    spatial: usize,
    options: &Options,
) -> Result<Tensor> {
    check_bias_type(x, bias)?;
    let parts = |z: &Tensor| -> Result<[Tensor; 3]> {
        let (real, imag) = (real(z)?, imag(z)?);
        let sum = add(&real, &imag)?;
        Ok([real, imag, sum])
    };
    let (x, weight, bias) = (parts(x)?, parts(weight)?, bias.map(parts).transpose()?);
    let [first, second, whole] = [0, 1, 2].map(|index| {
        // The second is taken from both others: it goes without a bias.
        let bias = bias.as_ref().filter(|_| index != 1).map(|bias| &bias[index]);
        convolution_nd(&x[index], &weight[index], bias, spatial, options)
    });
    let (first, second) = (first?, second?);
    let across = sub(&sub(&whole?, &first)?, &second)?;
    add(&sub(&first, &second)?, &mul(&across, I)?)
}

/// `convolution_nd` with as much padding as leaves the sizes what they are.
pub fn convolution_same(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    spatial: usize,
    options: &Options,
) -> Result<Tensor> {
    let kernel = weight.layout();
    let mut input = x.layout().shape().to_vec();
    if input.len() == spatial + 1 {
        input.insert(0, 1);
    }
    if input.len() != kernel.ndim() {
        return Err(Error::ConvolutionSameRank {
            ndim: kernel.ndim(),
            weight: kernel.shape().to_vec(),
            input,
        }
        .into());
    }
    let count = kernel.ndim().saturating_sub(2);
    let (stride, dilation) =
        (each("stride", &options.stride, count)?, each("dilation", &options.dilation, count)?);
    if stride.iter().any(|&stride| stride != 1) {
        return Err(Error::ConvolutionSameStride {}.into());
    }
    let total: Vec<i64> = dilation
        .iter()
        .zip(&kernel.shape()[2.min(kernel.ndim())..])
        .map(|(d, &k)| d * (k as i64 - 1))
        .collect();
    let mut options = options.clone();
    options.padding = total.iter().map(|total| total / 2).collect();
    if total.iter().all(|total| total % 2 == 0) {
        return convolution_nd(x, weight, bias, spatial, &options);
    }
    let behind: Vec<i64> = total.iter().rev().flat_map(|total| [0, total % 2]).collect();
    let padded = |x: &Tensor| pad::constant_pad(x, &behind, 0.0.into());
    if x.ndim() == spatial + 2 {
        return convolution_nd(&padded(x)?, weight, bias, spatial, &options);
    }
    let y = convolution_nd(&padded(&squeeze::unsqueeze(x, 0)?)?, weight, bias, spatial, &options)?;
    squeeze::squeeze(&y, squeeze::Squeezed::One(0))
}

/// The overloads of a convolution over that many dimensions.
macro_rules! convolved {
    ($count:literal) => {
        &[
            concat!(
                "(Tensor input, Tensor weight, Tensor? bias=None, int[",
                $count,
                "] stride=1, int[",
                $count,
                "] padding=0, int[",
                $count,
                "] dilation=1, SymInt groups=1)"
            ),
            concat!(
                "(Tensor input, Tensor weight, Tensor? bias=None, int[",
                $count,
                "] stride=1, str padding=\"valid\", int[",
                $count,
                "] dilation=1, SymInt groups=1)"
            ),
        ]
    };
}

/// The signature of a transposed convolution.
macro_rules! transposed {
    ($count:literal) => {
        &[concat!(
            "(Tensor input, Tensor weight, Tensor? bias=None, int[",
            $count,
            "] stride=1, int[",
            $count,
            "] padding=0, int[",
            $count,
            "] output_padding=0, SymInt groups=1, int[",
            $count,
            "] dilation=1)"
        )]
    };
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[(
    "ConvolutionBackward0",
    "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups) -> Tensor",
)];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "conv_transpose1d",
        transposed!("1"),
        "A transposed convolution over signals of one dimension.",
        |a| transposed(a, 1),
    ),
    function(
        "conv_transpose2d",
        transposed!("2"),
        "A transposed convolution over images of two dimensions.",
        |a| transposed(a, 2),
    ),
    function(
        "conv_transpose3d",
        transposed!("3"),
        "A transposed convolution over volumes of three dimensions.",
        |a| transposed(a, 3),
    ),
    function("conv1d", convolved!("1"), "A convolution over signals of one dimension.", |a| convolved(a, 1)),
    function("conv2d", convolved!("2"), "A convolution over images of two dimensions.", |a| convolved(a, 2)),
    function("conv3d", convolved!("3"), "A convolution over volumes of three dimensions.", |a| {
        convolved(a, 3)
    }),
];

fn transposed(a: &dyn Arguments, spatial: usize) -> Result<Reply> {
    let options = Options {
        stride: a.ints(3)?.to_vec(),
        padding: a.ints(4)?.to_vec(),
        dilation: a.ints(7)?.to_vec(),
        transposed: true,
        output_padding: a.ints(5)?.to_vec(),
        groups: a.int(6)?,
    };
    convolution_nd(a.tensor(0)?, a.tensor(1)?, a.optional_tensor(2), spatial, &options).reply()
}

fn convolved(a: &dyn Arguments, spatial: usize) -> Result<Reply> {
    let mut options = Options {
        stride: a.ints(3)?.to_vec(),
        padding: vec![0],
        dilation: a.ints(5)?.to_vec(),
        transposed: false,
        output_padding: vec![0; spatial],
        groups: a.int(6)?,
    };
    let (x, weight, bias) = (a.tensor(0)?, a.tensor(1)?, a.optional_tensor(2));
    if a.overload() == 1 {
        match a.text(4)?.as_str() {
            "valid" => options.padding = vec![0; spatial],
            "same" => {
                let result = convolution_same(x, weight, bias, spatial, &options)?;
                let is_uneven = |(&size, place): (&usize, usize)| {
                    let dilation = options.dilation.get(place).or(options.dilation.first());
                    size % 2 == 0 && dilation.is_some_and(|dilation| dilation % 2 == 1)
                };
                if weight.layout().shape().iter().skip(2).zip(0..).any(is_uneven) {
                    warn_once(Error::UnevenPadding {})?;
                }
                return Ok(result.into());
            }
            other => return Err(Error::PaddingWord { word: other.to_owned() }.into()),
        }
    } else {
        options.padding = a.ints(4)?.to_vec();
    }
    convolution_nd(x, weight, bias, spatial, &options).reply()
}

plain! {
    struct Convolution { correlation, biased }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Convolution>("convolution")];
