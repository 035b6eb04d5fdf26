//! A tensor as several views of it at once.

use crate::dispatch;
use crate::dtype::DType;
use crate::schema::{Arguments, Entry, IntoReply, Reply, both, function, method};
use std::sync::Arc;

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::kernels::interrupt::Steps;
use crate::ops::creation::create;
use crate::ops::geometry::join;
use crate::ops::geometry::part::{Part, sliced, take, take_slice};
use crate::shape::{self, SharedLayout};
use crate::storage;
use crate::tensor::{Array, Creation, Tensor};

/// yᵢ = parts of x along one dimension that are x together
///
/// dyᵢ are those parts of dx; x̄ is the ȳᵢ joined again
#[derive(Clone)]
struct Split {
    name: &'static str,
    dim: usize,
    /// The dimension as the caller named it.
    given: i64,
    cuts: Cuts,
}

#[derive(Clone)]
enum Cuts {
    /// Single elements; the dimension goes.
    Elements,
    /// Ranges of that length but for the last.
    Equal(usize),
    /// Ranges of these lengths.
    Lengths(Arc<[usize]>),
}

impl Split {
    /// The parts of so many elements.
    fn parts(&self, size: usize) -> Result<Vec<Part>> {
        let dim = self.dim;
        let slice = |start, length| Part::Slice { dim, start, length, step: 1 };
        match &self.cuts {
            Cuts::Elements => storage::collected(size, (0..size).map(|index| Part::Select { dim, index })),
            Cuts::Equal(length) => {
                let starts = (0..size.max(1)).step_by((*length).max(1));
                let part = |start| slice(start, (*length).min(size - start));
                storage::collected(starts.len(), starts.map(part))
            }
            Cuts::Lengths(lengths) => {
                let mut start = 0;
                let part = |&length: &usize| {
                    start += length;
                    slice(start - length, length)
                };
                Ok(lengths.iter().map(part).collect())
            }
        }
    }
}

impl Op for Split {
    type Saved = SharedLayout;
    const UNSIGNED: Unsigned = Unsigned::Wrapped;

    fn name(&self) -> &'static str {
        self.name
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        let mut shown = shown! { dim: self.given };
        match &self.cuts {
            Cuts::Elements => {}
            Cuts::Equal(length) => shown.extend(shown! { self_sym_sizes: saved, split_size: *length }),
            Cuts::Lengths(lengths) => shown.extend(shown! { self_sym_sizes: saved, split_sizes: &**lengths }),
        }
        shown
    }

    fn outputs(&self, inputs: &[Array]) -> usize {
        match &self.cuts {
            Cuts::Elements => inputs[0].layout.shape()[self.dim],
            Cuts::Equal(length) => inputs[0].layout.shape()[self.dim].max(1).div_ceil((*length).max(1)),
            Cuts::Lengths(lengths) => lengths.len(),
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let layout = &inputs[0].layout;
        let parts = self.parts(layout.shape()[self.dim])?;
        let bytes = parts.len().saturating_mul(size_of::<Array>()) as u64;
        let (mut shown, mut steps) = (Arrays::new(), Steps::default());
        shown.try_reserve(parts.len()).map_err(|_| Error::OutOfMemory { bytes })?;
        for part in parts {
            steps.take(MADE);
            shown.push(inputs[0].with_layout(part.layout(layout)?));
        }
        Ok(shown)
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, _source: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (parts, dim) = (all_parts(at, gradients)?, self.dim as i64);
        let parts: Vec<&Tensor> = parts.iter().collect();
        let whole = match self.cuts {
            Cuts::Elements => join::stack(&parts, dim),
            _ => join::cat(&parts, dim),
        };
        dispatch::apply::one(whole?)
    }

    fn jvp(&self, source: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let parts = self.parts(source.shape()[self.dim])?;
        parts.into_iter().map(|part| take(tangent(tangents), part).map(Some)).collect()
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Split { dim: self.dim + 1, ..self.clone() })
    }

    fn creation(&self) -> Option<Creation> {
        Some(Creation::MultiOutput)
    }
}

/// The gradients of all outputs of a node, zeros where there is none.
pub(crate) fn all_parts(at: &At<'_>, gradients: &Gradients) -> Result<Vec<Tensor>> {
    let part = |(index, gradient): (usize, &Option<Tensor>)| match gradient {
        Some(gradient) => Ok(gradient.clone()),
        None => {
            let form = at.node.form(index as u32);
            create::zeros(&shape::signed(form.layout.shape()), form.dtype)
        }
    };
    gradients.iter().enumerate().map(part).collect()
}

fn cut(name: &'static str, x: &Tensor, (dim, given): (usize, i64), cuts: Cuts) -> Result<Vec<Tensor>> {
    Ok(apply(Split { name, dim, given, cuts }, &[x])?.into_vec())
}

