//! Elements named by a mask or by their number: `masked_select`, `masked_scatter`, `take`, `put`.

mod numbered;

use crate::ops;
use crate::ops::pointwise::clamp;
use crate::ops::reduction::scan;
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, method, receiver};
use std::sync::Arc;

use smallvec::smallvec;

use crate::dispatch::apply::{
    Arrays, Keep, Op, Overwrite, Unsigned, apply_in_place, apply_one, one, single, tangent,
};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::{batch, long_work, view};
use crate::dtype::{Bool, DType};
use crate::error::{Error, Result};
use crate::graph::following;
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::indexing::gather;
use crate::kernels::interrupt::Steps;
use crate::ops::creation::{copy, create};
use crate::ops::geometry::{join, part, reshape};
use crate::ops::indexing::indexed::tangent_or_zeros;
use crate::ops::indexing::places::write_slices;
use crate::ops::pointwise::select;
use crate::shape::{self, Dims, Layout, SharedLayout};
use crate::storage;
use crate::tensor::{Array, Tensor};

pub use numbered::{put, put_, take};

/// Indices that are counted from the end before anybody asks whether to go on.
const TOGETHER: usize = 1 << 10;

/// Elements by their number in row-major order, in a shape.
#[derive(Clone)]
struct Numbers {
    places: Arc<Vec<i64>>,
    shape: Dims,
    /// The mask or the index as it was given.
    given: Tensor,
}

impl Numbers {
    /// The elements that a mask, expanded to `shape`, names.
    fn of_mask(mask: &Tensor, shape: &[usize]) -> Result<Numbers> {
        following::leaves("a mask");
        let spread = mask.array().expanded(shape)?;
        let places = long_work::patiently(spread.layout.numel() as u64, || {
            gather::flat_nonzero(spread.view::<Bool>())
        })?;
        Ok(Numbers { shape: smallvec![places.len()], places: places.into(), given: mask.clone() })
    }

    /// The elements that an index names, of so many, counted from the end where it is negative. `of_nothing`
    /// says that there are none to name.
    fn of_index(index: &Tensor, numel: usize, of_nothing: Error) -> Result<Numbers> {
        if numel == 0 && index.numel() > 0 {
            return Err(of_nothing.into());
        }
        let places = long_work::patiently(index.numel() as u64, || {
            if let Some(index) = gather::first_bad(index.array().view::<i64>(), numel, true) {
                return Err(Error::TakeRange { index, numel }.into());
            }
            let (mut places, mut steps, size) = (index.to_vec::<i64>()?, Steps::default(), numel as i64);
            for places in places.chunks_mut(TOGETHER) {
                steps.take(places.len());
                places.iter_mut().for_each(|place| *place += if *place < 0 { size } else { 0 });
            }
            Ok(places)
        })?;
        Ok(Numbers { places: places.into(), shape: index.layout().shape().into(), given: index.clone() })
    }

    fn keep(&self) -> SavedTensor {
        SavedTensor::constant(&self.given)
    }

    /// The same elements of each of many samples, which have so many each.
    fn of_samples(&self, size: usize, numel: usize) -> Result<Numbers> {
        let of_sample = |sample: usize| self.places.iter().map(move |place| place + (sample * numel) as i64);
        let count = size.saturating_mul(self.places.len());
        let places = storage::collected(count, (0..size).flat_map(of_sample))?.into();
        let mut shape = self.shape.clone();
        shape.insert(0, size);
        Ok(Numbers { places, shape, given: self.given.clone() })
    }
}

/// All elements of an array in one dimension: its own memory where they lie in row-major order.
fn flat(array: &Array) -> Result<Array> {
    match array.layout.is_contiguous() {
        true => Ok(array.with_layout(array.layout.line())),
        false => Ok(copy::dense(array)?.with_layout(array.layout.fresh().line())),
    }
}

/// y = the named elements of x, which is first expanded to a shape
///
/// dy is those of dx; x̄ is ȳ in their places, or added there, among zeros
#[derive(Clone)]
struct Pick {
    numbers: Numbers,
    /// Whether an element may be named twice: a mask names it once.
    repeats: bool,
}

