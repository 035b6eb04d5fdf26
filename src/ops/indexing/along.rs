//! Whole slices of a dimension named by a vector of indices: `index_select`. Its reverses are in `writes`.

pub(in crate::ops) mod writes;

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row, plain};
use crate::ops::creation::cast;
use crate::ops::creation::copy;
use crate::ops::geometry::reshape;
use crate::schema::warn_repeated;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Types, UnbatchedTarget, both, method, receiver};
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::direct::Direct;
use crate::dispatch::long_work;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, Source};
use crate::kernels::indexing::gather as kernels;
use crate::ops::creation::create;
use crate::ops::geometry::expand;
use crate::ops::indexing::directly::{Named, What};
use crate::ops::indexing::gather;
use crate::shape::{self, Dims, SharedLayout};
use crate::storage;
use crate::tensor::{Array, Tensor};
use writes::{IndexWrite, Mode};
pub use writes::{index_add, index_add_, index_copy, index_copy_, index_fill, index_fill_};

/// Slices of a dimension: which, and the indices as they were given.
#[derive(Clone)]
struct Slices {
    dim: usize,
    /// The dimension as the caller named it.
    named: i64,
    places: Arc<Vec<i64>>,
    given: Array,
    /// Of how many, and whether negative numbers count from the end.
    size: usize,
    negative: bool,
}

impl Slices {
    /// The slices that `index` names, after `bad` has said no to those that are not there.
    fn new(
        x: &Tensor,
        named: i64,
        index: &Tensor,
        negative: bool,
        bad: impl FnOnce(i64, usize) -> Error,
    ) -> Result<Slices> {
        let dim = shape::normalize_dim(named, x.ndim())?;
        let given = index.array();
        let size = x.layout().size(dim);
        let places = counted(&given, size, negative)?.map_err(|index| bad(index, size))?;
        Ok(Slices { dim, named, places: places.into(), given, size, negative })
    }

    /// The index, which is among the operands where an operation is to be computed again.
    fn held(&self) -> Tensor {
        Tensor::from_array(self.given.clone())
    }

    /// The slices that another index names in its place.
    fn with_held(&self, index: &Tensor) -> Result<Slices> {
        let given = index.array();
        let places = counted(&given, self.size, self.negative)?.map_err(|_| Error::IndexSelectRange {})?;
        Ok(Slices { places: places.into(), given, ..self.clone() })
    }

    fn keep(&self) -> SavedTensor {
        SavedTensor::new(self.given.clone(), Source::Constant)
    }

    /// The same slices behind one more dimension.
    fn deeper(&self) -> Slices {
        Slices { dim: self.dim + 1, ..self.clone() }
    }

    /// A shape with as many slices as are named.
    fn shape(&self, source: &[usize]) -> Dims {
        let mut shape: Dims = source.into();
        if let Some(size) = shape.get_mut(self.dim) {
            *size = self.places.len();
        }
        shape
    }

    fn select(&self, x: &Tensor) -> Result<Tensor> {
        apply_one(IndexSelect { slices: self.clone() }, &[x])
    }

    fn zero(&self, x: &Tensor) -> Result<Tensor> {
        let mode = Mode::FillNumber(Scalar::Int(0));
        apply_one(IndexWrite { slices: self.clone(), mode }, &[x])
    }

    /// Each slice once, however often it is named.
    fn once(&self) -> Result<Slices> {
        let mut places = storage::collected(self.places.len(), self.places.iter().copied())?;
        places.sort_unstable();
        places.dedup();
        Ok(Slices { places: places.into(), ..self.clone() })
    }
}

/// The elements of an index of slices of so many, all counted from the first, or one that names no slice.
fn counted(index: &Array, size: usize, negative: bool) -> Result<std::result::Result<Vec<i64>, i64>> {
    long_work::patiently(index.layout.numel() as u64, || {
        let index = copy::converted(index, DType::Int64)?;
        let given = index.slice::<i64>().unwrap_or_else(|| unreachable!("the indices are in order"));
        let places = kernels::counted(given, size, negative, storage::room(given.len())?);
        Ok(places)
    })
}

