//! Factors of matrices, and what is solved by them, reached as `linalg.…` and, for a few, from the
//! package.
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, Placed, types};
use crate::error::raise;
use crate::functions::entries::{both, function, inner};
use crate::values::arguments::Arguments;
use crate::values::returns::{ToPython, named};
use rushlight::ops::conjugate;
use rushlight::ops::creation::create;
use rushlight::ops::geometry::permute;
use rushlight::ops::linalg::cholesky::{cholesky_inverse, cholesky_solve};
use rushlight::ops::linalg::elimination::{check_solvable, first_zero, lu, lu_factor, lu_solve};
use rushlight::ops::linalg::exponential::matrix_exp;
use rushlight::ops::linalg::factors::lu_unpack;
use rushlight::ops::linalg::orthogonal::{Mode, qr, reflections};
use rushlight::ops::linalg::pseudo::{lstsq, pinv};
use rushlight::ops::linalg::singular::{svd, svdvals};
use rushlight::ops::linalg::symmetric::{eigh, eigvalsh};
use rushlight::ops::linalg::triangular::solve_triangular;
use rushlight::{Error, Result, Tensor};

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    inner(
        "linalg_qr",
        &["(Tensor A, str mode=\"reduced\", *, Tensor[] out=None) -> return_types.linalg_qr"],
        "Orthogonal matrices and triangles whose products the matrices are.",
        |a| {
            let mode = match a.text(1)?.as_str() {
                "reduced" => Mode::Reduced,
                "complete" => Mode::Complete,
                "r" => Mode::Triangle,
                mode => return Err(raise(Error::QrMode { mode: mode.to_owned() }.into())),
            };
            named("linalg_qr", qr(a.tensor(0)?, mode)).answer(a.py())
        },
    ).written(&OutPolicy::PLAIN.typed(types::same)),
    both(
        "geqrf",
        &["(Tensor input, *, Tensor[] out=None) -> return_types.geqrf"],
        "The reflections whose product with a triangle the matrices are, as LAPACK keeps them.",
        |a| named("geqrf", reflections(a.tensor(0)?)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.typed(types::reflections)),
    inner(
        "linalg_eigh",
        &["(Tensor A, str UPLO=\"L\", *, Tensor[] out=None) -> return_types.linalg_eigh"],
        "The eigenvalues and eigenvectors of symmetric matrices.",
        |a| named("linalg_eigh", eigh(a.tensor(0)?, &a.text(1)?)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.refused_as("_linalg_eigh").typed(types::same)),
    inner(
        "linalg_eigvalsh",
        &["(Tensor A, str UPLO=\"L\", *, Tensor out=None)"],
        "The eigenvalues of symmetric matrices.",
        |a| eigvalsh(a.tensor(0)?, &a.text(1)?).answer(a.py()),
    ).written(&OutPolicy::PLAIN.refused_as("_linalg_eigh").typed(types::same)),
    inner(
        "linalg_svd",
        &[
            "(Tensor A, bool full_matrices=True, *, str? driver=None, Tensor[] out=None) -> return_types.linalg_svd",
        ],
        "Orthogonal matrices on both sides of the singular values.",
        |a| named("linalg_svd", svd(a.tensor(0)?, a.boolean(1))).answer(a.py()),
    ).written(&OutPolicy::PLAIN.refused_as("_linalg_svd").typed(types::same)),
    inner(
        "linalg_svdvals",
        &["(Tensor A, *, str? driver=None, Tensor out=None)"],
        "The singular values.",
        |a| svdvals(a.tensor(0)?).answer(a.py()),
    ).written(&OutPolicy::PLAIN.refused_as("_linalg_svd").typed(types::same)),
    both(
        "svd",
        &["(Tensor input, bool some=True, bool compute_uv=True, *, Tensor[] out=None) -> return_types.svd"],
        "Orthogonal matrices on both sides of the singular values, neither transposed.",
        |a| named("svd", plain_svd(a.tensor(0)?, !a.boolean(1), a.boolean(2))).answer(a.py()),
    ).written(&OutPolicy::PLAIN.refused_as("_linalg_svd").typed(types::same)),
    inner(
        "linalg_pinv",
        &["(Tensor A, Tensor atol, Tensor rtol, bool hermitian=False)"],
        "The matrices nearest to inverses.",
        |a| pinv(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.boolean(3)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.typed(types::safe_linalg)),
    inner(
        "linalg_lstsq",
        &["(Tensor A, Tensor B, float rtol, bool measured)"],
        "What comes nearest to solutions, and by how much its squares miss.",
        |a| lstsq(a.tensor(0)?, a.tensor(1)?, a.float(2)?, a.boolean(3)).answer(a.py()),
    ),
    both("pinverse", &["(Tensor input, float rcond=1e-15)"], "The matrices nearest to inverses.", |a| {
        let number = |value: f64| create::full(&[], value.into(), rushlight::dtype::DType::Float64);
        let bounds = number(0.0).and_then(|zero| Ok((zero, number(a.float(1).unwrap_or(1e-15))?)));
        let (absolute, relative) = bounds.map_err(raise)?;
        pinv(a.tensor(0)?, &absolute, &relative, false).answer(a.py())
    }),
    inner(
        "linalg_lu",
        &["(Tensor A, *, bool pivot=True, Tensor[] out=None) -> return_types.linalg_lu"],
        "Exchanges of rows and triangles whose products the matrices are.",
        |a| named("linalg_lu", lu(a.tensor(0)?, a.boolean(1))).answer(a.py()),
    ).written(&OutPolicy::PLAIN.typed(types::same)),
    inner(
        "linalg_lu_factor",
        &["(Tensor A, *, bool pivot=True, Tensor[] out=None) -> return_types.linalg_lu_factor"],
        "The triangles of `lu` in one matrix, and the exchanges of rows.",
        |a| {
            let (lu, pivots) = lu_factor(a.tensor(0)?, a.boolean(1), "torch.lu_factor").map_err(raise)?;
            let info = first_zero(&lu).map_err(raise)?;
            check_solvable(&info, "torch.linalg.lu_factor").map_err(raise)?;
            named("linalg_lu_factor", Ok((lu, pivots))).answer(a.py())
        },
    ).written(&OutPolicy::PLAIN.refused_as("linalg_lu_factor_ex").typed(types::same)),
    inner(
        "linalg_lu_factor_ex",
        &[
            "(Tensor A, *, bool pivot=True, bool check_errors=False, Tensor[] out=None) -> return_types.linalg_lu_factor_ex",
        ],
        "`lu_factor`, and at which step nothing was left to divide by.",
        |a| {
            let (lu, pivots) = lu_factor(a.tensor(0)?, a.boolean(1), "torch.lu_factor").map_err(raise)?;
            let info = first_zero(&lu).map_err(raise)?;
            if a.boolean(2) {
                check_solvable(&info, "torch.linalg.lu_factor_ex").map_err(raise)?;
            }
            named("linalg_lu_factor_ex", Ok((lu, pivots, info))).answer(a.py())
        },
    ).written(&OutPolicy::PLAIN.typed(types::same)),
    inner(
        "linalg_lu_solve",
        &["(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor out=None)"],
        "The solutions of linear equations whose matrices were factored.",
        |a| lu_solve(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.boolean(3), a.boolean(4)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.typed(types::same)),
    function(
        "lu_unpack",
        &[
            "(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True, *, Tensor[] out=None) -> return_types.lu_unpack",
        ],
        "Exchanges of rows and triangles, apart from each other.",
        |a| named("lu_unpack", parts(a)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.typed(types::same)),
    inner(
        "linalg_solve_triangular",
        &[
            "(Tensor input, Tensor B, *, bool upper, bool left=True, bool unitriangular=False, Tensor out=None)",
        ],
        "The solutions of linear equations whose matrices are triangles.",
        |a| {
            solve_triangular(a.tensor(0)?, a.tensor(1)?, a.boolean(2), a.boolean(3), a.boolean(4))
                .answer(a.py())
        },
    ).written(&OutPolicy::PLAIN.typed(types::triangular)),
    both(
        "cholesky_solve",
        &["(Tensor input, Tensor input2, bool upper=False, *, Tensor out=None)"],
        "The solutions of linear equations whose matrices are triangles times their transposes.",
        |a| cholesky_solve(a.tensor(0)?, a.tensor(1)?, a.boolean(2)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.placed(Placed::InOrder).typed(types::safe_result)),
    both(
        "cholesky_inverse",
        &["(Tensor input, bool upper=False, *, Tensor out=None)"],
        "The inverses of triangles times their transposes.",
        |a| cholesky_inverse(a.tensor(0)?, a.boolean(1)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.placed(Placed::InOrderUnlessEmpty).typed(types::safe_result)),
    both("matrix_exp", &["(Tensor input)"], "The exponentials of matrices.", |a| {
        matrix_exp(a.tensor(0)?).answer(a.py())
    }),
];

fn plain_svd(x: &Tensor, full: bool, vectors: bool) -> Result<(Tensor, Tensor, Tensor)> {
    let (u, s, vh) = svd(x, full)?;
    let v = conjugate::conj(permute::transpose(&vh, -2, -1)?)?;
    if vectors { Ok((u, s, v)) } else { Ok((create::zeros_like(&u)?, s, create::zeros_like(&v)?)) }
}

/// What `lu_unpack` was asked for; the rest is empty.
fn parts(a: &Arguments<'_, '_>) -> Result<(Tensor, Tensor, Tensor)> {
    let (lu, pivots) = match (a.optional_tensor(0), a.optional_tensor(1)) {
        (Some(lu), Some(pivots)) => (lu, pivots),
        _ => unreachable!("the signature asks for both"),
    };
    let (exchange, lower, upper) = lu_unpack(lu, pivots)?;
    let empty = || create::empty(&[0], lu.dtype());
    Ok((
        if a.boolean(3) { exchange } else { empty()? },
        if a.boolean(2) { lower } else { empty()? },
        if a.boolean(2) { upper } else { empty()? },
    ))
}
