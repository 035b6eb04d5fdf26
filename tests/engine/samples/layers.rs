//! Samples of what layers compute: attention, convolutions, pooling, padding, resampling, normalisation.

use rushlight::dtype::Bool;
use rushlight::ops::geometry::part;
use rushlight::ops::neural::attention::{Answering, attention};
use rushlight::ops::neural::convolution::{Options, convolution};
use rushlight::ops::neural::embedding::embedding;
use rushlight::ops::neural::images::fold::{Sliding, fold, unfold};
use rushlight::ops::neural::images::pad::{Inner, constant_pad, inner_pad};
use rushlight::ops::neural::images::upsample::{Between, upsample};
use rushlight::ops::neural::normalise::{Affine, Running, batch_norm, group_norm, layer_norm};
use rushlight::ops::neural::pooling::max_pool::{adaptive_max_pool, max_pool};
use rushlight::ops::neural::pooling::mean_pool::{Pool, adaptive_mean_pool, mean_pool};
use rushlight::{Result, Tensor};

use super::{Sample, positive, sample, signed};

fn ints(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

/// The samples.
pub fn samples() -> Vec<Sample> {
    let mut samples = attentions();
    samples.extend(convolutions());
    samples.extend(pooling());
    samples.extend(padding());
    samples.extend(normalisation());
    // Without padding: what stands for it gets no gradient, although values depend on it.
    samples.push(sample("embedding", vec![signed(&[3, 2])], |x| {
        embedding(&x[0], &ints(&[2, 2], &[1, 0, 2, 1]), None, false)
    }));
    samples
}

fn attentions() -> Vec<Sample> {
    let of = |[q, k]: [&[usize]; 2], mask: Option<Tensor>, scale: Option<f64>, is_causal: bool| {
        let inputs = vec![signed(q), signed(k), positive(k)];
        sample("scaled_dot_product_attention", inputs, move |x| {
            attention([&x[0], &x[1], &x[2]], mask.as_ref(), Answering { scale, is_causal })
        })
    };
    let some = [true, true, false, false, false, true].map(Bool::new);
    let some = Tensor::from_slice(&[3, 2], &some).unwrap();
    let (short, shared): (&[usize], &[usize]) = (&[2, 2, 3, 2], &[1, 1, 2, 3]);
    vec![
        of([short, short], None, None, false),
        of([short, short], None, Some(-0.4), true),
        of([&[2, 2, 3, 2], &[2, 2, 2, 2]], Some(some), None, false),
        of([&[1, 2, 3, 3], shared], Some(signed(&[1, 2, 3, 2])), None, false),
    ]
}

fn options(stride: i64, padding: i64, dilation: i64, groups: i64) -> Options {
    let [stride, padding, dilation, output_padding] = [stride, padding, dilation, 0].map(|value| vec![value]);
    Options { stride, padding, dilation, transposed: false, output_padding, groups }
}

fn convolutions() -> Vec<Sample> {
    let of = |x: &[usize], weight: &[usize], bias: Option<usize>, options: Options| {
        let mut inputs = vec![signed(x), signed(weight)];
        inputs.extend(bias.map(|size| positive(&[size])));
        sample("convolution", inputs, move |x| convolution(&x[0], &x[1], x.get(2), &options))
    };
    let turned = |options: Options| Options { transposed: true, ..options };
    vec![
        of(&[2, 2, 4], &[3, 2, 2], Some(3), options(1, 0, 1, 1)),
        of(&[1, 2, 3, 3], &[2, 2, 2, 2], Some(2), options(2, 1, 1, 1)),
        of(&[1, 2, 4, 3], &[2, 1, 2, 2], None, options(1, 1, 2, 2)),
        of(&[1, 1, 2, 2, 2], &[1, 1, 1, 2, 2], None, options(1, 0, 1, 1)),
        of(&[0, 2, 4], &[3, 2, 2], Some(3), options(1, 0, 1, 1)),
        of(&[2, 2, 3], &[2, 2, 2], Some(2), turned(options(2, 0, 1, 1))),
        of(&[1, 2, 2, 2], &[2, 1, 2, 2], Some(2), turned(options(1, 1, 2, 2))),
        of(&[1, 1, 2], &[1, 1, 2], None, {
            Options { output_padding: vec![1], ..turned(options(2, 0, 1, 1)) }
        }),
    ]
}

fn pooling() -> Vec<Sample> {
    let pool = |kernel: i64, stride: i64, padding: i64, dilation: i64, ceil: bool| {
        let [kernel, stride, padding, dilation] =
            [kernel, stride, padding, dilation].map(|value| vec![value; 2]);
        Pool { kernel, stride, padding, dilation, ceil, side_by_side: false }
    };
    fn greatest(found: Result<(Tensor, Tensor)>) -> Result<Tensor> {
        found.map(|(values, _)| values)
    }
    let image = || vec![signed(&[1, 2, 3, 4])];
    vec![
        sample("max_pool", image(), move |x| greatest(max_pool(&x[0], &pool(2, 1, 1, 1, false)))),
        sample("max_pool", image(), move |x| greatest(max_pool(&x[0], &pool(2, 2, 0, 1, true)))),
        sample("max_pool", image(), move |x| greatest(max_pool(&x[0], &pool(2, 1, 0, 2, false)))),
        sample("adaptive_max_pool", image(), |x| greatest(adaptive_max_pool(&x[0], &[Some(2), Some(3)]))),
        sample("mean_pool", image(), move |x| mean_pool(&x[0], &pool(2, 1, 1, 1, false), true, None)),
        sample("mean_pool", image(), move |x| mean_pool(&x[0], &pool(2, 2, 1, 1, true), false, None)),
        sample("mean_pool", image(), move |x| mean_pool(&x[0], &pool(2, 2, 0, 1, false), true, Some(3))),
        sample("adaptive_mean_pool", image(), |x| adaptive_mean_pool(&x[0], &[Some(2), None])),
    ]
}

fn padding() -> Vec<Sample> {
    let image = || vec![signed(&[1, 2, 3, 4])];
    let sliding = Sliding { kernel: [2, 2], dilation: [1, 2], padding: [1, 0], stride: [1, 1] };
    vec![
        sample("constant_pad", image(), |x| constant_pad(&x[0], &[1, -1, 0, 2], 0.5.into())),
        sample("constant_pad", vec![signed(&[3])], |x| constant_pad(&x[0], &[-2, -1], 0.5.into())),
        sample("inner_pad", image(), |x| inner_pad(&x[0], &[2, 1, 1, 0], Inner::Reflection)),
        sample("inner_pad", image(), |x| inner_pad(&x[0], &[2, 1, 1, -1], Inner::Replication)),
        sample("upsample", image(), |x| upsample(&x[0], &[5, 3], &[], Between::Nearest)),
        sample("upsample", image(), |x| upsample(&x[0], &[5, 3], &[], Between::NearestExact)),
        sample("upsample", image(), |x| {
            upsample(&x[0], &[5, 7], &[], Between::Linear { align_corners: false })
        }),
        sample("upsample", image(), |x| {
            upsample(&x[0], &[5, 1], &[], Between::Linear { align_corners: true })
        }),
        sample("im2col", image(), move |x| unfold(&x[0], &sliding)),
        sample("col2im", vec![signed(&[1, 8, 8])], move |x| fold(&x[0], [3, 4], &sliding)),
        sample("unfold", vec![signed(&[2, 5])], |x| part::windows(&x[0], 1, 3, 1)),
        sample("unfold", vec![signed(&[5, 2])], |x| {
            part::windows(&rushlight::ops::geometry::permute::t(&x[0])?, 1, 2, 2)
        }),
        sample("unfold", vec![signed(&[])], |x| part::windows(&x[0], 0, 1, 1)),
    ]
}

fn normalisation() -> Vec<Sample> {
    fn affine(x: &[Tensor]) -> Affine<'_> {
        Affine { weight: x.get(1), bias: x.get(2) }
    }
    fn bias(x: &[Tensor]) -> Affine<'_> {
        Affine { weight: None, bias: x.get(1) }
    }
    let training = Running { mean: None, variance: None, training: true, momentum: 0.1 };
    let channels = || vec![signed(&[3, 2, 2]), positive(&[2]), signed(&[2])];
    let rows = || vec![signed(&[2, 2, 3]), positive(&[2, 3]), signed(&[2, 3])];
    vec![
        sample("batch_norm", channels(), move |x| batch_norm(&x[0], affine(x), training, 1e-3)),
        sample("batch_norm", vec![signed(&[3, 2])], move |x| batch_norm(&x[0], affine(x), training, 1e-3)),
        sample("batch_norm", vec![signed(&[3, 2]), signed(&[2])], move |x| {
            batch_norm(&x[0], bias(x), training, 1e-3)
        }),
        sample("batch_norm", channels(), |x| {
            let (mean, variance) = (signed(&[2]), positive(&[2]));
            let running =
                Running { mean: Some(&mean), variance: Some(&variance), training: false, momentum: 0.1 };
            batch_norm(&x[0], affine(x), running, 1e-3)
        }),
        sample("layer_norm", rows(), |x| layer_norm(&x[0], &[2, 3], affine(x), 1e-3)),
        sample("layer_norm", vec![signed(&[2, 3])], |x| layer_norm(&x[0], &[3], affine(x), 1e-3)),
        sample("layer_norm", vec![signed(&[2, 3]), signed(&[3])], |x| layer_norm(&x[0], &[3], bias(x), 1e-3)),
        sample("group_norm", vec![signed(&[2, 4, 2]), positive(&[4]), signed(&[4])], |x| {
            group_norm(&x[0], 2, affine(x), 1e-3)
        }),
        sample("group_norm", vec![signed(&[1, 4, 2]), signed(&[4])], |x| group_norm(&x[0], 2, bias(x), 1e-3)),
    ]
}