impl Pick {
    /// The shape in which elements are named: a mask names them in that to which both are expanded.
    fn seen(&self, shape: &[usize]) -> Result<Dims> {
        match self.repeats {
            true => Ok(shape.into()),
            false => shape::broadcast(self.numbers.given.layout().shape(), shape),
        }
    }
}

impl Op for Pick {
    type Saved = [SavedTensor; 2];
    const MOVES: bool = true;
    const SAVED: &'static [&'static str] = &["index", "self"];

    fn name(&self) -> &'static str {
        if self.repeats { "TakeBackward0" } else { "MaskedSelectBackward0" }
    }

    fn saved_names(&self) -> &'static [&'static str] {
        if self.repeats { Self::SAVED } else { &["mask", "self"] }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let x = flat(&x.expanded(&self.seen(x.layout.shape())?)?)?;
        let mut y = Array::uninit_shape(&self.numbers.shape, x.dtype)?;
        dispatch!(bits x.dtype, T => {
            gather::index_select(x.view::<T>(), 0, &self.numbers.places, y.fresh::<T>());
        });
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [self.numbers.keep(), keep.input(0)]
    }

    fn vjp(&self, [given, source]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        at.load(given)?;
        let (source, gradient) = (at.load(source)?, single(gradients));
        let seen = self.seen(source.layout().shape())?;
        let zeros = create::zeros(&shape::signed(&seen), gradient.dtype())?;
        let placing = if self.repeats { Placing::Added } else { Placing::Masked };
        one(apply_one(Place { numbers: self.numbers.clone(), placing }, &[&zeros, gradient])?)
    }

    fn jvp(&self, [given, _]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        at.load(given)?;
        let op = Pick { numbers: self.numbers.clone(), repeats: self.repeats };
        one(apply_one(op, &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let numel = call.inputs[0].shape().iter().product();
        let numbers = self.numbers.of_samples(call.size, numel)?;
        call.front(Pick { numbers, repeats: self.repeats })
    }
}

/// How elements are named, and what becomes of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placing {
    /// A mask names those that are replaced.
    Masked,
    /// Numbers name those that are replaced.
    Put,
    /// Numbers name those that are added to.
    Added,
}

/// y = x with the first elements of v in place of the named elements, or added to them
///
/// dy is dx with those of dv; x̄ is ȳ with zeros there, or ȳ; v̄ is the named elements of ȳ
#[derive(Clone)]
struct Place {
    numbers: Numbers,
    placing: Placing,
}

