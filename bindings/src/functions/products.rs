//! Products of matrices and vectors.
use super::factory::entry;
use crate::arguments::Arguments;
use crate::callable::{FUNCTION, Function, METHOD, NN};
use crate::error::raise;
use crate::outputs::{Way, types};
use crate::returns::ToPython;
use pyo3::prelude::*;
use rushlight::ops::add_products::{Weights, addmm, addmm_, addmv, baddbmm, baddbmm_};
use rushlight::ops::matmul::{inner, matmul, outer};
use rushlight::ops::products::{bmm, dot, mm, mv, vdot};
use rushlight::ops::{in_place, linear};
use rushlight::{Result, Tensor};
use std::ffi::CStr;

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

/// What is said of `ger` only where it writes.
const GER: &CStr =
    c"torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer instead.";

/// The entries.
pub(super) const TABLE: &[Function] = &[
    entry(
        "matmul",
        FUNCTION | METHOD,
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The product of two tensors of any rank.",
        |a| matmul(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&Way::PLAIN.typed(types::same)),
    entry(
        "mm",
        FUNCTION | METHOD,
        &["(Tensor input, Tensor mat2, *, Tensor out=None)"],
        "The product of two matrices.",
        |a| mm(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&Way::PLAIN.typed(types::same)),
    entry(
        "bmm",
        FUNCTION | METHOD,
        &["(Tensor input, Tensor mat2, *, Tensor out=None)"],
        "The products of the matrices of two batches, pair by pair.",
        |a| bmm(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&Way::PLAIN.typed(types::same)),
    entry(
        "mv",
        FUNCTION | METHOD,
        &["(Tensor input, Tensor vec, *, Tensor out=None)"],
        "The product of a matrix and a vector.",
        |a| mv(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&Way::PLAIN.typed(types::vector)),
    entry(
        "dot",
        FUNCTION | METHOD,
        &["(Tensor input, Tensor tensor, *, Tensor out=None)"],
        "The inner product of two vectors.",
        |a| dot(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&Way::PLAIN.typed(types::dot).resizing_first()),
    entry(
        "vdot",
        FUNCTION | METHOD,
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The inner product of two vectors, the first conjugated.",
        |a| vdot(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&Way::PLAIN.typed(types::dot).resizing_first()),
    entry(
        "outer",
        FUNCTION | METHOD,
        &["(Tensor input, Tensor vec2, *, Tensor out=None)"],
        "The products of every element of one vector with every element of another.",
        |a| outer(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&Way::APART.once().refused_as("mul")),
    entry(
        "ger",
        FUNCTION | METHOD,
        &["(Tensor input, Tensor vec2, *, Tensor out=None)"],
        "The same as `outer`.",
        |a| outer(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&Way::APART.once().refused_as("mul").deprecated(GER)),
    entry(
        "inner",
        FUNCTION | METHOD,
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The sums of products along the last dimensions of both.",
        |a| inner(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&Way::PLAIN.copied().typed(types::contracted)),
    entry(
        "linear",
        NN,
        &["(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor out=None)"],
        "`input @ weight.T + bias`, for inputs of any rank.",
        |a| linear::linear(a.tensor(0)?, a.tensor(1)?, a.optional_tensor(2)).answer(a.py()),
    )
    .written(&Way::PLAIN.typed(types::same)),
    entry("addmm", FUNCTION | METHOD, ADDMM, "`beta * input + alpha * (mat1 @ mat2)`.", |a| added(a, addmm))
        .written(&Way::OF_FIRST.typed(types::same)),
    entry("addmv", FUNCTION | METHOD, ADDMV, "`beta * input + alpha * (mat @ vec)`.", |a| added(a, addmv))
        .written(&Way::OF_FIRST.typed(types::same)),
    entry(
        "baddbmm",
        FUNCTION | METHOD,
        BADDBMM,
        "`beta * input + alpha * (batch1 @ batch2)` for the matrices of two batches, pair by pair.",
        |a| added(a, baddbmm),
    )
    .written(&Way::OF_FIRST.typed(types::same)),
    entry("addmm_", METHOD, ADDMM, "`addmm` in place.", |a| added_in_place(a, addmm_)),
    entry("addmv_", METHOD, ADDMV, "`addmv` in place.", |a| added_in_place(a, addmv_)),
    entry("addmv_", FUNCTION, ADDMV_IN_PLACE, "`addmv` in place.", |a| added_in_place(a, addmv_)),
    entry("baddbmm_", METHOD, BADDBMM, "`baddbmm` in place.", |a| added_in_place(a, baddbmm_)),
];

fn addmv_(x: &Tensor, mat: &Tensor, vec: &Tensor, weights: Weights) -> Result<()> {
    in_place::through(x, &[mat, vec], |x| addmv(x, mat, vec, weights))
}

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
