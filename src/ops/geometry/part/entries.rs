//! The entries of parts.

use super::*;

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "slice",
        &["(Tensor input, int dim, SymInt? start=None, SymInt? end=None)"],
        "A slice of a dimension, as a view.",
        |a| slice(a.tensor(0)?, a.int(1)?, a.optional_int(2)?, a.optional_int(3)?, 1).reply(),
    )
    .operators(&[(
        "SliceBackward0",
        "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    )]),
    method(
        "unfold",
        &["(Tensor input, int dimension, int size, int step)"],
        "All windows of `size` along a dimension, `step` apart, as a view with a new last dimension.",
        |a| windows(a.tensor(0)?, a.int(1)?, a.int(2)?, a.int(3)?).reply(),
    )
    .operators(&[(
        "UnfoldBackward0",
        "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    )]),
    both(
        "select",
        &["(Tensor input, int dim, SymInt index)"],
        "The slice at one index of a dimension, as a view without that dimension.",
        |a| select(a.tensor(0)?, a.int(1)?, a.int(2)?).reply(),
    )
    .operators(&[("SelectBackward0", "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)")]),
    both(
        "narrow",
        &[
            "(Tensor input, int dim, Tensor start, SymInt length)",
            "(Tensor input, int dim, SymInt start, SymInt length)",
        ],
        "The elements from `start` on, `length` of them, of a dimension, as a view.",
        |a| {
            let start = match a.optional_tensor(2) {
                Some(start) if start.ndim() > 0 || start.dtype().is_differentiable() => {
                    return Err(Error::NarrowStartTensor {}.into());
                }
                Some(start) => start.item()?.to_f64() as i64,
                None => a.int(2)?,
            };
            narrow(a.tensor(0)?, a.int(1)?, start, a.int(3)?).reply()
        },
    ),
    both(
        "diagonal",
        &["(Tensor input, int offset=0, int dim1=0, int dim2=1)"],
        "A diagonal with respect to two dimensions, as a view.",
        |a| diagonal(a.tensor(0)?, a.int(1)?, a.int(2)?, a.int(3)?).reply(),
    )
    .operators(&[(
        "DiagonalBackward0",
        "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    )]),
];
