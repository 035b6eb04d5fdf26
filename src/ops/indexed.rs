//! Elements gathered and overwritten by tensors of indices.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::apply::{Keep, Op, Outputs, Overwrite, apply_in_place, apply_one, one, single, tangent};
use super::create;
use super::places::Places;
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// y = x[indices]
///
/// dy = dx[indices]; x̄ is ȳ added to zeros at the indices
struct Indexed {
    places: Arc<Places>,
}

/// The indices, which must not have been written to until backward.
fn kept(keep: &Keep<'_>, indices: std::ops::Range<usize>) -> Vec<SavedTensor> {
    indices.map(|index| keep.input(index)).collect()
}

impl Op for Indexed {
    type Saved = Vec<SavedTensor>;
    const SAVED: &'static [&'static str] = &["indices"];

    fn name(&self) -> &'static str {
        "IndexBackward0"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        Ok(smallvec![Tensor::from_array(self.places.read(&inputs[0].array())?)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        kept(keep, 1..keep.count())
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let indices: Vec<Tensor> = saved.iter().map(|index| at.load(index)).collect::<Result<_>>()?;
        let gradient = single(gradients);
        let zeros = create::zeros(&shape::signed(&self.places.source()), gradient.dtype())?;
        let put = IndexPut { places: self.places.clone(), accumulate: true };
        one(apply_one(put, &with_indices(&[&zeros, gradient], &indices))?)
    }

    fn jvp(&self, _saved: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(Indexed { places: self.places.clone() }, &[tangent(tangents)])?)
    }
}

fn with_indices<'a>(inputs: &[&'a Tensor], indices: &'a [Tensor]) -> SmallVec<[&'a Tensor; 4]> {
    inputs.iter().copied().chain(indices).collect()
}

/// y = x with the values at the indices, or added there
///
/// dy = dx with the dv so; x̄ = ȳ with zeros at the indices, or ȳ; v̄ = ȳ[indices]
struct IndexPut {
    places: Arc<Places>,
    accumulate: bool,
}

impl Op for IndexPut {
    type Saved = Vec<SavedTensor>;
    const SAVED: &'static [&'static str] = &["indices"];

    fn name(&self) -> &'static str {
        "IndexPutBackward0"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        self.overwritten(inputs)
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        kept(keep, 2..keep.count())
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let indices: Vec<Tensor> = saved.iter().map(|index| at.load(index)).collect::<Result<_>>()?;
        let gradient = single(gradients);
        let places = &self.places;
        let x = match at.needs(0) {
            true if self.accumulate => Some(gradient.clone()),
            true => {
                let zero = create::zeros(&[], gradient.dtype())?;
                let put = IndexPut { places: places.clone(), accumulate: false };
                Some(apply_one(put, &with_indices(&[gradient, &zero], &indices))?)
            }
            false => None,
        };
        let index = || apply_one(Indexed { places: places.clone() }, &with_indices(&[gradient], &indices));
        Ok(smallvec![x, at.needs(1).then(index).transpose()?])
    }

    fn jvp(&self, _saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let dtype = at.node.form(0).dtype;
        let or_zeros = |index: usize, shape: &[usize]| match tangents.get(index).cloned().flatten() {
            Some(tangent) => Ok(tangent),
            None => create::zeros(&shape::signed(shape), dtype),
        };
        let (x, values) = (or_zeros(0, &self.places.source())?, or_zeros(1, &[])?);
        let put = IndexPut { places: self.places.clone(), accumulate: self.accumulate };
        one(apply_one(put, &[&x, &values])?)
    }
}

impl Overwrite for IndexPut {
    fn overwrite(&self, target: &Array, inputs: &[&Tensor]) -> Result<()> {
        self.places.write(target, &inputs[1].array(), self.accumulate)
    }
}

/// The elements that tensors of indices name, each given with the first dimension it stands for.
pub(super) fn index(x: &Tensor, indices: &[(usize, Tensor)]) -> Result<Tensor> {
    let places = Arc::new(Places::new(x.layout().shape(), indices)?);
    let inputs: Vec<&Tensor> = std::iter::once(x).chain(indices.iter().map(|(_, index)| index)).collect();
    apply_one(Indexed { places }, &inputs)
}

/// Checks the value for the places and lists the inputs.
fn put<'a>(
    x: &'a Tensor,
    indices: &'a [(usize, Tensor)],
    values: &'a Tensor,
    accumulate: bool,
) -> Result<(IndexPut, Vec<&'a Tensor>)> {
    if values.dtype() != x.dtype() {
        let (destination, source) = (x.dtype(), values.dtype());
        return Err(Error::IndexedValueDType { destination, source }.into());
    }
    let places = Arc::new(Places::new(x.layout().shape(), indices)?);
    let (value, result) = (values.layout().shape().to_vec(), places.result().to_vec());
    if !shape::is_expandable(&value, &result) {
        return Err(Error::IndexedValueShape { value, result }.into());
    }
    let inputs = [x, values].into_iter().chain(indices.iter().map(|(_, index)| index)).collect();
    Ok((IndexPut { places, accumulate }, inputs))
}

/// Overwrites the elements that tensors of indices name.
pub(super) fn put_(x: &Tensor, indices: &[(usize, Tensor)], values: &Tensor, accumulate: bool) -> Result<()> {
    let (op, inputs) = put(x, indices, values, accumulate)?;
    apply_in_place(op, &inputs)
}

/// The dimensions that tensors of indices stand for when they begin at the first.
fn in_order(indices: &[&Tensor]) -> Vec<(usize, Tensor)> {
    let mut dim = 0;
    let place = |index: &&Tensor| {
        let first = dim;
        dim += if super::index::is_mask(index) { index.ndim() } else { 1 };
        (first, (*index).clone())
    };
    indices.iter().map(place).collect()
}

/// The tensor with values at the elements that tensors of indices name, or added to them.
pub fn index_put(x: &Tensor, indices: &[&Tensor], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    let indices = in_order(indices);
    let (op, inputs) = put(x, &indices, values, accumulate)?;
    apply_one(op, &inputs)
}

/// `index_put` in place.
pub fn index_put_(x: &Tensor, indices: &[&Tensor], values: &Tensor, accumulate: bool) -> Result<()> {
    put_(x, &in_order(indices), values, accumulate)
}
