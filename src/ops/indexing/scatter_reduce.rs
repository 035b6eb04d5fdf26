//! Elements combined where an index says along a dimension: sums, products, means and extremes.

mod entries;

pub use entries::ENTRIES;

use ndarray::{ArrayViewD, ArrayViewMutD};
use num_complex::Complex;
use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::modes::recording;
use crate::dispatch::{in_place, view};
use crate::dtype::{Category, DType, Number, Ring};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::indexing::gather as kernels;
use crate::ops::conjugate;
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::{part, reshape};
use crate::ops::indexing::along;
use crate::ops::indexing::gather::{checked_scatter, gather, lines, scatter, scatter_add, write_lines};
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select::{masked_fill, where_};
use crate::ops::{add, div, mul};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// Combines values with the elements that an index names along an axis.
type Combine<T> = fn(ArrayViewMutD<'_, T>, usize, &Array, ArrayViewD<'_, T>);

/// The loops that combine elements: where there is an index for each, and where there is one for a whole slice.
struct Combining<T> {
    /// With what nothing changes.
    neutral: T,
    elements: Combine<T>,
    slices: Combine<T>,
}

/// The loops of a function of two elements.
macro_rules! combining {
    ($neutral:expr, $function:expr) => {
        Combining {
            neutral: $neutral,
            elements: |y, axis, index, values| kernels::scatter(y, axis, index.view(), values, $function),
            slices: |y, axis, index, values| {
                let index = index.slice().unwrap_or_else(|| unreachable!("an index of slices is in order"));
                kernels::index_combine(y, axis, index, values, $function)
            },
        }
    };
}

/// How elements are combined.
#[derive(Clone, Copy, PartialEq)]
pub enum Fold {
    /// They are added up.
    Sum,
    /// They are multiplied.
    Product,
    /// They are averaged.
    Mean,
    /// The greatest is taken.
    Greatest,
    /// The least is taken.
    Least,
}

impl Fold {
    const NAMES: [(&'static str, Fold); 5] = [
        ("sum", Fold::Sum),
        ("prod", Fold::Product),
        ("mean", Fold::Mean),
        ("amax", Fold::Greatest),
        ("amin", Fold::Least),
    ];

    /// The fold of that name.
    pub fn named(name: &str) -> Option<Fold> {
        Fold::NAMES.iter().find(|(known, _)| *known == name).map(|(_, fold)| *fold)
    }

    fn name(self) -> &'static str {
        Fold::NAMES.iter().find(|(_, fold)| *fold == self).map_or("", |(name, _)| name)
    }

    /// How elements that are ordered are combined.
    fn of_numbers<T: Number>(self) -> Combining<T> {
        match self {
            Fold::Greatest => combining!(T::LOWEST, |a, b| if b > a || b.is_nan() { b } else { a }),
            Fold::Least => combining!(T::HIGHEST, |a, b| if b < a || b.is_nan() { b } else { a }),
            _ => self.of_sums(),
        }
    }

    /// How any elements are added up or multiplied.
    fn of_sums<T: Ring>(self) -> Combining<T> {
        match self {
            Fold::Product => combining!(T::ONE, T::mul),
            _ => combining!(T::ZERO, T::add),
        }
    }

    /// Refuses complex elements of which one would have to be greater, and means of truth values.
    fn check(self, dtype: DType, operation: &'static str) -> Result<()> {
        let refused = match self {
            Fold::Sum | Fold::Product => false,
            Fold::Mean => dtype == DType::Bool,
            Fold::Greatest | Fold::Least => dtype.is_complex(),
        };
        if refused { Err(Error::NotImplementedFor { operation, dtype }.into()) } else { Ok(()) }
    }
}

/// y[index[i][j]][j] = x there combined with v[i][j], for `dim` 0; or without x
///
/// y depends on x and v by weights: dy = a dx + Σ b dv, x̄ = a ȳ and v̄ = b ȳ[index]. Those of a sum are
/// one; of a mean, one over the count; of an extreme, one over how many are equal to it; of a product,
/// the product of all others.
#[derive(Clone)]
struct ScatterReduce<const SLICES: bool> {
    dim: usize,
    /// The dimension as the caller named it.
    given: i64,
    /// An index for every element.
    index: Tensor,
    /// The index as the caller gave it.
    named: Tensor,
    fold: Fold,
    /// Whether the element itself is one of those that are combined.
    included: bool,
}

