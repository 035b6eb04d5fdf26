//! Elements named by indices and masks: `gather`, `scatter`, `index_*`, `masked_*`, `take`.
use super::entries::{both, in_place, inner, method};
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, UnbatchedTarget, types};
use crate::calls::writes::warn_repeated;
use crate::error::raise;
use crate::interpreter::warnings::Once;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::Tensor;
use rushlight::dtype::DType;
use rushlight::ops::creation::cast;
use rushlight::ops::indexing::gather::{Combination, scatter_combined, scatter_combined_};
use rushlight::ops::indexing::scatter_reduce::{
    Fold, index_reduce, index_reduce_, scatter_reduce, scatter_reduce_,
};
use rushlight::ops::indexing::{along, gather, indexed, masked, nonzero};
use rushlight::ops::neural::labelling;
use rushlight::ops::sorting::{distinct, tally};

const SCATTER: &[&str] = &[
    "(Tensor input, int dim, Tensor index, Tensor src)",
    "(Tensor input, int dim, Tensor index, Tensor src, *, str reduce)",
    "(Tensor input, int dim, Tensor index, Number value)",
    "(Tensor input, int dim, Tensor index, Number value, *, str reduce)",
];
const SCATTERED: &[&str] = &[
    "(Tensor input, int dim, Tensor index, Tensor src, *, Tensor out=None)",
    "(Tensor input, int dim, Tensor index, Tensor src, *, str reduce, Tensor out=None)",
    "(Tensor input, int dim, Tensor index, Number value, *, Tensor out=None)",
    "(Tensor input, int dim, Tensor index, Number value, *, str reduce, Tensor out=None)",
];
const SCATTER_ADD: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor src)"];
const ADDED_ALONG: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor src, *, Tensor out=None)"];
const ADD: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor source, *, Number alpha=1)"];
const ADDED: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor source, *, Number alpha=1, Tensor out=None)"];
const COPY: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor source)"];
const COPIED: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor source, *, Tensor out=None)"];
const FILL: &[&str] = &[
    "(Tensor input, int dim, Tensor index, Tensor value)",
    "(Tensor input, int dim, Tensor index, Number value)",
];
const PUT: &[&str] = &["(Tensor input, Tensor[] indices, Tensor values, bool accumulate=False)"];
const MASKED_SCATTER: &[&str] = &["(Tensor input, Tensor mask, Tensor source)"];
const SCATTER_REDUCE: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True)"];
const INDEX_REDUCE: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True)"];
const COMBINED_ALONG: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, \
     Tensor out=None)"];
const COMBINED: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, \
     Tensor out=None)"];
const ELEMENTS: &[&str] = &["(Tensor input, Tensor index, Tensor source, bool accumulate=False)"];

