//! The same elements at other places, some of them more than once: `flip`, `roll`, `repeat`.

mod entries;

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Arguments, Entry, IntoReply, Reply, both, function, method};
pub use entries::ENTRIES;
use ndarray::Axis;
use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::composites::attribute_override::apply_one_with_attributes;
use crate::dispatch::modes::recording;
use crate::dispatch::{batch, long_work, memory_order};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::kernels::geometry::{moves, rows};
use crate::kernels::interrupt::Steps;
use crate::ops::creation::{cast, copy, create, ranges};
use crate::ops::geometry::{expand, join, part, reshape, squeeze};
use crate::ops::indexing::along;
use crate::ops::reduction::reduce;
use crate::shape::{self, Dims, Layout, SharedLayout};
use crate::storage;
use crate::tensor::{Array, Tensor};

/// y = x in the opposite order along some dimensions
///
/// dy and x̄ are dx and ȳ in the opposite order along the same
#[derive(Clone)]
struct Flip {
    dims: Dims,
    /// The dimensions as the caller named them.
    given: Vec<i64>,
}

impl Flip {
    fn again(&self, x: &Tensor) -> Result<Gradients> {
        one(apply_one(self.clone(), &[x])?)
    }
}

impl Op for Flip {
    type Saved = ();
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        "FlipBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dims: &*self.given }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let mut y = Array::uninit_shape(x.layout.shape(), x.dtype)?;
        dispatch!(bits x.dtype, T => {
            let mut view = x.view::<T>();
            self.dims.iter().for_each(|&dim| view.invert_axis(Axis(dim)));
            moves::gather(view, y.fresh::<T>());
        });
        Ok(smallvec![memory_order::like(y, &x.layout)?])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        self.again(single(gradients))
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        self.again(tangent(tangents))
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Flip { dims: self.dims.iter().map(|dim| dim + 1).collect(), given: self.given.clone() })
    }
}

/// The tensor in the opposite order along some dimensions.
pub fn flip(x: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let given = dims.to_vec();
    let dims = if dims.is_empty() { Dims::new() } else { shape::normalize_dims(dims, x.ndim())? };
    apply_one(Flip { dims, given }, &[x])
}

/// y = x turned round along some dimensions: what is pushed out at the end comes in at the start
///
/// dy is dx so turned, x̄ is ȳ turned back
#[derive(Clone)]
struct Roll {
    /// Dimension and shift, which is less than its size.
    turns: SmallVec<[(usize, usize); 2]>,
    /// Whether all dimensions are taken as one.
    flat: bool,
}

impl Roll {
    fn turned(&self, array: &Array) -> Result<Array> {
        let mut x = match self.flat {
            true => {
                let x = copy::in_order(array)?;
                x.with_layout(x.layout.line())
            }
            false if self.turns.is_empty() => copy::dense(array)?,
            false => copy::in_order(array)?.into_owned(),
        };
        for &(dim, shift) in &self.turns {
            let mut y = Array::uninit(&x.layout, x.dtype)?;
            let inner = x.layout.shape()[dim + 1..].iter().product::<usize>();
            let block = x.layout.shape()[dim] * inner;
            dispatch!(bits x.dtype, T => match x.slice::<T>() {
                Some(elements) => rows::turned_round(elements, y.fresh::<T>(), block, shift * inner),
                None => unreachable!("the elements were laid out in order"),
            });
            x = y;
        }
        let y = x.with_layout(array.layout.fresh());
        match (self.flat, array.layout.numel()) {
            (true, _) => Ok(y),
            (false, 0) => memory_order::like(y, &array.layout),
            (false, _) => memory_order::as_images(y, &array.layout, 2),
        }
    }
}

impl Op for Roll {
    type Saved = SharedLayout;
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        "RollBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        let turns = || self.turns.iter().filter(|_| !self.flat);
        let dims: Dims = turns().map(|&(dim, _)| dim).collect();
        let shifts: Dims = self.turns.iter().map(|&(_, shift)| shift).collect();
        shown! { dims: &dims, shifts: &shifts }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![self.turned(&inputs[0])?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, source: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let size = |dim: usize| if self.flat { source.numel() } else { source.shape()[dim] };
        let back = |&(dim, shift): &(usize, usize)| (dim, (size(dim) - shift) % size(dim).max(1));
        let turns = self.turns.iter().map(back).collect();
        one(apply_one(Roll { turns, flat: self.flat }, &[single(gradients)])?)
    }

