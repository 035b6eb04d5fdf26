//! Averages over windows, of a given size or as many as are wanted.

use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::kernels::neural::taps::Taps;
use crate::ops::geometry::{squeeze, strided};
use crate::ops::neural::images::resample::{self, Axis, Called, Resample};
use crate::ops::pointwise::division;
use crate::ops::pointwise::division::Rounding;
use crate::ops::reduction::reduce;
use crate::ops::{Value, mul};
use crate::schema::Operator;
use crate::shape::{signed, suggests_channels_last};
use crate::storage;
use crate::tensor::Tensor;

/// How windows of pooling lie, a number for each spatial dimension.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The sizes of a window.
    pub kernel: Vec<i64>,
    /// The steps from one to the next.
    pub stride: Vec<i64>,
    /// What is added before and behind.
    pub padding: Vec<i64>,
    /// The steps from one element of a window to the next.
    pub dilation: Vec<i64>,
    /// Whether a last window may reach beyond the end.
    pub ceil: bool,
    /// Whether the steps are the sizes because none were given.
    pub side_by_side: bool,
}

impl Pool {
    /// The parameters, under torch's names.
    pub(in crate::ops::neural) fn shown(&self) -> Attributes {
        shown! {
            kernel_size: &*self.kernel,
            stride: if self.side_by_side { &[] } else { &*self.stride },
            padding: &*self.padding,
            dilation: &*self.dilation,
            ceil_mode: self.ceil,
        }
    }

    /// Refuses numbers that are too large to be calculated with.
    pub fn check_numbers(&self) -> Result<()> {
        check_numbers(&[&self.kernel, &self.stride, &self.padding, &self.dilation])
    }

    /// How many windows there are over a dimension of this size.
    pub(super) fn count(&self, dim: usize, size: i64) -> i64 {
        let (kernel, stride, padding) = (self.kernel[dim], self.stride[dim], self.padding[dim]);
        let room = size + 2 * padding - self.dilation[dim] * (kernel - 1) - 1;
        let count = (room + if self.ceil { stride - 1 } else { 0 }).div_euclid(stride) + 1;
        // The last window has to start inside of the input or of the padding before it.
        if self.ceil && (count - 1) * stride >= size + padding { count - 1 } else { count }
    }

    /// The number of windows along every spatial dimension of a shape.
    pub(in crate::ops::neural) fn counts(&self, shape: &[usize]) -> Result<Vec<usize>> {
        self.check_numbers()?;
        let positive = |values: &[i64]| values.iter().all(|&value| value > 0);
        if !positive(&self.stride) {
            return Err(Error::PoolStride {}.into());
        }
        if !positive(&self.kernel) {
            return Err(Error::PoolKernel {}.into());
        }
        if !positive(&self.dilation) {
            return Err(Error::PoolDilation { dilation: self.dilation.clone() }.into());
        }
        for dim in 0..self.kernel.len() {
            let (padding, kernel, dilation) = (self.padding[dim], self.kernel[dim], self.dilation[dim]);
            if padding < 0 {
                return Err(Error::PoolPaddingNegative { padding }.into());
            }
            if padding > ((kernel - 1) * dilation + 1) / 2 {
                return Err(Error::PoolPadding { padding, kernel, dilation }.into());
            }
        }
        let lead = shape.len() - self.kernel.len();
        if shape[lead - 1..].contains(&0) {
            let (shape, bodies) = (shape.to_vec(), self.kernel.len() == 3);
            return Err(match bodies {
                true => Error::PoolNothing3 { shape },
                false => Error::PoolNothing { shape },
            }
            .into());
        }
        let sizes = &shape[lead..];
        let counts: Vec<i64> =
            sizes.iter().enumerate().map(|(dim, &size)| self.count(dim, size as i64)).collect();
        if counts.iter().any(|&count| count < 1) {
            let channels = shape[lead - 1];
            let join = |sizes: Vec<i64>| sizes.iter().map(|size| format!("x{size}")).collect::<String>();
            let input = join(sizes.iter().map(|&size| size as i64).collect());
            return Err(Error::PoolTooSmall { channels, input, output: join(counts) }.into());
        }
        Ok(counts.into_iter().map(|count| count as usize).collect())
    }
}

