//! Where elements are that are not zero.

use crate::ops::pointwise::select::where_;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Types, both, function, warn_once};
use smallvec::smallvec;

use crate::dispatch::modes::intercept;
use crate::dispatch::stored::Unsigned;
use crate::dispatch::{batch, long_work, stored};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::mode;
use crate::kernels::indexing::gather;
use crate::ops::geometry::{part, reshape, split};
use crate::shape::{Dims, Layout};
use crate::storage;
use crate::tensor::{Array, Tensor};

/// `nonzero` by its other name, under which it is mapped over samples as long as they have as many.
pub fn argwhere(x: &Tensor) -> Result<Tensor> {
    nonzero_of_each(x, 0)
}

/// `argwhere` of samples along `lead` first dimensions.
fn nonzero_of_each(x: &Tensor, lead: usize) -> Result<Tensor> {
    let each = |x: &[Tensor]| nonzero_of_each(&x[0], lead + 1);
    if batch::is_batched(x) && !batch::is_innermost() {
        return nonzero(x);
    }
    if let Some(found) = batch::together(&[x], "argwhere", &each) {
        return found;
    }
    let found = nonzero(x)?;
    let layout = x.layout();
    let (samples, sample) = layout.shape().split_at(lead);
    if lead == 0 {
        return Ok(found);
    }
    // The rows of one sample stand together: the first columns say whose they are.
    let mut counts = storage::filled(samples.iter().product(), 0)?;
    for row in found.to_vec::<i64>()?.chunks(layout.ndim()) {
        let number = |number, (&place, &size): (&i64, &usize)| number * size + place as usize;
        counts[row.iter().zip(samples).fold(0, number)] += 1;
    }
    let count = batch::alike_or(&counts, |&count| vec![count, sample.len()])?;
    let own = part::narrow(&found, 1, lead as i64, sample.len() as i64)?;
    let mut shape: Dims = samples.into();
    shape.extend([count, sample.len()]);
    reshape::reshape_to(&own, &shape)
}

/// How many elements are not zero, and their coordinates: column by column, since columns are what is used of it.
pub(crate) fn coordinates(array: &Array) -> Result<(usize, Array)> {
    long_work::patiently(array.layout.numel() as u64, || {
        dispatch!(all array.dtype, T => {
            let view = array.view::<T>();
            let count = gather::count_true(&view);
            let mut columns = Array::uninit_shape(&[count.saturating_mul(view.ndim())], DType::Int64)?;
            gather::nonzero(view, count, columns.fresh());
            Ok((count, columns))
        })
    })
}

/// The coordinates of the elements that are not zero, a row each.
pub fn nonzero(x: &Tensor) -> Result<Tensor> {
    let x = &batch::alike_in_all(x);
    if batch::is_batched(x) {
        return Err(Error::MappedShape { operation: "nonzero" }.into());
    }
    if mode::special()
        && let Some(y) =
            intercept::of_subclass("nonzero", &[x.into()], |operands| nonzero(intercept::first(operands)))
    {
        return y;
    }
    let (array, ndim) = (stored::widened(&x.array(), Unsigned::Wrapped)?, x.ndim());
    let (count, array) = coordinates(&array)?;
    let strides = if ndim == 0 { [1, count.max(1)] } else { [1, count] };
    let layout = Layout::strided(smallvec![count, ndim], strides.as_slice().into(), 0)?;
    Ok(Tensor::from_array(array.with_layout(layout)))
}

/// `nonzero_by_dimension` as the choice by a condition without alternatives.
pub fn chosen(condition: &Tensor) -> Result<Vec<Tensor>> {
    match batch::is_batched(&batch::alike_in_all(condition)) && batch::is_innermost() {
        true => Err(Error::MappedShape { operation: "where" }.into()),
        false => nonzero_by_dimension(condition),
    }
}

/// The coordinates of the elements that are not zero, a tensor for each dimension.
pub fn nonzero_by_dimension(x: &Tensor) -> Result<Vec<Tensor>> {
    let x = &batch::alike_in_all(x);
    if batch::is_batched(x) {
        return Err(match batch::is_innermost() {
            true => Error::MappedDecision { operation: "nonzero_numpy".to_owned() },
            false => Error::MappedShape { operation: "nonzero" },
        }
        .into());
    }
    let x = if x.ndim() == 0 { reshape::reshape_to(&x.detach(), &[1])? } else { x.detach() };
    split::unbind(&nonzero(&x)?, 1)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "nonzero",
        &["(Tensor input, *, bool as_tuple=False, Tensor out=None) -> Tensor | tuple[Tensor, ...]"],
        "The indices of all elements that are not zero.",
        |a| match a.boolean(1) {
            true => nonzero_by_dimension(a.tensor(0)?).reply(),
            false => nonzero(a.tensor(0)?).reply(),
        },
    )
    .written(&OutPolicy::PLAIN.once().unrecorded().typed(Types::Nonzero))
    .operators(&[("-", "nonzero(Tensor self) -> Tensor | dynamic_output_shape")]),
    both(
        "argwhere",
        &["(Tensor input)"],
        "The indices of all elements that are not zero, a row each.",
        |a| argwhere(a.tensor(0)?).reply(),
    ),
    function(
        "where",
        &[
            "(Tensor condition) -> tuple[Tensor, ...]",
            "(Tensor condition, Tensor input, Tensor other, *, Tensor out=None)",
            "(Tensor condition, Number self, Tensor other)",
            "(Tensor condition, Tensor input, Number other)",
            "(Tensor condition, Number self, Number other)",
        ],
        "Elements of `input` where the condition is true, and of `other` elsewhere.",
        chosen_or_found,
    )
    .written(&OutPolicy::ALIGNED.typed(Types::Chosen).out_as(|_| ".self_out")),
];

/// `where`: a choice, or of a condition alone the indices at which it holds.
fn chosen_or_found(a: &dyn Arguments) -> Result<Reply> {
    let condition = a.tensor(0)?;
    if a.overload() == 0 {
        return chosen(condition).reply();
    }
    if condition.dtype() == DType::UInt8 {
        warn_once(Error::ByteCondition {})?;
    }
    where_(condition, a.operand(1)?, a.operand(2)?).reply()
}
