//! Every differentiable operation of the registry, for many samples at once against one sample after
//! the other: each input batched alone and all together; the values, and the tangents and
//! gradients that pass below the mapping or are taken within it.

use rushlight::dispatch::batch;
use rushlight::dispatch::forward_mode;
use rushlight::graph::{Level, tangents};
use rushlight::ops;
use rushlight::ops::creation::create;
use rushlight::ops::geometry::join;
use rushlight::ops::geometry::permute;
use rushlight::ops::reduction::reduce;
use rushlight::tensor::{Mapping, Randomness};
use rushlight::{Result, Tensor};

use crate::derivatives::{gradients, weighted};
use crate::samples::{self, Sample};

const SIZE: usize = 3;

/// Closes the mapping whatever happens.
struct Open(std::sync::Arc<Mapping>);

impl Open {
    fn new() -> Open {
        Open(Mapping::open(SIZE, Randomness::Error))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        Mapping::close();
    }
}

/// The input of one sample: near the given one, at no kink either.
fn varied(input: &Tensor, index: usize) -> Tensor {
    let factor = 1.0 + 0.003 * index as f64;
    let values: Vec<f64> = input.to_vec::<f64>().unwrap().iter().map(|x| x * factor).collect();
    Tensor::from_slice(input.layout().shape(), &values).unwrap()
}

/// Which inputs are batched: each alone, then all.
fn choices(count: usize) -> Vec<Vec<bool>> {
    let mut choices: Vec<Vec<bool>> =
        (0..count).map(|chosen| (0..count).map(|index| index == chosen).collect()).collect();
    if count > 1 {
        choices.push(vec![true; count]);
    }
    choices
}

fn leaf(x: &Tensor) -> Tensor {
    let leaf = x.detach();
    leaf.set_requires_grad(true).unwrap();
    leaf
}

/// What was said of one sample after the other, along a dimension.
fn stacked(samples: &[Tensor]) -> Tensor {
    join::stack(&samples.iter().collect::<Vec<_>>(), 0).unwrap()
}

struct Case<'a> {
    sample: &'a Sample,
    batched: Vec<bool>,
    /// The inputs of each sample.
    apart: Vec<Vec<Tensor>>,
    /// The inputs with all samples along a dimension.
    together: Vec<Tensor>,
    dims: Vec<usize>,
}

