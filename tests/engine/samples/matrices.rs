//! Samples of linear algebra.

use rushlight::ops::linalg::{cholesky, determinant, norms, solve};
use rushlight::ops::{self, matmul, permute};
use rushlight::{Result, Tensor};

use super::{Sample, sample, signed};

/// Matrices with a diagonal that is large enough for them to be regular.
fn regular(shape: &[usize]) -> Tensor {
    let side = shape[shape.len() - 1] as i64;
    let unit = ops::create::eye(side, side, rushlight::dtype::DType::Float64).unwrap();
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
            cholesky::cholesky(&positive, false)
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
    samples
}
