//! Samples of linear algebra.

use rushlight::ops;
use rushlight::ops::conjugate;
use rushlight::ops::creation::create;
use rushlight::ops::geometry::triangle;
use rushlight::ops::geometry::{permute, squeeze};
use rushlight::ops::linalg::matmul;
use rushlight::ops::linalg::{
    cholesky, determinant, eigen, elimination, exponential, norms, old_triangular, orthogonal, pseudo,
    singular, solve, symmetric, triangular,
};
use rushlight::{Result, Tensor};

use super::{Sample, sample, signed};

/// Matrices with a diagonal that is large enough for them to be regular.
fn regular(shape: &[usize]) -> Tensor {
    let side = shape[shape.len() - 1] as i64;
    let unit = create::eye(side, side, rushlight::dtype::DType::Float64).unwrap();
    ops::add(&signed(shape), &ops::mul(&unit, 3.0).unwrap()).unwrap()
}

/// The samples.
pub fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for shape in [&[2, 2][..], &[2, 3, 3], &[0, 0]] {
        let x = || vec![regular(shape)];
        samples.push(sample("inverse", x(), |x| solve::inverse(&x[0])));
        samples.push(sample("det", x(), |x| determinant::det(&x[0])));
        samples.push(sample("slogdet", x(), |x| determinant::slogdet(&x[0]).map(|(_, y)| y)));
        samples.push(sample("cholesky", x(), |x| {
            let positive = matmul::matmul(&x[0], &permute::transpose(&x[0], -2, -1)?)?;
            cholesky::cholesky(&positive, false, false)
        }));
    }
    fn solved(left: bool) -> impl Fn(&[Tensor]) -> Result<Tensor> {
        move |x| solve::solve(&x[0], &x[1], left)
    }
    samples.push(sample("solve", vec![regular(&[2, 2]), signed(&[2])], solved(true)));
    samples.push(sample("solve", vec![regular(&[2, 3, 3]), signed(&[3, 2])], solved(true)));
    samples.push(sample("solve", vec![regular(&[2, 2]), signed(&[3, 2])], solved(false)));
    samples.push(sample("matrix_power", vec![regular(&[2, 2])], |x| solve::matrix_power(&x[0], -3)));
    samples.push(sample("matrix_norm", vec![signed(&[2, 3])], |x| {
        norms::by_sums(&x[0], 1.0, [0, 1], false, None)
    }));
    samples.extend(factors());
    samples.extend(whole());
    samples
}

