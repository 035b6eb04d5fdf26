//! Writes to whole slices of a dimension: `index_add`, `index_copy` and `index_fill`.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row, damaged, plain};
use crate::schema::Operator;
use smallvec::{SmallVec, smallvec};

use super::{Slices, as_elements};
use crate::dispatch::apply::{Arrays, Keep, Op, Overwrite, Unsigned, apply_in_place, apply_one, one, single};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::record::records;
use crate::dispatch::{binary, in_place};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::ops::creation::{copy, create};
use crate::ops::geometry::squeeze;
use crate::ops::geometry::squeeze::Squeezed;
use crate::ops::geometry::{expand, reshape};
use crate::ops::indexing::gather;
use crate::ops::indexing::indexed::tangent_or_zeros;
use crate::ops::indexing::places::write_slices;
use crate::ops::pointwise::arithmetic;
use crate::ops::pointwise::{compare, select};
use crate::ops::reduction::reduce;
use crate::ops::{add, mul};
use crate::shape::{self, Dims};
use crate::tensor::{Array, Tensor};

/// What becomes of a slice that is written to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    /// So many times another slice is added.
    Add(Scalar),
    /// Another slice takes its place.
    Copy,
    /// A number takes the place of its elements.
    FillNumber(Scalar),
    /// The element of a tensor without dimensions takes their place.
    Fill,
}

/// y = x, but its named slices are those of v, or have α of them added, or are filled with v
///
/// dy is dx and dv so combined; x̄ is ȳ, with zeros for the slices that were replaced; v̄ is the
/// slices of ȳ, times α, or their sum
#[derive(Clone)]
pub(super) struct IndexWrite {
    pub(super) slices: Slices,
    pub(super) mode: Mode,
}

impl IndexWrite {
    /// Whether torch keeps what is written.
    fn keeps_source(&self) -> bool {
        matches!(self.mode, Mode::Add(_) | Mode::Copy)
    }
}

impl Op for IndexWrite {
    type Saved = ([Option<SavedTensor>; 2], usize);
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const SAVED: &'static [&'static str] = &["index", "source"];

    fn name(&self) -> &'static str {
        match self.mode {
            Mode::Add(_) => "IndexAddBackward0",
            Mode::Copy => "IndexCopyBackward0",
            Mode::FillNumber(_) => "IndexFillBackward0",
            Mode::Fill => "IndexFillBackward1",
        }
    }

    fn saved_names(&self) -> &'static [&'static str] {
        if self.keeps_source() { Self::SAVED } else { &["index", ""] }
    }

    fn shown(&self, (_, source_dim): &Self::Saved) -> Attributes {
        let mut shown = shown! { dim: self.slices.named };
        if self.keeps_source() {
            shown.extend(shown! { source_dim: *source_dim });
        }
        if let Mode::Add(alpha) = self.mode {
            shown.extend(shown! { alpha: alpha });
        }
        shown
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        self.overwritten(inputs)
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        smallvec![self.slices.held()]
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(IndexWrite { slices: self.slices.with_held(&held[0])?, mode: self.mode })
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        let source = self.keeps_source();
        let wanted = source && keep.needs(1);
        let source_dim = if source { keep.layout(1).ndim() } else { 0 };
        // What is added needs no index of its own gradient.
        let index = (wanted || !matches!(self.mode, Mode::Add(_))).then(|| self.slices.keep());
        ([index, keep.input_if(wanted, 1)], source_dim)
    }

    fn vjp(&self, (kept, source_dim): &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        at.check(kept.iter().flatten())?;
        let gradient = single(gradients);
        let x = match (at.needs(0), self.mode) {
            (true, Mode::Add(_)) => Some(gradient.clone()),
            (true, _) => Some(self.slices.zero(gradient)?),
            (false, _) => None,
        };
        let selected = || {
            let slices = self.slices.select(gradient)?;
            let shape = slices.layout();
            // To a tensor without dimensions comes a source of one element.
            if shape.ndim() < *source_dim {
                return reshape::reshape_to(&slices, &Dims::from_elem(1, *source_dim));
            }
            // Recorded, they are shown in the shape of the source, even if they have it.
            let viewed = *source_dim > 0 && records(&[&slices]);
            if viewed { expand::expanded(&slices, shape.shape()) } else { Ok(slices) }
        };
        let values = match (self.mode, at.node.edges().len() > 1 && at.needs(1)) {
            (_, false) | (Mode::FillNumber(_), _) => None,
            (Mode::Add(alpha), _) if alpha.to_f64() != 1.0 => Some(mul(&selected()?, alpha)?),
            (Mode::Add(_) | Mode::Copy, _) => Some(selected()?),
            (Mode::Fill, _) => Some(reduce::sum(&self.slices.once()?.select(gradient)?, None, false, None)?),
        };
        Ok(match self.mode {
            Mode::FillNumber(_) => smallvec![x],
            _ => smallvec![x, values],
        })
    }

    fn jvp(&self, (kept, _): &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        at.check(kept.iter().flatten())?;
        let shape = at.node.form(0).layout.clone();
        let x = tangent_or_zeros(at, tangents, 0, shape.shape())?;
        match tangents.get(1).cloned().flatten() {
            Some(values) => {
                one(apply_one(IndexWrite { slices: self.slices.clone(), mode: self.mode }, &[&x, &values])?)
            }
            None if matches!(self.mode, Mode::Add(_)) => one(x),
            None => one(self.slices.zero(&x)?),
        }
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let Some(values) = call.inputs.get(1) else {
            return call.deeper(IndexWrite { slices: self.slices.deeper(), mode: self.mode });
        };
        let (x, slices) = (call.inputs[0].vectors(call.size)?, self.slices.deeper());
        // One element for all slices of a sample is spread over them.
        let (mode, values) = match values.dim {
            None if values.rank() == 0 => (self.mode, values.value.clone()),
            _ if values.rank() > 0 => (self.mode, values.front(call.size)?),
            _ => {
                let (shape, mut line) = (slices.shape(x.layout().shape()), Dims::from_elem(1, x.ndim()));
                line[0] = call.size;
                let each = reshape::reshape_to(&values.moved(0)?, &line)?;
                let mode = if self.mode == Mode::Fill { Mode::Copy } else { self.mode };
                (mode, expand::expand_to(&each, &shape)?)
            }
        };
        let y = apply_one(IndexWrite { slices, mode }, &[&x, &values])?;
        let y = if call.inputs[0].rank() == 0 { squeeze::squeeze(&y, Squeezed::One(1))? } else { y };
        Ok(smallvec![Samples::first(y)])
    }
}

