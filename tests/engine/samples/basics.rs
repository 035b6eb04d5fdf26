//! Samples of sums, copies and strided windows.

use rushlight::dtype::{DType, Scalar};
use rushlight::ops;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::{expand, reshape, strided};
use rushlight::ops::reduction::reduce;

use super::{Sample, positive, sample, signed};

/// The samples.
pub fn samples() -> Vec<Sample> {
    vec![
        sample("sum", vec![signed(&[2, 3])], |x| reduce::sum(&x[0], None, false, None)),
        sample("sum", vec![signed(&[2, 3])], |x| reduce::sum(&x[0], Some(&[0]), false, None)),
        sample("sum", vec![signed(&[2, 3])], |x| reduce::sum(&x[0], Some(&[-1]), true, None)),
        sample("sum", vec![signed(&[])], |x| reduce::sum(&x[0], None, false, None)),
        sample("sum", vec![signed(&[0, 2])], |x| reduce::sum(&x[0], Some(&[0]), false, None)),
        sample("clone", vec![signed(&[2, 3])], |x| cast::clone(&x[0])),
        sample("to", vec![signed(&[2])], |x| {
            cast::to_dtype(&cast::to_dtype(&x[0], DType::Float64)?, DType::Float64)
        }),
        sample("view", vec![signed(&[2, 3])], |x| reshape::view(&x[0], &[3, -1])),
        sample("expand", vec![signed(&[2, 1])], |x| expand::expand(&x[0], &[4, -1, 3])),
        sample("as_strided", vec![signed(&[6])], |x| {
            strided::as_strided(&x[0], &[2, 2, 2], &[1, 1, 2], Some(1))
        }),
        sample("copy_", vec![signed(&[2, 3]), positive(&[3])], |x| {
            let y = cast::clone(&x[0])?;
            cast::copy_(&strided::as_strided(&y, &[3], &[1], Some(3))?, &x[1])?;
            ops::mul(&y, &y)
        }),
        sample("fill_", vec![signed(&[4])], |x| {
            let y = ops::mul(&x[0], &x[0])?;
            cast::fill_(&strided::as_strided(&y, &[2], &[2], Some(0))?, Scalar::Float(3.0))?;
            ops::mul(&y, &x[0])
        }),
    ]
}
