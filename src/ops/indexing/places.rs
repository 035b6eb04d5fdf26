//! Where tensors of indices point: numbers only. The operations are in `indexed`.

use smallvec::{SmallVec, smallvec};

use std::iter::repeat_n;

use crate::dispatch::memory_order;
use crate::dtype::{Bool, DType, Ring};
use crate::error::{Error, Result};
use crate::kernels::indexing::gather;
use crate::ops::creation::copy;
use crate::ops::geometry::part::from_end;
use crate::ops::geometry::permute;
use crate::ops::indexing::index::is_mask;
use crate::ops::indexing::nonzero;
use crate::shape::{self, Dims, Layout};
use crate::storage;
use crate::tensor::{Array, Tensor};

/// The elements of a tensor that tensors of indices name.
pub(crate) struct Places {
    /// The dimensions in an order in which the indexed ones stand together.
    order: Dims,
    /// The sizes in that order.
    sizes: Dims,
    /// How many dimensions stand before the indexed ones.
    before: usize,
    /// How many dimensions are indexed.
    count: usize,
    /// The shape of the indices.
    picked: Dims,
    /// The named elements of the indexed dimensions taken as one.
    positions: Vec<i64>,
    /// How the indices lie in memory.
    lie: Vec<Layout>,
}

/// One index for each dimension that a tensor of indices stands for.
fn by_dimension(shape: &[usize], dim: usize, index: &Tensor, to: &mut Vec<(usize, Array)>) -> Result<()> {
    let array = index.array();
    if !matches!(array.dtype, DType::Bool | DType::UInt8 | DType::Int32 | DType::Int64) {
        return Err(Error::IndexDType {}.into());
    }
    if !is_mask(index) {
        to.push((dim, copy::as_type(&array, DType::Int64)?.into_owned()));
        return Ok(());
    }
    let mask = array.layout.shape();
    if let Some(at) = (0..mask.len()).find(|&at| shape.get(dim + at) != Some(&mask[at])) {
        let (mask, shape) = (mask.to_vec(), shape.to_vec());
        return Err(Error::MaskShape { mask, mask_dim: at, shape, dim: dim + at }.into());
    }
    let (count, found) = nonzero::coordinates(&array)?;
    for at in 0..mask.len() {
        let column = Layout::strided(smallvec![count], smallvec![1], at * count)?;
        to.push((dim + at, found.with_layout(column)));
    }
    Ok(())
}

impl Places {
    /// Where the tensors of indices, each with the first dimension that it stands for, point.
    pub(crate) fn new(shape: &[usize], indices: &[(usize, Tensor)]) -> Result<Places> {
        let mut arrays = Vec::with_capacity(indices.len());
        for (dim, index) in indices {
            by_dimension(shape, *dim, index, &mut arrays)?;
        }
        if arrays.iter().any(|(dim, _)| *dim >= shape.len()) {
            return Err(Error::IndexCount { ndim: shape.len() }.into());
        }
        let mut picked = Dims::new();
        for (_, array) in &arrays {
            picked = shape::broadcast(&picked, array.layout.shape()).map_err(|_| unmatched(&arrays))?;
        }
        let indexed: Dims = arrays.iter().map(|(dim, _)| *dim).collect();
        let (first, last) = (indexed.first().copied().unwrap_or(0), indexed.last().copied().unwrap_or(0));
        let together = indexed.is_empty() || last + 1 - first == indexed.len();
        let before = if together { first } else { 0 };
        let others = |dim: &usize| !indexed.contains(dim);
        let mut order: Dims = (0..before).collect();
        order.extend_from_slice(&indexed);
        order.extend((before..shape.len()).filter(others));
        let sizes: Dims = order.iter().map(|&dim| shape[dim]).collect();
        let lie = arrays.iter().map(|(_, array)| Layout::clone(&array.layout)).collect();
        let count = indexed.len();
        let mut places = Places { order, sizes, before, count, picked, positions: Vec::new(), lie };
        places.locate(&arrays)?;
        Ok(places)
    }

    /// Fills in the positions.
    fn locate(&mut self, indices: &[(usize, Array)]) -> Result<()> {
        let count = self.picked.iter().product();
        self.positions = storage::collected(count, repeat_n(0, count))?;
        // Nothing is read or written, so nothing is out of bounds.
        let idle = self.rest().any(|&size| size == 0);
        for (at, (_, index)) in indices.iter().enumerate() {
            let size = self.sizes[self.before + at];
            let index = copy::in_order(&index.expanded(&self.picked)?)?.into_owned();
            let index = index.slice::<i64>().unwrap_or_else(|| unreachable!("the numbers lie in order"));
            for (position, &index) in self.positions.iter_mut().zip(index) {
                let place = match from_end(index, size) {
                    Some(place) => place,
                    None if idle => 0,
                    None if size == 0 => return Err(Error::IndexOfEmpty {}.into()),
                    None => return Err(Error::IndexRange { index, dim: at, size }.into()),
                };
                *position = *position * size as i64 + place as i64;
            }
        }
        Ok(())
    }

    /// The sizes of the dimensions that are not indexed.
    fn rest(&self) -> impl Iterator<Item = &usize> {
        self.sizes[..self.before].iter().chain(&self.sizes[self.before + self.count..])
    }

    /// The shape of the tensor that is indexed.
    pub(crate) fn source(&self) -> Dims {
        let mut shape: Dims = SmallVec::from_elem(0, self.order.len());
        for (&dim, &size) in self.order.iter().zip(&self.sizes) {
            shape[dim] = size;
        }
        shape
    }