/// Samples of factors of matrices.
fn factors() -> Vec<Sample> {
    let mut samples = Vec::new();
    for shape in [&[3, 2][..], &[3, 3], &[2, 3], &[2, 3, 2], &[0, 2]] {
        samples
            .push(sample2("qr", vec![signed(shape)], |x| orthogonal::qr(&x[0], orthogonal::Mode::Reduced)));
        samples.push(sample("pinv", vec![signed(shape)], |x| {
            let zero = create::zeros(&[], x[0].dtype())?;
            pseudo::pinv(&x[0], &zero, &zero, false)
        }));
        samples.push(sample("svd", vec![signed(shape)], |x| singular::svdvals(&x[0])));
        samples.push(sample("svd", vec![signed(shape)], |x| {
            // The sign of a pair of vectors is anybody's choice: their product has none.
            let (u, s, vh) = singular::svd(&x[0], false)?;
            let weights = squeeze::unsqueeze(&ops::mul(&s, &s)?, -2)?;
            matmul::matmul(&ops::mul(&u, &weights)?, &vh)
        }));
        samples.push(sample("lu_factor", vec![signed(shape)], |x| {
            elimination::lu_factor(&x[0], true, "").map(|(lu, _)| lu)
        }));
    }
    for shape in [&[2, 3][..], &[3, 3], &[2, 4, 3]] {
        let (rows, lead) = (shape[shape.len() - 2], &shape[..shape.len() - 2]);
        let inputs = || vec![signed(shape), signed(&[lead, &[rows, 2]].concat())];
        samples.push(sample2("lstsq", inputs(), |x| {
            pseudo::lstsq(&x[0], &x[1], 1e-12, true, false)
                .map(|(solution, residuals, _)| (solution, residuals))
        }));
        let inputs = vec![signed(shape), signed(&shape[..shape.len() - 1])];
        samples.push(sample2("lstsq", inputs, |x| {
            pseudo::lstsq(&x[0], &x[1], 1e-12, true, true)
                .map(|(solution, residuals, _)| (solution, residuals))
        }));
    }
    for (left, adjoined) in [(true, false), (true, true), (false, false), (false, true)] {
        let inputs = vec![regular(&[2, 3, 3]), signed(&[2, 3, 3])];
        samples.push(sample("lu_solve", inputs, move |x| {
            let (lu, pivots) = elimination::lu_factor(&x[0], true, "")?;
            elimination::lu_solve(&lu, &pivots, &x[1], left, adjoined)
        }));
    }
    for shape in [&[3, 3][..], &[2, 2, 2], &[0, 0]] {
        samples.push(sample("matrix_exp", vec![signed(shape)], |x| exponential::matrix_exp(&x[0])));
        let symmetric = |x: &Tensor| ops::add(x, &permute::transpose(x, -2, -1)?);
        samples.push(sample("eigh", vec![regular(shape)], move |x| {
            symmetric::eigh(&symmetric(&x[0])?, "L").map(|(values, _)| values)
        }));
        samples.push(sample("eigh", vec![regular(shape)], move |x| {
            let (values, vectors) = symmetric::eigh(&symmetric(&x[0])?, "U")?;
            let weights = squeeze::unsqueeze(&ops::sin(&values)?, -2)?;
            matmul::matmul(&ops::mul(&vectors, &weights)?, &permute::transpose(&vectors, -2, -1)?)
        }));
    }
    for (upper, left, unit) in
        [(true, true, false), (false, true, true), (true, false, true), (false, false, false)]
    {
        let right: &[usize] = if left { &[2, 2, 3] } else { &[2, 3, 2] };
        samples.push(sample("solve_triangular", vec![regular(&[2, 2]), signed(right)], move |x| {
            triangular::solve_triangular(&x[0], &x[1], upper, left, unit)
        }));
    }
    samples
}

/// Samples of equations that are solved by a triangle twice, and of eigenvalues of any matrix.
fn whole() -> Vec<Sample> {
    let mut samples = Vec::new();
    let positive = |x: &Tensor, upper: bool| {
        // The triangle has gradients beside itself, which differences do not see: they get none here.
        if upper { triangle::triu(x, 0) } else { triangle::tril(x, 0) }
    };
    for upper in [false, true] {
        samples.push(sample("cholesky_solve", vec![signed(&[2, 3, 2]), regular(&[3, 3])], move |x| {
            cholesky::cholesky_solve(&x[0], &positive(&x[1], upper)?, upper)
        }));
        samples.push(sample("cholesky_inverse", vec![regular(&[2, 3, 3])], move |x| {
            cholesky::cholesky_inverse(&positive(&x[0], upper)?, upper)
        }));
        for transposed in [false, true] {
            let inputs = vec![signed(&[3, 2]), regular(&[2, 3, 3])];
            samples.push(sample2("triangular_solve", inputs, move |x| {
                old_triangular::triangular_solve(&x[0], &positive(&x[1], upper)?, upper, transposed, false)
            }));
        }
    }
    for shape in [&[3, 3][..], &[2, 2, 2], &[0, 0]] {
        samples.push(sample("eig", vec![regular(shape)], |x| {
            let (values, vectors) = eigen::eig(&x[0], "linalg.eig")?;
            // Of a vector the direction in the complex plane is anybody's choice.
            let sizes = ops::mul(&ops::abs(&vectors)?, &squeeze::unsqueeze(&ops::abs(&values)?, -2)?)?;
            ops::add(&sizes, &squeeze::unsqueeze(&conjugate::imag(&ops::mul(&values, &values)?)?, -1)?)
        }));
    }
    samples
}

fn sample2(
    op: &'static str,
    inputs: Vec<Tensor>,
    call: impl Fn(&[Tensor]) -> Result<(Tensor, Tensor)> + 'static,
) -> Sample {
    let call = Box::new(move |inputs: &[Tensor]| call(inputs).map(|(a, b)| vec![a, b]));
    Sample { op, inputs, call }
}