impl<const SLICES: bool> ScatterReduce<SLICES> {
    fn folded<T: Ring>(
        &self,
        x: &Array,
        source: &Array,
        index: &Array,
        combining: Combining<T>,
        over: fn(T, T) -> T,
    ) -> Result<Array> {
        let mut y = copy::converted(x, T::DTYPE)?;
        let source = copy::as_type(source, T::DTYPE)?;
        let into = |y: &mut Array, loops: &Combining<T>, values: &Array| {
            let combine = if self.by_slices() { loops.slices } else { loops.elements };
            combine(y.owned_view(), self.dim, index, values.view());
        };
        if !self.included {
            let neutral = Array::from_slice(&[], &[combining.neutral])?;
            into(&mut y, &combining!(T::ZERO, |_, value| value), &neutral.expanded(source.layout.shape())?);
        }
        into(&mut y, &combining, &source);
        if self.fold == Fold::Mean {
            let mut counts = Array::zeroed(&y.layout, T::DTYPE)?;
            into(&mut counts, &combining!(T::ZERO, |count: T, _| count.add(T::ONE)), &source);
            let own = if self.included { T::ONE } else { T::ZERO };
            let (counts, y) = (counts.owned::<T>(), y.owned::<T>());
            y.iter_mut().zip(counts).for_each(|(y, count)| {
                let count = count.add(own);
                *y = if count.is_true() { over(*y, count) } else { *y };
            });
        }
        Ok(y)
    }

    /// The elements that the index names.
    fn picked(&self, x: &Tensor) -> Result<Tensor> {
        match self.by_slices() {
            true => along::index_select(x, self.given, &self.named),
            false => gather(x, self.given, &self.index),
        }
    }

    /// `x` with what the index names added to it.
    fn sum(&self, x: &Tensor, source: &Tensor) -> Result<Tensor> {
        match self.by_slices() {
            true => along::index_add(x, self.given, &self.named, source, 1.into()),
            false => scatter_add(x, self.given, &self.index, source),
        }
    }

    /// Whether there is one number for each slice, as the caller gave them; of many samples there is not.
    fn by_slices(&self) -> bool {
        SLICES && self.named.ndim() <= 1 && !batch::is_batched(&self.named)
    }

    /// The gradients of x and of the source, by the steps that torch takes.
    fn passed(&self, [x, source, y]: [&Tensor; 3], g: &Tensor) -> Result<(Tensor, Tensor)> {
        let as_numbers = |hits: Tensor| cast::to_dtype(&hits, y.dtype());
        match self.fold {
            Fold::Sum => Ok((g.clone(), self.picked(g)?)),
            Fold::Mean => {
                let start = if self.included { create::ones_like(y)? } else { create::zeros_like(y)? };
                let counts = self.sum(&start, &create::ones_like(source)?)?;
                let counts = masked_fill(&counts, &compare::eq(&counts, 0.0)?, 1.0)?;
                Ok((div(g, &counts)?, div(&self.picked(g)?, &self.picked(&counts)?)?))
            }
            Fold::Greatest | Fold::Least => {
                let own = as_numbers(compare::eq(x, y)?)?;
                let others = as_numbers(compare::eq(source, &self.picked(y)?)?)?;
                let share = div(g, &self.sum(&own, &others)?)?;
                Ok((mul(&own, &share)?, mul(&others, &self.picked(&share)?)?))
            }
            Fold::Product => {
                let again = |x: &Tensor, source: &Tensor| apply_one(self.clone(), &[x, source]);
                let whole = masked_fill(x, &compare::eq(x, 0.0)?, 1.0)?;
                let of_x = div(&mul(g, &again(&whole, source)?)?, &whole)?;
                let zero = compare::eq(source, 0.0)?;
                let zeros = self.sum(&create::zeros_like(&x.detach())?, &as_numbers(zero.clone())?)?;
                let alone =
                    crate::ops::pointwise::logical::and(&zero, &compare::eq(&self.picked(&zeros)?, 1.0)?)?;
                let without = again(x, &masked_fill(source, &alone, 1.0)?)?;
                let without = self.picked(&mul(g, &without)?)?;
                let others = div(&self.picked(&mul(g, y)?)?, &masked_fill(source, &zero, 1.0)?)?;
                Ok((of_x, where_(&alone, &without, &others)?))
            }
        }
    }