/// y = the named slices of x
///
/// dy is those of dx; x̄ is ȳ added to zeros at the slices
#[derive(Clone)]
struct IndexSelect {
    slices: Slices,
}

impl Op for IndexSelect {
    type Saved = (SavedTensor, SharedLayout);
    const MOVES: bool = true;
    const SAVED: &'static [&'static str] = &["index"];

    fn name(&self) -> &'static str {
        "IndexSelectBackward0"
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        shown! { dim: self.slices.named, self_sym_sizes: &saved.1 }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let Slices { dim, places, .. } = &self.slices;
        let mut y = Array::uninit_shape(&self.slices.shape(x.layout.shape()), x.dtype)?;
        dispatch!(bits x.dtype, T => {
            kernels::index_select(x.view::<T>(), *dim, places, y.fresh::<T>());
        });
        Ok(smallvec![y])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        let what = What::Slices { negative: self.slices.negative };
        Some(Arc::new(Named { dim: self.slices.dim, what }))
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        let layout = &inputs[0].layout;
        let slices = layout.shape().get(self.slices.dim).map_or(1, |&size| size.max(1));
        (layout.numel() / slices).saturating_mul(self.slices.places.len()) as u64
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        (self.slices.keep(), keep.layout(0))
    }

    fn vjp(&self, (index, source): &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        at.load(index)?;
        let gradient = single(gradients);
        let zeros = create::zeros(&shape::signed(source.shape()), gradient.dtype())?;
        let add = IndexWrite { slices: self.slices.clone(), mode: Mode::Add(Scalar::Int(1)) };
        one(apply_one(add, &[&zeros, gradient])?)
    }

    fn jvp(&self, (index, _): &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        at.load(index)?;
        one(self.slices.select(tangent(tangents))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.deeper(IndexSelect { slices: self.slices.deeper() })
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        smallvec![self.slices.held()]
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(IndexSelect { slices: self.slices.with_held(&held[0])? })
    }
}

/// The rows of a table that an index names, in the shape of the index.
pub(crate) fn rows(table: &Array, index: &Array) -> Result<Array> {
    let &[count, width] = table.layout.shape() else { unreachable!("a table has rows") };
    let index = copy::converted(index, DType::Int64)?;
    let places = index.slice::<i64>().unwrap_or_else(|| unreachable!("the indices are in order"));
    if count == 0 && !places.is_empty() {
        return Err(Error::IndexSelectEmpty {}.into());
    }
    if !places.iter().all(|&place| usize::try_from(place).is_ok_and(|place| place < count)) {
        return Err(Error::IndexSelectRange {}.into());
    }
    let mut y = Array::uninit_shape(&[places.len(), width], table.dtype)?;
    dispatch!(bits table.dtype, T => {
        kernels::index_select(table.view::<T>(), 0, places, y.fresh::<T>());
    });
    let shape = [index.layout.shape(), &[width]].concat();
    y.in_shape(&shape)
}

/// The slices of a dimension in the order of an index.
pub fn index_select(x: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    let ndim = x.ndim();
    let (named, dim) = (dim, shape::normalize_dim(dim, ndim)?);
    if index.ndim() > 1 {
        return Err(Error::IndexVector { operation: "index_select" }.into());
    }
    if !matches!(index.dtype(), DType::Int32 | DType::Int64) {
        return Err(Error::IndexDTypeOf { operation: "index_select", expected: "int32 or int64" }.into());
    }
    if ndim == 0 && index.numel() != 1 {
        return Err(Error::IndexScalarCount { count: index.numel() }.into());
    }
    if batch::is_batched(index) && ndim > 0 {
        return gather::gather(x, named, &as_elements(index, x, dim)?);
    }
    if ndim > 1 && x.layout().size(dim) == 0 && index.numel() > 0 {
        return Err(Error::IndexSelectEmpty {}.into());
    }
    let slices = Slices::new(x, named, index, false, |index, size| match dim {
        1 => Error::IndexSelectMatrix { index, size },
        _ => Error::IndexSelectRange {},
    })?;
    slices.select(x)
}

