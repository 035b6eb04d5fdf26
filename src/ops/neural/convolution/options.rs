//! How a convolution slides: what may be asked for, and where its windows lie.

use crate::error::{Error, Result};
use crate::kernels::neural::windows::Windows;
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

/// One number for each of `count` dimensions.
pub(super) fn each(name: &'static str, values: &[i64], count: usize) -> Result<Vec<i64>> {
    match *values {
        [value] => Ok(vec![value; count]),
        _ if values.len() == count => Ok(values.to_vec()),
        _ => Err(Error::ConvolutionCount { argument: name, count, got: values.to_vec() }.into()),
    }
}

/// More padding than this cannot be added twice.
const MOST_PADDING: i64 = i64::MAX / 2;

/// As three numbers, ones or zeros in front.
pub(super) fn three(values: &[i64], first: usize) -> [usize; 3] {
    let mut all = [first; 3];
    let lead = 3 - values.len();
    for (place, &value) in all[lead..].iter_mut().zip(values) {
        *place = value as usize;
    }
    all
}

impl Options {
    /// Whether all numbers are such as there can be.
    pub(super) fn check_signs(&self) -> Result<()> {
        let negative = |values: &[i64]| values.iter().any(|&value| value < 0);
        let small = |values: &[i64]| values.iter().any(|&value| value <= 0);
        let refused = |what: &'static str| Err(Error::ConvolutionSign { what }.into());
        match () {
            () if negative(&self.padding) => refused("negative padding"),
            () if negative(&self.output_padding) => refused("negative output_padding"),
            () if let Some(dim) = self.padding.iter().position(|&padding| padding > MOST_PADDING) => {
                let padding = self.padding[dim];
                Err(Error::ConvolutionPadding { padding, dim, most: MOST_PADDING }.into())
            }
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

    /// Whether weight and bias fit the input.
    pub(super) fn check_shapes(&self, x: &[usize], weight: &[usize], bias: Option<&Tensor>) -> Result<()> {
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
    pub(super) fn windows(&self, size: &[usize], kernel: &[usize]) -> Result<(Windows, Vec<usize>)> {
        let mut padded = Vec::new();
        let mut extent = Vec::new();
        let mut count = Vec::new();
        for dim in 0..size.len() {
            let whole = (size[dim] as i64).saturating_add(2 * self.padding[dim]);
            let reach = self.dilation[dim].saturating_mul(kernel[dim] as i64 - 1).saturating_add(1);
            padded.push(whole);
            extent.push(reach);
            count.push((whole - reach).max(-1).div_euclid(self.stride[dim]) + 1);
        }
        if padded.iter().zip(&extent).any(|(padded, extent)| padded < extent) || kernel.contains(&0) {
            return Err(Error::ConvolutionKernel { padded, kernel: extent }.into());
        }
        shape::checked_shape(&count)?;
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
    pub(super) fn grown(&self, size: &[usize], kernel: &[usize]) -> Result<Vec<usize>> {
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
        // What is larger than there are numbers is refused as what is larger than there is memory.
        let one = |dim: usize| {
            let [stride, padding, dilation, output_padding] =
                [&self.stride, &self.padding, &self.dilation, &self.output_padding]
                    .map(|numbers| i128::from(numbers[dim]));
            let reach = dilation * (kernel[dim] as i128 - 1);
            let whole = (size[dim] as i128 - 1) * stride - 2 * padding + reach + output_padding + 1;
            whole.clamp(i64::MIN.into(), i64::MAX.into()) as i64
        };
        let sizes: Vec<i64> = dims.map(one).collect();
        match sizes.iter().any(|&size| size < 0) {
            true => Err(Error::ConvolutionTooSmall { input: size.to_vec(), output: sizes }.into()),
            false => Ok(sizes.iter().map(|&size| size as usize).collect()),
        }
    }
}