    /// Elements that do not depend on what they were before, as zeros.
    fn kept(&self, x: Tensor) -> Result<Tensor> {
        match self.included {
            true => Ok(x),
            false if self.by_slices() => along::index_fill(&x, self.given, &self.named, 0.0),
            false => scatter(&x, self.given, &self.index, 0.0),
        }
    }
}

impl<const SLICES: bool> Op for ScatterReduce<SLICES> {
    type Saved = [SavedTensor; 4];
    const SAVED: &'static [&'static str] =
        if SLICES { &["self", "index", "source", "result"] } else { &["self", "index", "src", "result"] };

    fn name(&self) -> &'static str {
        if SLICES { "IndexReduceBackward0" } else { "ScatterReduceBackward0" }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.given, include_self: self.included, reduce: self.fold.name() }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let index = if self.by_slices() { &self.named } else { &self.index };
        let (x, source, index) = (&inputs[0], &inputs[1], index.array());
        if index.layout.numel() == 0 {
            return Ok(smallvec![copy::dense(x)?]);
        }
        let mut index = copy::as_type(&index, DType::Int64)?.into_owned();
        if self.by_slices() {
            index = copy::in_order(&index)?.into_owned();
        }
        let (fold, over) = (self.fold, |sum, count| sum / count);
        let y = match x.dtype.category() {
            Category::Complex => {
                self.folded::<Complex<f64>>(x, source, &index, fold.of_sums(), |sum, count| sum / count.re)?
            }
            Category::Float => self.folded::<f64>(x, source, &index, fold.of_numbers(), over)?,
            _ => self.folded::<i64>(x, source, &index, fold.of_numbers(), i64::div_euclid)?,
        };
        Ok(smallvec![copy::as_type(&y, x.dtype)?.into_owned()])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), SavedTensor::constant(&self.named), keep.input(1), keep.output(0)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let [x, _, source, y] = saved;
        at.load(&saved[1])?;
        // What a gradient counts by is conjugated: it is made of conjugates.
        let [x, source, y] = [at.load(x)?, at.load(source)?, at.load(y)?].map(conjugate::conj);
        let (of_x, of_source) = self.passed([&x?, &source?, &y?], single(gradients))?;
        Ok(smallvec![at.needs(0).then(|| self.kept(of_x)).transpose()?, at.needs(1).then_some(of_source)])
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let [x, _, source, y] = saved;
        let (x, source, y) = (at.load(x)?, at.load(source)?, at.load(y)?);
        // What a gradient of ones becomes is by how much tangents count.
        let (own, others) = self.passed([&x, &source, &y], &create::ones_like(&y.detach())?)?;
        let moved = match &tangents[0] {
            Some(t) => self.kept(mul(t, &own)?)?,
            None => create::zeros_like(&y)?,
        };
        one(match &tangents[1] {
            Some(t) => {
                let zeros = create::zeros_like(&y)?;
                add(&moved, &scatter_add(&zeros, self.given, &self.index, &mul(t, &others)?)?)?
            }
            None => moved,
        })
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let index = lines(call, self.dim)?;
        let (dim, given) = (self.dim + 1, self.dim as i64 + 1);
        let op = ScatterReduce::<SLICES> { dim, given, named: index.clone(), index, ..*self };
        write_lines(call, op)
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        smallvec![self.index.clone()]
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(ScatterReduce { index: held[0].clone(), named: held[0].clone(), ..*self })
    }
}

/// The tensor with elements combined with those of a source, where an index says along a dimension.
pub fn scatter_reduce(
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    fold: Fold,
    included: bool,
) -> Result<Tensor> {
    let place = checked_scatter(x, dim, index, source)?;
    fold.check(
        x.dtype(),
        match fold {
            Fold::Greatest => "scatter_gather_tensor_cpu_reduce_amax",
            Fold::Least => "scatter_gather_tensor_cpu_reduce_amin",
            _ => "scatter_gather_tensor_cpu_reduce_mean",
        },
    )?;
    let source = corner(source, index.layout().shape())?;
    let (index, named) = (index.clone(), index.clone());
    let reduce = ScatterReduce::<false> { dim: place, given: dim, index, named, fold, included };
    apply_one(reduce, &[x, &source])
}

