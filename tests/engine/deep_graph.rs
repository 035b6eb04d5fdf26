//! Graphs of ten million nodes on a small stack: nothing recurses over a graph, neither backward nor
//! what frees it.

use std::thread;

use rushlight::engine::{self, Options};
use rushlight::ops;
use rushlight::ops::creation::create;
use rushlight::{Tensor, dtype::DType};

const MANY: usize = 10_000_000;

/// Runs on a thread with a stack of 64 KB.
fn on_a_small_stack(body: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(64 * 1024).spawn(body).unwrap().join().unwrap();
}

fn leaf() -> Tensor {
    let x = create::full(&[], 1i64.into(), DType::Float64).unwrap();
    x.set_requires_grad(true).unwrap();
    x
}

#[test]
fn a_chain_of_ten_million_is_recorded_differentiated_and_freed() {
    on_a_small_stack(|| {
        let x = leaf();
        let mut y = x.clone();
        for _ in 0..MANY {
            y = ops::neg(&y).unwrap();
        }
        engine::backward(&[y], &[], Options::default()).unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [1.0]);
    });
}

#[test]
fn a_chain_that_keeps_tensors_is_freed_without_having_been_run() {
    on_a_small_stack(|| {
        let x = leaf();
        let mut y = x.clone();
        for _ in 0..MANY / 10 {
            y = ops::mul(&y, &x).unwrap();
        }
        assert!(y.requires_grad());
        drop(y);
        assert!(x.grad().is_none());
        assert_eq!(x.handles(), 1, "no node holds the leaf any more");
    });
}

#[test]
fn a_million_branches_meet_in_one_leaf_and_in_one_root() {
    on_a_small_stack(|| {
        let x = leaf();
        let mut sum = ops::mul(&x, 0.0).unwrap();
        for _ in 0..MANY / 20 {
            // Every product is a branch of its own from the leaf to the sum.
            sum = ops::add(&sum, &ops::mul(&x, 2.0).unwrap()).unwrap();
        }
        engine::backward(&[sum], &[], Options::default()).unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [MANY as f64 / 10.0]);
    });
}

#[test]
fn a_ladder_with_exponentially_many_paths_takes_as_long_as_it_has_rungs() {
    on_a_small_stack(|| {
        let x = leaf();
        let mut y = x.clone();
        for _ in 0..MANY / 20 {
            let half = ops::mul(&y, 0.5).unwrap();
            y = ops::add(&half, &half).unwrap();
        }
        let options = Options { create_graph: true, retain_graph: true };
        let slope = engine::grad(&[y], std::slice::from_ref(&x), &[], options).unwrap().remove(0).unwrap();
        assert_eq!(slope.to_vec::<f64>().unwrap(), [1.0]);
    });
}
