//! Samples of activations, blends of several tensors and special functions.

use rushlight::dispatch::unary::Elementwise;
use rushlight::dispatch::{binary, unary};
use rushlight::ops;
use rushlight::ops::geometry::permute;
use rushlight::ops::neural::units::rectifiers::*;
use rushlight::ops::neural::units::smooth_units::*;
use rushlight::ops::neural::units::{gated, prelu};
use rushlight::ops::pointwise::blend;
use rushlight::ops::pointwise::gamma;
use rushlight::ops::pointwise::pairs::Xlogy;
use rushlight::ops::pointwise::special::{Entr, Erfcx, I0e, I1, I1e, Logit, NanToNum};
use rushlight::{Tensor, dtype::Scalar};

use super::{Sample, positive, sample, signed};

/// A function of every element at several shapes, in a transposed view and in place.
fn of<E: Elementwise>(op: &'static str, operation: E) -> Vec<Sample> {
    let mut samples = Vec::new();
    for shape in [&[][..], &[0], &[2, 3]] {
        samples.push(sample(op, vec![spread(shape)], move |x| unary::apply(operation, &x[0])));
    }
    samples.push(sample(op, vec![spread(&[2, 3])], move |x| {
        unary::apply(operation, &permute::transpose(&x[0], 0, 1)?)
    }));
    samples.push(sample(op, vec![spread(&[4])], move |x| {
        let y = ops::mul(&x[0], 1)?;
        unary::apply_in_place(operation, &y)?;
        ops::mul(&y, &y)
    }));
    samples
}

/// Numbers of both signs up to five, away from the kinks of the operations sampled here.
fn spread(shape: &[usize]) -> Tensor {
    ops::mul(&signed(shape), 2.83).unwrap()
}

/// Numbers between 0.1 and 0.9.
fn share(shape: &[usize]) -> Tensor {
    ops::mul(&positive(shape), 0.5).unwrap()
}

/// The samples.
pub fn samples() -> Vec<Sample> {
    let mut samples = of("leaky_relu", LeakyRelu { slope: 0.1 });
    let (threshold, value) = (Scalar::Float(1.03), Scalar::Int(2));
    samples.extend(of("threshold", Threshold::new(threshold, value)));
    samples.extend(of("hardtanh", Hardtanh::new((-1.51).into(), 2.03.into())));
    samples.extend(of("hardsigmoid", Hardsigmoid));
    samples.extend(of("hardswish", Hardswish));
    samples.extend(of("hardshrink", Hardshrink { lambda: 1.51 }));
    samples.extend(of("softshrink", Softshrink { lambda: 1.51 }));
    samples.extend(of("elu", Elu::<false> { alpha: 0.7, scale: 1.3, input_scale: 0.9 }));
    samples.extend(of("celu", Elu::<true> { alpha: 0.7, scale: 1.0, input_scale: 1.0 / 0.7 }));
    samples.extend(of("gelu", Gelu { approximate: false }));
    samples.extend(of("gelu", Gelu { approximate: true }));
    samples.extend(of("silu", Silu));
    samples.extend(of("mish", Mish));
    samples.extend(of("softplus", Softplus::new(1.4.into(), 3.1.into())));
    samples.extend(of("log_sigmoid", LogSigmoid));
    samples.extend(of("nan_to_num", NanToNum { nan: 0.0, positive: None, negative: None }));
    samples.extend(of("i0e", I0e));
    samples.extend(of("i1", I1));
    samples.extend(of("i1e", I1e));
    samples.push(sample("erfcx", vec![positive(&[2, 3])], |x| unary::apply(Erfcx, &x[0])));
    samples.push(sample("entr", vec![positive(&[2, 3])], |x| unary::apply(Entr, &x[0])));
    for order in [0, 1, 2] {
        samples.push(sample("polygamma", vec![positive(&[3])], move |x| gamma::polygamma(order, &x[0])));
    }
    for eps in [None, Some(0.3)] {
        samples.push(sample("logit", vec![share(&[2, 3])], move |x| unary::apply(Logit { eps }, &x[0])));
    }
    samples.push(sample("xlog1py", vec![positive(&[2, 3]), share(&[3])], |x| {
        binary::apply(Xlogy::<true>, (&x[0]).into(), (&x[1]).into())
    }));
    samples.extend(blends());
    samples.extend(gates());
    samples
}

fn blends() -> Vec<Sample> {
    let three = || vec![signed(&[2, 3]), share(&[3]), positive(&[2, 1])];
    vec![
        sample("addcmul", three(), |x| blend::addcmul(&x[0], &x[1], &x[2], Scalar::Float(1.7))),
        sample("addcdiv", three(), |x| blend::addcdiv(&x[0], &x[1], &x[2], Scalar::Float(1.7))),
        sample("addcmul", three(), |x| {
            let y = ops::mul(&x[0], 1)?;
            blend::addcmul_(&y, &x[1], &x[2], Scalar::Int(2))?;
            ops::mul(&y, &y)
        }),
        sample("lerp", three(), |x| blend::lerp(&x[0], &x[1], (&x[2]).into())),
        sample("lerp", vec![signed(&[2, 3]), share(&[3])], |x| blend::lerp(&x[0], &x[1], 0.3.into())),
        sample("lerp", vec![signed(&[]), share(&[2])], |x| blend::lerp(&x[0], &x[1], 0.8.into())),
    ]
}

fn gates() -> Vec<Sample> {
    vec![
        sample("prelu", vec![signed(&[2, 3]), positive(&[3])], |x| prelu::prelu(&x[0], &x[1])),
        sample("prelu", vec![signed(&[2, 3, 2]), positive(&[1])], |x| prelu::prelu(&x[0], &x[1])),
        sample("rrelu", vec![signed(&[2, 3])], |x| gated::rrelu(&x[0], 0.1, 0.4, false, None)),
        sample("glu", vec![signed(&[2, 4])], |x| gated::glu(&x[0], -1)),
        sample("glu", vec![signed(&[3, 2, 3])], |x| gated::glu(&x[0], 1)),
    ]
}
