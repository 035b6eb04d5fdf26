//! Convolutions, plain and transposed, over one to three dimensions.

use crate::graph::shown::shown;
use crate::ops::given::apply_one_given;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::correlation::{Correlation, Geometry, Role, same_type};
use super::{convolution_gradients, pad};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, Inputs, SavedTensor, mode};
use crate::kernels::windows::Windows;
use crate::ops::apply::{Keep, Op, Outputs, single};
use crate::ops::batch::{Answer, Call, Samples};
use crate::ops::complex::I;
use crate::ops::conjugate::{imag, real};
use crate::ops::{add, cast, mul, reduce, reshape, squeeze, sub};
use crate::shape;
use crate::tensor::Tensor;

/// How a convolution slides.
#[derive(Clone, Debug)]
pub struct Options {
    /// Steps from window to window, by dimension; one for all of them will do.
    pub stride: Vec<i64>,
    /// What is added before and behind.
    pub padding: Vec<i64>,
    /// Steps from element to element of a window.
    pub dilation: Vec<i64>,
    /// Whether the weight leads from the output to the input.
    pub transposed: bool,
    /// What is added behind the result of a transposed convolution.
    pub output_padding: Vec<i64>,
    /// In how many groups channels fall that have nothing to do with each other.
    pub groups: i64,
}

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
        crate::ops::view::expand_to(&Self::spread(bias, result.ndim())?, result.layout().shape())
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

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let _off = mode::GradModeGuard::off();
        let y = Tensor::from_array(self.correlation.numbers(&inputs[0].array(), &inputs[1].array())?);
        if self.biased {
            crate::ops::add_(&y, &Self::spread(&inputs[2].detach(), y.ndim())?)?;
            return Ok(smallvec![Tensor::from_array(y.array())]);
        }
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1)]
    }

    fn vjp(&self, [x, weight]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, weight, g) = (at.load(x)?, at.load(weight)?, single(gradients));
        let wanted = [at.needs(0), at.needs(1), self.biased && at.needs(2)];
        let found =
            convolution_gradients::gradients(&self.correlation, wanted, [&x, &weight, g], at.tracking)?;
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
            None => cast::clone(&crate::ops::view::expand(&bias, &shape::signed(form.shape()))?)?,
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

/// One number for each of `count` dimensions.
fn each(name: &'static str, values: &[i64], count: usize) -> Result<Vec<i64>> {
    match *values {
        [value] => Ok(vec![value; count]),
        _ if values.len() == count => Ok(values.to_vec()),
        _ => Err(Error::ConvolutionCount { argument: name, count, got: values.to_vec() }.into()),
    }
}

/// As three numbers, ones or zeros in front.
fn three(values: &[i64], first: usize) -> [usize; 3] {
    let mut all = [first; 3];
    let lead = 3 - values.len();
    for (place, &value) in all[lead..].iter_mut().zip(values) {
        *place = value as usize;
    }
    all
}

impl Options {
    fn check_signs(&self) -> Result<()> {
        let negative = |values: &[i64]| values.iter().any(|&value| value < 0);
        let small = |values: &[i64]| values.iter().any(|&value| value <= 0);
        let refused = |what: &'static str| Err(Error::ConvolutionSign { what }.into());
        match () {
            () if negative(&self.padding) => refused("negative padding"),
            () if negative(&self.output_padding) => refused("negative output_padding"),
            () if small(&self.stride) => refused("non-positive stride"),
            () if negative(&self.dilation) => Err(Error::ConvolutionDilation { found: String::new() }.into()),
            () if small(&self.dilation) => {
                Err(Error::ConvolutionDilation { found: self.dilation_in_words() }.into())
            }
            () if self.groups <= 0 => refused("non-positive groups"),
            () => Ok(()),
        }
    }

    /// The dilation of an image, which one line is too.
    fn dilation_in_words(&self) -> String {
        let mut dilation = self.dilation.clone();
        if dilation.len() == 1 {
            dilation.insert(0, 1);
        }
        if !self.transposed {
            return format!(", but got {dilation:?}");
        }
        let names = &["depth", "height", "width"][3usize.saturating_sub(dilation.len())..];
        let each = names.iter().zip(&dilation).map(|(name, size)| format!("dilation_{name}: {size}"));
        format!(", but got {}", each.collect::<Vec<_>>().join(", "))
    }