    /// How many dimensions of what is named stand before those of the indices, and how many those are.
    pub(crate) fn standing(&self) -> (usize, usize) {
        (self.before, self.picked.len())
    }

    /// The shape of what is named.
    pub(crate) fn result(&self) -> Dims {
        self.around(&self.picked)
    }

    /// The other dimensions with these in place of the indexed ones.
    fn around(&self, middle: &[usize]) -> Dims {
        let mut shape: Dims = self.sizes[..self.before].into();
        shape.extend_from_slice(middle);
        shape.extend_from_slice(&self.sizes[self.before + self.count..]);
        shape
    }

    /// The array with the indexed dimensions as one, if its elements lie so.
    fn merged(&self, array: &Array) -> Result<Option<Array>> {
        let layout = permute::reordered(&array.layout, &self.order);
        let indexed: usize = self.sizes[self.before..self.before + self.count].iter().product();
        let merged = self.around(&[indexed]);
        let Some(strides) = shape::view_strides(layout.shape(), layout.strides(), &merged) else {
            return Ok(None);
        };
        Ok(Some(array.with_layout(Layout::strided(merged, strides, layout.offset())?)))
    }

    /// The array, or a row-major copy of it with the dimensions in the order of the places, with
    /// the indexed dimensions as one.
    fn merged_copy(&self, array: &Array) -> Result<Array> {
        let reordered = array.with_layout(permute::reordered(&array.layout, &self.order));
        let indexed: usize = self.sizes[self.before..self.before + self.count].iter().product();
        Ok(copy::dense(&reordered)?.with_layout(Layout::contiguous(&self.around(&[indexed]))?))
    }

    /// The named elements.
    pub(crate) fn read(&self, array: &Array) -> Result<Array> {
        let merged = match self.merged(array)? {
            Some(merged) => merged,
            None => self.merged_copy(array)?,
        };
        let mut y = Array::uninit_shape(&self.result(), array.dtype)?;
        dispatch!(bits array.dtype, T => {
            gather::index_select(merged.view::<T>(), self.before, &self.positions, y.fresh::<T>());
        });
        if array.layout.is_row_major() && self.lie.iter().all(Layout::is_row_major) {
            return Ok(y);
        }
        let operands = self.shown(&array.layout)?;
        memory_order::settled(y, &operands.iter().collect::<Vec<_>>())
    }

    /// What is read as operands of the shape of the result: the array, which is the same for all elements of the
    /// indices, and those, which are the same for all others.
    fn shown(&self, array: &Layout) -> Result<Vec<Layout>> {
        let (shape, behind) = (self.result(), self.before + self.picked.len());
        let source = permute::reordered(array, &self.order);
        let own = |range: std::ops::Range<usize>| source.strides()[range].iter().copied();
        let rest = self.before + self.count..source.ndim();
        let strides = own(0..self.before).chain(repeat_n(0, self.picked.len())).chain(own(rest)).collect();
        let mut operands = vec![Layout::strided(shape.clone(), strides, 0)?];
        for index in &self.lie {
            let own = shape::expanded_strides(index.shape(), index.strides(), &self.picked);
            let mut sizes: Dims = SmallVec::from_elem(1, shape.len());
            sizes[self.before..behind].copy_from_slice(&self.picked);
            if let Some(strides) = shape::view_strides(&self.picked, &own, &sizes) {
                operands.push(Layout::strided(sizes, strides, 0)?);
            }
        }
        Ok(operands)
    }

    /// Writes values, which broadcast to what is named, to the named elements, or adds them.
    pub(crate) fn write(&self, target: &Array, values: &Array, accumulate: bool) -> Result<()> {
        let values = values.expanded(&self.result())?;
        let values = copy::in_order(&values)?;
        let shape = self.around(&[self.positions.len()]);
        let offset = values.layout.offset();
        let strides = shape::contiguous_strides(&shape);
        let values = values.with_layout(Layout::strided(shape, strides, offset)?);
        match self.merged(target)? {
            Some(merged) => write_slices(&merged, self.before, &self.positions, &values, accumulate),
            None => {
                let copy = self.merged_copy(target)?;
                write_slices(&copy, self.before, &self.positions, &values, accumulate);
                let reordered = target.with_layout(permute::reordered(&target.layout, &self.order));
                copy::write(&reordered, &copy.with_layout(Layout::contiguous(&self.sizes)?))?;
            }
        }
        Ok(())
    }
}

/// Writes slices of `values` to the slices of an axis that `index` names, in that order, or adds them. `values`
/// has the shape of `target` but for that axis.
pub(crate) fn write_slices(target: &Array, axis: usize, index: &[i64], values: &Array, add: bool) {
    macro_rules! into {
        ($T:ty, $combine:expr) => {
            target.overwrite([values], |place| {
                gather::index_combine(place, axis, index, values.view::<$T>(), $combine)
            })
        };
    }
    match add {
        false => dispatch!(bits target.dtype, T => into!(T, |_, value| value)),
        true => dispatch!(ring target.dtype, T => into!(T, |old: T, value: T| Ring::add(old, value)), else {
            into!(Bool, |old: Bool, value: Bool| Bool::new(old.get() || value.get()))
        }),
    }
}

#[cold]
fn unmatched(indices: &[(usize, Array)]) -> Box<Error> {
    let shapes: Vec<String> =
        indices.iter().map(|(_, index)| format!("{:?}", index.layout.shape())).collect();
    Error::IndexShapes { shapes: shapes.join(", ") }.into()
}