/// An index of slices as one of their elements: what works where each sample has its own.
fn as_elements(index: &Tensor, x: &Tensor, dim: usize) -> Result<Tensor> {
    let mut shape: Dims = x.layout().shape().into();
    let mut line = Dims::from_elem(1, shape.len());
    (shape[dim], line[dim]) = (index.numel(), index.numel());
    let index = cast::to_dtype(index, DType::Int64)?;
    expand::expand_to(&reshape::reshape_to(&index, &line)?, &shape)
}

const ADDED: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor source, *, Number alpha=1, Tensor out=None)"];

const ADD: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor source, *, Number alpha=1)"];

const COPIED: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor source, *, Tensor out=None)"];

const COPY: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor source)"];

const FILL: &[&str] = &[
    "(Tensor input, int dim, Tensor index, Tensor value)",
    "(Tensor input, int dim, Tensor index, Number value)",
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "index_select",
        &["(Tensor input, int dim, Tensor index, *, Tensor out=None)"],
        "The slices of a dimension at the given indices.",
        |a| index_select(a.tensor(0)?, a.int(1)?, a.tensor(2)?).reply(),
    )
    .written(&OutPolicy::APART.once().typed(Types::Picked))
    .operators(&[("IndexSelectBackward0", "index_select")]),
    both(
        "index_add",
        ADDED,
        "A copy of `input` with the slices of `source` added at the given indices of a dimension.",
        |a| {
            let (x, dim, index, source) = slices(a)?;
            index_add(x, dim, index, source, a.number(4)?).reply()
        },
    )
    .written(&OutPolicy::OF_FIRST.typed(Types::Same)),
    method(
        "index_add_",
        ADD,
        "Adds the slices of `source` at the given indices of a dimension, in place.",
        |a| {
            let (x, dim, index, source) = slices(a)?;
            receiver(a, index_add_(x, dim, index, source, a.number(4)?))
        },
    )
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("index_add_"))),
    both(
        "index_copy",
        COPIED,
        "A copy of `input` with the slices of `source` at the given indices of a dimension.",
        |a| {
            let (x, dim, index, source) = slices(a)?;
            index_copy(x, dim, index, source).reply()
        },
    )
    .written(&OutPolicy::OF_FIRST.typed(Types::Same)),
    method(
        "index_copy_",
        COPY,
        "Copies the slices of `source` to the given indices of a dimension, in place.",
        |a| {
            let (x, dim, index, source) = slices(a)?;
            receiver(a, index_copy_(x, dim, index, source))
        },
    ),
    both("index_fill", FILL, "A copy of `input` with a value at the given indices of a dimension.", |a| {
        index_fill(a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?).reply()
    }),
    method(
        "index_fill_",
        FILL,
        "Fills the slices at the given indices of a dimension with a value, in place.",
        |a| {
            warn_repeated(a.tensor(0)?, "index_fill_", "tensor[mask] = scalar")?;
            receiver(a, index_fill_(a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?))
        },
    )
    .written(
        &OutPolicy::PLAIN
            .in_place_as(|given| given.named(2, ".int_Tensor", ".int_Scalar"))
            .unbatched_target(|_| UnbatchedTarget::Rule("index_fill_")),
    ),
];

/// The tensor, the dimension, the index and the slices of `index_add` and `index_copy`.
pub(super) fn slices(arguments: &dyn Arguments) -> Result<(&Tensor, i64, &Tensor, &Tensor)> {
    Ok((arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?, arguments.tensor(3)?))
}

impl Plain for Slices {
    fn write(&self, to: &mut Vec<u8>) {
        ([self.dim, self.size], (self.named, self.negative)).write(to);
    }

    /// Slices of nothing yet: the index is an operand.
    fn read(from: &mut Reader<'_>) -> Result<Slices> {
        let ([dim, size], (named, negative)) = Plain::read(from)?;
        let given = Array::uninit_shape(&[0], DType::Int64)?;
        Ok(Slices { dim, named, places: Arc::new(Vec::new()), given, size, negative })
    }
}

plain! {
    struct IndexSelect { slices }
}

/// How slices are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<IndexSelect>("index select")];
