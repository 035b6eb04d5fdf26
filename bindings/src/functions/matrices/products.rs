//! Products of matrices and vectors.
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, types};
use crate::error::raise;
use crate::functions::entries::{self, both, function, method};
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::ops::linalg::add_products::{Weights, addmm, addmm_, addmv, addmv_, baddbmm, baddbmm_};
use rushlight::ops::linalg::linear;
use rushlight::ops::linalg::matmul::{inner, matmul, outer};
use rushlight::ops::linalg::products::{bmm, dot, mm, mv, vdot};
use rushlight::{Result, Tensor};

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
const BADDBMM: &[&str] = &[
    "(Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    "(Number beta, Tensor input, Number alpha, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated",
    "(Number beta, Tensor input, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated",
];

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    both(
        "matmul",
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The product of two tensors of any rank.",
        |a| matmul(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.typed(types::same)),
    both("mm", &["(Tensor input, Tensor mat2, *, Tensor out=None)"], "The product of two matrices.", |a| {
        mm(a.tensor(0)?, a.tensor(1)?).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.typed(types::same)),
    both(
        "bmm",
        &["(Tensor input, Tensor mat2, *, Tensor out=None)"],
        "The products of the matrices of two batches, pair by pair.",
        |a| bmm(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.typed(types::same)),
    both(
        "mv",
        &["(Tensor input, Tensor vec, *, Tensor out=None)"],
        "The product of a matrix and a vector.",
        |a| mv(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.typed(types::vector)),
    both(
        "dot",
        &["(Tensor input, Tensor tensor, *, Tensor out=None)"],
        "The inner product of two vectors.",
        |a| dot(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.typed(types::dot).resizing_first()),
    both(
        "vdot",
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The inner product of two vectors, the first conjugated.",
        |a| vdot(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.typed(types::dot).resizing_first()),
    both(
        "outer",
        &["(Tensor input, Tensor vec2, *, Tensor out=None)"],
        "The products of every element of one vector with every element of another.",
        |a| outer(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::APART.once().refused_as("mul")),
    both(
        "inner",
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The sums of products along the last dimensions of both.",
        |a| inner(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.copied().typed(types::contracted)),
    entries::inner(
        "linear",
        &["(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor out=None)"],
        "`input @ weight.T + bias`, for inputs of any rank.",
        |a| linear::linear(a.tensor(0)?, a.tensor(1)?, a.optional_tensor(2)).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.typed(types::same)),
    both("addmm", ADDMM, "`beta * input + alpha * (mat1 @ mat2)`.", |a| added(a, addmm))
        .written(&OutPolicy::OF_FIRST.typed(types::same)),
    both("addmv", ADDMV, "`beta * input + alpha * (mat @ vec)`.", |a| added(a, addmv))
        .written(&OutPolicy::OF_FIRST.typed(types::same)),
    both(
        "baddbmm",
        BADDBMM,
        "`beta * input + alpha * (batch1 @ batch2)` for the matrices of two batches, pair by pair.",
        |a| added(a, baddbmm),
    )
    .written(&OutPolicy::OF_FIRST.typed(types::same)),
    method("addmm_", ADDMM, "`addmm` in place.", |a| added_in_place(a, addmm_)),
    method("addmv_", ADDMV, "`addmv` in place.", |a| added_in_place(a, addmv_)),
    function("addmv_", ADDMV_IN_PLACE, "`addmv` in place.", |a| added_in_place(a, addmv_)),
    method("baddbmm_", BADDBMM, "`baddbmm` in place.", |a| added_in_place(a, baddbmm_)),
];

/// The factors and the weights.
fn parts<'a>(arguments: &Arguments<'a, '_>) -> PyResult<(&'a Tensor, &'a Tensor, Weights)> {
    let weights = Weights { beta: arguments.number(3)?, alpha: arguments.number(4)? };
    Ok((arguments.tensor(1)?, arguments.tensor(2)?, weights))
}

fn added(
    arguments: &Arguments<'_, '_>,
    operation: fn(&Tensor, &Tensor, &Tensor, Weights) -> Result<Tensor>,
) -> PyResult<Py<PyAny>> {
    let (left, right, weights) = parts(arguments)?;
    operation(arguments.tensor(0)?, left, right, weights).answer(arguments.py())
}

fn added_in_place(
    arguments: &Arguments<'_, '_>,
    operation: impl FnOnce(&Tensor, &Tensor, &Tensor, Weights) -> Result<()>,
) -> PyResult<Py<PyAny>> {
    let (left, right, weights) = parts(arguments)?;
    operation(arguments.tensor(0)?, left, right, weights).map_err(raise)?;
    arguments.object(0).answer(arguments.py())
}
