//! What is different among elements, and where values belong among sorted ones.

use crate::schema::{Entry, IntoReply, inner};
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::composites::checkpointed::{self, CheckpointedOp};
use crate::dispatch::modes::intercept;
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::stored;
use crate::dispatch::stored::Unsigned;
use crate::dispatch::{batch, long_work};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::graph::{following, mode};
use crate::kernels::sorting::distinct;
use crate::kernels::sorting::distinct::Groups;
use crate::ops::creation::{cast, copy};
use crate::ops::geometry::{permute, reshape};
use crate::ops::indexing::along;
use crate::ops::pointwise::compare::check_ordered;
use crate::ops::sorting::picked;
use crate::shape;
use crate::tensor::{Array, Mapping, Tensor};

/// The integers or the numbers of double precision that elements are compared as.
fn wide(dtype: DType) -> DType {
    if dtype.is_float() { DType::Float64 } else { DType::Int64 }
}

/// The elements, of the type that they are compared as, in order.
fn keys(x: &Tensor, dtype: DType) -> Result<Array> {
    let array = stored::widened(&x.array(), Unsigned::Ordered)?;
    let array = copy::as_type(&array, dtype)?;
    Ok(copy::in_order(&array)?.into_owned())
}

fn elements<T: Element>(array: &Array) -> &[T] {
    array.slice().unwrap_or_else(|| unreachable!("the elements are in order"))
}

/// Slices without elements are all alike, but no slices of one dimension are fine.
fn check_slices(shape: &[usize], dim: usize) -> Result<()> {
    let empty = shape.iter().filter(|&&size| size == 0).count();
    match shape.get(dim) {
        Some(0) if empty > 1 => Err(Error::UniqueOfNothing {}.into()),
        Some(1..) if empty > 0 => Err(Error::UniqueEmptySlices {}.into()),
        _ => Ok(()),
    }
}

/// The different elements, or slices of a dimension, the group of each one and how many each group
/// has: in ascending order, or only of neighbours.
pub fn unique(x: &Tensor, dim: Option<i64>, neighbours: bool) -> Result<(Tensor, Tensor, Tensor)> {
    following::leaves("unique");
    let (given, x) = (x, &batch::alike_in_all(x));
    let (node, operation) = match (dim, neighbours) {
        (_, true) => ("UniqueConsecutiveBackward0", "unique_consecutive"),
        (Some(_), false) => ("UniqueDimBackward0", "unique_dim"),
        (None, false) => ("Unique2Backward0", "_unique2"),
    };
    if batch::is_batched(x) {
        return Err(Error::MappedShape { operation }.into());
    }
    check_ordered(x, if dim.is_some() && x.ndim() > 0 { "unique_dim" } else { "unique" })?;
    let (line, dim) = match dim {
        None => (reshape::reshape(x, &[-1])?, 0),
        Some(dim) => {
            let dim = shape::normalize_dim(dim, x.ndim())?;
            check_slices(x.layout().shape(), dim)?;
            (x.clone(), dim as i64)
        }
    };
    let slices = if line.ndim() > 0 { permute::movedim(&line, &[dim], &[0])? } else { line.clone() };
    let count = slices.layout().shape().first().copied().unwrap_or(1);
    let compared = x.dtype().wide();
    let keys = keys(&slices, compared)?;
    let Groups { firsts, members, counts } = long_work::patiently(keys.layout.numel() as u64, || {
        dispatch!(ordered compared, T => distinct::groups(elements::<T>(&keys), count, neighbours), else {
            unreachable!("complex numbers were refused")
        })
    })?;
    let listed = |numbers: &[i64]| Tensor::from_slice(&[numbers.len()], numbers);
    let (firsts, is_line) = (listed(&firsts)?, line.ndim() != x.ndim());
    // What comes out are the first ones of their kind.
    let parts = move |inputs: &[&Tensor]| {
        if is_line {
            return Ok(smallvec![along::index_select(&reshape::reshape(inputs[0], &[-1])?, 0, &firsts)?]);
        }
        // In memory the slices lie one after another.
        let slices = permute::movedim(inputs[0], &[dim], &[0])?;
        Ok(smallvec![permute::movedim(&along::index_select(&slices, 0, &firsts)?, &[0], &[dim])?])
    };
    let values = checkpointed::apply_one(
        CheckpointedOp { linear: 1, ..CheckpointedOp::new(operation, node, &["", ""], 1, parts) },
        &[given],
    )?;
    let members = listed(&members)?;
    let whole =
        if line.ndim() == x.ndim() { members } else { reshape::reshape_to(&members, x.layout().shape())? };
    Ok((values, whole, listed(&counts)?))
}

/// The elements that differ from those before them.
fn changes(x: &Tensor) -> Result<Tensor> {
    let is_followed = mode::special() || x.requires_grad() && mode::is_grad_enabled();
    let compared = x.dtype().wide();
    if is_followed || compared != x.dtype() || x.ndim() == 0 {
        return Ok(unique(x, None, true)?.0);
    }
    following::leaves("unique");
    check_ordered(x, "unique")?;
    let keys = keys(x, compared)?;
    long_work::patiently(keys.layout.numel() as u64, || {
        dispatch!(ordered compared, T => {
            let kept = distinct::changes(elements::<T>(&keys))?;
            Tensor::from_slice(&[kept.len()], &kept)
        }, else { unreachable!("complex numbers were refused") })
    })
}

