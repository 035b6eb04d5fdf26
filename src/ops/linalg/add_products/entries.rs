//! How products that are added to something are called.

use super::{Weights, addmm, addmm_, addmv, addmv_, baddbmm, baddbmm_, check_weights};
use crate::error::Result;
use crate::schema::signatures::BATCHES;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Types, both, function, method};
use crate::tensor::Tensor;

const ADDMM: &[&str] = &[
    "(Tensor input, Tensor mat1, Tensor mat2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    "(Number beta, Tensor input, Number alpha, Tensor mat1, Tensor mat2, *, Tensor out=None)|deprecated",
    "(Number beta, Tensor input, Tensor mat1, Tensor mat2, *, Tensor out=None)|deprecated",
];

const ADDMV: &[&str] = &[
    "(Tensor input, Tensor mat, Tensor vec, *, Number beta=1, Number alpha=1, Tensor out=None)",
    "(Number beta, Tensor input, Number alpha, Tensor mat, Tensor vec, *, Tensor out=None)|deprecated",
    "(Number beta, Tensor input, Tensor mat, Tensor vec, *, Tensor out=None)|deprecated",
];

/// The function that writes in place has no deprecated overloads.
const ADDMV_IN_PLACE: &[&str] = &["(Tensor input, Tensor mat, Tensor vec, *, Number beta=1, Number alpha=1)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("addmm", ADDMM, "`beta * input + alpha * (mat1 @ mat2)`.", |a| added(a, addmm))
        .written(&OutPolicy::OF_FIRST.typed(Types::Same))
        .operators(&[("AddmmBackward0", "addmm")]),
    both("addmv", ADDMV, "`beta * input + alpha * (mat @ vec)`.", |a| added(a, addmv))
        .written(&OutPolicy::OF_FIRST.typed(Types::Same))
        .operators(&[("AddmvBackward0", "addmv")]),
    both(
        "baddbmm",
        BATCHES,
        "`beta * input + alpha * (batch1 @ batch2)`, for every matrix of the batch.",
        |a| added(a, baddbmm),
    )
    .written(&OutPolicy::OF_FIRST.typed(Types::Same))
    .operators(&[("BaddbmmBackward0", "baddbmm")]),
    method("addmm_", ADDMM, "`addmm` in place.", |a| added_in_place(a, addmm_)),
    method("addmv_", ADDMV, "`addmv` in place.", |a| added_in_place(a, addmv_)),
    function("addmv_", ADDMV_IN_PLACE, "`addmv` in place.", |a| added_in_place(a, addmv_)),
    method("baddbmm_", BATCHES, "`baddbmm` in place.", |a| added_in_place(a, baddbmm_)),
];

fn added(
    arguments: &dyn Arguments,
    operation: fn(&Tensor, &Tensor, &Tensor, Weights) -> Result<Tensor>,
) -> Result<Reply> {
    let (left, right, weights) = parts(arguments)?;
    operation(arguments.tensor(0)?, left, right, weights).reply()
}

/// The factors and the weights.
fn parts(arguments: &dyn Arguments) -> Result<(&Tensor, &Tensor, Weights)> {
    let weights = Weights { beta: arguments.number(3)?, alpha: arguments.number(4)? };
    check_weights(weights, arguments.tensor(0)?.dtype())?;
    Ok((arguments.tensor(1)?, arguments.tensor(2)?, weights))
}

fn added_in_place(
    arguments: &dyn Arguments,
    operation: impl FnOnce(&Tensor, &Tensor, &Tensor, Weights) -> Result<()>,
) -> Result<Reply> {
    let (left, right, weights) = parts(arguments)?;
    operation(arguments.tensor(0)?, left, right, weights)?;
    Ok(Reply::Given(0))
}
