//! Indexing: what stands between the brackets of `x[...]`, as data, and what it reads and writes.
//! Items that name whole ranges give views; tensors of indices gather elements (`indexed`).

use crate::dispatch::batch;
use crate::dispatch::in_place;
use crate::dispatch::modes::recording;
use crate::dispatch::operand::Operand;
use crate::dispatch::record::records;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::ops::creation::cast;
use crate::ops::creation::create;
use crate::ops::geometry::expand;
use crate::ops::geometry::part::{Part, from_end, sliced, take_element, take_slice};
use crate::ops::geometry::{reshape, squeeze};
use crate::ops::indexing::indexed;
use crate::shape::{self, Layout};
use crate::tensor::Tensor;

/// One item of an index expression.
#[derive(Clone)]
pub enum Index {
    /// One element of a dimension, which goes; counted from the end when negative.
    Int(i64),
    /// A range of a dimension. Python's rules; the step is positive.
    Slice {
        /// The first element; from the start if left out.
        start: Option<i64>,
        /// The element before which to stop; to the end if left out.
        stop: Option<i64>,
        /// 1 if left out.
        step: Option<i64>,
    },
    /// A new dimension of size one (`None`).
    NewAxis,
    /// All dimensions that no other item names (`...`).
    Ellipsis,
    /// A new dimension of size one, or of size zero for `false`.
    Bool(bool),
    /// Integers that name elements of a dimension, or a mask (of type bool or uint8) over as many
    /// dimensions as it has.
    Indices(Tensor),
}

impl Index {
    /// How many dimensions of the tensor the item stands for.
    fn dimensions(&self) -> usize {
        match self {
            Index::Int(_) | Index::Slice { .. } => 1,
            Index::NewAxis | Index::Ellipsis | Index::Bool(_) => 0,
            Index::Indices(index) if is_mask(index) => index.ndim(),
            Index::Indices(_) => 1,
        }
    }
}

/// Whether a tensor of indices says for every element whether it is meant.
pub(crate) fn is_mask(index: &Tensor) -> bool {
    matches!(index.dtype(), DType::Bool | DType::UInt8)
}

/// What is left of an index expression after its views were taken.
struct Viewed {
    view: Tensor,
    /// The tensors of indices and the (first) dimension of the view that each stands for.
    indices: Vec<(usize, Tensor)>,
}

/// Takes the views of an index expression one after the other. A range that is the whole dimension
/// is a view of its own only `if_whole`.
fn views(x: &Tensor, items: &[Index], if_whole: bool) -> Result<Viewed> {
    let ndim = x.ndim();
    let named: usize = items.iter().map(Index::dimensions).sum();
    match (ndim, items) {
        (0, [Index::Int(0)]) => return Err(Error::IndexOfScalar {}.into()),
        (0, [Index::Int(index)]) => return Err(Error::IndexRange { index: *index, dim: 0, size: 0 }.into()),
        _ => {}
    }
    if let (0, [Index::Slice { .. }]) = (ndim, items) {
        return Err(Error::NotOfScalar { operation: "slice" }.into());
    }
    if named > ndim {
        return Err(Error::IndexCount { ndim }.into());
    }
    let mut viewed = Viewed { view: x.clone(), indices: Vec::new() };
    let mut dim = 0;
    for (place, item) in items.iter().enumerate() {
        dim = match item {
            Index::Ellipsis => dim + ndim - named,
            item => viewed.item(item, place, dim, if_whole)?,
        };
    }
    Ok(viewed)
}

impl Viewed {
    /// Takes the view of the item at `place`, which stands at `dim`; answers where the next one stands.
    fn item(&mut self, item: &Index, place: usize, dim: usize, if_whole: bool) -> Result<usize> {
        match item {
            Index::Int(index) => {
                self.view = element(&self.view, place, dim, *index)?;
                Ok(dim)
            }
            Index::Slice { start, stop, step } => {
                let dim = shape::normalize_dim(dim as i64, self.view.ndim())?;
                let size = self.view.layout().shape()[dim];
                let part = sliced(dim, size, *start, *stop, step.unwrap_or(1))?;
                if if_whole || part != (Part::Slice { dim, start: 0, length: size, step: 1 }) {
                    self.view = take_slice(&self.view, part, dim as i64, *start, *stop)?;
                }
                Ok(dim + 1)
            }
            Index::NewAxis => {
                self.view = squeeze::unsqueeze(&self.view, dim as i64)?;
                Ok(dim + 1)
            }
            Index::Ellipsis => Ok(dim),
            Index::Bool(chosen) => self.choose(*chosen, dim),
            Index::Indices(index) if index.ndim() == 0 && batch::is_batched(index) && index.differs() => {
                if is_mask(index) {
                    return Err(Error::MappedMask {}.into());
                }
                self.indices.push((dim, index.clone()));
                Ok(dim + 1)
            }
            Index::Indices(index) if index.ndim() == 0 && is_mask(index) => {
                let chosen = index.item()?.to_f64() != 0.0;
                self.choose(chosen, dim)
            }
            Index::Indices(index) if index.ndim() == 0 && !index.dtype().is_float() => {
                self.view = element(&self.view, place, dim, index.to_vec()?[0])?;
                Ok(dim)
            }
            Index::Indices(index) => {
                self.indices.push((dim, index.clone()));
                Ok(dim + if is_mask(index) { index.ndim() } else { 1 })
            }
        }
    }

