//! Elements gathered and overwritten by tensors of indices.

mod portable;

use crate::ops::indexing::index;
use crate::schema::{Entry, IntoReply, Operator, both};
use crate::schema::{OutPolicy, UnbatchedTarget, receiver, warn_repeated};
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{
    Arrays, Keep, Op, Overwrite, Unsigned, apply_in_place, apply_one, one, single, tangent,
};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call, Samples, plumbing};
use crate::dispatch::direct::Direct;
use crate::dispatch::in_place;
use crate::dispatch::record::records;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, Shown};
use crate::ops::creation::{cast, create};
use crate::ops::geometry::{expand, permute, reshape};
use crate::ops::indexing::directly::{Named, What};
use crate::ops::indexing::nonzero;
use crate::ops::indexing::places::Places;
use crate::ops::pointwise::select;
use crate::shape;
use crate::tensor::{Array, Tensor};
pub use portable::ROWS;

/// Indices as an operation holds them: as they were given, and where they point.
#[derive(Clone)]
struct Indices {
    places: Arc<Places>,
    given: Arc<[(usize, Tensor)]>,
}

impl Indices {
    fn new(shape: &[usize], indices: &[(usize, Tensor)]) -> Result<Indices> {
        let places = Arc::new(Places::new(shape, indices)?);
        Ok(Indices { places, given: indices.into() })
    }

    /// The indices by dimension; up to the last of them, dimensions without one show nothing.
    fn shown(&self, saved: &[SavedTensor]) -> Shown {
        let last = self.given.iter().take(saved.len()).map(|(dim, _)| dim + 1).max().unwrap_or(0);
        let place = |dim| self.given.iter().position(|(given, _)| *given == dim);
        Shown::Saved((0..last).map(place).collect())
    }

    /// What is kept only to see that nobody writes to it until backward.
    fn keep(&self) -> Vec<SavedTensor> {
        self.given.iter().map(|(_, index)| SavedTensor::constant(index)).collect()
    }
}

impl Indices {
    fn held(&self) -> SmallVec<[Tensor; 1]> {
        self.given.iter().map(|(_, index)| index.clone()).collect()
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Indices> {
        let dims = self.given.iter().map(|(dim, _)| *dim);
        let given: Vec<(usize, Tensor)> = dims.zip(held.iter().cloned()).collect();
        Indices::new(&self.places.source(), &given)
    }

    /// The same of a tensor with samples in front, and where the samples lie in what they name there.
    fn behind_samples(&self, size: usize) -> Result<(Indices, usize)> {
        let mut shape = self.places.source();
        shape.insert(0, size);
        let given: Vec<(usize, Tensor)> =
            self.given.iter().map(|(dim, index)| (dim + 1, index.clone())).collect();
        let indices = Indices::new(&shape, &given)?;
        let (before, picked) = indices.places.standing();
        Ok((indices, if before == 0 { picked } else { 0 }))
    }

    /// Those of each sample, as indices of a tensor with all samples, which lie along a dimension of
    /// the indices; and, if the tensor has the samples along its first dimension, theirs.
    fn of_samples(&self, held: &[Samples], many: Option<usize>) -> Result<Vec<(usize, Tensor)>> {
        // A mask, which all samples share, names elements as the indices of their dimensions do.
        let mut given: Vec<(usize, Samples)> = Vec::with_capacity(held.len());
        for ((dim, _), samples) in self.given.iter().zip(held) {
            match index::is_mask(&samples.value) {
                true => {
                    let numbers = nonzero::nonzero_by_dimension(&samples.value)?;
                    given.extend((*dim..).zip(numbers.into_iter().map(Samples::shared)));
                }
                false => given.push((*dim, samples.clone())),
            }
        }
        let rank = given.iter().map(|(_, index)| index.rank()).max().unwrap_or(0);
        let mut indices = Vec::with_capacity(held.len() + 1);
        if let Some(size) = many {
            let mut line: Vec<i64> = vec![1; rank + 1];
            line[0] = size as i64;
            let numbers: Vec<i64> = (0..size as i64).collect();
            indices.push((0, reshape::view(&Tensor::from_slice(&[size], &numbers)?, &line)?));
        }
        let deeper = usize::from(many.is_some());
        for (dim, index) in given {
            indices.push((dim + deeper, index.aligned(rank)?));
        }
        Ok(indices)
    }

    /// How the dimensions of what such indices name of a tensor with samples in front are those of
    /// what was named of each: the samples and what was picked come first.
    fn order(&self, ndim: usize) -> Vec<i64> {
        let (before, picked) = self.places.standing();
        let moved = (1..=before).map(|dim| dim + picked);
        let all = std::iter::once(0).chain(moved).chain(1..=picked).chain(picked + before + 1..ndim);
        all.map(|dim| dim as i64).collect()
    }
}

/// y = x[indices]
///
/// dy = dx[indices]; x̄ is ȳ added to zeros at the indices
#[derive(Clone)]
struct Indexed {
    indices: Indices,
}

impl Op for Indexed {
    type Saved = Vec<SavedTensor>;
    const MOVES: bool = true;
    const SAVED: &'static [&'static str] = &["indices"; 64];