/// The elements of a dimension, which goes.
pub fn unbind(x: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    if x.ndim() == 0 {
        let dim = shape::normalize_dim(dim, 1)? as i64;
        return Err(Error::DimOfScalar { dim }.into());
    }
    let dim = (shape::normalize_dim(dim, x.ndim())?, dim);
    cut("UnbindBackward0", x, dim, Cuts::Elements)
}

/// The dimension, and how many elements it has.
fn divided(x: &Tensor, dim: i64, operation: &'static str) -> Result<(usize, usize)> {
    if x.ndim() == 0 {
        return Err(Error::SplitScalar { operation }.into());
    }
    let dim = shape::normalize_dim(dim, x.ndim())?;
    Ok((dim, x.layout().shape()[dim]))
}

/// Ranges of `length` elements of a dimension; the last may be shorter.
pub fn split(x: &Tensor, length: i64, dim: i64) -> Result<Vec<Tensor>> {
    if x.ndim() > 0 && length < 0 {
        return Err(Error::SplitNegative { size: length }.into());
    }
    let (at, size) = divided(x, dim, "split")?;
    match length {
        0 if size > 0 => Err(Error::SplitZero { size }.into()),
        length => cut("SplitBackward0", x, (at, dim), Cuts::Equal(length as usize)),
    }
}

/// Ranges of the given lengths, which are the whole dimension together.
pub fn split_with_sizes(x: &Tensor, lengths: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    let (at, size) = divided(x, dim, "split_with_sizes")?;
    if lengths.iter().any(|&length| length < 0) {
        return Err(Error::SplitSizesNegative { sizes: lengths.to_vec() }.into());
    }
    let sum = lengths.iter().try_fold(0i64, |sum, &length| sum.checked_add(length));
    if sum != Some(size as i64) {
        return Err(batch::told_of_all(Error::SplitSum { size, dim: at, sizes: lengths.to_vec() }, &[x]));
    }
    let lengths = lengths.iter().map(|&length| length as usize).collect();
    cut("SplitWithSizesBackward0", x, (at, dim), Cuts::Lengths(lengths))
}

/// At most `chunks` ranges of equal length; the last may be shorter.
pub fn chunk(x: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
    if x.ndim() == 0 {
        return Err(Error::SplitScalar { operation: "chunk" }.into());
    }
    if chunks <= 0 {
        return Err(Error::ChunkCount { chunks }.into());
    }
    let (at, size) = divided(x, dim, "chunk")?;
    let chunks = chunks as usize;
    if size == 0 {
        if chunks > MOST_EMPTY_PARTS {
            return Err(Error::OutOfMemory { bytes: chunks as u64 }.into());
        }
        return cut("SplitWithSizesBackward0", x, (at, dim), Cuts::Lengths(vec![0; chunks].into()));
    }
    cut("SplitBackward0", x, (at, dim), Cuts::Equal(size.div_ceil(chunks)))
}

/// Empty parts cost memory too; more of them than this are a mistake.
const MOST_EMPTY_PARTS: usize = 1 << 24;

/// Making a view takes as long as touching so many elements.
const MADE: usize = 1 << 7;

/// How `tensor_split` divides a dimension.
#[derive(Clone, Copy, Debug)]
pub enum Sections<'a> {
    /// Into so many parts whose lengths differ by at most one.
    Count(i64),
    /// Before each of these elements.
    Indices(&'a [i64]),
}

/// Parts of a dimension, each a view of its own.
pub fn tensor_split(x: &Tensor, sections: Sections<'_>, dim: i64) -> Result<Vec<Tensor>> {
    if x.ndim() == 0 {
        return Err(Error::TensorSplitScalar {}.into());
    }
    let (dim, size) = divided(x, dim, "tensor_split")?;
    let part = |start, end| take_slice(x, sliced(dim, size, start, end, 1)?, dim as i64, start, end);
    match sections {
        Sections::Count(count) if count <= 0 => Err(Error::SectionCount { sections: count }.into()),
        Sections::Count(count) if count as u64 > MOST_EMPTY_PARTS as u64 => {
            Err(Error::OutOfMemory { bytes: count as u64 }.into())
        }
        Sections::Count(count) => {
            let (shortest, longer) = (size as i64 / count, size as i64 % count);
            let start = |index: i64| index * shortest + index.min(longer);
            (0..count).map(|index| part(Some(start(index)), Some(start(index + 1)))).collect()
        }
        Sections::Indices(indices) => {
            let starts = std::iter::once(Some(0)).chain(indices.iter().copied().map(Some));
            let ends = indices.iter().copied().map(Some).chain(std::iter::once(Some(size as i64)));
            starts.zip(ends).map(|(start, end)| part(start, end)).collect()
        }
    }
}

const SPLIT: &str =
    "Splits the tensor along a dimension into chunks of a size, or of the given sizes, as views.";

const SIDES: &[&str] = &[
    "(Tensor input, int sections) -> tuple[Tensor, ...]",
    "(Tensor input, int[] indices) -> tuple[Tensor, ...]",
];

