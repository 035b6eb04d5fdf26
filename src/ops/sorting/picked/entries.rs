//! The entries of what is picked by its order.

use super::*;

macro_rules! picked {
    ($name:literal) => {
        &[concat!(
            "(Tensor input, int dim=-1, bool keepdim=False, *, Tensor[] out=None) -> return_types.",
            $name
        )]
    };
}

const SORT: &[&str] = &[
    "(Tensor input, *, bool? stable, int dim=-1, bool descending=False, Tensor[] out=None) -> return_types.sort",
    "(Tensor input, int dim=-1, bool descending=False, *, Tensor[] out=None) -> return_types.sort",
];

const ARGSORT: &[&str] = &[
    "(Tensor input, *, bool stable, int dim=-1, bool descending=False, Tensor out=None)",
    "(Tensor input, int dim=-1, bool descending=False)",
];

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    (
        "MedianBackward1",
        "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    ),
    (
        "NanmedianBackward1",
        "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    ),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("sort", SORT, "Sorts the elements along a dimension; returns them and their indices.", |a| {
        let (dim, descending) = order(a)?;
        let sort = if a.overload() == 0 { stable_sort } else { sort };
        sort(a.tensor(0)?, dim, descending).named("sort")
    }).written(&OutPolicy::PLAIN.typed(Types::Same).out_as(|_| ".values"))
    .operators(&[("SortBackward0", "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"), ("SortBackward0", "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)")]),
    both("argsort", ARGSORT, "The indices that sort a dimension.", |a| {
        let (dim, descending) = order(a)?;
        sort(&a.tensor(0)?.detach(), dim, descending).map(|(_, index)| index).reply()
    })
    .operators(&[("-", "argsort@1")]),
    both(
        "msort",
        &["(Tensor input, *, Tensor out=None)"],
        "Sorts the elements along the first dimension.",
        |a| sort(a.tensor(0)?, 0, false).map(|(values, _)| values).reply(),
    ).written(&OutPolicy::OF_FIRST.refused_as("sort").typed(Types::Same)),
    both(
        "topk",
        &[
            "(Tensor input, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor[] out=None) -> return_types.topk",
        ],
        "The `k` largest or smallest elements along a dimension, and their indices.",
        |a| topk(a.tensor(0)?, a.int(1)?, a.int(2)?, a.boolean(3)).named("topk"),
    ).written(&OutPolicy::PLAIN.typed(Types::Same).out_as(|_| ".values"))
    .operators(&[("TopkBackward0", "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)")]),
    both(
        "kthvalue",
        &[
            "(Tensor input, SymInt k, int dim=-1, bool keepdim=False, *, Tensor[] out=None) -> return_types.kthvalue",
        ],
        "The k-th smallest element along a dimension, and its index.",
        |a| {
            kthvalue(a.tensor(0)?, a.int(1)?, a.int(2)?, a.boolean(3)).named("kthvalue")
        },
    ).written(&OutPolicy::PLAIN.typed(Types::Ranked).out_as(|_| ".values"))
    .operators(&[("KthvalueBackward0", "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")]),
    both("mode", picked!("mode"), "The most frequent element along a dimension, and its index.", |a| {
        mode(a.tensor(0)?, a.int(1)?, a.boolean(2)).named("mode")
    }).written(&OutPolicy::PLAIN.typed(Types::Frequent).out_as(|_| ".values"))
    .operators(&[("ModeBackward0", "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")]),
    both(
        "cummax",
        &["(Tensor input, int dim, *, Tensor[] out=None) -> return_types.cummax"],
        "The cumulative maximum along a dimension, and its indices.",
        |a| cummax(a.tensor(0)?, a.int(1)?).named("cummax"),
    ).written(&OutPolicy::PLAIN.typed(Types::Running))
    .operators(&[("CummaxBackward0", "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)")]),
    both(
        "cummin",
        &["(Tensor input, int dim, *, Tensor[] out=None) -> return_types.cummin"],
        "The cumulative minimum along a dimension, and its indices.",
        |a| cummin(a.tensor(0)?, a.int(1)?).named("cummin"),
    ).written(&OutPolicy::PLAIN.typed(Types::Running))
    .operators(&[("CumminBackward0", "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)")]),
    function(
        "take_along_dim",
        &["(Tensor input, Tensor indices, int? dim=None, *, Tensor out=None)"],
        "The elements at the given indices along a dimension, with broadcasting.",
        |a| take_along_dim(a.tensor(0)?, a.tensor(1)?, a.optional_int(2)?).reply(),
    ).written(&OutPolicy::APART.refused_as("gather").typed(Types::Same)),
    method(
        "take_along_dim",
        &["(Tensor input, Tensor indices, int? dim=None)"],
        "The elements at the given indices along a dimension, with broadcasting.",
        |a| take_along_dim(a.tensor(0)?, a.tensor(1)?, a.optional_int(2)?).reply(),
    ),
];

/// The dimension to sort and whether the greatest comes first: behind `stable`, or not.
fn order(a: &dyn Arguments) -> Result<(i64, bool)> {
    let first = if a.overload() == 0 { 2 } else { 1 };
    Ok((a.int(first)?, a.boolean(first + 1)))
}
