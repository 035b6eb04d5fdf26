//! Elements gathered and overwritten by tensors of indices.

use std::sync::Arc;

use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, Overwrite, apply_in_place, apply_one, one, single, tangent};
use super::create;
use super::places::Places;
use crate::error::{Error, Result};
use crate::graph::{At, Attributes, Gradients, SavedTensor, Shown, Source};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// Indices as an operation holds them: as they were given, and where they point.
#[derive(Clone)]
struct Indices {
    places: Arc<Places>,
    given: Arc<[Array]>,
}

impl Indices {
    fn new(shape: &[usize], indices: &[(usize, Tensor)]) -> Result<Indices> {
        let places = Arc::new(Places::new(shape, indices)?);
        Ok(Indices { places, given: indices.iter().map(|(_, index)| index.array()).collect() })
    }

    /// What is kept only to see that nobody writes to it until backward.
    fn keep(&self) -> Vec<SavedTensor> {
        self.given.iter().map(|index| SavedTensor::new(index.clone(), Source::Constant)).collect()
    }
}

fn unchanged(saved: &[SavedTensor], at: &At<'_>) -> Result<()> {
    saved.iter().try_for_each(|index| at.load(index).map(drop))
}

/// y = x[indices]
///
/// dy = dx[indices]; x̄ is ȳ added to zeros at the indices
struct Indexed {
    indices: Indices,
}

impl Op for Indexed {
    type Saved = Vec<SavedTensor>;
    const SAVED: &'static [&'static str] = &["indices"];

    fn name(&self) -> &'static str {
        "IndexBackward0"
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        vec![("indices", Shown::Saved((0..saved.len()).collect()))]
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        Ok(smallvec![Tensor::from_array(self.indices.places.read(&inputs[0].array())?)])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {
        self.indices.keep()
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        unchanged(saved, at)?;
        let gradient = single(gradients);
        let zeros = create::zeros(&shape::signed(&self.indices.places.source()), gradient.dtype())?;
        let put = IndexPut { indices: self.indices.clone(), accumulate: true };
        one(apply_one(put, &[&zeros, gradient])?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        unchanged(saved, at)?;
        one(apply_one(Indexed { indices: self.indices.clone() }, &[tangent(tangents)])?)
    }
}

/// y = x with the values at the indices, or added there
///
/// dy = dx with the dv so; x̄ = ȳ with zeros at the indices, or ȳ; v̄ = ȳ[indices]
struct IndexPut {
    indices: Indices,
    accumulate: bool,
}

impl Op for IndexPut {
    type Saved = Vec<SavedTensor>;
    const SAVED: &'static [&'static str] = &["indices"];

    fn name(&self) -> &'static str {
        "IndexPutBackward0"
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        let indices = ("indices", Shown::Saved((0..saved.len()).collect()));
        vec![indices, ("accumulate", self.accumulate.into())]
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        self.overwritten(inputs)
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {
        self.indices.keep()
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        unchanged(saved, at)?;
        let (gradient, indices) = (single(gradients), &self.indices);
        let x = match at.needs(0) {
            true if self.accumulate => Some(gradient.clone()),
            true => {
                let put = IndexPut { indices: indices.clone(), accumulate: false };
                Some(apply_one(put, &[gradient, &create::zeros(&[], gradient.dtype())?])?)
            }
            false => None,
        };
        let values = || apply_one(Indexed { indices: indices.clone() }, &[gradient]);
        Ok(smallvec![x, at.needs(1).then(values).transpose()?])
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        unchanged(saved, at)?;
        let source = self.indices.places.source();
        let x = tangent_or_zeros(at, tangents, 0, &source)?;
        let values = tangent_or_zeros(at, tangents, 1, &[])?;
        let put = IndexPut { indices: self.indices.clone(), accumulate: self.accumulate };
        one(apply_one(put, &[&x, &values])?)
    }
}

/// The tangent of an input, or zeros in its place.
pub(super) fn tangent_or_zeros(
    at: &At<'_>,
    tangents: &[Option<Tensor>],
    input: usize,
    shape: &[usize],
) -> Result<Tensor> {
    match tangents.get(input).cloned().flatten() {
        Some(tangent) => Ok(tangent),
        None => create::zeros(&shape::signed(shape), at.node.form(0).dtype),
    }
}

impl Overwrite for IndexPut {
    fn overwrite(&self, target: &Array, inputs: &[&Tensor]) -> Result<()> {
        self.indices.places.write(target, &inputs[1].array(), self.accumulate)
    }
}

/// The elements that tensors of indices name, each given with the first dimension it stands for.
pub(super) fn index(x: &Tensor, indices: &[(usize, Tensor)]) -> Result<Tensor> {
    apply_one(Indexed { indices: Indices::new(x.layout().shape(), indices)? }, &[x])
}

/// Checks the values against the places.
fn put(x: &Tensor, indices: &[(usize, Tensor)], values: &Tensor, accumulate: bool) -> Result<IndexPut> {
    if values.dtype() != x.dtype() {
        let (destination, source) = (x.dtype(), values.dtype());
        return Err(Error::IndexedValueDType { destination, source }.into());
    }
    let indices = Indices::new(x.layout().shape(), indices)?;
    let (value, result) = (values.layout().shape().to_vec(), indices.places.result().to_vec());
    if !shape::is_expandable(&value, &result) {
        return Err(Error::IndexedValueShape { value, result }.into());
    }
    Ok(IndexPut { indices, accumulate })
}

/// Overwrites the elements that tensors of indices name.
pub(super) fn put_(x: &Tensor, indices: &[(usize, Tensor)], values: &Tensor, accumulate: bool) -> Result<()> {
    apply_in_place(put(x, indices, values, accumulate)?, &[x, values])
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
    apply_one(put(x, &in_order(indices), values, accumulate)?, &[x, values])
}

/// `index_put` in place.
pub fn index_put_(x: &Tensor, indices: &[&Tensor], values: &Tensor, accumulate: bool) -> Result<()> {
    put_(x, &in_order(indices), values, accumulate)
}