    fn name(&self) -> &'static str {
        "IndexBackward0"
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        let mut shown = shown! { self_sym_sizes: &self.indices.places.source() };
        shown.push(("indices", self.indices.shown(saved)));
        shown
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![self.indices.places.read(&inputs[0])?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        let [(dim, _)] = &*self.indices.given else { return None };
        Some(Arc::new(Named { dim: *dim, what: What::Slices { negative: true } }))
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {
        self.indices.keep()
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        at.check(saved)?;
        let gradient = single(gradients);
        let zeros = create::zeros(&shape::signed(&self.indices.places.source()), gradient.dtype())?;
        let put = IndexPut { indices: self.indices.clone(), accumulate: true, by_rule: true };
        one(apply_one(put, &[&zeros, gradient])?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        at.check(saved)?;
        one(apply_one(Indexed { indices: self.indices.clone() }, &[tangent(tangents)])?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::INDEX
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let x = &call.inputs[0];
        if call.held.iter().all(|index| index.dim.is_none()) {
            let (indices, dim) = self.indices.behind_samples(call.size)?;
            let value = apply_one(Indexed { indices }, &[&x.moved(0)?])?;
            return Ok(smallvec![Samples { value, dim: Some(dim) }]);
        }
        let many = x.dim.map(|_| call.size);
        let value = index(&x.moved(0)?, &self.indices.of_samples(call.held, many)?)?;
        if many.is_none() {
            let (before, _) = self.indices.places.standing();
            return Ok(smallvec![Samples { value, dim: Some(before) }]);
        }
        let order = self.indices.order(value.ndim());
        Ok(smallvec![Samples::first(permute::permute(&value, &order)?)])
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        self.indices.held()
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(Indexed { indices: self.indices.with_held(held)? })
    }
}

/// y = x with the values at the indices, or added there
///
/// dy = dx with the dv so; x̄ = ȳ with zeros at the indices, or ȳ; v̄ = ȳ[indices]
#[derive(Clone)]
struct IndexPut {
    indices: Indices,
    accumulate: bool,
    /// Whether a rule asks for it, which torch calls otherwise.
    by_rule: bool,
}

impl IndexPut {
    /// Many samples, each with indices of its own.
    fn batch_by_sample(&self, call: &Call<'_>, x: &Samples, values: &Samples) -> Result<Answer> {
        let x = x.front(call.size)?;
        let indices = self.indices.of_samples(call.held, Some(call.size))?;
        let indices = Indices::new(x.layout().shape(), &indices)?;
        let mut shape = self.indices.places.result();
        let values = values.aligned(shape.len())?;
        shape.insert(0, call.size);
        // The values lie as what the indices of each sample name; here they are to lie as what those
        // of all samples do.
        let mut back = vec![0; shape.len()];
        for (to, from) in (0..).zip(self.indices.order(shape.len())) {
            back[from as usize] = to;
        }
        let values = permute::permute(&expand::expand_to(&values, &shape)?, &back)?;
        let y = apply_one(IndexPut { indices, ..self.clone() }, &[&x, &values])?;
        Ok(smallvec![Samples::first(y)])
    }
}

impl Op for IndexPut {
    type Saved = Vec<SavedTensor>;
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const SAVED: &'static [&'static str] = &["indices"; 64];

    fn name(&self) -> &'static str {
        if self.by_rule { "IndexPutImplBackward0" } else { "IndexPutBackward0" }
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        let mut shown = vec![("indices", self.indices.shown(saved)), ("accumulate", self.accumulate.into())];
        if self.by_rule {
            shown.push(("unsafe", true.into()));
        }
        shown
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        self.overwritten(inputs)
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {
        self.indices.keep()
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        at.check(saved)?;
        let (gradient, indices) = (single(gradients), &self.indices);
        let x = match at.needs(0) {
            true if self.accumulate => Some(gradient.clone()),
            true => {
                let put = IndexPut { indices: indices.clone(), accumulate: false, by_rule: false };
                Some(apply_one(put, &[gradient, &create::zeros(&[], gradient.dtype())?])?)
            }
            false => None,
        };
        let values = || apply_one(Indexed { indices: indices.clone() }, &[gradient]);
        Ok(smallvec![x, at.needs(1).then(values).transpose()?])
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        at.check(saved)?;
        let source = self.indices.places.source();
        let x = tangent_or_zeros(at, tangents, 0, &source)?;
        let values = tangent_or_zeros(at, tangents, 1, &[])?;
        one(apply_one(self.clone(), &[&x, &values])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let [x, values] = [&call.inputs[0], &call.inputs[1]];
        if call.held.iter().any(|index| index.dim.is_some()) {
            return self.batch_by_sample(call, x, values);
        }
        let (indices, dim) = self.indices.behind_samples(call.size)?;
        let rank = self.indices.places.result().len();
        let values = Samples::first(values.front(call.size)?).aligned(rank)?;
        let values = permute::movedim(&values, &[0], &[dim as i64])?;
        let y = apply_one(IndexPut { indices, ..self.clone() }, &[&x.front(call.size)?, &values])?;
        Ok(smallvec![Samples::first(y)])
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        self.indices.held()
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(IndexPut { indices: self.indices.with_held(held)?, ..self.clone() })
    }
}

/// The tangent of an input, or zeros in its place.
pub(crate) fn tangent_or_zeros(
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
    fn reads_apart(&self) -> bool {
        true
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn in_place_name(&self) -> &'static str {
        "index_put_"
    }

    fn overwrite(&self, target: &Array, inputs: &[Array]) -> Result<()> {
        self.indices.places.write(target, &inputs[1], self.accumulate)
    }
}

/// The elements that tensors of indices name, each given with the first dimension it stands for.
pub(crate) fn index(x: &Tensor, indices: &[(usize, Tensor)]) -> Result<Tensor> {
    check_masks(indices)?;
    apply_one(Indexed { indices: Indices::new(x.layout().shape(), indices)? }, &[x])
}

/// A mask that differs between samples names different numbers of elements.
fn check_masks(indices: &[(usize, Tensor)]) -> Result<()> {
    match indices
        .iter()
        .any(|(_, index)| index::is_mask(index) && batch::is_batched(index) && index.differs())
    {
        true => Err(Error::MappedMask {}.into()),
        false => Ok(()),
    }
}

/// Checks the values against the places.
fn put(x: &Tensor, indices: &[(usize, Tensor)], values: &Tensor, accumulate: bool) -> Result<IndexPut> {
    check_masks(indices)?;
    let indices = Indices::new(x.layout().shape(), indices)?;
    let (value, result) = (values.layout().shape().to_vec(), indices.places.result().to_vec());
    if !shape::is_expandable(&value, &result) {
        return Err(Error::IndexedValueShape { value, result }.into());
    }
    if values.dtype() != x.dtype() {
        let (destination, source) = (x.dtype(), values.dtype());
        return Err(Error::IndexedValueDType { destination, source }.into());
    }
    Ok(IndexPut { indices, accumulate, by_rule: false })
}

/// Overwrites the elements that tensors of indices name.
pub(crate) fn put_(x: &Tensor, indices: &[(usize, Tensor)], values: &Tensor, accumulate: bool) -> Result<()> {
    let converted;
    let values = match indices {
        // One value where a mask says so is of any type, as for `masked_fill_`.
        [(_, mask)] if !accumulate && values.numel() == 1 && index::is_mask(mask) => {
            let value = cast::to_dtype(values, x.dtype())?;
            converted = if value.ndim() > 1 { reshape::reshape_to(&value, &[])? } else { value };
            let is_fill = mask.dtype() == DType::Bool && mask.layout().shape() == x.layout().shape();
            if is_fill && in_place::is_plain(x) && !records(&[&converted]) {
                // Nobody needs to know which elements these are.
                return select::masked_fill_(x, mask, &reshape::reshape_to(&converted, &[])?);
            }
            &converted
        }
        _ => values,
    };
    let op = put(x, indices, values, accumulate)?;
    if !x.layout().is_non_overlapping() {
        return in_place::through_repeated(x, &[values], |x| apply_one(op, &[x, values]));
    }
    apply_in_place(op, &[x, values])
}

/// The dimensions that tensors of indices stand for when they begin at the first.
fn in_order(indices: &[&Tensor]) -> Vec<(usize, Tensor)> {
    let mut dim = 0;
    let place = |index: &&Tensor| {
        let first = dim;
        dim += if index::is_mask(index) { index.ndim() } else { 1 };
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

const PUT: &[&str] = &["(Tensor input, Tensor[] indices, Tensor values, bool accumulate=False)"];

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] =
    &[("IndexBackward0", "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor | dynamic_output_shape")];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("index_put", PUT, "A copy of `input` with `values` at the given indices.", |a| {
        let indices = a.tensors(1)?;
        let indices: Vec<&Tensor> = indices.iter().collect();
        index_put(a.tensor(0)?, &indices, a.tensor(2)?, a.boolean(3)).reply()
    })
    .operators(&[(
        "IndexPutBackward0",
        "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    )]),
    both("index_put_", PUT, "Writes `values` at the given indices, in place.", |a| {
        let indices = a.tensors(1)?;
        let indices: Vec<&Tensor> = indices.iter().collect();
        warn_repeated(a.tensor(0)?, "index_put_", "tensor[indices] = tensor")?;
        receiver(a, index_put_(a.tensor(0)?, &indices, a.tensor(2)?, a.boolean(3)))
    })
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("index_put_"))),
];
