//! The greatest elements of windows, and where they are.

use crate::dispatch::apply::portable;
use crate::dispatch::composites::attribute_override::apply_with_attributes;
use crate::dispatch::modes::plain::{Plain, Reader, Row, damaged, plain};
use crate::graph::Attributes;

use smallvec::smallvec;
use std::mem::MaybeUninit;

use super::mean_pool::{Pool, adaptive_window};
use crate::dispatch::apply::{Arrays, Keep, Op, one, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::memory_order;
use crate::dtype::{DType, Number};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::neural::windows::{Boxes, Windows};
use crate::ops::creation::{copy, create};
use crate::ops::geometry::reshape;
use crate::ops::indexing::gather;
use crate::shape;
use crate::tensor::{Array, Tensor};

/// Which elements belong to which window.
#[derive(Clone)]
enum Cover {
    Sliding(Windows),
    /// As many windows as are wanted, by dimension.
    Adaptive(Vec<usize>),
}

/// y = the greatest element of each window, and its number among the elements of its channel
///
/// dy = dx there; x̄ = ȳ added there
#[derive(Clone)]
struct MaxPool {
    cover: Cover,
    counts: Vec<usize>,
    name: &'static str,
    operation: &'static str,
}

impl MaxPool {
    /// The channels with their spatial dimensions as one.
    fn flat(&self, x: &Tensor) -> Result<Tensor> {
        let shape = x.layout();
        let lead = shape.ndim() - self.counts.len();
        let mut sizes = shape::signed(&shape.shape()[..lead]);
        sizes.push(shape.shape()[lead..].iter().product::<usize>() as i64);
        reshape::reshape(x, &sizes)
    }

    /// Writes the greatest elements of an array in order, and their places.
    fn find<T: Number>(&self, x: &Array, values: &mut [MaybeUninit<T>], index: &mut [MaybeUninit<i64>]) {
        let elements = x.slice::<T>().unwrap_or_else(|| unreachable!("the operand was laid out in order"));
        let lead = x.layout.ndim() - self.counts.len();
        let sizes = &x.layout.shape()[lead..];
        let (area, places): (usize, usize) = (sizes.iter().product(), self.counts.iter().product());
        if area == 0 || places == 0 {
            values.fill(MaybeUninit::new(T::ZERO));
            return index.fill(MaybeUninit::new(0));
        }
        match &self.cover {
            Cover::Sliding(windows) => windows.greatest(elements, values, index),
            Cover::Adaptive(_) => {
                let (boxes, channels) =
                    (self.boxes(sizes), values.chunks_mut(places).zip(index.chunks_mut(places)));
                for (channel, (values, index)) in elements.chunks(area).zip(channels) {
                    boxes.greatest(channel, values, index);
                }
            }
        }
    }

    /// Where windows lie over these sizes.
    fn boxes(&self, sizes: &[usize]) -> Boxes {
        let counts = match &self.cover {
            Cover::Sliding(windows) => return windows.boxes(),
            Cover::Adaptive(counts) => counts,
        };
        let (size, count) = (padded(sizes), padded(counts));
        let along = |dim: usize| {
            let window = |place| {
                let (start, end) = adaptive_window(place, size[dim], count[dim]);
                (start, end - start)
            };
            (0..count[dim]).map(window).collect()
        };
        Boxes { size, along: [0, 1, 2].map(along), step: [1; 3] }
    }

    /// `forward` of images of which the channels come last in memory, and are given as their last dimension.
    fn of_channels(&self, x: &Array) -> Result<Option<Arrays>> {
        let x = copy::in_order(x)?;
        let [samples, ref sizes @ .., channels] = *x.layout.shape() else {
            unreachable!("there are samples and channels")
        };
        if x.layout.numel() == 0 || self.counts.contains(&0) || x.layout.numel() > i32::MAX as usize {
            return Ok(None);
        }
        let shape = [&[samples][..], &self.counts, &[channels]].concat();
        let mut values = Array::uninit_shape(&shape, x.dtype)?;
        let mut index = Array::uninit_shape(&shape, DType::Int64)?;
        dispatch!(float x.dtype, T => {
            let elements = x.slice::<T>().unwrap_or_default();
            self.boxes(sizes).greatest_of_channels(elements, channels, values.fresh(), index.fresh());
        }, else { return Ok(None) });
        Ok(Some(smallvec![memory_order::from_channels(values)?, memory_order::from_channels(index)?]))
    }
}

/// Three sizes, ones in front.
fn padded(sizes: &[usize]) -> [usize; 3] {
    let mut all = [1; 3];
    all[3 - sizes.len()..].copy_from_slice(sizes);
    all
}

impl Op for MaxPool {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["result1", "self"];

    fn name(&self) -> &'static str {
        self.name
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        let layout = &inputs[0].layout;
        let lead = &layout.shape()[..layout.ndim() - self.counts.len()];
        let windows =
            lead.iter().chain(&self.counts).fold(1, |count: u64, &size| count.saturating_mul(size as u64));
        windows.saturating_add(layout.numel() as u64)
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (layout, spatial) = (&inputs[0].layout, self.counts.len());
        let is_ordered = spatial == 3 && self.operation.starts_with("adaptive");
        if !is_ordered
            && let Some(x) = memory_order::by_channels(&inputs[0], spatial)
            && let Some(found) = self.of_channels(&x)?
        {
            return Ok(found);
        }
        let x = copy::in_order(&inputs[0])?;
        let lead = x.layout.ndim() - spatial;
        let shape = [&x.layout.shape()[..lead], &self.counts].concat();
        let mut values = Array::uninit_shape(&shape, x.dtype)?;
        let mut index = Array::uninit_shape(&shape, DType::Int64)?;
        dispatch!(number x.dtype, T => self.find::<T>(&x, values.fresh(), index.fresh()), else {
            return Err(Error::NotImplementedFor { operation: self.operation, dtype: x.dtype }.into())
        });
        let laid_out = |y| if is_ordered { Ok(y) } else { memory_order::as_images(y, layout, spatial) };
        Ok(smallvec![laid_out(values)?, laid_out(index)?])
    }

    fn is_together(&self) -> bool {
        true
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.output(1), keep.input(0)]
    }

    fn vjp(&self, [index, source]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let Some(g) = gradients[0].as_ref() else { return Ok(smallvec![None]) };
        let (source, index) = (at.load(source)?.layout(), self.flat(&at.load(index)?)?);
        let shape = shape::signed(source.shape());
        let flat = self.flat(&create::zeros(&shape, g.dtype())?)?;
        let found = reshape::reshape(&gather::scatter_add(&flat, -1, &index, &self.flat(g)?)?, &shape)?;
        one(memory_order::gradient_as_images(found, &source, self.counts.len())?)
    }

    fn jvp(&self, [index, _]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let index = at.load(index)?;
        let moved = gather::gather(&self.flat(tangent(tangents))?, -1, &self.flat(&index)?)?;
        let shape = shape::signed(index.layout().shape());
        Ok(smallvec![Some(reshape::reshape(&moved, &shape)?), None])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

fn pooled(op: MaxPool, given: Attributes, x: &Tensor) -> Result<(Tensor, Tensor)> {
    let mut outputs = apply_with_attributes(op, given, &[x])?;
    match (outputs.pop(), outputs.pop()) {
        (Some(index), Some(values)) => Ok((values, index)),
        _ => unreachable!("the operation has two outputs"),
    }
}

/// The greatest elements of sliding windows over the last dimensions, and their places.
pub fn max_pool(x: &Tensor, pool: &Pool) -> Result<(Tensor, Tensor)> {
    let layout = x.layout();
    let counts = pool.counts(layout.shape())?;
    let lead = layout.ndim() - counts.len();
    let three = |values: &[i64], first: usize| {
        let mut all = [first; 3];
        for (place, &value) in all[3 - values.len()..].iter_mut().zip(values) {
            *place = value as usize;
        }
        all
    };
    let windows = Windows {
        size: padded(&layout.shape()[lead..]),
        kernel: three(&pool.kernel, 1),
        stride: three(&pool.stride, 1),
        padding: three(&pool.padding, 0),
        dilation: three(&pool.dilation, 1),
        count: padded(&counts),
    };
    let (name, operation) = match counts.len() {
        3 => ("MaxPool3DWithIndicesBackward0", "max_pool3d"),
        _ => ("MaxPool2DWithIndicesBackward0", "max_pool2d"),
    };
    pooled(MaxPool { cover: Cover::Sliding(windows), counts, name, operation }, pool.shown(), x)
}

/// The greatest elements of as many windows as `sizes` says, and their places.
pub fn adaptive_max_pool(x: &Tensor, sizes: &[Option<i64>]) -> Result<(Tensor, Tensor)> {
    let layout = x.layout();
    let lead = layout.ndim() - sizes.len();
    let size = |(dim, size): (usize, &Option<i64>)| size.unwrap_or(layout.shape()[lead + dim] as i64);
    let sizes: Vec<i64> = sizes.iter().enumerate().map(size).collect();
    let whole: Vec<i64> = shape::signed(&layout.shape()[..lead]).into_iter().chain(sizes.clone()).collect();
    shape::checked_shape(&whole)?;
    let counts: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
    let (name, operation) = match counts.len() {
        3 => ("AdaptiveMaxPool3DBackward0", "adaptive_max_pool3d_cpu"),
        _ => ("AdaptiveMaxPool2DBackward0", "adaptive_max_pool2d"),
    };
    if !x.dtype().is_float() {
        return Err(Error::NotImplementedFor { operation, dtype: x.dtype() }.into());
    }
    pooled(MaxPool { cover: Cover::Adaptive(counts.clone()), counts, name, operation }, Attributes::new(), x)
}

impl Plain for Cover {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Cover::Sliding(windows) => {
                0u8.write(to);
                windows.write(to);
            }
            Cover::Adaptive(counts) => {
                1u8.write(to);
                counts.write(to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Cover> {
        match u8::read(from)? {
            0 => Windows::read(from).map(Cover::Sliding),
            1 => Vec::read(from).map(Cover::Adaptive),
            _ => Err(damaged("windows are unknown")),
        }
    }
}

plain! {
    struct MaxPool { cover, counts, name, operation }
}

/// How it is written as plain data.
pub const ROWS: &[Row] = &[portable::row::<MaxPool>("max pool")];
