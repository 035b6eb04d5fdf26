//! Forward mode through tensors that carry tangents: every operation of the registry, with tangents
//! on all of its inputs or on one, against backward; and tangents of tangents, tangents of gradients
//! and gradients of tangents against each other.

use rushlight::Tensor;
use rushlight::dispatch::forward_mode::tangents as duals;
use rushlight::graph::{Level, mode, tangents};
use rushlight::ops;

use crate::derivatives::{copies, gradients, inner, leaves, noise, weighted};
use crate::samples::{self, Sample};

/// A level that is left again when a check fails.
struct Entered(Level);

impl Entered {
    fn new() -> Self {
        Entered(tangents::enter())
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        tangents::exit(self.0);
    }
}

/// The inputs, those that `carries` names with a tangent at a level.
fn duals_of(inputs: &[Tensor], level: Level, seed: usize, carries: impl Fn(usize) -> bool) -> Vec<Tensor> {
    inputs
        .iter()
        .enumerate()
        .map(|(index, x)| match carries(index) {
            true => duals::make_dual(x, &noise(x, index + seed), level).unwrap(),
            false => x.clone(),
        })
        .collect()
}

fn tangent_of(y: &Tensor, level: Level) -> f64 {
    duals::tangent(y, level).unwrap().map_or(0.0, |tangent| tangent.to_vec::<f64>().unwrap()[0])
}

fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{what}: {a} and {b}");
}

fn each(mut check: impl FnMut(&Sample, &str)) {
    for (number, sample) in samples::all().iter().enumerate() {
        let shapes: Vec<_> = sample.inputs.iter().map(|x| x.layout().shape().to_vec()).collect();
        check(sample, &format!("sample {number}, {} of {shapes:?}", sample.op));
    }
}

#[test]
fn tangents_agree_with_gradients() {
    each(|sample, what| {
        let leaves = leaves(&sample.inputs);
        let back = gradients(&weighted(&(sample.call)(&leaves).unwrap()).unwrap(), &leaves, false).unwrap();
        let count = sample.inputs.len();
        let all_or_one = (0..=count).filter(|&one| one == count || count > 1);
        for one in all_or_one {
            let carries = |index: usize| one == count || index == one;
            for recording in [false, true] {
                let entered = Entered::new();
                let inputs = duals_of(&copies(&sample.inputs, recording), entered.0, 5, carries);
                let y = (sample.call)(&inputs)
                    .and_then(|outputs| weighted(&outputs))
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                let expected: f64 = back
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| carries(*index))
                    .map(|(index, g)| inner(g, &noise(g, index + 5)))
                    .sum();
                close(tangent_of(&y, entered.0), expected, &format!("{what}, input {one} of {count}"));
            }
        }
    });
}

#[test]
fn a_result_and_its_tangent_lie_alike_in_memory() {
    each(|sample, what| {
        let entered = Entered::new();
        let inputs = duals_of(&copies(&sample.inputs, false), entered.0, 5, |_| true);
        for y in (sample.call)(&inputs).unwrap() {
            let Some(tangent) = duals::tangent(&y, entered.0).unwrap() else { continue };
            assert_eq!(tangent.dtype(), y.dtype(), "{what}");
            assert_eq!(tangent.layout().shape(), y.layout().shape(), "{what}");
            let strides = |x: &Tensor| x.layout().strides().to_vec();
            let sizes = y.layout();
            for ((a, b), &size) in strides(&tangent).iter().zip(strides(&y)).zip(sizes.shape()) {
                assert!(
                    *a == b || size <= 1,
                    "{what}: strides {:?} and {:?}",
                    strides(&tangent),
                    strides(&y)
                );
            }
        }
    });
}

/// vᵀ H t in four ways: gradients of a tangent, tangents of a gradient (recorded or not), tangents of
/// tangents.
#[test]
fn second_derivatives_agree_however_they_are_taken() {
    each(|sample, what| {
        let entered = Entered::new();
        let leaves = leaves(&sample.inputs);
        let inputs = duals_of(&leaves, entered.0, 5, |_| true);
        let y = weighted(&(sample.call)(&inputs).unwrap()).unwrap();
        let along = |gradients: &[Tensor]| -> f64 {
            gradients.iter().enumerate().map(|(index, g)| inner(g, &noise(g, index + 9))).sum()
        };
        let reverse_over_forward = match duals::tangent(&y, entered.0).unwrap() {
            Some(tangent) => along(&gradients(&tangent, &leaves, false).unwrap()),
            None => 0.0,
        };
        for create_graph in [false, true] {
            let of_gradients: f64 = gradients(&y, &inputs, create_graph)
                .unwrap()
                .iter()
                .enumerate()
                .filter_map(|(index, g)| Some((index, duals::tangent(g, entered.0).unwrap()?)))
                .map(|(index, tangent)| inner(&tangent, &noise(&tangent, index + 9)))
                .sum();
            close(of_gradients, reverse_over_forward, &format!("forward over reverse, {what}"));
        }
        drop(entered);
        for recording in [false, true] {
            let (outer, inside) = (Entered::new(), Entered::new());
            let inputs = copies(&sample.inputs, recording);
            let inputs = duals_of(&inputs, outer.0, 5, |_| true);
            let inputs = duals_of(&inputs, inside.0, 9, |_| true);
            let y = weighted(&(sample.call)(&inputs).unwrap()).unwrap();
            let twice =
                duals::tangent(&y, inside.0).unwrap().map_or(0.0, |tangent| tangent_of(&tangent, outer.0));
            close(twice, reverse_over_forward, &format!("forward over forward, {what}"));
        }
    });
}

#[test]
fn a_level_that_is_left_takes_its_tangents_along() {
    let level = tangents::enter();
    let x = noise(&Tensor::from_slice(&[3], &[0.0; 3]).unwrap(), 1);
    let tangent = noise(&x, 2);
    x.set_requires_grad(true).unwrap();
    let dual = duals::make_dual(&x, &tangent, level).unwrap();
    let y = ops::mul(&ops::exp(&dual).unwrap(), &dual).unwrap();
    assert!(duals::tangent(&y, level).unwrap().is_some());
    assert!(mode::special());
    tangents::exit(level);
    assert!(duals::tangent(&y, level).unwrap().is_none());
    assert_eq!(tangent.handles(), 1, "nothing holds the tangent any more");
}
