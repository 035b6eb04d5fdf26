//! Backward in small: values that can be checked by hand.

use rushlight::engine::{self, Options};
use rushlight::graph::mode::GradModeGuard;
use rushlight::ops::geometry::permute;
use rushlight::ops::geometry::reshape;
use rushlight::ops::geometry::split;
use rushlight::ops::geometry::strided;
use rushlight::ops::reduction::reduce;
use rushlight::{Error, Tensor, ops};

fn leaf(values: &[f64]) -> Tensor {
    let x = Tensor::from_slice(&[values.len()], values).unwrap();
    x.set_requires_grad(true).unwrap();
    x
}

fn backward(y: &Tensor) {
    let y = reduce::sum(y, None, false, None).unwrap();
    engine::backward(&[y], &[], Options::default()).unwrap();
}

fn grad(x: &Tensor) -> Vec<f64> {
    x.grad().unwrap().to_vec().unwrap()
}

#[test]
fn a_product_and_a_sum() {
    let (x, y) = (leaf(&[2.0, 3.0]), leaf(&[5.0, 7.0]));
    backward(&ops::add(&ops::mul(&x, &y).unwrap(), &x).unwrap());
    assert_eq!(grad(&x), [6.0, 8.0]);
    assert_eq!(grad(&y), [2.0, 3.0]);
}

#[test]
fn gradients_accumulate_over_runs() {
    let x = leaf(&[2.0]);
    for _ in 0..3 {
        backward(&ops::mul(&x, &x).unwrap());
    }
    assert_eq!(grad(&x), [12.0]);
}

#[test]
fn broadcasting_is_undone() {
    let (x, w) = (leaf(&[1.0, 2.0, 3.0]), leaf(&[4.0]));
    backward(&ops::mul(&x, &w).unwrap());
    assert_eq!(grad(&w), [6.0]);
}

#[test]
fn higher_orders_come_from_recording_backward() {
    let x = leaf(&[3.0]);
    let mut y = ops::mul(&ops::mul(&x, &x).unwrap(), &x).unwrap();
    let options = Options { create_graph: true, retain_graph: true };
    for expected in [27.0, 18.0, 6.0] {
        y = engine::grad(&[y], std::slice::from_ref(&x), &[], options).unwrap().remove(0).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [expected]);
    }
}

#[test]
fn a_second_run_over_freed_tensors_is_an_error() {
    let x = leaf(&[1.0]);
    let y = ops::exp(&x).unwrap();
    engine::backward(std::slice::from_ref(&y), &[], Options::default()).unwrap();
    let error = engine::backward(&[y], &[], Options::default()).unwrap_err();
    assert!(matches!(*error, Error::BackwardTwice { .. }));
}

#[test]
fn a_saved_tensor_that_was_overwritten_is_an_error_and_leaves_gradients_alone() {
    let (x, w) = (leaf(&[1.0]), leaf(&[2.0]));
    let y = ops::exp(&x).unwrap();
    let z = ops::add(&ops::mul(&y, &y).unwrap(), &w).unwrap();
    ops::add_(&y, 1.0).unwrap();
    let error = engine::backward(&[z], &[], Options::default()).unwrap_err();
    assert!(matches!(*error, Error::Modified { version: 1, expected: 0, .. }), "{error}");
    assert!(x.grad().is_none() && w.grad().is_none());
}

#[test]
fn leaves_are_not_written_to() {
    let x = leaf(&[1.0, 2.0]);
    assert!(matches!(*ops::mul_(&x, 2.0).unwrap_err(), Error::LeafModified {}));
    let row = reshape::view(&x, &[1, 2]).unwrap();
    assert!(matches!(*ops::mul_(&row, 2.0).unwrap_err(), Error::LeafViewModified {}));
    let _off = GradModeGuard::off();
    ops::mul_(&x, 2.0).unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), [2.0, 4.0]);
}

#[test]
fn a_write_to_a_view_reaches_the_base_and_its_other_views() {
    let (x, w) = (leaf(&[1.0, 2.0, 3.0, 4.0]), leaf(&[10.0]));
    let y = ops::mul(&x, 1.0).unwrap();
    let square = reshape::view(&y, &[2, 2]).unwrap();
    let first = strided::as_strided(&y, &[2], &[1], Some(0)).unwrap();
    ops::mul_(&first, &w).unwrap();
    assert_eq!(square.to_vec::<f64>().unwrap(), [10.0, 20.0, 3.0, 4.0]);
    assert_eq!(y.edge().unwrap().unwrap().node.name(), "torch::autograd::CopySlices");
    assert_eq!(square.edge().unwrap().unwrap().node.name(), "AsStridedBackward0");
    backward(&ops::mul(&square, &square).unwrap());
    assert_eq!(grad(&x), [200.0, 400.0, 6.0, 8.0]);
    assert_eq!(grad(&w), [2.0 * 10.0 * 1.0 + 2.0 * 20.0 * 2.0]);
}

#[test]
fn a_view_requires_grad_as_soon_as_its_base_does() {
    let w = leaf(&[2.0, 3.0]);
    let base = Tensor::from_slice(&[2], &[5.0, 7.0]).unwrap();
    let row = reshape::view(&base, &[1, 2]).unwrap();
    ops::mul_(&base, &w).unwrap();
    assert!(row.requires_grad());
    // A view of a view whose own history is out of date.
    let column = permute::t(&row).unwrap();
    backward(&ops::mul(&column, &column).unwrap());
    assert_eq!(grad(&w), [2.0 * 5.0 * 10.0, 2.0 * 7.0 * 21.0]);
}

#[test]
fn views_that_cannot_follow_a_write_to_their_base_say_so() {
    let w = leaf(&[2.0, 3.0]);
    let base = Tensor::from_slice(&[2], &[5.0, 7.0]).unwrap();
    let unrecorded = {
        let _off = GradModeGuard::off();
        reshape::view(&base, &[1, 2]).unwrap()
    };
    let parts = split::unbind(&base, 0).unwrap();
    ops::mul_(&base, &w).unwrap();
    assert!(matches!(*ops::exp(&unrecorded).unwrap_err(), Error::NoGradView { stale: true, .. }));
    assert!(matches!(*ops::exp(&parts[1]).unwrap_err(), Error::MultiView { stale: true, .. }));
}
