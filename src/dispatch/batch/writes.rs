//! In-place writes to batched tensors. The value inside is written to like any tensor, so that outer levels of autograd
//! and vmap follow the write. A tensor that is not batched cannot take values that differ between samples.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{below, bound, check_open, mapping, samples};
use crate::dispatch::forward_mode::tangents;
use crate::dispatch::in_place;
use crate::dispatch::in_place::Write;
use crate::dispatch::record::{only_once, records};
use crate::error::{Error, Result};
use crate::graph::{Edge, Rule, mode};
use crate::ops::creation::cast;
use crate::ops::geometry::resize;
use crate::tensor::{Mapping, Tensor};

/// Checks that `x` has memory for every sample of the others.
fn check_room(x: &Tensor, others: &[&Tensor], mapping: &Arc<Mapping>, operation: &'static str) -> Result<()> {
    check_open(mapping)?;
    let differ = |x: &Tensor| samples(x, mapping).dim.is_some();
    if differ(x) || !others.iter().any(|other| differ(other)) {
        return Ok(());
    }
    Err(match (mapping.is_asked_for(), operation) {
        (true, operation) => Error::UnbatchedWrite { operation },
        (false, "inplace arithmetic") => {
            Error::UnbatchedFallback { operation: "copy_", level: mapping.level() }
        }
        (false, operation) => Error::UnbatchedFallback { operation, level: mapping.level() },
    }
    .into())
}

/// Overwrites the samples of `x` with those of `source`, broadcast and converted.
pub(crate) fn write(
    x: &Tensor,
    source: &Tensor,
    mapping: &Arc<Mapping>,
    operation: &'static str,
) -> Result<()> {
    check_room(x, &[source], mapping, operation)?;
    below(mapping, || {
        let (target, source) = (samples(x, mapping), samples(source, mapping));
        let source = source.aligned(target.rank())?;
        cast::copy_(&target.moved(0)?, &source)
    })
}

/// `write`, with the history that it leaves.
#[cold]
pub(crate) fn write_traced(
    x: &Tensor,
    source: &Tensor,
    mapping: &Arc<Mapping>,
    operation: &'static str,
    rule: impl Rule + 'static,
) -> Result<()> {
    let (target, values) = (bound(x, mapping)?, bound(source, mapping)?);
    let traced = Write::begin(&[&target, &values])?;
    in_place::check_broadcast(&target, &values)?;
    write(&target, &values, mapping, operation)?;
    traced.finish(|_| rule)?;
    if target.is(x) {
        return Ok(());
    }
    // What all samples share was bound for the write only; what became of it is its own.
    if let Some(Edge { node, .. }) = target.edge()? {
        in_place::rebase(x, node)?;
    }
    tangents::take_tangents(x, &target)
}

/// Writes to the value of a batched tensor with `f`.
pub(crate) fn each_in_place(x: &Tensor, f: impl FnOnce(&Tensor) -> Result<()>) -> Option<Result<()>> {
    let batch = if mode::special() { x.batch()? } else { return None };
    let write = || check_open(&batch.mapping).and_then(|()| f(&batch.value));
    Some(below(&batch.mapping, write))
}

/// Gives the samples of `x` another shape, in place.
#[cold]
pub(crate) fn resize(x: &Tensor, sizes: &[i64]) -> Result<()> {
    let Some(batch) = x.batch() else { unreachable!("the tensor is batched") };
    check_open(&batch.mapping)?;
    let mut all: SmallVec<[i64; 6]> = sizes.into();
    match batch.dim {
        Some(0) => all.insert(0, batch.mapping.size() as i64),
        Some(_) => return Err(Error::MappedResize {}.into()),
        None => {}
    }
    below(&batch.mapping, || resize::resize_(&batch.value, &all))?;
    x.show_value()
}

/// Applies `operation` to the samples of `x`, writes the result back to them, and gives `x` its history. `others` are
/// the further operands, `name` is torch's name of the operation.
#[cold]
pub(crate) fn through(
    x: &Tensor,
    others: &[&Tensor],
    name: &'static str,
    operation: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    through_any(x, others, name, &mut only_once(operation))
}

fn through_any(
    x: &Tensor,
    others: &[&Tensor],
    name: &'static str,
    operation: &mut dyn FnMut(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    let all: SmallVec<[&Tensor; 3]> = std::iter::once(x).chain(others.iter().copied()).collect();
    let Some(mapping) = mapping(all.iter().copied()) else { unreachable!("an operand is batched") };
    check_room(x, others, &mapping, name)?;
    let all: SmallVec<[Tensor; 3]> = all.iter().map(|x| bound(x, &mapping)).collect::<Result<_>>()?;
    let all: SmallVec<[&Tensor; 3]> = all.iter().collect();
    let recording = records(&all);
    in_place::check(all[0], recording)?;
    // The operation keeps the values that it sees; those of `x` itself are about to go.
    let batch = x.batch_at(&mapping);
    let before = Tensor::batched(below(&mapping, || cast::clone(&batch.value))?, batch.dim, &mapping)?;
    if recording {
        before.set_edge(all[0].gradient_edge()?);
    }
    tangents::copy_tangents(&before, all[0])?;
    let result = operation(&before)?;
    in_place::check_result(x, &result)?;
    write(x, &result, &mapping, name)?;
    if let Some(Edge { node, .. }) = result.edge()?
        && recording
    {
        in_place::rebase(x, node)?;
    }
    tangents::take_tangents(x, &result)
}