/// Refuses sizes and steps of windows that are too large to be calculated with.
pub(in crate::ops::neural) fn check_numbers(all: &[&[i64]]) -> Result<()> {
    match all.iter().copied().flatten().all(|&number| i32::try_from(number).is_ok()) {
        true => Ok(()),
        false => Err(Error::ValueOverflow { name: "int" }.into()),
    }
}

/// What torch calls averages over windows of so many dimensions, or over `adaptive` ones.
fn called(dimensions: usize, adaptive: bool) -> Called {
    match (dimensions, adaptive) {
        (3, false) => ["avg_pool3d_out_frame", "AvgPool3DBackward0", "AvgPool3DBackwardBackward0"],
        (_, false) => ["avg_pool2d", "AvgPool2DBackward0", "AvgPool2DBackwardBackward0"],
        (3, true) => {
            ["adaptive_avg_pool3d_cpu", "AdaptiveAvgPool3DBackward0", "AdaptiveAvgPool3DBackwardBackward0"]
        }
        (_, true) => {
            ["adaptive_avg_pool2d", "AdaptiveAvgPool2DBackward0", "AdaptiveAvgPool2DBackwardBackward0"]
        }
    }
}

/// All that averages are called.
pub(in crate::ops::neural) fn all_called() -> impl Iterator<Item = Called> {
    [(2, false), (3, false), (2, true), (3, true)]
        .into_iter()
        .map(|(count, adaptive)| called(count, adaptive))
}

/// The averages over windows. Padding counts as elements if `with_padding`; `divisor` stands for the
/// number of elements of every window.
pub fn mean_pool(x: &Tensor, pool: &Pool, with_padding: bool, divisor: Option<i64>) -> Result<Tensor> {
    let layout = x.layout();
    if divisor == Some(0) {
        return Err(Error::PoolDivisor {}.into());
    }
    let counts = pool.counts(layout.shape())?;
    let called = called(counts.len(), false);
    if x.dtype() == DType::Int64 {
        return whole_mean_pool(x, pool, with_padding, divisor, &counts);
    }
    if !x.dtype().is_float() {
        return Err(Error::NotImplementedFor { operation: called[0], dtype: x.dtype() }.into());
    }
    let lead = layout.ndim() - counts.len();
    let axes = counts.iter().enumerate().map(|(dim, &count)| {
        let (kernel, stride, padding) = (pool.kernel[dim], pool.stride[dim], pool.padding[dim]);
        let size = layout.shape()[lead + dim] as i64;
        let window = |place: usize| {
            let Window { first, last, elements } =
                Window::of(place as i64, kernel, stride, padding, size, with_padding);
            let weight = match divisor {
                Some(divisor) if dim == 0 => 1.0 / divisor as f64,
                Some(_) => 1.0,
                None => 1.0 / elements as f64,
            };
            (first..last).map(move |at| (at as usize, weight))
        };
        let taps = Taps::new(count, window)?;
        Ok(Axis { behind: layout.ndim() - 1 - lead - dim, size: size as usize, taps })
    });
    let axes = axes.collect::<Result<_>>()?;
    let mut given = pool.shown();
    given.retain(|(name, _)| *name != "dilation");
    given.extend(shown! { count_include_pad: with_padding, divisor_override: divisor });
    Resample { called, axes, transposed: false, takes_complex: false, keeps: true }.of_given(x, given)
}

/// A window of a dimension.
struct Window {
    first: i64,
    last: i64,
    /// How many elements it counts as.
    elements: i64,
}

impl Window {
    fn of(place: i64, kernel: i64, stride: i64, padding: i64, size: i64, with_padding: bool) -> Window {
        let start = place * stride - padding;
        let end = (start + kernel).min(size + padding);
        let (first, last) = (start.max(0), end.min(size));
        Window { first, last, elements: if with_padding { end - start } else { last - first } }
    }
}