impl<'a> Case<'a> {
    fn new(sample: &'a Sample, batched: Vec<bool>) -> Case<'a> {
        let apart: Vec<Vec<Tensor>> = (0..SIZE)
            .map(|index| {
                let of = |(input, &batched): (&Tensor, &bool)| varied(input, if batched { index } else { 0 });
                sample.inputs.iter().zip(&batched).map(of).collect()
            })
            .collect();
        // The samples lie first in some inputs and last in others.
        let dims: Vec<usize> = sample
            .inputs
            .iter()
            .enumerate()
            .map(|(index, x)| if index % 2 == 0 { 0 } else { x.ndim() })
            .collect();
        let join = |input: usize| match batched[input] {
            true => {
                let samples: Vec<&Tensor> = apart.iter().map(|inputs| &inputs[input]).collect();
                join::stack(&samples, dims[input] as i64).unwrap()
            }
            false => apart[0][input].clone(),
        };
        let together = (0..batched.len()).map(join).collect();
        Case { sample, batched, apart, together, dims }
    }

    fn entered(&self, inputs: &[Tensor], mapping: &std::sync::Arc<Mapping>) -> Vec<Tensor> {
        let enter = |index: usize| match self.batched[index] {
            true => batch::enter(&inputs[index], self.dims[index], mapping).unwrap(),
            false => inputs[index].clone(),
        };
        (0..inputs.len()).map(enter).collect()
    }

    /// The values, for all samples at once.
    fn values(&self) -> Result<Vec<Tensor>> {
        let open = Open::new();
        let outputs = (self.sample.call)(&self.entered(&self.together, &open.0))?;
        outputs.iter().map(|y| batch::leave(y, 0, &open.0)).collect()
    }

    /// The gradients of the sum over all samples, taken outside.
    fn gradients_below(&self) -> Result<Vec<Tensor>> {
        let leaves: Vec<Tensor> = self.together.iter().map(leaf).collect();
        let y = {
            let open = Open::new();
            let outputs = (self.sample.call)(&self.entered(&leaves, &open.0))?;
            batch::leave(&weighted(&outputs)?, 0, &open.0)?
        };
        gradients(&reduce::sum(&y, None, false, None)?, &leaves, false)
    }

    /// The directions in which inputs move.
    fn directions(inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        inputs.iter().map(|x| ops::add(&ops::mul(x, 0.5)?, 0.1)).collect()
    }

    /// How the outputs move, within.
    fn tangents_within(&self) -> Result<Vec<Tensor>> {
        let open = Open::new();
        let inputs = self.entered(&self.together, &open.0);
        let directions = self.entered(&Self::directions(&self.together)?, &open.0);
        let level = tangents::enter();
        let moved = moved(self.sample, &inputs, &directions, level);
        tangents::exit(level);
        moved?.iter().map(|y| batch::leave(y, 0, &open.0)).collect()
    }

    /// How all outputs move, below.
    fn tangents_below(&self) -> Result<Vec<Tensor>> {
        let level = tangents::enter();
        let found = self.moved_below(level);
        tangents::exit(level);
        found
    }

    fn moved_below(&self, level: Level) -> Result<Vec<Tensor>> {
        let duals = duals(&self.together, &Self::directions(&self.together)?, level)?;
        let open = Open::new();
        let outputs = (self.sample.call)(&self.entered(&duals, &open.0))?;
        outputs.iter().map(|y| tangent(&batch::leave(y, 0, &open.0)?, level)).collect()
    }

    /// The gradients of each sample, taken within.
    fn gradients_within(&self) -> Result<Vec<Tensor>> {
        let open = Open::new();
        let leaves: Vec<Tensor> = self
            .entered(&self.together, &open.0)
            .iter()
            .map(|x| {
                let leaf = batch::within(x).unwrap().without_history();
                leaf.set_requires_grad(true).unwrap();
                leaf
            })
            .collect();
        let found = gradients(&weighted(&(self.sample.call)(&leaves)?)?, &leaves, false)?;
        found.iter().map(|gradient| batch::leave(gradient, 0, &open.0)).collect()
    }
}

fn duals(inputs: &[Tensor], directions: &[Tensor], level: Level) -> Result<Vec<Tensor>> {
    let dual = |(x, t)| forward_mode::tangents::make_dual(x, t, level);
    inputs.iter().zip(directions).map(dual).collect()
}

/// The tangent of an output, zeros if it has none.
fn tangent(y: &Tensor, level: Level) -> Result<Tensor> {
    forward_mode::tangents::unpack_dual(y, level)?.1.map_or_else(|| create::zeros_like(&y.detach()), Ok)
}

/// How the outputs of a sample move.
fn moved(sample: &Sample, inputs: &[Tensor], directions: &[Tensor], level: Level) -> Result<Vec<Tensor>> {
    let outputs = (sample.call)(&duals(inputs, directions, level)?)?;
    outputs.iter().map(|y| tangent(y, level)).collect()
}

fn assert_close(got: &Tensor, expected: &Tensor, what: &str) {
    assert_eq!(got.layout().shape(), expected.layout().shape(), "{what}: shape");
    for (place, (got, expected)) in
        got.to_vec::<f64>().unwrap().iter().zip(expected.to_vec::<f64>().unwrap()).enumerate()
    {
        let close = (got - expected).abs() <= 1e-9 * (1.0 + expected.abs())
            || got.is_nan() && expected.is_nan()
            || *got == expected;
        assert!(close, "{what}: element {place} is {got}, one after the other {expected}");
    }
}

/// A write to what all samples share is refused, and that is right.
fn refused<T>(result: &Result<T>) -> bool {
    let kinds = ["UnbatchedWrite", "UnbatchedFallback", "OutputShape"];
    matches!(result, Err(error) if kinds.contains(&error.kind()))
}

fn check_tangents(case: &Case<'_>, outputs: usize, what: &str) {
    let of_sample = |inputs: &Vec<Tensor>| {
        let level = tangents::enter();
        let found = moved(case.sample, inputs, &Case::directions(inputs).unwrap(), level);
        tangents::exit(level);
        found.unwrap()
    };
    let expected: Vec<Vec<Tensor>> = case.apart.iter().map(of_sample).collect();
    let within = case.tangents_within().unwrap_or_else(|error| panic!("{what}, tangents within: {error}"));
    let below = case.tangents_below().unwrap_or_else(|error| panic!("{what}, tangents below: {error}"));
    for output in 0..outputs {
        let column: Vec<Tensor> = expected.iter().map(|tangents| tangents[output].clone()).collect();
        assert_close(&within[output], &stacked(&column), &format!("{what}: tangent {output} within"));
        assert_close(&below[output], &stacked(&column), &format!("{what}: tangent {output} below"));
    }
}

fn check(case: &Case<'_>, what: &str) {
    let values = case.values();
    if refused(&values) {
        return;
    }
    let values = values.unwrap_or_else(|error| panic!("{what}: {error}"));
    let call = |inputs: &Vec<Tensor>| (case.sample.call)(inputs).unwrap();
    let expected: Vec<Vec<Tensor>> = case.apart.iter().map(call).collect();
    for (output, got) in values.iter().enumerate() {
        let column: Vec<Tensor> = expected.iter().map(|outputs| outputs[output].clone()).collect();
        assert_close(got, &stacked(&column), &format!("{what}: output {output}"));
    }
    check_tangents(case, values.len(), what);
    let of_sample = |inputs: &Vec<Tensor>| {
        let leaves: Vec<Tensor> = inputs.iter().map(leaf).collect();
        gradients(&weighted(&(case.sample.call)(&leaves).unwrap()).unwrap(), &leaves, false).unwrap()
    };
    let expected: Vec<Vec<Tensor>> = case.apart.iter().map(of_sample).collect();
    let within = case.gradients_within().unwrap_or_else(|error| panic!("{what}, within: {error}"));
    let below = case.gradients_below().unwrap_or_else(|error| panic!("{what}, below: {error}"));
    for input in 0..case.batched.len() {
        let column: Vec<Tensor> = expected.iter().map(|gradients| gradients[input].clone()).collect();
        let column = stacked(&column);
        assert_close(&within[input], &column, &format!("{what}: gradient {input} within"));
        let expected = match case.batched[input] {
            true => permute::movedim(&column, &[0], &[case.dims[input] as i64]).unwrap(),
            false => reduce::sum(&column, Some(&[0]), false, None).unwrap(),
        };
        assert_close(&below[input], &expected, &format!("{what}: gradient {input} below"));
    }
}

#[test]
fn many_samples_at_once_are_one_after_the_other() {
    let wanted = std::env::var("SAMPLE").ok();
    let mut failures = Vec::new();
    for (number, sample) in samples::all().iter().enumerate() {
        if wanted.as_ref().is_some_and(|wanted| wanted != sample.op) {
            continue;
        }
        let shapes: Vec<_> = sample.inputs.iter().map(|x| x.layout().shape().to_vec()).collect();
        for batched in choices(sample.inputs.len()) {
            let what = format!("sample {number}, {} of {shapes:?}, batched {batched:?}", sample.op);
            let case = Case::new(sample, batched);
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&case, &what)));
            if let Err(panic) = checked {
                failures.push(panic.downcast_ref::<String>().cloned().unwrap_or(what));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
