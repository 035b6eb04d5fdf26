//! Linear algebra, reached as `linalg.…` and, for a few, from the package.
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, types};
use crate::error::raise;
use crate::functions::entries::{both, inner};
use crate::values::arguments::Arguments;
use crate::values::returns::{ToPython, named};
use pyo3::prelude::*;
use rushlight::ops::linalg::cholesky::{check_positive, cholesky, cholesky_ex};
use rushlight::ops::linalg::determinant::{det, logdet, slogdet};
use rushlight::ops::linalg::norms::{by_sums, frobenius};
use rushlight::ops::linalg::solve::{
    check_inverse, check_solution, inverse, inverse_ex, matrix_power, solve, solve_ex,
};

const A: &[&str] = &["(Tensor A, *, Tensor out=None)"];
const INPUT: &[&str] = &["(Tensor input, *, Tensor out=None)"];
const PLAIN: &[&str] = &["(Tensor input)"];

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    inner("linalg_inv", A, "The inverse matrices.", |a| inverse(a.tensor(0)?).answer(a.py()))
        .written(&OutPolicy::PLAIN.refused_as("linalg_inv_ex").typed(types::same)),
    both("inverse", INPUT, "The inverse matrices.", |a| inverse(a.tensor(0)?).answer(a.py()))
        .written(&OutPolicy::PLAIN.refused_as("linalg_inv_ex").typed(types::same)),
    inner("linalg_det", A, "The determinants.", |a| det(a.tensor(0)?).answer(a.py()))
        .written(&OutPolicy::PLAIN.refused_as("_linalg_det").typed(types::same)),
    both("det", PLAIN, "The determinants.", |a| det(a.tensor(0)?).answer(a.py())),
    both("logdet", PLAIN, "The logarithms of the determinants.", |a| logdet(a.tensor(0)?).answer(a.py())),
    inner(
        "linalg_slogdet",
        &["(Tensor A, *, Tensor[] out=None) -> return_types.linalg_slogdet"],
        "Signs and logarithms of the determinants.",
        |a| named("linalg_slogdet", slogdet(a.tensor(0)?)).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_slogdet").typed(types::same)),
    both(
        "slogdet",
        &["(Tensor input, *, Tensor[] out=None) -> return_types.slogdet"],
        "Signs and logarithms of the determinants.",
        |a| named("slogdet", slogdet(a.tensor(0)?)).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_slogdet").typed(types::same)),
    inner(
        "linalg_solve",
        &["(Tensor A, Tensor B, *, bool left=True, Tensor out=None)"],
        "The solutions of linear equations.",
        |a| solve(a.tensor(0)?, a.tensor(1)?, a.boolean(2)).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_solve_ex").typed(types::same)),
    inner(
        "linalg_cholesky",
        &["(Tensor input, *, bool upper=False, Tensor out=None)"],
        "Triangles whose products with their transposes the matrices are.",
        |a| cholesky(a.tensor(0)?, a.boolean(1), false).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.refused_as("linalg_cholesky_ex").typed(types::same)),
    inner(
        "linalg_cholesky_ex",
        &[
            "(Tensor input, *, bool upper=False, bool check_errors=False, Tensor[] out=None) -> return_types.linalg_cholesky_ex",
        ],
        "The triangles of `cholesky`, and zero, or the order at which a matrix is not positive.",
        |a| {
            let (triangle, info) = cholesky_ex(a.tensor(0)?, a.boolean(1)).map_err(raise)?;
            if a.boolean(2) {
                check_positive(&info, "linalg.cholesky_ex").map_err(raise)?;
            }
            named("linalg_cholesky_ex", Ok((triangle, info))).answer(a.py())
        },
    )
    .written(&OutPolicy::PLAIN.typed(types::same)),
    inner(
        "linalg_inv_ex",
        &[
            "(Tensor A, *, bool check_errors=False, Tensor[] out=None) -> return_types.linalg_inv_ex",
        ],
        "The inverse matrices, and zero, or the step at which there turned out to be none.",
        |a| {
            let (inverse, info) = inverse_ex(a.tensor(0)?).map_err(raise)?;
            if a.boolean(1) {
                check_inverse(&info, "linalg.inv_ex").map_err(raise)?;
            }
            named("linalg_inv_ex", Ok((inverse, info))).answer(a.py())
        },
    )
    .written(&OutPolicy::PLAIN.typed(types::same)),
    inner(
        "linalg_solve_ex",
        &[
            "(Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensor[] out=None) -> return_types.linalg_solve_ex",
        ],
        "The solutions of linear equations, and zero, or the step at which there were none.",
        |a| {
            let (x, info) = solve_ex(a.tensor(0)?, a.tensor(1)?, a.boolean(2)).map_err(raise)?;
            if a.boolean(3) {
                check_solution(&info, "torch.linalg.solve_ex").map_err(raise)?;
            }
            named("linalg_solve_ex", Ok((x, info))).answer(a.py())
        },
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_solve_ex").typed(types::same)),
    inner(
        "linalg_matrix_power",
        &["(Tensor input, int n, *, Tensor out=None)"],
        "Products of matrices with themselves.",
        power,
    )
    .written(&OutPolicy::PLAIN.refused_as("matmul").typed(types::safe_and_same)),
    both(
        "matrix_power",
        &["(Tensor input, int n, *, Tensor out=None)"],
        "Products of matrices with themselves.",
        power,
    )
    .written(&OutPolicy::PLAIN.refused_as("matmul").typed(types::safe_and_same)),
    inner(
        "linalg_sums_norm",
        &["(Tensor A, float ord, int dim0, int dim1, bool keepdim, dtype? dtype=None)"],
        "Norms of matrices by the sums of rows or columns.",
        |a| {
            by_sums(a.tensor(0)?, a.float(1)?, [a.int(2)?, a.int(3)?], a.boolean(4), a.dtype(5))
                .answer(a.py())
        },
    ),
    inner(
        "linalg_frobenius_norm",
        &["(Tensor A, int dim0, int dim1, bool keepdim, dtype? dtype=None)"],
        "Roots of sums of squares of matrices.",
        |a| frobenius(a.tensor(0)?, [a.int(1)?, a.int(2)?], a.boolean(3), a.dtype(4)).answer(a.py()),
    ),
];

fn power(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    matrix_power(a.tensor(0)?, a.int(1)?).answer(a.py())
}
