//! Tensors joined, split, turned and written into, by operations that do one of these things.

use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::ops::composed::{self, Composed, Kept};
use crate::ops::operand::Operand;
use crate::ops::{cast, create, join, part, permute, rearrange, reshape, squeeze};
use crate::shape;
use crate::tensor::Tensor;

/// The tensor with at least three dimensions.
pub fn atleast_3d(x: &Tensor) -> Result<Tensor> {
    match x.ndim() {
        0 => reshape::reshape(x, &[1, 1, 1]),
        1 => squeeze::unsqueeze(&squeeze::unsqueeze(x, 0)?, -1),
        2 => squeeze::unsqueeze(x, -1),
        _ => Ok(x.clone()),
    }
}

/// Tensors one behind the other in the third dimension.
pub fn dstack(tensors: &[&Tensor]) -> Result<Tensor> {
    if tensors.is_empty() {
        return Err(Error::StackEmpty { operation: "dstack" }.into());
    }
    let lifted: Vec<Tensor> = tensors.iter().map(|x| atleast_3d(x)).collect::<Result<_>>()?;
    join::cat(&lifted.iter().collect::<Vec<_>>(), 2)
}

/// Vectors and matrices beside each other as columns.
pub fn column_stack(tensors: &[&Tensor]) -> Result<Tensor> {
    if tensors.is_empty() {
        return Err(Error::StackEmpty { operation: "column_stack" }.into());
    }
    let column = |x: &&Tensor| match x.ndim() {
        0 | 1 => reshape::reshape(x, &[x.numel() as i64, 1]),
        _ => Ok((*x).clone()),
    };
    let columns: Vec<Tensor> = tensors.iter().map(column).collect::<Result<_>>()?;
    join::hstack(&columns.iter().collect::<Vec<_>>())
}

/// The tensor turned by quarters from the first of two dimensions towards the second.
pub fn rot90(x: &Tensor, times: i64, dims: &[i64]) -> Result<Tensor> {
    let &[first, second] = dims else {
        return Err(Error::RotationCount { count: dims.len() }.into());
    };
    if x.ndim() < 2 {
        return Err(Error::RotationRank { ndim: x.ndim() }.into());
    }
    if first == second || (first - second).unsigned_abs() as usize == x.ndim() {
        return Err(Error::RotationSame { first, second }.into());
    }
    let ndim = x.ndim();
    let turned = [shape::normalize_dim(first, ndim)? as i64, shape::normalize_dim(second, ndim)? as i64];
    composed::apply(Turn { times, given: [first, second], dims: turned }, &[x])
}

/// y = x turned by quarters
///
/// dy is dx so turned, x̄ is ȳ turned back
#[derive(Clone)]
struct Turn {
    times: i64,
    /// The dimensions as the caller named them.
    given: [i64; 2],
    dims: [i64; 2],
}

impl Composed for Turn {
    const KEEPS: &'static [&'static str] = &[""];

    fn name(&self) -> &'static str {
        "Rot90Backward0"
    }

    fn shown(&self) -> Attributes {
        shown! { dims: &self.given[..], k: self.times }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let (x, [one, two]) = (inputs[0], self.dims);
        match self.times.rem_euclid(4) {
            1 => permute::transpose(&rearrange::flip(x, &[two])?, one, two),
            2 => rearrange::flip(x, &[one, two]),
            3 => permute::transpose(&rearrange::flip(x, &[one])?, one, two),
            _ => cast::clone(x),
        }
    }

    fn back(&self, _index: usize, _kept: &Kept, gradient: &Tensor) -> Result<Tensor> {
        rot90(gradient, -self.times, &self.dims)
    }

    fn forth(&self, _index: usize, _kept: &Kept, tangent: &Tensor) -> Result<Tensor> {
        rot90(tangent, self.times, &self.dims)
    }
}

/// The tensor with the elements of `source` in one place of a dimension.
pub fn select_scatter(x: &Tensor, source: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    written(x, source, Window::Select { dim, index })
}