/// The averages of integers, rounded towards zero: sums over windows, divided by the numbers of elements.
fn whole_mean_pool(
    x: &Tensor,
    pool: &Pool,
    with_padding: bool,
    divisor: Option<i64>,
    counts: &[usize],
) -> Result<Tensor> {
    let layout = x.layout();
    let lead = layout.ndim() - counts.len();
    let (mut axes, mut elements) = (Vec::new(), Tensor::from_slice(&[], &[1i64])?);
    for (dim, &count) in counts.iter().enumerate() {
        let (kernel, stride, padding) = (pool.kernel[dim], pool.stride[dim], pool.padding[dim]);
        let size = layout.shape()[lead + dim] as i64;
        let window = |place: usize| Window::of(place as i64, kernel, stride, padding, size, with_padding);
        let sizes = storage::collected(count, (0..count).map(|place| window(place).elements))?;
        let sizes = Tensor::from_slice(&[count], &sizes)?;
        elements = mul(&squeeze::unsqueeze(&elements, -1)?, &sizes)?;
        let taps = Taps::new(count, |place| {
            let Window { first, last, .. } = window(place);
            (first..last).map(|at| (at as usize, 1.0))
        })?;
        axes.push(Axis { behind: layout.ndim() - 1 - lead - dim, size: size as usize, taps });
    }
    let sums = Resample {
        called: called(2, false),
        axes: axes.into(),
        transposed: false,
        takes_complex: false,
        keeps: false,
    };
    let elements = match divisor {
        Some(divisor) => Value::Scalar(Scalar::Int(divisor)),
        None => Value::Tensor(elements),
    };
    division::div_rounded(&sums.of(x)?, &elements, Rounding::Trunc)
}

/// Averages over as many windows as `sizes` says; `None` leaves a dimension as it is.
pub fn adaptive_mean_pool(x: &Tensor, sizes: &[Option<i64>]) -> Result<Tensor> {
    let layout = x.layout();
    let lead = layout.ndim() - sizes.len();
    let sizes: Vec<i64> = sizes
        .iter()
        .enumerate()
        .map(|(dim, size)| size.unwrap_or(layout.shape()[lead + dim] as i64))
        .collect();
    if sizes.iter().any(|&size| size < 0) {
        if let &[depth, height, width] = sizes.as_slice() {
            return Err(Error::AdaptivePoolNegative3 { depth, height, width }.into());
        }
        return Err(Error::AdaptivePoolNegative { sizes }.into());
    }
    let called = called(sizes.len(), true);
    if sizes.iter().all(|&size| size == 1) {
        let dims: Vec<i64> = (1..=sizes.len() as i64).map(|dim| -dim).collect();
        let y = reduce::mean(x, Some(&dims), true, None)?;
        if suggests_channels_last(layout.shape(), layout.strides()) {
            // Each mean lies behind that of the channel before it, and the dimensions of one say so, too.
            let mut strides = vec![layout.shape()[1] as i64; layout.ndim()];
            strides[1] = 1;
            strided::as_strided_(&y, &signed(y.layout().shape()), &strides, None)?;
        }
        return Ok(y);
    }
    if !x.dtype().is_float() {
        return Err(Error::NotImplementedFor { operation: called[0], dtype: x.dtype() }.into());
    }
    resample::check_room(x, &sizes)?;
    let axes = sizes.iter().enumerate().map(|(dim, &count)| {
        let size = layout.shape()[lead + dim];
        let window = |place: usize| {
            let (start, end) = adaptive_window(place, size, count as usize);
            let weight = 1.0 / (end - start) as f64;
            (start..end).map(move |at| (at, weight))
        };
        let taps = Taps::new(count as usize, window)?;
        Ok(Axis { behind: layout.ndim() - 1 - lead - dim, size, taps })
    });
    let axes = axes.collect::<Result<_>>()?;
    Resample { called, axes, transposed: false, takes_complex: false, keeps: true }.of(x)
}

/// From where to where the `place`-th of `count` windows over `size` elements goes.
pub(in crate::ops::neural) fn adaptive_window(place: usize, size: usize, count: usize) -> (usize, usize) {
    (place * size / count, ((place + 1) * size).div_ceil(count))
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("AdaptiveAvgPool2DBackward0", "_adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor"),
    ("AdaptiveAvgPool3DBackward0", "_adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor"),
];