const SECTIONS: &[&str] = &[
    "(Tensor input, int sections, int dim=0) -> tuple[Tensor, ...]",
    "(Tensor input, int[] indices, int dim=0) -> tuple[Tensor, ...]",
    "(Tensor input, Tensor tensor_indices_or_sections, int dim=0) -> tuple[Tensor, ...]",
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "unbind",
        &["(Tensor input, int dim=0) -> tuple[Tensor, ...]"],
        "Removes a dimension: a tuple of the slices along it, as views.",
        |a| unbind(a.tensor(0)?, a.int(1)?).reply(),
    )
    .operators(&[("UnbindBackward0", "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]")]),
    function(
        "split",
        &[
            "(Tensor tensor, SymInt split_size_or_sections, int dim=0) -> tuple[Tensor, ...]",
            "(Tensor tensor, int[] split_size_or_sections, int dim=0) -> tuple[Tensor, ...]",
        ],
        SPLIT,
        split_,
    )
    .operators(&[(
        "SplitBackward0",
        "split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]",
    )]),
    method(
        "split",
        &[
            "(Tensor input, SymInt split_size, int dim=0) -> tuple[Tensor, ...]",
            "(Tensor input, int[] split_size, int dim=0) -> tuple[Tensor, ...]",
        ],
        SPLIT,
        split_,
    ),
    both(
        "split_with_sizes",
        &["(Tensor input, int[] split_sizes, int dim=0) -> tuple[Tensor, ...]"],
        "Splits the tensor along a dimension into chunks of the given sizes, as views.",
        |a| split_with_sizes(a.tensor(0)?, &a.ints(1)?, a.int(2)?).reply(),
    )
    .operators(&[(
        "SplitWithSizesBackward0",
        "split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    )]),
    both(
        "chunk",
        &["(Tensor input, int chunks, int dim=0) -> tuple[Tensor, ...]"],
        "Splits the tensor along a dimension into at most `chunks` parts of equal size, as views.",
        |a| chunk(a.tensor(0)?, a.int(1)?, a.int(2)?).reply(),
    ),
    both(
        "hsplit",
        SIDES,
        "Splits the tensor horizontally: along the second dimension, or the first of a one-dimensional one.",
        |a| {
            let dim = if a.tensor(0)?.ndim() == 1 { 0 } else { 1 };
            sides(a, "hsplit", 1, dim)
        },
    ),
    both("vsplit", SIDES, "Splits the tensor vertically: along the first dimension.", |a| {
        sides(a, "vsplit", 2, 0)
    }),
    both("dsplit", SIDES, "Splits the tensor depthwise: along the third dimension.", |a| {
        sides(a, "dsplit", 3, 2)
    }),
    both(
        "tensor_split",
        SECTIONS,
        "Splits the tensor along a dimension into a number of parts or at indices, as views.",
        tensor_split_call,
    ),
];

fn split_(arguments: &dyn Arguments) -> Result<Reply> {
    let (x, dim) = (arguments.tensor(0)?, arguments.int(2)?);
    match arguments.overload() {
        0 => split(x, arguments.int(1)?, dim),
        _ => split_with_sizes(x, &arguments.ints(1)?, dim),
    }
    .reply()
}

/// Parts of a dimension, of one size or between indices.
fn sides(a: &dyn Arguments, operation: &'static str, least: usize, dim: usize) -> Result<Reply> {
    let x = a.tensor(0)?;
    if x.ndim() < least {
        return Err(Error::SplitRank { operation, least, ndim: x.ndim() }.into());
    }
    if a.overload() == 1 {
        return tensor_split(x, Sections::Indices(&a.ints(1)?), dim as i64).reply();
    }
    let (sections, size) = (a.int(1)?, x.layout().shape()[dim]);
    if sections <= 0 || size as i64 % sections != 0 {
        return Err(Error::SplitUneven { operation, dim, size, sections }.into());
    }
    tensor_split(x, Sections::Count(sections), dim as i64).reply()
}

fn tensor_split_call(arguments: &dyn Arguments) -> Result<Reply> {
    let (x, dim) = (arguments.tensor(0)?, arguments.int(2)?);
    match arguments.overload() {
        0 => tensor_split(x, Sections::Count(arguments.int(1)?), dim),
        1 => tensor_split(x, Sections::Indices(&arguments.ints(1)?), dim),
        _ => {
            let sections = arguments.tensor(1)?;
            if sections.dtype() != DType::Int64 {
                return Err(Error::SectionsDType { dtype: sections.dtype() }.into());
            }
            if sections.ndim() > 1 {
                return Err(Error::SectionsRank { ndim: sections.ndim() }.into());
            }
            match (sections.ndim(), sections.to_vec::<i64>()?.as_slice()) {
                (0, &[count]) => tensor_split(x, Sections::Count(count), dim),
                (_, indices) => tensor_split(x, Sections::Indices(indices), dim),
            }
        }
    }
    .reply()
}