/// Where values belong among those of the last dimension of `boundaries`, which are sorted, perhaps
/// by an index: before their equals, or behind them if `right`.
pub fn searchsorted(
    boundaries: &Tensor,
    values: &Tensor,
    right: bool,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    if let Some(mapping) = batch::highest([boundaries, values].into_iter().chain(sorter)) {
        return searched(boundaries, values, right, sorter, &mapping);
    }
    if mode::special() {
        let operands: SmallVec<[Operand<'_>; 3]> =
            [boundaries, values].into_iter().chain(sorter).map(Operand::from).collect();
        let compute = move |operands: &[Value]| match &intercept::tensors(operands)[..] {
            [boundaries, values, rest @ ..] => searchsorted(boundaries, values, right, rest.first().copied()),
            _ => unreachable!("there are two at least"),
        };
        if let Some(found) = intercept::of_subclass("searchsorted", &operands, compute) {
            return found;
        }
    }
    check_ordered(values, "searchsorted_out_cpu")?;
    let (sorted, wanted) = (boundaries.layout(), values.layout());
    let Some((&length, lead)) = sorted.shape().split_last() else {
        return Err(Error::BoundariesScalar {}.into());
    };
    let fits = !wanted.shape().is_empty() && wanted.shape()[..wanted.ndim() - 1] == *lead;
    if !lead.is_empty() && !fits {
        let (boundaries, values) = (sorted.shape().to_vec(), wanted.shape().to_vec());
        return Err(Error::BoundariesShape { boundaries, values }.into());
    }
    let boundaries = match sorter {
        Some(index) => picked::take_along_dim(boundaries, &cast::to_dtype(index, DType::Int64)?, Some(-1))?,
        None => boundaries.clone(),
    };
    let dtype = match [boundaries.dtype(), values.dtype()] {
        [DType::Float32, DType::Float32] => DType::Float32,
        [boundaries, values] => wide(boundaries.promote(values)),
    };
    let (sorted, wanted) = (keys(&boundaries, dtype)?, keys(values, dtype)?);
    let row = if lead.is_empty() { 0 } else { wanted.layout.shape().last().copied().unwrap_or(1) };
    let places = long_work::patiently(wanted.layout.numel() as u64, || match dtype {
        DType::Float32 => distinct::places::<f32>(elements(&sorted), length, elements(&wanted), row, right),
        DType::Float64 => distinct::places::<f64>(elements(&sorted), length, elements(&wanted), row, right),
        _ => distinct::places::<i64>(elements(&sorted), length, elements(&wanted), row, right),
    })?;
    Tensor::from_slice(wanted.layout.shape(), &places)
}

/// `searchsorted` for the samples of a mapping.
fn searched(
    boundaries: &Tensor,
    values: &Tensor,
    right: bool,
    sorter: Option<&Tensor>,
    mapping: &Arc<Mapping>,
) -> Result<Tensor> {
    batch::check_open(mapping)?;
    let [boundaries, values] = [boundaries, values].map(|x| batch::samples(x, mapping));
    let sorter = sorter.map(|index| batch::samples(index, mapping));
    let size = mapping.size();
    batch::below(mapping, || {
        if boundaries.dim.is_none()
            && sorter.as_ref().is_none_or(|index| index.dim.is_none())
            && boundaries.rank() == 1
        {
            // All values belong among the same, wherever they lie.
            let sorter = sorter.as_ref().map(|index| &index.value);
            let found = searchsorted(&boundaries.value, &values.value, right, sorter)?;
            return Tensor::batched(found, values.dim, mapping);
        }
        let sorter = sorter.map(|index| index.front(size)).transpose()?;
        let (sorted, mut wanted) = (boundaries.front(size)?, values.front(size)?);
        let shape = wanted.layout();
        if boundaries.rank() == 1 {
            let each: usize = shape.shape()[1..].iter().product();
            wanted = reshape::reshape_to(&wanted, &[size, each])?;
        }
        let found = searchsorted(&sorted, &wanted, right, sorter.as_ref())?;
        Tensor::batched(reshape::reshape_to(&found, shape.shape())?, Some(0), mapping)
    })
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "unique_groups",
        &["(Tensor input, int? dim, bool neighbours)"],
        "The unique elements or slices, the index of each in them, and how often each occurs.",
        |a| unique(a.tensor(0)?, a.optional_int(1)?, a.boolean(2)).reply(),
    ),
    inner("changes", &["(Tensor input)"], "The elements that differ from those before them.", |a| {
        changes(a.tensor(0)?).reply()
    }),
    inner(
        "places_among",
        &["(Tensor sorted_sequence, Tensor input, bool right, Tensor? sorter, bool out_int32)"],
        "The positions at which values would be inserted into sorted sequences.",
        |a| {
            let found = searchsorted(a.tensor(0)?, a.tensor(1)?, a.boolean(2), a.optional_tensor(3));
            match a.boolean(4) {
                true => found.and_then(|found| cast::to_dtype(&found, DType::Int32)).reply(),
                false => found.reply(),
            }
        },
    ),
];
