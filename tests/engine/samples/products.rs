//! Samples of products of matrices and vectors.

use rushlight::Tensor;
use rushlight::dtype::Scalar;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::{permute, strided};
use rushlight::ops::linalg::add_products::{Weights, addmm, addmm_, addmv, baddbmm};
use rushlight::ops::linalg::linear;
use rushlight::ops::linalg::matmul::{inner, matmul, outer};
use rushlight::ops::linalg::products::{bmm, dot, mm, mv, vdot};
use rushlight::ops::linalg::sparse;

use super::{Sample, positive, sample, signed};

const WEIGHTS: Weights = Weights { beta: Scalar::Float(0.7), alpha: Scalar::Float(-1.5) };

/// Pairs of shapes of all ranks that `matmul` accepts.
const PAIRS: &[(&[usize], &[usize])] = &[
    (&[3], &[3]),
    (&[2, 3], &[3]),
    (&[3], &[3, 2]),
    (&[2, 3], &[3, 4]),
    (&[2, 2, 3], &[3]),
    (&[3], &[2, 3, 2]),
    (&[2, 2, 3], &[3, 2]),
    (&[2, 3], &[2, 3, 2]),
    (&[2, 2, 3], &[2, 3, 1]),
    (&[2, 2, 3], &[1, 3, 2]),
    (&[1, 2, 3], &[2, 3, 2]),
    (&[2, 1, 2, 2], &[3, 2, 1]),
    (&[0, 2, 3], &[3, 2]),
    (&[2, 0], &[0, 3]),
];

/// The samples.
pub fn samples() -> Vec<Sample> {
    let mut samples = vec![
        sample("mm", vec![signed(&[2, 3]), positive(&[3, 4])], |x| mm(&x[0], &x[1])),
        sample("mm", vec![signed(&[3, 2]), positive(&[4, 3])], |x| {
            mm(&permute::t(&x[0])?, &permute::t(&x[1])?)
        }),
        sample("mm", vec![signed(&[2, 0]), positive(&[0, 3])], |x| mm(&x[0], &x[1])),
        sample("mm", vec![signed(&[3, 3])], |x| mm(&x[0], &permute::t(&x[0])?)),
        sample("mm", vec![signed(&[12]), positive(&[2, 3])], |x| {
            mm(&strided::as_strided(&x[0], &[2, 2], &[5, 2], Some(1))?, &x[1])
        }),
        sample("bmm", vec![signed(&[2, 2, 3]), positive(&[2, 3, 2])], |x| bmm(&x[0], &x[1])),
        sample("bmm", vec![signed(&[2, 3, 2]), positive(&[3, 2, 2])], |x| {
            bmm(&permute::transpose(&x[0], 1, 2)?, &permute::transpose(&x[1], 0, 1)?)
        }),
        sample("mv", vec![signed(&[2, 3]), positive(&[3])], |x| mv(&x[0], &x[1])),
        sample("mv", vec![signed(&[3, 2]), positive(&[3])], |x| mv(&permute::t(&x[0])?, &x[1])),
        sample("dot", vec![signed(&[4]), positive(&[4])], |x| dot(&x[0], &x[1])),
        sample("dot", vec![signed(&[0]), positive(&[0])], |x| dot(&x[0], &x[1])),
        sample("dot", vec![signed(&[5])], |x| dot(&x[0], &x[0])),
        sample("vdot", vec![signed(&[4]), positive(&[4])], |x| vdot(&x[0], &x[1])),
        sample("outer", vec![signed(&[2]), positive(&[3])], |x| outer(&x[0], &x[1])),
        sample("inner", vec![signed(&[2, 3]), positive(&[2, 2, 3])], |x| inner(&x[0], &x[1])),
        sample("addmm", vec![signed(&[3]), signed(&[2, 2]), positive(&[2, 3])], |x| {
            addmm(&x[0], &x[1], &x[2], WEIGHTS)
        }),
        sample("addmm", vec![signed(&[2, 3]), signed(&[2, 2]), positive(&[3, 2])], |x| {
            addmm(&x[0], &x[1], &permute::t(&x[2])?, Weights::default())
        }),
        sample("addmm", vec![signed(&[2, 2]), signed(&[2, 2]), positive(&[2, 2])], |x| {
            let y = cast::clone(&x[0])?;
            addmm_(&y, &x[1], &x[2], WEIGHTS)?;
            Ok(y)
        }),
        sample("addmv", vec![signed(&[2]), signed(&[2, 3]), positive(&[3])], |x| {
            addmv(&x[0], &x[1], &x[2], WEIGHTS)
        }),
        sample("addmv", vec![signed(&[]), signed(&[2, 3]), positive(&[3])], |x| {
            addmv(&x[0], &x[1], &x[2], WEIGHTS)
        }),
        sample("baddbmm", vec![signed(&[2, 1]), signed(&[2, 2, 2]), positive(&[2, 2, 3])], |x| {
            baddbmm(&x[0], &x[1], &x[2], WEIGHTS)
        }),
    ];
    let places = || [[2, 0, 2, 0].as_slice(), &[1, 0, 0, 1]].map(|of| Tensor::from_slice(&[4], of).unwrap());
    let [rows, columns] = places();
    samples.push(sample("sparse_product", vec![signed(&[4]), positive(&[2, 3])], move |x| {
        sparse::product(&rows, &columns, &x[0], &x[1], 3)
    }));
    let [rows, columns] = places();
    samples.push(sample("sparse_samples", vec![signed(&[3, 5]), positive(&[2, 5])], move |x| {
        sparse::sampled(&rows, &columns, &x[0], &x[1])
    }));
    for (left, right) in PAIRS {
        samples.push(sample("matmul", vec![signed(left), positive(right)], |x| matmul(&x[0], &x[1])));
        let fixed = positive(right);
        samples.push(sample("matmul", vec![signed(left)], move |x| matmul(&x[0], &fixed)));
        let fixed = positive(left);
        samples.push(sample("matmul", vec![signed(right)], move |x| matmul(&fixed, &x[0])));
    }
    for shape in [&[3][..], &[2, 3], &[2, 1, 3], &[0, 3]] {
        let weight = || positive(&[2, 3]);
        samples.push(sample("linear", vec![signed(shape), weight()], |x| linear::linear(&x[0], &x[1], None)));
        samples.push(sample("linear", vec![signed(shape), weight(), signed(&[2])], |x| {
            linear::linear(&x[0], &x[1], Some(&x[2]))
        }));
    }
    samples.push(sample("linear", vec![signed(&[2, 2, 3]), positive(&[2, 3]), signed(&[2])], |x| {
        linear::linear(&permute::transpose(&x[0], 0, 1)?, &x[1], Some(&x[2]))
    }));
    samples
}