/// The tensor with the elements of `source` in a range of a dimension.
pub fn slice_scatter(
    x: &Tensor,
    source: &Tensor,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor> {
    written(x, source, Window::Slice { dim, start, end, step })
}

/// The tensor with the elements of `source` on a diagonal.
pub fn diagonal_scatter(x: &Tensor, source: &Tensor, offset: i64, first: i64, second: i64) -> Result<Tensor> {
    written(x, source, Window::Diagonal { offset, first, second })
}

fn written(x: &Tensor, source: &Tensor, window: Window) -> Result<Tensor> {
    composed::apply(Written { window, shape: x.layout().shape().to_vec() }, &[x, source])
}

/// A part of a tensor, as the caller named it.
#[derive(Clone, Copy)]
enum Window {
    Select { dim: i64, index: i64 },
    Slice { dim: i64, start: Option<i64>, end: Option<i64>, step: i64 },
    Diagonal { offset: i64, first: i64, second: i64 },
}

impl Window {
    fn of(self, x: &Tensor) -> Result<Tensor> {
        match self {
            Window::Select { dim, index } => part::select(x, dim, index),
            Window::Slice { dim, start, end, step } => part::slice(x, dim, start, end, step),
            Window::Diagonal { offset, first, second } => part::diagonal(x, offset, first, second),
        }
    }
}

/// y = x with s in a window
///
/// dy is dx with ds there; x̄ is ȳ with zeros there, s̄ the window of ȳ
#[derive(Clone)]
struct Written {
    window: Window,
    /// The shape of x.
    shape: Vec<usize>,
}

impl Composed for Written {
    const KEEPS: &'static [&'static str] = &["", ""];

    fn name(&self) -> &'static str {
        match self.window {
            Window::Select { .. } => "SelectScatterBackward0",
            Window::Slice { .. } => "SliceScatterBackward0",
            Window::Diagonal { .. } => "DiagonalScatterBackward0",
        }
    }

    fn shown(&self) -> Attributes {
        match self.window {
            Window::Select { dim, index } => shown! { dim: dim, index: index },
            Window::Slice { dim, start, end, step } => {
                shown! { dim: dim, start: start, end: end, step: step }
            }
            Window::Diagonal { offset, first, second } => {
                shown! { offset: offset, dim1: first, dim2: second }
            }
        }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let copy = cast::clone(inputs[0])?;
        let window = self.window.of(&copy)?;
        if window.layout().shape() != inputs[1].layout().shape() {
            let (source, slice) = (inputs[1].layout().shape().to_vec(), window.layout().shape().to_vec());
            return Err(Error::ScatterSlice { source, slice }.into());
        }
        cast::copy_(&window, inputs[1])?;
        Ok(copy)
    }

    fn back(&self, index: usize, _kept: &Kept, gradient: &Tensor) -> Result<Tensor> {
        let window = self.window.of(gradient)?;
        if index == 1 {
            return Ok(window);
        }
        let zeros = create::zeros(&shape::signed(window.layout().shape()), gradient.dtype())?;
        composed::apply(self.clone(), &[gradient, &zeros])
    }

    fn forth(&self, index: usize, _kept: &Kept, tangent: &Tensor) -> Result<Tensor> {
        if index == 1 {
            let zeros = create::zeros(&shape::signed(&self.shape), tangent.dtype())?;
            return composed::apply(self.clone(), &[&zeros, tangent]);
        }
        let window = self.window.of(tangent)?;
        let zeros = create::zeros(&shape::signed(window.layout().shape()), tangent.dtype())?;
        composed::apply(self.clone(), &[tangent, &zeros])
    }
}

/// The tensor with another value everywhere.
pub fn fill(x: &Tensor, value: Operand<'_>) -> Result<Tensor> {
    let copy = cast::clone(x)?;
    cast::fill_(&copy, value)?;
    Ok(copy)
}
