//! What tests of derivatives calculate with: copies of inputs, fixed numbers, sums, gradients.

use rushlight::engine::{self, Options};
use rushlight::ops;
use rushlight::ops::creation::cast;
use rushlight::ops::creation::create;
use rushlight::ops::reduction::reduce;
use rushlight::{Result, Tensor};

/// Copies of the inputs, as leaves.
pub(crate) fn copies(inputs: &[Tensor], requires_grad: bool) -> Vec<Tensor> {
    let copy = |input: &Tensor| {
        let copy = cast::clone(&input.detach()).unwrap();
        copy.set_requires_grad(requires_grad).unwrap();
        copy
    };
    inputs.iter().map(copy).collect()
}

/// Copies of the inputs that require grad.
pub(crate) fn leaves(inputs: &[Tensor]) -> Vec<Tensor> {
    copies(inputs, true)
}

/// Fixed numbers without a pattern, for cotangents and tangents.
pub(crate) fn noise(like: &Tensor, seed: usize) -> Tensor {
    let values: Vec<f64> =
        (0..like.numel()).map(|i| ((i * 37 + seed * 101) % 89) as f64 / 44.5 - 1.0).collect();
    Tensor::from_slice(like.layout().shape(), &values).unwrap()
}

pub(crate) fn inner(a: &Tensor, b: &Tensor) -> f64 {
    a.to_vec::<f64>().unwrap().iter().zip(b.to_vec::<f64>().unwrap()).map(|(a, b)| a * b).sum()
}

/// Σ ⟨ȳᵢ, yᵢ⟩ as a tensor, so that it can be differentiated.
pub(crate) fn weighted(outputs: &[Tensor]) -> Result<Tensor> {
    let mut total: Option<Tensor> = None;
    for (seed, y) in outputs.iter().enumerate() {
        let term = reduce::sum(&ops::mul(y, &noise(y, seed))?, None, false, None)?;
        total = Some(match total {
            Some(total) => ops::add(&total, &term)?,
            None => term,
        });
    }
    Ok(total.expect("a sample has an output"))
}

/// The gradients of a number; zeros where it does not depend on an input.
pub(crate) fn gradients(y: &Tensor, inputs: &[Tensor], create_graph: bool) -> Result<Vec<Tensor>> {
    if !y.requires_grad() {
        return inputs.iter().map(create::zeros_like).collect();
    }
    let options = Options { create_graph, retain_graph: true };
    let found = engine::grad(std::slice::from_ref(y), inputs, &[], options)?;
    found.into_iter().zip(inputs).map(|(g, x)| g.map_or_else(|| create::zeros_like(x), Ok)).collect()
}