impl Overwrite for IndexWrite {
    /// The one value of all slices is read before any is written.
    fn reads_apart(&self) -> bool {
        !matches!(self.mode, Mode::Fill | Mode::FillNumber(_))
    }

    fn keeps_order(&self) -> bool {
        matches!(self.mode, Mode::Fill | Mode::FillNumber(_))
    }

    fn in_place_name(&self) -> &'static str {
        match self.mode {
            Mode::Add(_) => "index_add_",
            Mode::Copy => "index_copy_",
            Mode::Fill | Mode::FillNumber(_) => "index_fill_",
        }
    }

    fn overwrite(&self, target: &Array, inputs: &[Array]) -> Result<()> {
        let Slices { dim, places, .. } = &self.slices;
        let shape = self.slices.shape(target.layout.shape());
        let values = match (self.mode, inputs.get(1)) {
            (Mode::FillNumber(value), _) => Array::from_scalar(value, target.dtype)?,
            (Mode::Add(alpha), Some(values)) if alpha != Scalar::Int(1) => {
                copy::converted(&binary::numbers(arithmetic::Mul, values, alpha)?, target.dtype)?
            }
            (_, Some(values)) => copy::as_type(values, target.dtype)?.into_owned(),
            (_, None) => unreachable!("slices are written from a tensor"),
        };
        let values = match values.layout.ndim() {
            0 => values.expanded(&shape)?,
            _ => values,
        };
        write_slices(target, *dim, places, &values, matches!(self.mode, Mode::Add(_)));
        Ok(())
    }
}

/// The sizes of a tensor, of which one without dimensions has one.
fn sizes(x: &Tensor) -> Dims {
    let layout = x.layout();
    if layout.ndim() == 0 { smallvec![1] } else { layout.shape().into() }
}