/// The entries.
pub(super) const TABLE: &[Function] = &[
    both(
        "gather",
        &["(Tensor input, int dim, Tensor index, *, bool sparse_grad=False, Tensor out=None)"],
        "The elements that an index names one by one along a dimension.",
        |a| gather::gather(a.tensor(0)?, a.int(1)?, a.tensor(2)?).answer(a.py()),
    )
    .written(&OutPolicy::APART.typed(types::same)),
    both("scatter", SCATTERED, "Values where an index says along a dimension.", |a| {
        let (x, dim, index, values) = (a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?);
        match combination(a)? {
            None => gather::scatter(x, dim, index, values).answer(a.py()),
            Some(combine) => scatter_combined(x, dim, index, values, combine).answer(a.py()),
        }
    })
    .written(&OutPolicy::ALIGNED.typed(types::same)),
    method("scatter_", SCATTER, "Writes values where an index says along a dimension.", |a| {
        let (x, dim, index, values) = (a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?);
        match combination(a)? {
            None => in_place(a, gather::scatter_(x, dim, index, values)),
            Some(combine) => in_place(a, scatter_combined_(x, dim, index, values, combine)),
        }
    })
    .written(&OutPolicy::PLAIN.in_place_as(|given| given.named(2, ".src", ".value"))),
    both("scatter_add", ADDED_ALONG, "Values added where an index says along a dimension.", |a| {
        gather::scatter_add(a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.tensor(3)?).answer(a.py())
    })
    .written(&OutPolicy::OF_FIRST.typed(types::same)),
    method("scatter_add_", SCATTER_ADD, "Adds values where an index says along a dimension.", |a| {
        in_place(a, gather::scatter_add_(a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.tensor(3)?))
    })
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("scatter_add_"))),
    both(
        "index_select",
        &["(Tensor input, int dim, Tensor index, *, Tensor out=None)"],
        "The slices of a dimension that an index names.",
        |a| along::index_select(a.tensor(0)?, a.int(1)?, a.tensor(2)?).answer(a.py()),
    )
    .written(&OutPolicy::APART.once().typed(types::picked)),
    both("index_add", ADDED, "Slices added to those that an index names.", |a| {
        let (x, dim, index, source) = slices(a)?;
        along::index_add(x, dim, index, source, a.number(4)?).answer(a.py())
    })
    .written(&OutPolicy::OF_FIRST.typed(types::same)),
    method("index_add_", ADD, "Adds slices to those that an index names.", |a| {
        let (x, dim, index, source) = slices(a)?;
        in_place(a, along::index_add_(x, dim, index, source, a.number(4)?))
    })
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("index_add_"))),
    both("index_copy", COPIED, "Slices in place of those that an index names.", |a| {
        let (x, dim, index, source) = slices(a)?;
        along::index_copy(x, dim, index, source).answer(a.py())
    })
    .written(&OutPolicy::OF_FIRST.typed(types::same)),
    method("index_copy_", COPY, "Overwrites the slices that an index names.", |a| {
        let (x, dim, index, source) = slices(a)?;
        in_place(a, along::index_copy_(x, dim, index, source))
    }),
    both("index_fill", FILL, "A number in the slices that an index names.", |a| {
        along::index_fill(a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?).answer(a.py())
    }),
    method("index_fill_", FILL, "Fills the slices that an index names.", |a| {
        warn_repeated(a.py(), a.tensor(0)?, "index_fill_", "tensor[mask] = scalar")?;
        in_place(a, along::index_fill_(a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?))
    })
    .written(
        &OutPolicy::PLAIN
            .in_place_as(|given| given.named(2, ".int_Tensor", ".int_Scalar"))
            .unbatched_target(|_| UnbatchedTarget::Rule("index_fill_")),
    ),
    both("index_put", PUT, "Values at the elements that indices name.", |a| {
        let indices = a.tensors(1)?;
        let indices: Vec<&Tensor> = indices.iter().collect();
        indexed::index_put(a.tensor(0)?, &indices, a.tensor(2)?, a.boolean(3)).answer(a.py())
    }),
    both("index_put_", PUT, "Overwrites the elements that indices name.", |a| {
        let indices = a.tensors(1)?;
        let indices: Vec<&Tensor> = indices.iter().collect();
        warn_repeated(a.py(), a.tensor(0)?, "index_put_", "tensor[indices] = tensor")?;
        in_place(a, indexed::index_put_(a.tensor(0)?, &indices, a.tensor(2)?, a.boolean(3)))
    })
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("index_put_"))),
    both(
        "masked_select",
        &["(Tensor input, Tensor mask, *, Tensor out=None)"],
        "The elements that a mask names, in one dimension.",
        |a| masked::masked_select(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::APART.once().typed(types::picked)),
    both("masked_scatter", MASKED_SCATTER, "Elements of a tensor where a mask says so.", |a| {
        masked::masked_scatter(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?).answer(a.py())
    }),
    method("masked_scatter_", MASKED_SCATTER, "Writes elements of a tensor where a mask says so.", |a| {
        in_place(a, masked::masked_scatter_(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?))
    }),
    both(
        "take",
        &["(Tensor input, Tensor index, *, Tensor out=None)"],
        "The elements of these numbers in row-major order.",
        |a| masked::take(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::APART.once().typed(types::taken)),
    both("scatter_reduce", COMBINED_ALONG, "Elements combined where an index says.", |a| {
        let (x, dim, index, source) = slices(a)?;
        scatter_reduce(x, dim, index, source, fold(a)?, a.boolean(5)).answer(a.py())
    })
    .written(&OutPolicy::OF_FIRST.typed(types::same)),
    method("scatter_reduce_", SCATTER_REDUCE, "Combines elements where an index says.", |a| {
        let (x, dim, index, source) = slices(a)?;
        in_place(a, scatter_reduce_(x, dim, index, source, fold(a)?, a.boolean(5)))
    })
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("scatter_reduce_"))),
    both("index_reduce", COMBINED, "Slices combined with those that an index names.", |a| {
        let (x, dim, index, source) = slices(a)?;
        warn_of_beta(a.py())?;
        index_reduce(x, dim, index, source, slice_fold(a)?, a.boolean(5)).answer(a.py())
    })
    .written(&OutPolicy::OF_FIRST.typed(types::same)),
    method("index_reduce_", INDEX_REDUCE, "Combines slices with those that an index names.", |a| {
        let (x, dim, index, source) = slices(a)?;
        warn_of_beta(a.py())?;
        in_place(a, index_reduce_(x, dim, index, source, slice_fold(a)?, a.boolean(5)))
    }),
    both("put", ELEMENTS, "Elements in place of those of these numbers in row-major order.", |a| {
        masked::put(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.boolean(3)).answer(a.py())
    }),
    method("put_", ELEMENTS, "Overwrites the elements of these numbers in row-major order.", |a| {
        in_place(a, masked::put_(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.boolean(3)))
    }),
    inner(
        "unique_groups",
        &["(Tensor input, int? dim, bool neighbours)"],
        "Different elements or slices, the group of each one, and how many each group has.",
        |a| distinct::unique(a.tensor(0)?, a.optional_int(1)?, a.boolean(2)).answer(a.py()),
    ),
    inner(
        "label_states",
        &["(Tensor logarithms, Tensor skips)"],
        "The logarithms of the probabilities of all ways along steps that end in a state.",
        |a| labelling::label_states(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    ),
    inner(
        "histograms",
        &["(Tensor input, Tensor edges)"],
        "How many elements of each row lie between neighbouring edges of its own.",
        |a| tally::histograms(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    ),
    inner(
        "places_among",
        &["(Tensor sorted_sequence, Tensor input, bool right, Tensor? sorter, bool out_int32)"],
        "Where values belong among sorted ones.",
        |a| {
            let found =
                distinct::searchsorted(a.tensor(0)?, a.tensor(1)?, a.boolean(2), a.optional_tensor(3));
            match a.boolean(4) {
                true => found.and_then(|found| cast::to_dtype(&found, DType::Int32)).answer(a.py()),
                false => found.answer(a.py()),
            }
        },
    ),
    both(
        "nonzero",
        &["(Tensor input, *, bool as_tuple=False, Tensor out=None) -> Tensor | tuple[Tensor, ...]"],
        "The coordinates of the elements that are not zero.",
        |a| match a.boolean(1) {
            true => nonzero::nonzero_by_dimension(a.tensor(0)?).answer(a.py()),
            false => nonzero::nonzero(a.tensor(0)?).answer(a.py()),
        },
    )
    .written(&OutPolicy::PLAIN.once().unrecorded().typed(types::nonzero)),
    both("argwhere", &["(Tensor input)"], "The coordinates of the elements that are not zero.", |a| {
        nonzero::argwhere(a.tensor(0)?).answer(a.py())
    }),
];

/// What a scatter makes of values and what they meet, if it is to combine them.
fn combination(arguments: &Arguments<'_, '_>) -> PyResult<Option<Combination>> {
    let overload = arguments.overload();
    if matches!(overload, 0 | 2) {
        return Ok(None);
    }
    if overload == 1 {
        let text = c"The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. Use torch.scatter_reduce instead for more reduction options.";
        static TOLD: Once = Once::new();
        TOLD.warn(arguments.py(), text)?;
    }
    match arguments.text(4)?.as_str() {
        "add" => Ok(Some(Combination::Sum)),
        "multiply" => Ok(Some(Combination::Product)),
        _ => {
            check_scattered(arguments)?;
            Err(PyRuntimeError::new_err("reduce argument must be either add or multiply."))
        }
    }
}

fn warn_of_beta(py: Python<'_>) -> PyResult<()> {
    static TOLD: Once = Once::new();
    TOLD.warn(py, c"index_reduce() is in beta and the API may change at any time.")
}

/// Refuses what a scatter refuses before it looks at how elements are combined.
#[cold]
fn check_scattered(arguments: &Arguments<'_, '_>) -> PyResult<()> {
    let (x, dim, index) = (arguments.tensor(0)?.detach(), arguments.int(1)?, arguments.tensor(2)?);
    gather::scatter(&x, dim, index, arguments.operand(3)?).map_err(raise).map(drop)
}

/// How a scatter combines elements.
fn fold(arguments: &Arguments<'_, '_>) -> PyResult<Fold> {
    let name = arguments.text(4)?;
    if let Some(fold) = Fold::named(&name) {
        return Ok(fold);
    }
    check_scattered(arguments)?;
    let wanted = "reduce argument must be either sum, prod, mean, amax or amin";
    Err(PyRuntimeError::new_err(format!("{wanted}, got {name}")))
}

/// How slices are combined.
fn slice_fold(arguments: &Arguments<'_, '_>) -> PyResult<Fold> {
    let name = arguments.text(4)?;
    Fold::named(&name).filter(|&fold| fold != Fold::Sum).ok_or_else(|| {
        let wanted = "index_reduce(): Expected reduce to be one of prod, mean, amax or amin";
        PyRuntimeError::new_err(format!("{wanted} but got {name}."))
    })
}

type Slices<'a> = (&'a Tensor, i64, &'a Tensor, &'a Tensor);

/// The tensor, the dimension, the index and the slices of `index_add` and `index_copy`.
fn slices<'a>(arguments: &Arguments<'a, '_>) -> PyResult<Slices<'a>> {
    Ok((arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?, arguments.tensor(3)?))
}
