//! Every operation of the registry that takes complex numbers, as a function of their parts: real numbers
//! in, real numbers out, so that what holds for real operations can be asked of it.

use std::collections::BTreeSet;

use rushlight::ops::{self, complex, conjugate};
use rushlight::{Result, Tensor};

use crate::derivatives::{gradients, leaves, weighted};
use crate::gradcheck::{check_against_differences, check_forward, name};
use crate::samples::{self, Sample};

/// Imaginary parts that belong to these real ones: apart from them, and from zero.
fn imaginary(re: &Tensor) -> Tensor {
    ops::add(&ops::mul(re, -0.6).unwrap(), 0.25).unwrap()
}

fn together(parts: &[Tensor]) -> Result<Vec<Tensor>> {
    parts.chunks(2).map(|pair| complex::complex(&pair[0], &pair[1])).collect()
}

/// The sample at complex numbers, as a function of their parts; `None` if the operation refuses them.
fn of_parts(sample: Sample) -> Option<Sample> {
    // Their samples are symmetric, not matrices that are their own adjoints: Python's tests have some.
    if matches!(sample.op, "cholesky" | "eigh") {
        return None;
    }
    let inputs: Vec<Tensor> = sample.inputs.iter().flat_map(|re| [re.clone(), imaginary(re)]).collect();
    let call = move |parts: &[Tensor]| -> Result<Vec<Tensor>> {
        let outputs = (sample.call)(&together(parts)?)?;
        let real = |y: &Tensor| match y.dtype().is_complex() {
            true => conjugate::view_as_real(&conjugate::resolve(y)?),
            false => Ok(y.clone()),
        };
        outputs.iter().map(real).collect()
    };
    // Some are there for numbers without a history only.
    call(&leaves(&inputs)).ok()?;
    Some(Sample { op: sample.op, inputs, call: Box::new(call) })
}

fn all() -> Vec<Sample> {
    samples::all().into_iter().filter_map(of_parts).collect()
}

#[test]
fn the_operations_that_take_complex_numbers_are_these_at_least() {
    let taken: BTreeSet<&str> = all().iter().map(|sample| sample.op).collect();
    for op in [
        "abs",
        "acos",
        "acosh",
        "add",
        "addcdiv",
        "addcmul",
        "addmm",
        "addmv",
        "as_strided",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "baddbmm",
        "bmm",
        "cat",
        "clone",
        "copy_",
        "cos",
        "cosh",
        "cumprod",
        "cumsum",
        "det",
        "diag",
        "diagonal",
        "div",
        "dot",
        "exp",
        "exp2",
        "expand",
        "expm1",
        "fill_",
        "flatten",
        "flip",
        "gather",
        "index",
        "index_add",
        "index_copy",
        "index_fill",
        "index_put",
        "index_select",
        "inner",
        "inverse",
        "lerp",
        "linear",
        "log",
        "log10",
        "log1p",
        "log2",
        "logsumexp",
        "masked_fill",
        "masked_scatter",
        "masked_select",
        "matmul",
        "matrix_power",
        "mean",
        "mm",
        "mul",
        "mv",
        "neg",
        "outer",
        "permute",
        "pow",
        "prod",
        "ravel",
        "reciprocal",
        "repeat",
        "reshape",
        "roll",
        "rsqrt",
        "rsub",
        "scatter",
        "scatter_add",
        "select",
        "sgn",
        "sigmoid",
        "sin",
        "sinh",
        "slice",
        "slogdet",
        "solve",
        "split",
        "sqrt",
        "square",
        "squeeze",
        "stack",
        "std",
        "sub",
        "sum",
        "t",
        "take",
        "tan",
        "tanh",
        "trace",
        "transpose",
        "tril",
        "triu",
        "unbind",
        "unflatten",
        "unfold",
        "unsqueeze",
        "var",
        "var_mean",
        "vdot",
        "vector_norm",
        "view",
        "where",
    ] {
        assert!(taken.contains(op), "{op} takes complex numbers");
    }
}

#[test]
fn backward_agrees_with_differences() {
    for (number, sample) in all().iter().enumerate() {
        check_against_differences(&|x| weighted(&(sample.call)(x)?), &sample.inputs, &name(number, sample));
    }
}

#[test]
fn backward_of_backward_agrees_with_differences() {
    for (number, sample) in all().iter().enumerate() {
        let slope = |x: &[Tensor]| weighted(&gradients(&weighted(&(sample.call)(x)?)?, x, true)?);
        check_against_differences(&slope, &sample.inputs, &format!("second order, {}", name(number, sample)));
    }
}

#[test]
fn forward_mode_agrees_with_backward() {
    let checked: usize = all().iter().enumerate().map(|(number, sample)| check_forward(number, sample)).sum();
    assert!(checked >= 100);
}
