//! Samples of what goes by the order of elements, of running results and of sums of numbers.

use rushlight::Tensor;
use rushlight::ops::{picked, running};

use super::{Sample, sample, signed};

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
    samples.push(sample("median", vec![signed(&[2, 3])], |x| picked::median_of_all(&x[0], true)));
    samples.push(sample("nansum", vec![signed(&[2, 3])], |x| running::nansum(&x[0], None, false, None)));
    samples.push(sample("trace", vec![signed(&[2, 3])], |x| running::trace(&x[0])));
    samples
}
