//! Indexing: what stands between the brackets of `x[...]`, as data, and what it reads and writes.
//! Items that name whole ranges give views; tensors of indices gather elements (`indexed`).

use super::cast;
use super::indexed;
use super::operand::Operand;
use super::part::{Part, from_end, sliced, take};
use super::{reshape, squeeze};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::shape;
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
pub(super) fn is_mask(index: &Tensor) -> bool {
    matches!(index.dtype(), DType::Bool | DType::UInt8)
}

/// What is left of an index expression after its views were taken.
struct Viewed {
    view: Tensor,
    /// The tensors of indices, by the dimension of the view that each stands for.
    indices: Vec<Option<Tensor>>,
}

/// Takes the views of an index expression one after the other.
fn views(x: &Tensor, items: &[Index]) -> Result<Viewed> {
    let ndim = x.ndim();
    let named: usize = items.iter().map(Index::dimensions).sum();
    if let (0, [Index::Int(_)]) = (ndim, items) {
        return Err(Error::IndexOfScalar {}.into());
    }
    if let (0, [Index::Slice { .. }]) = (ndim, items) {
        return Err(Error::NotOfScalar { operation: "slice" }.into());
    }
    if named > ndim {
        return Err(Error::IndexCount { ndim }.into());
    }
    let mut viewed = Viewed { view: x.clone(), indices: Vec::new() };
    let (mut dim, mut seen) = (0, false);
    for item in items {
        match item {
            // A second ellipsis stands for one whole dimension at most, like those after it.
            Index::Ellipsis if seen => {}
            Index::Ellipsis => {
                seen = true;
                dim += ndim - named;
            }
            item => dim = viewed.item(item, dim, items.len() == 1)?,
        }
    }
    Ok(viewed)
}

impl Viewed {
    /// Takes the view of one item that stands at `dim`; answers where the next one stands.
    fn item(&mut self, item: &Index, dim: usize, alone: bool) -> Result<usize> {
        match item {
            Index::Int(index) => {
                self.view = element(&self.view, dim, *index)?;
                Ok(dim)
            }
            Index::Slice { start, stop, step } => {
                let size = self.view.layout().shape()[dim];
                let part = sliced(dim, size, *start, *stop, step.unwrap_or(1))?;
                if alone || part != (Part::Slice { dim, start: 0, length: size, step: 1 }) {
                    self.view = take(&self.view, part)?;
                }
                Ok(dim + 1)
            }
            Index::NewAxis => {
                self.view = squeeze::unsqueeze(&self.view, dim as i64)?;
                Ok(dim + 1)
            }
            Index::Ellipsis => Ok(dim),
            Index::Bool(chosen) => self.choose(*chosen, dim),
            Index::Indices(index) if index.ndim() == 0 && is_mask(index) => {
                let chosen = index.item()?.to_f64() != 0.0;
                self.choose(chosen, dim)
            }
            Index::Indices(index) if index.ndim() == 0 && !index.dtype().is_float() => {
                self.view = element(&self.view, dim, index.item()?.to_f64() as i64)?;
                Ok(dim)
            }
            Index::Indices(index) => {
                self.record(index.clone(), dim);
                Ok(dim + if is_mask(index) { index.ndim() } else { 1 })
            }
        }
    }

    fn record(&mut self, index: Tensor, dim: usize) {
        self.indices.resize(dim.max(self.indices.len()), None);
        self.indices.push(Some(index));
    }

    /// A new dimension that has its one element, or none.
    fn choose(&mut self, chosen: bool, dim: usize) -> Result<usize> {
        self.view = squeeze::unsqueeze(&self.view, dim as i64)?;
        let indices: &[i64] = if chosen { &[0] } else { &[] };
        self.record(Tensor::from_slice(&[indices.len()], indices)?, dim);
        Ok(dim + 1)
    }
}

fn element(x: &Tensor, dim: usize, index: i64) -> Result<Tensor> {
    let size = x.layout().shape()[dim];
    match from_end(index, size) {
        Some(index) => take(x, Part::Select { dim, index }),
        None => Err(Error::IndexRange { index, dim, size }.into()),
    }
}

/// The elements that an index expression names.
pub fn get(x: &Tensor, items: &[Index]) -> Result<Tensor> {
    let Viewed { view, indices } = views(x, items)?;
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
        [Index::Slice { start: None | Some(0), stop: None, step: None | Some(1) }] if x.ndim() > 0 => {
            return write(x, value);
        }
        _ => {}
    }
    let Viewed { view, indices } = views(x, items)?;
    if indices.is_empty() {
        return write(&view, value);
    }
    match value {
        Operand::Tensor(value) => indexed::index_put_(&view, &indices, &without_ones(value)?, false),
        Operand::Scalar(value) => {
            let value = Tensor::from_scalar(value, x.dtype())?;
            indexed::index_put_(&view, &indices, &value, false)
        }
    }
}

/// Overwrites a whole view.
fn write(view: &Tensor, value: Operand<'_>) -> Result<()> {
    match value {
        Operand::Scalar(_) => cast::fill_(view, value),
        Operand::Tensor(value) if value.ndim() == 0 => cast::fill_(view, value),
        Operand::Tensor(value) => {
            let shape = shape::signed(view.layout().shape());
            cast::copy_(view, &super::expand::expand(&without_ones(value)?, &shape)?)
        }
    }
}

/// The value without leading dimensions of size one, which an assignment does not mind.
fn without_ones(value: &Tensor) -> Result<Tensor> {
    let layout = value.layout();
    let ones = layout.shape().iter().take_while(|&&size| size == 1).count();
    if ones == 0 { Ok(value.clone()) } else { reshape::reshape_to(value, &layout.shape()[ones..]) }
}