impl Op for Place {
    /// The mask or the index, and as torch the values where they were put; how these lie.
    type Saved = ([Option<SavedTensor>; 2], SharedLayout);
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const SAVED: &'static [&'static str] = &["mask"];

    fn name(&self) -> &'static str {
        if self.placing == Placing::Masked { "MaskedScatterBackward0" } else { "PutBackward0" }
    }

    fn saved_names(&self) -> &'static [&'static str] {
        if self.placing == Placing::Masked { Self::SAVED } else { &["index", "source"] }
    }

    fn shown(&self, (_, values): &Self::Saved) -> Attributes {
        match self.placing {
            Placing::Masked => shown! { source_sym_sizes: values },
            placing => shown! { accumulate: placing == Placing::Added },
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        self.overwritten(inputs)
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        let put = keep.input_if(self.placing != Placing::Masked, 1);
        ([Some(self.numbers.keep()), put], keep.layout(1))
    }

    fn vjp(&self, (kept, values): &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        at.check(kept.iter().flatten())?;
        let (gradient, numbers, values) = (single(gradients), self.numbers.clone(), values.clone());
        let kept = || match self.placing {
            Placing::Masked => select::masked_fill(gradient, &numbers.given, 0.0),
            Placing::Added => Ok(gradient.clone()),
            Placing::Put => {
                let zeros = create::zeros(&shape::signed(values.shape()), gradient.dtype())?;
                apply_one(self.clone(), &[gradient, &zeros])
            }
        };
        let x = at.needs(0).then(kept).transpose()?;
        let repeats = self.placing != Placing::Masked;
        let pick = Pick { numbers: numbers.clone(), repeats };
        let picked = || match repeats {
            true => reshape::reshape_to(&apply_one(pick, &[gradient])?, values.shape()),
            false => padded(&apply_one(pick, &[gradient])?, values.shape()),
        };
        Ok(smallvec![x, at.needs(1).then(picked).transpose()?])
    }

    fn jvp(
        &self,
        (kept, values): &Self::Saved,
        at: &At<'_>,
        tangents: &[Option<Tensor>],
    ) -> Result<Gradients> {
        at.check(kept.iter().flatten())?;
        let shape = at.node.form(0).layout.clone();
        let x = view::expand_to(&tangent_or_zeros(at, tangents, 0, shape.shape())?, shape.shape())?;
        let values = tangent_or_zeros(at, tangents, 1, values.shape())?;
        one(apply_one(self.clone(), &[&x, &values])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let numel = |samples: &Samples| samples.shape().iter().product::<usize>();
        let [x, values] = [&call.inputs[0], &call.inputs[1]];
        let lines = reshape::reshape_to(&values.front(call.size)?, &[call.size, numel(values)])?;
        let first = part::narrow(&lines, 1, 0, self.numbers.places.len() as i64)?;
        let numbers = self.numbers.of_samples(call.size, numel(x))?;
        let op = Place { numbers, placing: self.placing };
        Ok(smallvec![Samples::first(apply_one(op, &[&x.front(call.size)?, &first])?)])
    }
}

/// A vector with zeros after it, in a shape.
fn padded(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let numel: usize = shape.iter().product();
    let missing = numel.saturating_sub(x.numel());
    let whole = match missing {
        0 => x.clone(),
        missing => join::cat(&[x, &create::zeros(&[missing as i64], x.dtype())?], 0)?,
    };
    reshape::reshape_to(&whole, shape)
}

impl Overwrite for Place {
    fn in_place_name(&self) -> &'static str {
        "masked_scatter_"
    }

    fn keeps_order(&self) -> bool {
        self.placing != Placing::Masked
    }

    fn overwrite(&self, target: &Array, inputs: &[Array]) -> Result<()> {
        let Numbers { places, .. } = &self.numbers;
        let values = flat(&inputs[1])?;
        let first = Layout::strided(smallvec![places.len()], smallvec![1], values.layout.offset())?;
        let values = values.with_layout(first);
        let whole = flat(target)?;
        write_slices(&whole, 0, places, &values, self.placing == Placing::Added);
        if target.layout.is_contiguous() {
            return Ok(());
        }
        copy::write(target, &whole.with_layout(target.layout.fresh()))
    }
}

/// The elements that a mask names, in one dimension. Tensor and mask are broadcast together.
pub fn masked_select(x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    if mask.dtype() != DType::Bool {
        return Err(Error::SelectMask {}.into());
    }
    let mask = &batch::alike_in_all(mask);
    if batch::is_batched(mask) {
        return Err(Error::MappedSelect {}.into());
    }
    let shape = shape::broadcast(mask.layout().shape(), x.layout().shape())?;
    let numbers = Numbers::of_mask(mask, &shape)?;
    let pick = Pick { numbers, repeats: false };
    match batch::is_batched(x) {
        true => apply_one(pick, &[&view::expand_to(x, &shape)?]),
        false => apply_one(pick, &[x]),
    }
}

/// Checks the arguments of `masked_scatter` into a tensor of that shape.
fn placing(x: &Tensor, mask: &Tensor, source: &Tensor, shape: &[usize]) -> Result<Place> {
    if x.dtype() != source.dtype() {
        return Err(Error::MaskedScatterDTypes { dtype1: x.dtype(), dtype2: source.dtype() }.into());
    }
    if mask.dtype() != DType::Bool {
        return Err(Error::MaskedScatterMask { dtype: mask.dtype() }.into());
    }
    let numbers = Numbers::of_mask(mask, shape)?;
    if source.numel() < numbers.places.len() {
        return Err(Error::MaskedScatterCount {}.into());
    }
    Ok(Place { numbers, placing: Placing::Masked })
}

