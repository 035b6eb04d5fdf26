//! How long recording and backward take per operation, apart from the numbers: `cargo bench --bench
//! engine`. Tensors hold a single element, so what is measured is what the engine adds.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rushlight::dtype::DType;
use rushlight::engine::{self, Options};
use rushlight::ops;
use rushlight::ops::creation::create;
use rushlight::ops::linalg::products;
use rushlight::{Result, Tensor};
use std::hint::black_box;

/// Operations of one graph.
const LENGTH: u64 = 1000;

/// One operation of a chain.
type Step = fn(&Tensor, &Tensor) -> Result<Tensor>;

fn leaf(shape: &[i64]) -> Result<Tensor> {
    let x = create::full(shape, 1i64.into(), DType::Float32)?;
    x.set_requires_grad(true)?;
    Ok(x)
}

/// A graph of `LENGTH` operations, each on the result of the one before.
fn chain(x: &Tensor, step: fn(&Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensor> {
    (0..LENGTH).try_fold(x.clone(), |y, _| step(&y, x))
}

fn graphs(criterion: &mut Criterion) {
    let kinds: [(&str, &[i64], Step); 4] = [
        ("neg", &[1], |y, _| ops::neg(y)),
        ("add", &[1], |y, x| ops::add(y, x)),
        ("mul", &[1], |y, x| ops::mul(y, x)),
        ("mm", &[1, 1], |y, x| products::mm(y, x)),
    ];
    for (name, shape, step) in kinds {
        let mut group = criterion.benchmark_group(format!("{LENGTH} operations, {name}"));
        group.throughput(Throughput::Elements(LENGTH));
        let Ok(x) = leaf(shape) else { return };
        let detached = x.detach();
        group.bench_function("without recording", |bencher| {
            bencher.iter(|| black_box(chain(&detached, step)));
        });
        group.bench_function("recorded and freed", |bencher| bencher.iter(|| black_box(chain(&x, step))));
        group.bench_function("backward", |bencher| {
            let inputs = std::slice::from_ref(&x);
            let run = |y: Result<Tensor>| engine::grad(&[y?], inputs, &[], Options::default());
            bencher.iter_batched(|| chain(&x, step), |y| black_box(run(y)), BatchSize::LargeInput);
        });
        group.finish();
    }
}

criterion_group!(benches, graphs);
criterion_main!(benches);
