//! How long the kernels take: `cargo bench --bench kernels`.

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::{Array2, ArrayD};
use rushlight::kernels::geometry::strided::Strided;
use rushlight::kernels::indexing::gather;
use rushlight::kernels::linalg::gemm;
use rushlight::kernels::neural::softmax;
use rushlight::kernels::parallel::set_num_threads;
use rushlight::kernels::pointwise::{map, math, zip};
use rushlight::kernels::reduction::{reduce, scan};
use rushlight::kernels::sorting::sort;
use std::hint::black_box;

fn numbers(shape: &[usize]) -> ArrayD<f32> {
    let mut next = 0.0f32;
    ArrayD::from_shape_simple_fn(shape, || {
        next += 0.7;
        next.sin()
    })
}

/// The elements of an array along strides of a shape.
fn lying<'a>(array: &'a ArrayD<f32>, shape: &[usize], strides: &[usize]) -> Strided<'a, f32> {
    Strided::new(array.as_slice().unwrap_or(&[]), shape, strides)
}

fn elementwise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("elementwise");
    for len in [4, 256, 1_000_000] {
        let (a, b) = (numbers(&[len]), numbers(&[len]));
        let mut out = Box::new_uninit_slice(len);
        group.bench_function(format!("add {len}, slices"), |bencher| {
            let (a, b) = (a.as_slice().unwrap_or(&[]), b.as_slice().unwrap_or(&[]));
            bencher.iter(|| zip::zip_slice(black_box(a), black_box(b), &mut out, |a, b| a + b));
        });
        group.bench_function(format!("add {len}, views"), |bencher| {
            let (a, b) = (lying(&a, &[len], &[1]), lying(&b, &[len], &[1]));
            bencher.iter(|| zip::zip(black_box(&a), black_box(&b), &mut out, |a, b| a + b));
        });
    }
    let mut out = Box::new_uninit_slice(1_000_000);
    for shape @ [rows, columns] in
        [[1000, 1000], [1024, 900], [10, 100_000], [15_625, 64], [250_000, 4], [4, 4]]
    {
        let (a, turned) = (numbers(&shape), numbers(&[columns, rows]));
        let (row, column, one) = (numbers(&[columns]), numbers(&[rows, 1]), numbers(&[]));
        let operands = [
            ("a row", lying(&row, &shape, &[0, 1])),
            ("a column", lying(&column, &shape, &[1, 0])),
            ("one element", lying(&one, &shape, &[0, 0])),
            ("transposed", lying(&turned, &shape, &[1, rows])),
        ];
        let first = lying(&a, &shape, &[columns, 1]);
        for (name, b) in operands {
            group.bench_function(format!("add {name} {rows}x{columns}"), |bencher| {
                bencher.iter(|| zip::zip(&first, &b, &mut out[..a.len()], |a, b| a + b));
            });
        }
    }
    let square = numbers(&[1000, 1000]);
    let elements = lying(&square, &[1000, 1000], &[1000, 1]);
    group.bench_function("exp 1e6", |bencher| bencher.iter(|| map::map(&elements, &mut out, math::exp)));
    group.finish();
}

fn along_axes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("along axes of 1000x1000");
    let a = numbers(&[1000, 1000]);
    let mut out = Box::new_uninit_slice(a.len());
    let mut index = Box::new_uninit_slice(a.len());
    for axes in [&[0, 1][..], &[0], &[1]] {
        let len = if axes.len() == 2 { 1 } else { 1000 };
        group.bench_function(format!("sum {axes:?}"), |bencher| {
            bencher.iter(|| reduce::sum::<f32>(a.view(), axes, &mut out[..len]));
        });
    }
    for axis in [0, 1] {
        group.bench_function(format!("max with index {axis}"), |bencher| {
            bencher.iter(|| {
                reduce::extreme_with_index(a.view(), axis, true, &mut out[..1000], &mut index[..1000]);
            });
        });
        group.bench_function(format!("softmax {axis}"), |bencher| {
            bencher.iter(|| softmax::softmax(a.view(), axis, false, &mut out));
        });
        group.bench_function(format!("cumsum {axis}"), |bencher| {
            bencher.iter(|| scan::cumsum::<f32, f64, f32>(a.view(), scan::Along::forward(axis), &mut out));
        });
        group.bench_function(format!("argsort {axis}"), |bencher| {
            bencher.iter(|| sort::argsort(a.view(), axis, a.shape()[axis], false, &mut index));
        });
    }
    let small = numbers(&[4]);
    group.bench_function("sum of 4", |bencher| {
        bencher.iter(|| reduce::sum::<f32>(black_box(small.view()), &[0], &mut out[..1]));
    });
    let rows: Vec<i64> = (0..1000).map(|row| row * 7 % 1000).collect();
    group.bench_function("index_select 0", |bencher| {
        bencher.iter(|| gather::index_select(a.view(), 0, &rows, &mut out));
    });
    group.finish();
}

fn products(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("matrix product");
    for size in [2, 4, 8, 16, 64, 128, 256, 1024] {
        let a = Array2::from_shape_fn((size, size), |(i, j)| ((i * 3 + j) as f32).sin());
        let mut out = Box::new_uninit_slice(size * size);
        group.bench_function(format!("{size}"), |bencher| {
            bencher.iter(|| gemm::matmul(a.view(), a.view(), &mut out));
        });
    }
    let (matrix, vector) = (Array2::<f32>::ones((512, 512)), Array2::<f32>::ones((512, 1)));
    let mut out = Box::new_uninit_slice(512);
    group.bench_function("512x512 by a vector", |bencher| {
        bencher.iter(|| gemm::matmul(matrix.view(), vector.view(), &mut out));
    });
    group.bench_function("a vector by 512x512", |bencher| {
        bencher.iter(|| gemm::matmul(vector.t(), matrix.view(), &mut out));
    });
    group.bench_function("dot of 512", |bencher| {
        bencher.iter(|| gemm::matmul(vector.t(), vector.view(), &mut out[..1]));
    });
    group.finish();
}

fn one_thread(criterion: &mut Criterion) {
    set_num_threads(1);
    elementwise(criterion);
    along_axes(criterion);
    products(criterion);
}

criterion_group!(benches, one_thread);
criterion_main!(benches);