    /// A new dimension that has its one element, or none.
    fn choose(&mut self, chosen: bool, dim: usize) -> Result<usize> {
        self.view = squeeze::unsqueeze(&self.view, dim as i64)?;
        let indices: &[i64] = if chosen { &[0] } else { &[] };
        self.indices.push((dim, Tensor::from_slice(&[indices.len()], indices)?));
        Ok(dim + 1)
    }
}

/// One element of `dim`, asked for by the item at `place`, which is the dimension that errors name.
fn element(x: &Tensor, place: usize, dim: usize, index: i64) -> Result<Tensor> {
    let size = x.layout().shape().get(dim).copied().unwrap_or(0);
    match from_end(index, size) {
        Some(place) => take_element(x, Part::Select { dim, index: place }, dim as i64, index),
        None => Err(Error::IndexRange { index, dim: place, size }.into()),
    }
}

/// The elements that an index expression names.
pub fn get(x: &Tensor, items: &[Index]) -> Result<Tensor> {
    // What loops over rows do.
    if let [Index::Int(index)] = items
        && x.ndim() > 0
    {
        return element(x, 0, 0, *index);
    }
    let Viewed { view, indices } = views(x, items, items.len() == 1)?;
    match indices.is_empty() {
        true if view.is(x) => reshape::alias(x),
        true => Ok(view),
        false => indexed::index(&view, &indices),
    }
}

/// Overwrites the elements that an index expression names.
pub fn put(x: &Tensor, items: &[Index], value: Operand<'_>) -> Result<()> {
    match items {
        [Index::Bool(false)] => return Ok(()),
        [Index::Bool(true)] => return write(&squeeze::unsqueeze(x, 0)?, value),
        _ => {}
    }
    let Viewed { view, indices } = views(x, items, false)?;
    if indices.is_empty() {
        return write(&view, value);
    }
    match value {
        Operand::Tensor(value) => indexed::put_(&view, &indices, &without_ones(value)?, false),
        Operand::Scalar(value) => {
            let value = assigned(value, x.dtype())?;
            indexed::put_(&view, &indices, &value, false)
        }
    }
}

/// A number that is assigned, as a tensor.
fn assigned(value: Scalar, dtype: DType) -> Result<Tensor> {
    let value = Tensor::from_scalar(value, dtype)?;
    recording::fixed(&value)?;
    Ok(value)
}

/// Overwrites a whole view.
fn write(view: &Tensor, value: Operand<'_>) -> Result<()> {
    match value {
        // The history is that of an assigned tensor.
        Operand::Scalar(number) if records(&[view]) => {
            in_place::check_distinct(view)?;
            create::check_value(number, view.dtype())?;
            write_tensor(view, &assigned(number, view.dtype())?)
        }
        Operand::Scalar(_) => in_place::check_distinct(view).and_then(|()| cast::fill_(view, value)),
        Operand::Tensor(value) => write_tensor(view, value),
    }
}

/// Overwrites a whole view with a tensor, which is changed only as far as its shape demands.
fn write_tensor(view: &Tensor, value: &Tensor) -> Result<()> {
    let (target, source) = (view.layout(), value.layout());
    if source.shape() == target.shape() {
        return cast::copy_(view, value);
    }
    if value.ndim() == 0 && !batch::is_batched(value) {
        return cast::fill_(view, value);
    }
    let value = reshape::view(value, &shape::signed(&source.shape()[leading_ones(&source)..]))?;
    match value.layout().shape() == target.shape() {
        true => cast::copy_(view, &value),
        false => cast::copy_(view, &expand::expand(&value, &shape::signed(target.shape()))?),
    }
}

/// How many dimensions of size one come first.
fn leading_ones(layout: &Layout) -> usize {
    layout.shape().iter().take_while(|&&size| size == 1).count()
}

/// The value without leading dimensions of size one, which an assignment does not mind.
fn without_ones(value: &Tensor) -> Result<Tensor> {
    let layout = value.layout();
    let ones = leading_ones(&layout);
    if ones == 0 { Ok(value.clone()) } else { reshape::reshape_to(value, &layout.shape()[ones..]) }
}
