//! Calls of operations to check derivatives on, by family. Every block of an operation whose node is recorded has at
//! least one; `gradcheck` asserts that.

mod basics;
mod composites;
mod elementwise;
mod layers;
mod matrices;
mod orders;
mod products;
mod reductions;
mod transforms;
mod units;
mod views;

use rushlight::{Result, Tensor};

/// One call: float64 inputs that are differentiated, and what is done with them.
pub struct Sample {
    /// The operation's name, for messages.
    pub op: &'static str,
    /// The inputs, none of which sits at a kink of the operation.
    pub inputs: Vec<Tensor>,
    /// The call; it gives the differentiable outputs.
    pub call: Box<dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>>,
}

/// A sample with one output.
pub fn sample(
    op: &'static str,
    inputs: Vec<Tensor>,
    call: impl Fn(&[Tensor]) -> Result<Tensor> + 'static,
) -> Sample {
    Sample { op, inputs, call: Box::new(move |inputs| Ok(vec![call(inputs)?])) }
}

/// Numbers in (0.3, 1.7), all different, none near 1: safe for logarithms, roots and divisions.
pub fn positive(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    let number = |i: usize| {
        let x = 0.3 + 1.4 * ((i * 7 + 3) % (count.max(1) * 2 + 11)) as f64 / (count.max(1) * 2 + 11) as f64;
        if (x - 1.0).abs() < 0.02 { x + 0.037 } else { x }
    };
    Tensor::from_slice(shape, &(0..count).map(number).collect::<Vec<f64>>()).unwrap()
}

/// Numbers of both signs, all different in magnitude, none near 0.
pub fn signed(shape: &[usize]) -> Tensor {
    let values: Vec<f64> = positive(shape)
        .to_vec::<f64>()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(i, x)| if i % 3 == 1 { -x } else { *x })
        .collect();
    Tensor::from_slice(shape, &values).unwrap()
}

/// Every sample, those of the tables included.
pub fn all() -> Vec<Sample> {
    let mut samples = basics::samples();
    samples.extend(composites::samples());
    samples.extend(views::samples());
    samples.extend(products::samples());
    samples.extend(reductions::samples());
    samples.extend(elementwise::samples());
    samples.extend(layers::samples());
    samples.extend(matrices::samples());
    samples.extend(orders::samples());
    samples.extend(transforms::samples());
    samples.extend(units::samples());
    samples
}