    fn check_shapes(&self, x: &[usize], weight: &[usize], bias: Option<&Tensor>) -> Result<()> {
        let (groups, transposed) = (self.groups as usize, self.transposed);
        if x.len() != weight.len() {
            let ndim = weight.len();
            return Err(Error::ConvolutionRank { ndim, weight: weight.to_vec(), input: x.to_vec() }.into());
        }
        let leading = || Error::ConvolutionLeading { groups, weight: weight.to_vec() };
        if weight[0] < groups {
            return Err(leading().into());
        }
        if !weight[0].is_multiple_of(groups) {
            return Err(Error::ConvolutionGroups { groups, weight: weight.to_vec() }.into());
        }
        let expected = if transposed { weight[0] } else { weight[1] * groups };
        if x[1] != expected {
            let (input, weight) = (x.to_vec(), weight.to_vec());
            let groups = if transposed { "transposed=1".to_owned() } else { format!("groups={groups}") };
            return Err(Error::ConvolutionChannels { groups, weight, input, expected, got: x[1] }.into());
        }
        let channels = if transposed { weight[1] * groups } else { weight[0] };
        if let Some(bias) = bias
            && bias.layout().shape() != [channels]
        {
            let (weight, bias) = (weight.to_vec(), bias.layout().shape().to_vec());
            let transposed = if transposed { "transposed=1, " } else { "" };
            return Err(Error::ConvolutionBias { transposed, weight, channels, bias }.into());
        }
        Ok(())
    }

    /// The windows over `size`, of which `kernel` is the size.
    fn windows(&self, size: &[usize], kernel: &[usize]) -> Result<(Windows, Vec<usize>)> {
        let mut padded = Vec::new();
        let mut extent = Vec::new();
        let mut count = Vec::new();
        for dim in 0..size.len() {
            let whole = size[dim] as i64 + 2 * self.padding[dim];
            let reach = self.dilation[dim] * (kernel[dim] as i64 - 1) + 1;
            padded.push(whole);
            extent.push(reach);
            count.push((whole - reach).max(-1).div_euclid(self.stride[dim]) + 1);
        }
        if padded.iter().zip(&extent).any(|(padded, extent)| padded < extent) || kernel.contains(&0) {
            return Err(Error::ConvolutionKernel { padded, kernel: extent }.into());
        }
        let signed = |values: &[usize]| shape::signed(values);
        let windows = Windows {
            size: three(&signed(size), 1),
            kernel: three(&signed(kernel), 1),
            stride: three(&self.stride, 1),
            padding: three(&self.padding, 0),
            dilation: three(&self.dilation, 1),
            count: three(&count, 1),
        };
        Ok((windows, count.iter().map(|&count| count as usize).collect()))
    }

    /// The spatial sizes of a transposed convolution's result.
    fn grown(&self, size: &[usize], kernel: &[usize]) -> Result<Vec<usize>> {
        let dims = 0..size.len();
        if dims.clone().any(|dim| {
            self.output_padding[dim] >= self.stride[dim] && self.output_padding[dim] >= self.dilation[dim]
        }) {
            let (mut output_padding, mut stride, mut dilation) =
                (self.output_padding.clone(), self.stride.clone(), self.dilation.clone());
            if stride.len() == 1 {
                // A line is an image of one.
                output_padding.insert(0, 0);
                stride.insert(0, 1);
                dilation.insert(0, 1);
            }
            return Err(Error::ConvolutionOutputPadding { output_padding, stride, dilation }.into());
        }
        let one = |dim: usize| {
            let reach = self.dilation[dim] * (kernel[dim] as i64 - 1);
            (size[dim] as i64 - 1) * self.stride[dim] - 2 * self.padding[dim]
                + reach
                + self.output_padding[dim]
                + 1
        };
        let sizes: Vec<i64> = dims.map(one).collect();
        match sizes.iter().any(|&size| size < 0) {
            true => Err(Error::ConvolutionTooSmall { input: size.to_vec(), output: sizes }.into()),
            false => Ok(sizes.iter().map(|&size| size as usize).collect()),
        }
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
    if let Some(bias) = bias
        && bias.dtype() != x.dtype()
    {
        return Err(Error::ConvolutionBiasDType { input: x.dtype(), bias: bias.dtype() }.into());
    }
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
    let bias_sizes = [bias.map_or(0, Tensor::numel) as i64];
    let given = shown! {
        stride: &*options.stride,
        padding: &*options.padding,
        dilation: &*options.dilation,
        output_padding: &*options.output_padding,
        transposed: options.transposed,
        groups: options.groups,
        bias_sym_sizes_opt: &bias_sizes[..],
    };
    apply_one_given(Convolution { correlation, biased: bias.is_some() }, given, &inputs)
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
    if let Some(bias) = bias
        && bias.dtype() != x.dtype()
    {
        return Err(Error::ConvolutionBiasDType { input: x.dtype(), bias: bias.dtype() }.into());
    }
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
