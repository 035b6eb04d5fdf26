//! Samples of reductions, scans, softmax and losses.

use rushlight::Tensor;
use rushlight::dtype::Scalar;
use rushlight::ops::geometry::permute;
use rushlight::ops::neural::loss::binary::binary_cross_entropy_with_logits;
use rushlight::ops::neural::loss::cross_entropy::cross_entropy;
use rushlight::ops::neural::loss::nll::nll_loss;
use rushlight::ops::neural::loss::robust::{huber_loss, smooth_l1_loss};
use rushlight::ops::neural::loss::squared::mse_loss;
use rushlight::ops::neural::loss::{Reduction, binary, squared};
use rushlight::ops::neural::softmax;
use rushlight::ops::reduction::{extremes_along, extremes_over, moments, norm, product, reduce, scan};

use super::{Sample, positive, sample, signed};

const REDUCTIONS: [Reduction; 3] = [Reduction::None, Reduction::Mean, Reduction::Sum];

/// Which dimensions go, and whether ones stay in their place; among them the shapes that they suit.
const OVER: &[(&[usize], Option<&[i64]>, bool)] = &[
    (&[], None, false),
    (&[], Some(&[-1]), true),
    (&[2, 3], None, false),
    (&[2, 3], Some(&[0]), false),
    (&[2, 3], Some(&[-1]), true),
    (&[2, 2, 3], Some(&[0, 2]), false),
    (&[2, 2, 3], Some(&[2, 0]), true),
];

