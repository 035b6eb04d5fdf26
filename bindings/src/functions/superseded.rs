//! Linear algebra under its former names, and what is told of these.
use super::entries::both;
use crate::calls::callable::Function;
use crate::interpreter::warnings::Superseded;
use crate::values::returns::{ToPython, named};
use rushlight::ops::linalg::cholesky::cholesky;
use rushlight::ops::linalg::elimination::lu_solve;
use rushlight::ops::linalg::matmul::outer;
use rushlight::ops::linalg::old_triangular::triangular_solve;
use rushlight::ops::linalg::orthogonal::{Mode, qr};
use rushlight::schema::{OutPolicy, Placed, Types};

/// The entries.
pub(super) static TABLE: &[Function] = &[
    both(
        "cholesky",
        &["(Tensor input, bool upper=False, *, Tensor out=None)"],
        "The Cholesky factors of matrices; `linalg.cholesky` has taken its place.",
        |a| cholesky(a.tensor(0)?, a.boolean(1), true).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.placed(Placed::InOrder).typed(Types::SafeResult))
    .superseded(&CHOLESKY),
    both(
        "qr",
        &["(Tensor input, bool some=True, *, Tensor[] out=None) -> return_types.qr"],
        "The QR decomposition of matrices; `linalg.qr` has taken its place.",
        |a| {
            let mode = if a.boolean(1) { Mode::Reduced } else { Mode::Complete };
            named("qr", qr(a.tensor(0)?, mode)).answer(a.py())
        },
    )
    .written(&OutPolicy::PLAIN.refused_as("linalg_qr").typed(Types::Same))
    .superseded(&QR),
    both(
        "lu_solve",
        &["(Tensor input, Tensor LU_data, Tensor LU_pivots, *, Tensor out=None)"],
        "Solves linear equations by LU decompositions; `linalg.lu_solve` has taken its place.",
        |a| lu_solve(a.tensor(1)?, a.tensor(2)?, a.tensor(0)?, true, false).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.refused_as("linalg_lu_solve").typed(Types::Same))
    .superseded(&LU_SOLVE),
    both(
        "triangular_solve",
        &[
            "(Tensor input, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False, *, Tensor[] out=None) -> return_types.triangular_solve",
        ],
        "Solves linear equations with triangular matrices; `linalg.solve_triangular` has taken its place.",
        |a| {
            let solved =
                triangular_solve(a.tensor(0)?, a.tensor(1)?, a.boolean(2), a.boolean(3), a.boolean(4));
            named("triangular_solve", solved).answer(a.py())
        },
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .superseded(&TRIANGULAR_SOLVE)
    .operators(&[("TriangularSolveBackward0", "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)")]),
    both(
        "ger",
        &["(Tensor input, Tensor vec2, *, Tensor out=None)"],
        "The outer product of two vectors; `outer` has taken its place.",
        |a| outer(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::APART.once().refused_as("mul"))
    .superseded(&GER),
];

static CHOLESKY: Superseded = Superseded::told_once(c"torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch release.
L = torch.cholesky(A)
should be replaced with
L = torch.linalg.cholesky(A)
and
U = torch.cholesky(A, upper=True)
should be replaced with
U = torch.linalg.cholesky(A).mH
This transform will produce equivalent results for all valid (symmetric positive definite) inputs.");

static QR: Superseded = Superseded::told_once(
    c"torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.
The boolean parameter 'some' has been replaced with a string parameter 'mode'.
Q, R = torch.qr(A, some)
should be replaced with
Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')",
);

static LU_SOLVE: Superseded = Superseded::told_once(c"torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch release.
Note that torch.linalg.lu_solve has its arguments reversed.
X = torch.lu_solve(B, LU, pivots)
should be replaced with
X = torch.linalg.lu_solve(LU, pivots, B)");

static TRIANGULAR_SOLVE: Superseded = Superseded::told_once(c"torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a future PyTorch release.
torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.
X = torch.triangular_solve(B, A).solution
should be replaced with
X = torch.linalg.solve_triangular(A, B).");

static GER: Superseded = Superseded::told_of_outputs(
    c"torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer instead.",
);