/// The tensor with the elements of `source`, one after the other, where a mask says so.
pub fn masked_scatter(x: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
    let shape = shape::broadcast(mask.layout().shape(), x.layout().shape())?;
    if batch::is_batched(mask) && mask.dtype() == DType::Bool && source.numel() > 0 {
        return placed_by_masks(x, mask, source, &shape);
    }
    let op = placing(x, mask, source, &shape)?;
    apply_one(op, &[&view::expand_to(x, &shape)?, source])
}

/// `masked_scatter` where each sample has a mask of its own: how many elements a mask names up to a
/// place says which element of the source goes there.
fn placed_by_masks(x: &Tensor, mask: &Tensor, source: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let mask = view::expand_to(mask, shape)?;
    let line = reshape::reshape_to(&mask, &[mask.numel()])?;
    let counts = ops::sub(&scan::cumsum(&line, 0, Some(DType::Int64))?, 1i64)?;
    let last = source.numel() as i64 - 1;
    let places = clamp::clamp(&counts, Some(0i64.into()), Some(last.into()))?;
    let values = take(source, &reshape::reshape_to(&places, shape)?)?;
    select::where_(&mask, &values, &view::expand_to(x, shape)?)
}

/// `masked_scatter` in place.
pub fn masked_scatter_(x: &Tensor, mask: &Tensor, source: &Tensor) -> Result<()> {
    if batch::is_batched(mask) {
        return batch::through(x, &[mask, source], "inplace arithmetic", |x| masked_scatter(x, mask, source));
    }
    let (layout, given) = (x.layout(), mask.layout());
    if !shape::is_expandable(given.shape(), layout.shape()) {
        let broadcast = shape::broadcast(given.shape(), layout.shape())?.to_vec();
        return Err(Error::OutputShape { output: layout.shape().to_vec(), broadcast }.into());
    }
    apply_in_place(placing(x, mask, source, layout.shape())?, &[x, source])
}

const MASKED_SCATTER: &[&str] = &["(Tensor input, Tensor mask, Tensor source)"];

const ELEMENTS: &[&str] = &["(Tensor input, Tensor index, Tensor source, bool accumulate=False)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "masked_select",
        &["(Tensor input, Tensor mask, *, Tensor out=None)"],
        "The elements where the mask is true, as a one-dimensional tensor.",
        |a| masked_select(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::APART.once().typed(Types::Picked))
    .operators(&[("MaskedSelectBackward0", "masked_select | dynamic_output_shape")]),
    both(
        "masked_scatter",
        MASKED_SCATTER,
        "A copy of `input` with elements of `source`, in order, where the mask is true.",
        |a| masked_scatter(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?).reply(),
    )
    .operators(&[("MaskedScatterBackward0", "masked_scatter")]),
    method(
        "masked_scatter_",
        MASKED_SCATTER,
        "Writes elements of `source`, in order, where the mask is true.",
        |a| receiver(a, masked_scatter_(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?)),
    ),
    both(
        "take",
        &["(Tensor input, Tensor index, *, Tensor out=None)"],
        "The elements at the given indices of the flattened tensor.",
        |a| take(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::APART.once().typed(Types::Taken))
    .operators(&[("TakeBackward0", "take")]),
    both(
        "put",
        ELEMENTS,
        "A copy of `input` with elements of `source` at the given indices of the flattened tensor.",
        |a| put(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.boolean(3)).reply(),
    )
    .operators(&[("PutBackward0", "put")]),
    method(
        "put_",
        ELEMENTS,
        "Writes elements of `source` at the given indices of the flattened tensor.",
        |a| receiver(a, put_(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.boolean(3))),
    ),
];