fn integers(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

/// The last element zero, one in the middle too.
fn with_zeros() -> Tensor {
    Tensor::from_slice(&[2, 3], &[0.7, 0.0, -1.3, 0.4, 1.1, 0.0]).unwrap()
}

/// Up to 13 numbers of both signs, whose magnitudes are all different and not near 0.
fn distinct(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    let sign = |i: usize| if i % 3 == 1 { -1.0 } else { 1.0 };
    let number = |i: usize| sign(i) * (0.4 + 0.09 * ((i * 5 + 1) % 13) as f64);
    Tensor::from_slice(shape, &(0..count).map(number).collect::<Vec<_>>()).unwrap()
}

/// A function of all elements, also of those of a transposed view.
fn over(
    op: &'static str,
    least: usize,
    call: impl Fn(&Tensor, Option<&[i64]>, bool) -> rushlight::Result<Tensor> + Copy + 'static,
) -> Vec<Sample> {
    let suits = |shape: &[usize]| shape.iter().product::<usize>() >= least;
    let cases = OVER.iter().filter(move |(shape, ..)| suits(shape));
    let mut samples: Vec<Sample> = cases
        .map(|&(shape, dims, keepdim)| sample(op, vec![distinct(shape)], move |x| call(&x[0], dims, keepdim)))
        .collect();
    samples.push(sample(op, vec![distinct(&[3, 2])], move |x| {
        call(&permute::transpose(&x[0], 0, 1)?, Some(&[0]), false)
    }));
    samples
}

fn reductions() -> Vec<Sample> {
    let mut samples = over("mean", 0, |x, dims, keepdim| reduce::mean(x, dims, keepdim, None));
    samples.push(sample("mean", vec![signed(&[2, 0])], |x| reduce::mean(&x[0], Some(&[0]), false, None)));
    samples.extend(over("amax", 0, |x, dims, keepdim| extremes_over::amax(x, dims.unwrap_or(&[]), keepdim)));
    samples.extend(over("amin", 0, |x, dims, keepdim| extremes_over::amin(x, dims.unwrap_or(&[]), keepdim)));
    samples
        .extend(over("logsumexp", 0, |x, dims, keepdim| softmax::logsumexp(x, dims.unwrap_or(&[]), keepdim)));
    samples.push(sample("max", vec![signed(&[2, 3])], |x| extremes_over::max(&x[0])));
    samples.push(sample("min", vec![signed(&[])], |x| extremes_over::min(&x[0])));
    for keepdim in [false, true] {
        samples.push(sample("max", vec![signed(&[2, 3])], move |x| {
            Ok(extremes_along::max_along(&permute::transpose(&x[0], 0, 1)?, 0, keepdim)?.0)
        }));
        samples.push(sample("min", vec![signed(&[2, 2, 3])], move |x| {
            Ok(extremes_along::min_along(&x[0], -2, keepdim)?.0)
        }));
        samples.push(sample("max", vec![signed(&[])], move |x| {
            Ok(extremes_along::max_along(&x[0], 0, keepdim)?.0)
        }));
        samples.push(sample("max", vec![signed(&[2, 0])], move |x| {
            Ok(extremes_along::max_along(&x[0], 0, keepdim)?.0)
        }));
    }
    samples
}

fn spreads() -> Vec<Sample> {
    let mut samples = over("var", 4, |x, dims, keepdim| moments::var(x, dims, 1.0, keepdim));
    samples.extend(over("std", 4, |x, dims, keepdim| moments::std(x, dims, 0.5, keepdim)));
    type Pair = fn(&Tensor, Option<&[i64]>, f64, bool) -> rushlight::Result<(Tensor, Tensor)>;
    let pairs: [(&'static str, Pair); 2] = [("var_mean", moments::var_mean), ("std_mean", moments::std_mean)];
    for (op, pair) in pairs {
        for dims in [None, Some(&[1][..])] {
            let call =
                move |x: &[Tensor]| pair(&x[0], dims, 1.0, true).map(|(spread, mean)| vec![spread, mean]);
            samples.push(Sample { op, inputs: vec![signed(&[2, 3])], call: Box::new(call) });
        }
    }
    for order in [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -1.0, 10.0, f64::INFINITY, f64::NEG_INFINITY] {
        samples.extend(over("vector_norm", 0, move |x, dims, keepdim| {
            norm::vector_norm(x, order, dims, keepdim, None)
        }));
    }
    samples
}

fn products_and_scans() -> Vec<Sample> {
    let mut samples = Vec::new();
    for x in [signed(&[]), signed(&[0]), signed(&[2, 3]), with_zeros()] {
        samples.push(sample("prod", vec![x.clone()], |x| product::prod(&x[0], None, false, None)));
        samples.push(sample("prod", vec![x.clone()], |x| product::prod(&x[0], Some(0), true, None)));
        samples.push(sample("prod", vec![x.clone()], |x| product::prod(&x[0], Some(-1), false, None)));
        samples.push(sample("cumsum", vec![x.clone()], |x| scan::cumsum(&x[0], -1, None)));
        samples.push(sample("cumprod", vec![x.clone()], |x| scan::cumprod(&x[0], -1, None)));
        samples.push(sample("cumprod", vec![x.clone()], |x| scan::cumprod(&x[0], 0, None)));
        samples.push(sample("cumsum", vec![x], |x| {
            let y = rushlight::ops::mul(&x[0], 2.0)?;
            scan::cumsum_(&y, 0, None)?;
            rushlight::ops::mul(&y, &y)
        }));
    }
    samples.push(sample("cumprod", vec![with_zeros()], |x| {
        scan::cumprod(&permute::transpose(&x[0], 0, 1)?, 0, None)
    }));
    samples
}

fn softmaxes() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (shape, dim) in [(&[][..], 0), (&[0, 2], 0), (&[2, 3], 1), (&[2, 3], 0), (&[2, 2, 3], -2)] {
        samples.push(sample("softmax", vec![signed(shape)], move |x| softmax::softmax(&x[0], dim, None)));
        samples.push(sample("log_softmax", vec![signed(shape)], move |x| {
            softmax::log_softmax(&x[0], dim, None)
        }));
    }
    samples.push(sample("softmax", vec![signed(&[2, 3])], |x| {
        softmax::softmax(&permute::transpose(&x[0], 0, 1)?, 0, None)
    }));
    samples
}

fn distances() -> Vec<Sample> {
    let half = |shape| rushlight::ops::mul(&positive(shape), 0.55).unwrap();
    let mut samples = Vec::new();
    for reduction in REDUCTIONS {
        for (left, right) in [(&[][..], &[][..]), (&[2, 3], &[2, 3]), (&[2, 3], &[3]), (&[0], &[0])] {
            if reduction == Reduction::Mean && left == [0] {
                continue; // The mean of nothing is not a number.
            }
            let inputs = || vec![signed(left), half(right)];
            samples.push(sample("mse_loss", inputs(), move |x| squared::mse_loss(&x[0], &x[1], reduction)));
            samples.push(sample("huber_loss", inputs(), move |x| huber_loss(&x[0], &x[1], reduction, 0.6)));
            samples.push(sample("smooth_l1_loss", inputs(), move |x| {
                smooth_l1_loss(&x[0], &x[1], reduction, 0.6)
            }));
            if left == right {
                let weight = half(left);
                samples.push(sample("binary_cross_entropy", vec![half(left), half(right)], move |x| {
                    let x0 = rushlight::ops::mul(&x[0], 0.9)?;
                    rushlight::ops::neural::loss::probability::binary_cross_entropy(
                        &x0,
                        &x[1],
                        Some(&weight),
                        reduction,
                    )
                }));
            }
            samples.push(sample("binary_cross_entropy_with_logits", inputs(), move |x| {
                binary_cross_entropy_with_logits(&x[0], &x[1], None, None, reduction)
            }));
            samples.push(sample("binary_cross_entropy_with_logits", inputs(), move |x| {
                let (weight, positive) = (positive(&[1]), positive(right));
                binary_cross_entropy_with_logits(&x[0], &x[1], Some(&weight), Some(&positive), reduction)
            }));
        }
        samples.push(sample("mse_loss", vec![signed(&[2, 3]), half(&[3, 2])], move |x| {
            mse_loss(&permute::transpose(&x[0], 0, 1)?, &x[1], reduction)
        }));
    }
    samples.push(sample("binary_cross_entropy_with_logits", vec![signed(&[2])], |x| {
        let far = rushlight::ops::mul(&x[0], Scalar::Float(60.0))?;
        binary::binary_cross_entropy_with_logits(&far, &half_of_two(), None, None, Reduction::Sum)
    }));
    samples
}

fn half_of_two() -> Tensor {
    Tensor::from_slice(&[2], &[0.5, 0.25]).unwrap()
}

fn classes() -> Vec<Sample> {
    let mut samples = Vec::new();
    let targets = || {
        [
            (signed(&[3]), integers(&[], &[2])),
            (signed(&[2, 3]), integers(&[2], &[2, 0])),
            (signed(&[3, 2]), integers(&[3], &[1, -1, 0])),
            (signed(&[2, 3, 2]), integers(&[2, 2], &[1, 0, -1, 2])),
            (signed(&[1, 3, 2, 1]), integers(&[1, 2, 1], &[1, 0])),
            (signed(&[0, 3]), integers(&[0], &[])),
        ]
    };
    for reduction in REDUCTIONS {
        for (x, target) in targets() {
            let shape = x.layout().shape().to_vec();
            let weight = positive(&[shape[usize::from(shape.len() > 1)]]);
            for weight in [None, Some(weight)] {
                if reduction == Reduction::Mean && shape[0] == 0 {
                    continue; // The mean of nothing is not a number.
                }
                let (t, w) = (target.clone(), weight.clone());
                samples.push(sample("nll_loss", vec![x.clone()], move |x| {
                    nll_loss(&x[0], &t, w.as_ref(), reduction, -1)
                }));
                for smoothing in [0.0, 0.2] {
                    let (t, w) = (target.clone(), weight.clone());
                    samples.push(sample("cross_entropy", vec![x.clone()], move |x| {
                        cross_entropy(&x[0], &t, w.as_ref(), reduction, -1, smoothing)
                    }));
                }
            }
        }
        samples.push(sample("cross_entropy", vec![signed(&[2, 3]), positive(&[2, 3])], move |x| {
            cross_entropy(&x[0], &x[1], Some(&positive(&[3])), reduction, -100, 0.1)
        }));
        samples.push(sample("cross_entropy", vec![signed(&[3]), positive(&[3])], move |x| {
            cross_entropy(&x[0], &x[1], None, reduction, -100, 0.0)
        }));
    }
    samples
}

/// The samples.
pub fn samples() -> Vec<Sample> {
    [reductions(), spreads(), products_and_scans(), softmaxes(), distances(), classes()]
        .into_iter()
        .flatten()
        .collect()
}
