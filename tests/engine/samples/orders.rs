//! Samples of what goes by the order of elements, of running results and of sums of numbers.

use rushlight::Tensor;
use rushlight::ops;
use rushlight::ops::indexing::scatter_reduce::{Fold, index_reduce, scatter_reduce};
use rushlight::ops::reduction::{middle, running};
use rushlight::ops::sorting::picked;

use super::{Sample, positive, sample, signed};

type Pair = rushlight::Result<(Tensor, Tensor)>;

/// The samples.
pub fn samples() -> Vec<Sample> {
    fn values(found: Pair) -> rushlight::Result<Tensor> {
        found.map(|(values, _)| values)
    }
    let mut samples = Vec::new();
    for (shape, dim) in [(&[][..], 0), (&[2, 3], 1), (&[3, 2], 0), (&[2, 3, 2], -2)] {
        let x = || vec![signed(shape)];
        samples.push(sample("sort", x(), move |x| values(picked::sort(&x[0], dim, true))));
        samples.push(sample("topk", x(), move |x| values(picked::topk(&x[0], 1, dim, true))));
        samples.push(sample("cummax", x(), move |x| values(picked::cummax(&x[0], dim))));
        samples.push(sample("cummin", x(), move |x| values(picked::cummin(&x[0], dim))));
        samples.push(sample("logcumsumexp", x(), move |x| running::logcumsumexp(&x[0], dim)));
        for keepdim in [false, true] {
            samples.push(sample("kthvalue", x(), move |x| values(picked::kthvalue(&x[0], 1, dim, keepdim))));
            samples.push(sample("median", x(), move |x| values(picked::median(&x[0], dim, keepdim, false))));
            samples.push(sample("mode", x(), move |x| values(picked::mode(&x[0], dim, keepdim))));
            samples.push(sample("nansum", x(), move |x| running::nansum(&x[0], Some(&[dim]), keepdim, None)));
        }
    }
    samples.push(sample("median", vec![signed(&[2, 3])], |x| middle::median_of_all(&x[0], true)));
    samples.push(sample("nansum", vec![signed(&[2, 3])], |x| running::nansum(&x[0], None, false, None)));
    samples.push(sample("trace", vec![signed(&[2, 3])], |x| running::trace(&x[0])));
    samples.extend(folds());
    samples
}

/// Numbers none of which is one of `signed`, so that no two are the greatest.
fn beside(shape: &[usize]) -> Tensor {
    ops::add(&positive(shape), 0.019).unwrap()
}

/// Samples of elements combined where an index says.
fn folds() -> Vec<Sample> {
    let index = |numbers: &[i64], shape: &[usize]| Tensor::from_slice(shape, numbers).unwrap();
    let mut samples = Vec::new();
    for fold in [Fold::Sum, Fold::Product, Fold::Mean, Fold::Greatest, Fold::Least] {
        for included in [true, false] {
            let places = index(&[0, 1, 1, 0, 2, 1], &[3, 2]);
            samples.push(sample("scatter_reduce", vec![signed(&[3, 2]), beside(&[3, 2])], move |x| {
                scatter_reduce(&x[0], 0, &places, &x[1], fold, included)
            }));
            if fold != Fold::Sum {
                let line = index(&[1, 0, 1], &[3]);
                samples.push(sample("index_reduce", vec![signed(&[2, 2]), beside(&[2, 3])], move |x| {
                    index_reduce(&x[0], 1, &line, &x[1], fold, included)
                }));
            }
        }
    }
    samples
}