fn adding(x: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<IndexWrite> {
    let (named, dim) = (dim, shape::normalize_dim(dim, x.ndim())?);
    if !matches!(index.dtype(), DType::Int32 | DType::Int64) {
        return Err(Error::IndexAddDType { dtype: index.dtype() }.into());
    }
    if x.dtype() != source.dtype() {
        return Err(Error::IndexAddDTypes { dtype1: x.dtype(), dtype2: source.dtype() }.into());
    }
    if index.ndim() > 1 {
        let (ndim, dtype, shape) = (index.ndim(), index.dtype(), index.layout().shape().to_vec());
        return Err(Error::IndexAddVector { ndim, dtype, shape }.into());
    }
    let (shape, found) = (sizes(x), sizes(source));
    let Some(&size) = found.get(dim) else {
        return Err(Error::IndexAddDim { dim, ndim: source.ndim() }.into());
    };
    if index.numel() != size {
        if source.ndim() == 0 {
            return Err(Error::DimOfScalar { dim: dim as i64 }.into());
        }
        return Err(Error::IndexAddCount { indices: index.numel(), size, dim }.into());
    }
    let others = |sizes: &[usize]| shape::reduced_shape(sizes, &[dim], false);
    if x.ndim() != source.ndim() || others(&shape) != others(&found) {
        let (shape, source) = (x.layout().shape().to_vec(), source.layout().shape().to_vec());
        return Err(Error::IndexAddShape { shape, source }.into());
    }
    let slices = Slices::new(x, named, index, false, |index, size| Error::GatherRange { index, dim, size })?;
    Ok(IndexWrite { slices, mode: Mode::Add(alpha) })
}

/// The tensor with `alpha` times the slices of `source` added to the slices that an index names.
pub fn index_add(x: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<Tensor> {
    let op = adding(x, dim, index, source, alpha)?;
    if batch::is_batched(index) && x.ndim() > 0 {
        let source = if alpha == Scalar::Int(1) { source.clone() } else { mul(source, alpha)? };
        let dim = op.slices.dim;
        return gather::scatter_add(x, dim as i64, &as_elements(index, x, dim)?, &source);
    }
    apply_one(op, &[x, source])
}

/// `index_add` in place.
pub fn index_add_(x: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<()> {
    if batch::is_batched(index) {
        return batch::through(x, &[index, source], "index_add_", |x| {
            index_add(x, dim, index, source, alpha)
        });
    }
    apply_in_place(adding(x, dim, index, source, alpha)?, &[x, source])
}

fn copying(x: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<IndexWrite> {
    let (named, dim) = (dim, shape::normalize_dim(dim, x.ndim())?);
    if index.ndim() > 1 {
        return Err(Error::IndexCopyVector { ndim: index.ndim() }.into());
    }
    if source.ndim() == 0 && index.numel() != 1 {
        return Err(Error::IndexCopyScalar { count: index.numel() }.into());
    }
    if index.dtype() != DType::Int64 {
        return Err(Error::LongIndex { operation: "index_copy_", dtype: index.dtype() }.into());
    }
    if x.dtype() != source.dtype() {
        return Err(Error::IndexCopyDTypes { dtype1: x.dtype(), dtype2: source.dtype() }.into());
    }
    let (ndim, given) = (x.ndim(), source.ndim());
    if ndim > 0 && given > 0 && ndim != given {
        return Err(Error::IndexCopyDimensions { source: given, destination: ndim }.into());
    }
    let others = |x: &Tensor| shape::reduced_shape(x.layout().shape(), &[dim], false);
    let (destination, found) = (others(x), others(source));
    if destination != found {
        let words = |sizes: &Dims| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        let (destination, source) = (words(&destination), words(&found));
        return Err(Error::IndexCopyShape { destination, dim, source }.into());
    }
    let size = sizes(source).get(dim).copied().unwrap_or(1);
    if index.numel() != size {
        return Err(Error::IndexCopyCount { indices: index.numel(), size }.into());
    }
    let slices =
        Slices::new(x, named, index, false, |index, size| Error::IndexCopyRange { index, dim, size })?;
    Ok(IndexWrite { slices, mode: Mode::Copy })
}

/// The tensor with the slices of `source` in place of those that an index names.
pub fn index_copy(x: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
    let op = copying(x, dim, index, source)?;
    if batch::is_batched(index) && x.ndim() > 0 && source.ndim() > 0 {
        let dim = op.slices.dim;
        return gather::scatter(x, dim as i64, &as_elements(index, x, dim)?, source);
    }
    apply_one(op, &[x, source])
}

/// `index_copy` in place.
pub fn index_copy_(x: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<()> {
    if batch::is_batched(index) {
        return batch::through(x, &[index, source], "inplace arithmetic", |x| {
            index_copy(x, dim, index, source)
        });
    }
    apply_in_place(copying(x, dim, index, source)?, &[x, source])
}

type Inputs<'a> = SmallVec<[&'a Tensor; 2]>;

fn filling<'a>(
    x: &'a Tensor,
    dim: i64,
    index: &Tensor,
    value: Operand<'a>,
) -> Result<(IndexWrite, Inputs<'a>)> {
    if let Some(value) = value.tensor().filter(|value| value.ndim() > 0) {
        return Err(Error::IndexFillValue { ndim: value.ndim() }.into());
    }
    let (named, dim) = (dim, shape::normalize_dim(dim, x.ndim())?);
    if index.dtype() != DType::Int64 {
        return Err(Error::IndexFillDType {}.into());
    }
    if index.ndim() > 1 {
        return Err(Error::IndexFillVector {}.into());
    }
    let (mode, inputs) = match value {
        Operand::Tensor(value) => (Mode::Fill, smallvec![x, value]),
        Operand::Scalar(value) => {
            create::check_value(value, x.dtype())?;
            (Mode::FillNumber(value), smallvec![x])
        }
    };
    let slices = Slices::new(x, named, index, true, |index, size| Error::IndexRange { index, dim, size })?;
    Ok((IndexWrite { slices, mode }, inputs))
}

/// The tensor with a number in the slices that an index names.
pub fn index_fill<'a>(
    x: &'a Tensor,
    dim: i64,
    index: &Tensor,
    value: impl Into<Operand<'a>>,
) -> Result<Tensor> {
    let value = value.into();
    let (op, inputs) = filling(x, dim, index, value)?;
    if batch::is_batched(index) && x.ndim() > 0 {
        let dim = op.slices.dim;
        let size = x.layout().shape()[dim] as i64;
        let from_start = select::where_(&compare::lt(index, 0i64)?, &add(index, size)?, index)?;
        let places = as_elements(&from_start, x, dim)?;
        let value = match value {
            Operand::Tensor(value) => Value::Tensor(expand::expand_to(value, places.layout().shape())?),
            Operand::Scalar(value) => Value::Scalar(value),
        };
        return gather::scatter(x, dim as i64, &places, &value);
    }
    apply_one(op, &inputs)
}

/// `index_fill` in place.
pub fn index_fill_<'a>(x: &'a Tensor, dim: i64, index: &Tensor, value: impl Into<Operand<'a>>) -> Result<()> {
    let value = value.into();
    if batch::is_batched(index) {
        let others: Inputs<'_> = std::iter::once(index).chain(value.tensor()).collect();
        return batch::through(x, &others, "inplace arithmetic", |x| index_fill(x, dim, index, value));
    }
    if !x.layout().is_non_overlapping() {
        let others: Inputs<'_> = value.tensor().into_iter().collect();
        return in_place::through_repeated(x, &others, |x| index_fill(x, dim, index, value));
    }
    let (op, inputs) = filling(x, dim, index, value)?;
    apply_in_place(op, &inputs)
}

/// What torch's dispatcher calls the operators that no entry names.
pub(crate) const OPERATORS: &[Operator] = &[
    (
        "IndexAddBackward0",
        "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    ),
    ("IndexCopyBackward0", "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor"),
    (
        "IndexFillBackward0",
        "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    ),
    (
        "IndexFillBackward1",
        "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    ),
];

impl Plain for Mode {
    fn write(&self, to: &mut Vec<u8>) {
        match *self {
            Mode::Add(alpha) => (0u8, alpha).write(to),
            Mode::Copy => 1u8.write(to),
            Mode::FillNumber(value) => (2u8, value).write(to),
            Mode::Fill => 3u8.write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Mode> {
        Ok(match u8::read(from)? {
            0 => Mode::Add(Scalar::read(from)?),
            1 => Mode::Copy,
            2 => Mode::FillNumber(Scalar::read(from)?),
            3 => Mode::Fill,
            _ => return Err(damaged("a write is unknown")),
        })
    }
}

plain! {
    struct IndexWrite { slices, mode }
}

/// How writes to slices are written as plain data.
pub(crate) const ROWS: &[Row] =
    &[portable::row::<IndexWrite>("index write"), portable::row_of_write::<IndexWrite>("index write_")];