    fn jvp(&self, _source: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(Roll { turns: self.turns.clone(), flat: self.flat }, &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let turns = self.turns.iter().map(|&(dim, shift)| (dim + 1, shift)).collect();
        let op = Roll { turns, flat: false };
        if !self.flat {
            return call.front(op);
        }
        let x = call.inputs[0].front(call.size)?;
        let lines = reshape::reshape_to(&x, &[call.size, call.inputs[0].shape().iter().product()])?;
        let y = reshape::reshape_to(&apply_one(op, &[&lines])?, x.layout().shape())?;
        Ok(smallvec![Samples::first(y)])
    }
}

/// The tensor turned round by `shifts` along `dims`, or along all as one where none are given.
pub fn roll(x: &Tensor, shifts: &[i64], dims: &[i64]) -> Result<Tensor> {
    let layout = x.layout();
    let shift = |shift: i64, size: usize| shift.rem_euclid(size.max(1) as i64) as usize;
    if let ([only], []) = (shifts, dims) {
        let roll = Roll { turns: smallvec![(0, shift(*only, layout.numel()))], flat: true };
        return apply_one_with_attributes(roll, shown! { dims: dims, shifts: shifts }, &[x]);
    }
    if shifts.is_empty() {
        return Err(Error::RollNothing {}.into());
    }
    if shifts.len() != dims.len() {
        return Err(Error::RollCount { shifts: shifts.len(), ndim: dims.len() }.into());
    }
    if let (0, Some(&dim)) = (layout.ndim(), dims.first()) {
        return Err(Error::RollScalar { dim }.into());
    }
    let mut turns = SmallVec::new();
    for (&by, &dim) in shifts.iter().zip(dims).filter(|_| layout.numel() > 0) {
        let dim = shape::normalize_dim(dim, layout.ndim())?;
        if let Some(&size) = layout.shape().get(dim) {
            turns.push((dim, shift(by, size)));
        }
    }
    apply_one_with_attributes(Roll { turns, flat: false }, shown! { dims: dims, shifts: shifts }, &[x])
}

/// y = x so many times along every dimension
///
/// dy is dx so repeated, x̄ is ȳ summed over the repetitions
#[derive(Clone)]
struct Repeat {
    times: Dims,
}

impl Repeat {
    /// Repetitions and sizes by turns, leading dimensions of size one included.
    fn woven(&self, shape: &[usize]) -> Dims {
        let lead = self.times.len() - shape.len();
        let size = |dim: usize| dim.checked_sub(lead).map_or(1, |dim| shape[dim]);
        self.times.iter().enumerate().flat_map(|(dim, &times)| [times, size(dim)]).collect()
    }
}

impl Op for Repeat {
    type Saved = SharedLayout;
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        "RepeatBackward0"
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        shown! { repeats: &self.times, self_sym_sizes: saved }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let woven = self.woven(x.layout.shape());
        let shape: Dims = woven.chunks(2).map(|pair| pair[0] * pair[1]).collect();
        let y = Array::uninit_shape(&woven, x.dtype)?;
        let once: Dims =
            woven.iter().enumerate().map(|(at, &size)| if at % 2 == 0 { 1 } else { size }).collect();
        let x = copy::dense(x)?.with_layout(Layout::contiguous(&once)?);
        copy::write(&y, &x.expanded(&woven)?)?;
        Ok(smallvec![y.with_layout(Layout::contiguous(&shape)?)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, source: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let shape = source.shape();
        if self.times.contains(&0) {
            return one(create::zeros(&shape::signed(shape), single(gradients).dtype())?);
        }
        let lead = self.times.len() - shape.len();
        let mut sum = single(gradients).clone();
        for _ in 0..lead {
            sum = reduce::sum(&sum, Some(&[0]), false, None)?;
        }
        let (mut woven, mut repeated) = (Dims::new(), Vec::new());
        for (&times, &size) in self.times[lead..].iter().zip(shape) {
            if times > 1 {
                repeated.push(woven.len() as i64);
                woven.push(times);
            }
            woven.push(size);
        }
        if repeated.is_empty() {
            return one(sum);
        }
        one(reduce::sum(&reshape::reshape_to(&sum, &woven)?, Some(&repeated), false, None)?)
    }

    fn jvp(&self, _source: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(Repeat { times: self.times.clone() }, &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let mut times = self.times.clone();
        times.insert(0, 1);
        let rank = self.times.len();
        let aligned = Samples::first(Samples::first(call.inputs[0].front(call.size)?).aligned(rank)?);
        Call { inputs: &[aligned], ..*call }.front(Repeat { times })
    }
}

/// The tensor so many times along every dimension; more numbers than dimensions give new ones.
pub fn repeat(x: &Tensor, times: &[i64]) -> Result<Tensor> {
    let layout = x.layout();
    let Some(lead) = times.len().checked_sub(layout.ndim()) else {
        return Err(Error::RepeatCount {}.into());
    };
    let size = |dim: usize| dim.checked_sub(lead).map_or(1, |dim| layout.shape()[dim] as i64);
    let shape: Vec<i64> =
        times.iter().enumerate().map(|(dim, &times)| times.saturating_mul(size(dim))).collect();
    shape::checked_shape(&shape)?;
    // A negative number of an empty dimension is no size of the result, but none of repetitions.
    let times = shape::checked_shape(times)?;
    apply_one(Repeat { times }, &[x])
}

/// `repeat`, where missing numbers are ones.
pub fn tile(x: &Tensor, times: &[i64]) -> Result<Tensor> {
    let mut all = vec![1; x.ndim().saturating_sub(times.len())];
    all.extend_from_slice(times);
    repeat(x, &all)
}

/// Every element of a dimension, or of all as one, so many times one after the other.
pub fn repeat_interleave(x: &Tensor, times: i64, dim: Option<i64>) -> Result<Tensor> {
    if times < 0 {
        return Err(Error::RepeatsNegative {}.into());
    }
    let (x, dim) = match dim {
        Some(dim) => (x.clone(), shape::normalize_dim(dim, x.ndim())?),
        None => (reshape::reshape(x, &[-1])?, 0),
    };
    let x = if x.ndim() == 0 { reshape::reshape(&x, &[1])? } else { x };
    let mut wide = shape::signed(x.layout().shape());
    wide.insert(dim + 1, times);
    let repeated = expand::expand(&squeeze::unsqueeze(&x, dim as i64 + 1)?, &wide)?;
    reshape::flatten(&cast::clone_contiguous(&repeated)?, dim as i64, dim as i64 + 1)
}

/// The numbers from zero on, each as often as a vector says.
pub fn repeated_numbers(times: &Tensor) -> Result<Tensor> {
    if times.ndim() != 1 {
        return Err(Error::RepeatsRank {}.into());
    }
    let numbers = ranges::arange(0.into(), (times.numel() as i64).into(), 1.into(), DType::Int64)?;
    repeat_interleave_each(&numbers, times, Some(0))
}

/// Every element of a dimension, or of all as one, as often as a vector says for it.
pub fn repeat_interleave_each(x: &Tensor, times: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    if times.ndim() > 1 {
        return Err(Error::TimesRank {}.into());
    }
    if !matches!(times.dtype(), DType::Int32 | DType::Int64) {
        let operation = "repeat_interleave_cpu";
        return Err(Error::NotImplementedFor { operation, dtype: times.dtype() }.into());
    }
    let (x, dim) = match dim {
        Some(dim) => (x.clone(), shape::normalize_dim(dim, x.ndim())?),
        None if x.ndim() == 1 => (x.clone(), 0),
        None => (reshape::reshape(x, &[-1])?, 0),
    };
    let size = x.layout().size(dim);
    if !matches!(times.numel(), count if count == 1 || count == size) {
        return Err(Error::RepeatsCount { repeats: times.numel(), dim, size }.into());
    }
    along::index_select(&x, dim as i64, &repeated(times, size)?)
}

/// The index of slices of which each is there as often as `times` says.
fn repeated(times: &Tensor, size: usize) -> Result<Tensor> {
    let samples = |times: &Tensor, samples: usize| {
        let rows = (0..samples).map(|sample| repeated(&part::select(times, 0, sample as i64)?, size));
        let rows: Vec<Tensor> = rows.collect::<Result<_>>()?;
        if rows.is_empty() {
            create::zeros(&[0, 0], DType::Int64)
        } else {
            join::stack(&rows.iter().collect::<Vec<_>>(), 0)
        }
    };
    if let Some(index) = batch::front(times, samples) {
        return index;
    }
    recording::whole("repeat_interleave", &[times], move |times| counted_out(times[0], size))
}

fn counted_out(times: &Tensor, size: usize) -> Result<Tensor> {
    let counts = long_work::patiently(times.numel() as u64, || times.to_vec::<i64>())?;
    let counts = if counts.len() == 1 { storage::filled(size, counts[0])? } else { counts };
    let total = counts.iter().try_fold(0i64, |sum, &count| sum.checked_add(count.max(0)));
    if counts.iter().any(|&count| count < 0) {
        return Err(Error::RepeatsBelowZero {}.into());
    }
    let total = shape::checked_shape(&[total.unwrap_or(i64::MAX)])?[0];
    let each = counts.iter().zip(0i64..).flat_map(|(&count, place)| (0..count).map(move |_| place));
    let mut index = Array::uninit_shape(&[total], DType::Int64)?;
    long_work::patiently(total as u64, || {
        let mut steps = Steps::default();
        index.fresh::<i64>().iter_mut().zip(each).for_each(|(out, place)| {
            steps.take(0);
            out.write(place);
        });
        Ok(())
    })?;
    Ok(Tensor::from_array(index))
}

const REPEATED: &str = "Repeats every element along a dimension.";

const REPEATS: &[&str] = &[
    "(Tensor input, Tensor repeats, int? dim=None, *, SymInt? output_size=None)",
    "(Tensor input, SymInt repeats, int? dim=None, *, SymInt? output_size=None)",
];

plain! {
    struct Flip { dims, given }
    struct Roll { turns, flat }
    struct Repeat { times }
}

/// How these are written as plain data.
pub const ROWS: &[Row] =
    &[portable::row::<Flip>("flip"), portable::row::<Roll>("roll"), portable::row::<Repeat>("repeat")];
