//! Samples of Fourier transforms, and of special functions of two numbers.

use rushlight::dispatch::binary;
use rushlight::ops;
use rushlight::ops::fourier::{Scale, fourier, half_fourier, real_fourier};
use rushlight::ops::pointwise::incomplete::{Incomplete, Zeta};
use rushlight::ops::{complex, conjugate};
use rushlight::{Result, Tensor};

use super::{Sample, positive, sample, signed};

/// Complex numbers whose parts a real tensor says.
fn numbers(x: &Tensor) -> Result<Tensor> {
    complex::complex(x, &ops::sin(&ops::mul(x, 3.0)?)?)
}

/// Real numbers that a complex result says.
fn parts(y: Result<Tensor>) -> Result<Tensor> {
    conjugate::view_as_real(&y?)
}

/// The samples.
pub fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (shape, dims) in [(&[5][..], &[0][..]), (&[2, 6], &[0, 1]), (&[3, 2, 4], &[2, 0]), (&[1], &[0])] {
        for scale in [Scale::None, Scale::Root, Scale::Count] {
            let size = shape[dims[dims.len() - 1] as usize] as i64;
            let x = || vec![signed(shape)];
            samples
                .push(sample("fft_c2c", x(), move |x| parts(fourier(&numbers(&x[0])?, dims, scale, true))));
            samples
                .push(sample("fft_c2c", x(), move |x| parts(fourier(&numbers(&x[0])?, dims, scale, false))));
            samples.push(sample("fft_r2c", x(), move |x| parts(real_fourier(&x[0], dims, scale, true))));
            samples.push(sample("fft_r2c", x(), move |x| parts(real_fourier(&x[0], dims, scale, false))));
            for size in [2 * size - 2, 2 * size - 1].into_iter().filter(|&size| size > 0) {
                samples
                    .push(sample("fft_c2r", x(), move |x| half_fourier(&numbers(&x[0])?, dims, scale, size)));
            }
        }
    }
    let shapes: [[&[usize]; 2]; 3] = [[&[], &[]], [&[2, 3], &[3]], [&[0], &[0]]];
    for [a, x] in shapes {
        let both = || vec![positive(a), positive(x)];
        samples.push(sample("igamma", both(), |x| {
            binary::apply(Incomplete::<false>::default(), (&x[0]).into(), (&x[1]).into())
        }));
        samples.push(sample("igammac", both(), |x| {
            binary::apply(Incomplete::<true>::default(), (&x[0]).into(), (&x[1]).into())
        }));
        samples.push(sample("zeta", both(), |x| {
            binary::apply(Zeta::default(), (&ops::add(&x[0], 1.5)?).into(), (&x[1]).into())
        }));
    }
    samples
}