/// The part of a source that an index of such a shape names: it begins where the source does. An index without
/// elements may have any number of dimensions, and one dimension of one element is as good as none.
fn corner(source: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let mut part = source.clone();
    if part.ndim() != shape.len() {
        let count = shape.iter().product::<usize>() as i64;
        part = part::narrow(&reshape::reshape(&part, &[-1])?, 0, 0, count)?;
        return reshape::reshape(&part, &shape::signed(shape));
    }
    for (dim, &size) in shape.iter().enumerate() {
        if part.layout().shape()[dim] != size {
            part = part::narrow(&part, dim as i64, 0, size as i64)?;
        }
    }
    Ok(part)
}

/// `scatter_reduce` in place.
pub fn scatter_reduce_(
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    fold: Fold,
    included: bool,
) -> Result<()> {
    in_place::through_apart(x, &[source], |x| scatter_reduce(x, dim, index, source, fold, included))
}

/// The tensor with slices combined with those of a source, where an index says along a dimension.
pub fn index_reduce(
    x: &Tensor,
    given: i64,
    named: &Tensor,
    source: &Tensor,
    fold: Fold,
    included: bool,
) -> Result<Tensor> {
    let dim = shape::normalize_dim(given, x.ndim())?;
    check_slices(x, dim, named, source)?;
    fold.check(x.dtype(), if included { "index_func_" } else { "index_reduce_func_exclude_input_init" })?;
    let count = named.layout().numel();
    let layout = source.layout();
    let mut line = vec![1; layout.ndim()];
    if let Some(length) = line.get_mut(dim) {
        *length = count as i64;
    }
    let index = view::expand(&reshape::reshape(named, &line)?, &shape::signed(layout.shape()))?;
    checked_slices(&index, dim, x)?;
    let named = named.clone();
    apply_one(ScatterReduce::<true> { dim, given, index, named, fold, included }, &[x, source])
}

/// `index_reduce` in place.
pub fn index_reduce_(
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    fold: Fold,
    included: bool,
) -> Result<()> {
    in_place::through_apart(x, &[source], |x| index_reduce(x, dim, index, source, fold, included))
}

fn check_slices(x: &Tensor, dim: usize, index: &Tensor, source: &Tensor) -> Result<()> {
    if index.ndim() > 1 {
        let (ndim, dtype, shape) = (index.ndim(), index.dtype(), index.layout().shape().to_vec());
        return Err(Error::ReduceIndexRank { ndim, dtype, shape }.into());
    }
    if !matches!(index.dtype(), DType::Int32 | DType::Int64) {
        return Err(Error::ReduceIndexDType { dtype: index.dtype() }.into());
    }
    if x.dtype() != source.dtype() {
        return Err(Error::ReduceDTypes { target: x.dtype(), source: source.dtype() }.into());
    }
    let (count, layout) = (index.layout().numel(), source.layout());
    if dim > 0 && dim >= layout.ndim() {
        return Err(Error::ReduceDim { dim, ndim: layout.ndim() }.into());
    }
    let size = layout.size(dim);
    if size != count {
        return Err(match layout.ndim() {
            0 => Error::DimOfScalar { dim: 0 }.into(),
            _ => Error::ReduceCount { count, size, dim }.into(),
        });
    }
    let target = x.layout();
    let others = |sizes: &[usize]| shape::reduced_shape(sizes, &[dim], false);
    if target.ndim() != layout.ndim() || others(target.shape()) != others(layout.shape()) {
        let (shape, source) = (target.shape().to_vec(), layout.shape().to_vec());
        return Err(Error::ReduceShapes { shape, source }.into());
    }
    Ok(())
}

fn checked_slices(index: &Tensor, dim: usize, x: &Tensor) -> Result<()> {
    let size = x.layout().size(dim);
    recording::checked("IndexReduceBackward0", &[index], move |index| {
        let array = index[0].array();
        let array = copy::as_type(&array, DType::Int64)?;
        match kernels::first_bad(array.view(), size, false) {
            Some(_) => Err(Error::IndexSelectRange {}.into()),
            None => Ok(()),
        }
    })
}
