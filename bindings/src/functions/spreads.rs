//! Variances, standard deviations and norms.
use super::entries::{both, function, inner};
use crate::calls::callable::Function;
use crate::values::arguments::Arguments;
use crate::values::convert::Ints;
use crate::values::returns::ToPython;
use pyo3::exceptions::{PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyString;
use rushlight::Tensor;
use rushlight::dtype::Scalar;
use rushlight::ops::linalg::norms::nuclear;
use rushlight::ops::reduction::{moments, norm};
use rushlight::schema::{OutPolicy, Types};
use std::ffi::CString;

const SPREAD: &[&str] = &[
    "(Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor out=None)",
    "(Tensor input, int[1]? dim=None, *, Number? correction=None, bool keepdim=False, Tensor out=None)",
    "(Tensor input, bool unbiased=True)",
];
const PAIR: &[&str] = &[
    "(Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False) -> tuple[Tensor, Tensor]",
    "(Tensor input, int[1]? dim=None, *, Number? correction=None, bool keepdim=False) -> tuple[Tensor, Tensor]",
    "(Tensor input, bool unbiased=True) -> tuple[Tensor, Tensor]",
];

/// How a spread is written.
const SPREAD_INTO: OutPolicy =
    OutPolicy::PLAIN.out_as(|given| if given.count < 2 { ".correction_out" } else { ".out" });

/// The entries.
pub(super) const TABLE: &[Function] = &[
    both("var", SPREAD, "The variance of all elements, or along dimensions.", |a| {
        let (dims, correction, keepdim) = spread(a)?;
        moments::var(a.tensor(0)?, dims.as_deref(), correction, keepdim).answer(a.py())
    })
    .written(&SPREAD_INTO)
    .operators(&[("VarBackward0", "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor")]),
    both("std", SPREAD, "The standard deviation of all elements, or along dimensions.", |a| {
        let (dims, correction, keepdim) = spread(a)?;
        moments::std(a.tensor(0)?, dims.as_deref(), correction, keepdim).answer(a.py())
    })
    .written(&SPREAD_INTO)
    .operators(&[("StdBackward0", "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor")]),
    function("var_mean", PAIR, "The variance and the mean of all elements, or along dimensions.", |a| {
        let (dims, correction, keepdim) = spread(a)?;
        moments::var_mean(a.tensor(0)?, dims.as_deref(), correction, keepdim).answer(a.py())
    })
    .operators(&[("VarMeanBackward0", "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)")]),
    function("std_mean", PAIR, "The standard deviation and the mean of all elements, or along dimensions.", |a| {
        let (dims, correction, keepdim) = spread(a)?;
        moments::std_mean(a.tensor(0)?, dims.as_deref(), correction, keepdim).answer(a.py())
    })
    .operators(&[("StdMeanBackward0", "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)")]),
    both(
        "norm",
        &[
            "(Tensor input, object p=\"fro\", int[1]? dim=None, bool keepdim=False, dtype? dtype=None, Tensor out=None)",
        ],
        "The p-norm of all elements, or of those along dimensions.",
        |a| {
            let (x, dims) = (a.tensor(0)?, a.dims(2)?);
            if a.optional_text(1).is_ok_and(|order| order.as_deref() == Some("nuc")) {
                return nuclear(x, matrix(x, dims.as_deref())?, a.boolean(3), a.dtype(4)).answer(a.py());
            }
            norm::vector_norm(x, order(a)?, dims.as_deref(), a.boolean(3), a.dtype(4)).answer(a.py())
        },
    ).written(&OutPolicy::PLAIN.refused_as("linalg_vector_norm").typed(Types::Same)),
    inner(
        "linalg_vector_norm",
        &[
            "(Tensor input, Number ord=2, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
        ],
        "The vector norm of all elements, or along dimensions.",
        |a| {
            let (order, dims) = (a.number(1)?, a.dims(2)?);
            norm::vector_norm(a.tensor(0)?, order, dims.as_deref(), a.boolean(3), a.dtype(4)).answer(a.py())
        },
    ).written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("LinalgVectorNormBackward0", "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")]),
];

/// Dimensions, correction and `keepdim`, after a warning if the divisor is not above zero.
fn spread(arguments: &Arguments<'_, '_>) -> PyResult<(Option<Ints>, f64, bool)> {
    let unbiased = |index| f64::from(u8::from(arguments.boolean(index)));
    let (dims, correction, keepdim) = match arguments.overload() {
        0 => (arguments.dims(1)?, unbiased(2), arguments.boolean(3)),
        1 => {
            let correction = arguments.optional_number(2)?.map_or(1.0, |number| number.to_f64());
            (arguments.dims(1)?, correction, arguments.boolean(3))
        }
        _ => (None, unbiased(1), false),
    };
    warn(arguments, dims.as_deref().unwrap_or(&[]), correction)?;
    Ok((dims, correction, keepdim))
}

fn warn(arguments: &Arguments<'_, '_>, dims: &[i64], correction: f64) -> PyResult<()> {
    let layout = arguments.tensor(0)?.layout();
    let Ok(dims) = rushlight::shape::normalize_dims(dims, layout.ndim()) else {
        return Ok(()); // The operation will say so.
    };
    let count: usize = dims.iter().map(|&dim| layout.shape()[dim]).product();
    // Where there are no elements torch finds none for a result either.
    let count = if layout.numel() == 0 { 0 } else { count };
    let dtype = arguments.tensor(0)?.dtype();
    if count as f64 > correction || !dtype.is_differentiable() {
        return Ok(());
    }
    let text = format!(
        "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor \
         (input numel divided by output numel).",
        arguments.name
    );
    let (py, text) = (arguments.py(), CString::new(text)?);
    // Of complex numbers both parts are looked at.
    for _ in 0..=usize::from(dtype.is_complex()) {
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    Ok(())
}

/// The two dimensions of matrices.
fn matrix(x: &Tensor, dims: Option<&[i64]>) -> PyResult<[i64; 2]> {
    let all: Vec<i64> = (0..x.ndim() as i64).collect();
    match dims.filter(|dims| !dims.is_empty()).unwrap_or(&all) {
        &[first, second] => Ok([first, second]),
        _ if x.ndim() < 2 => Err(PyRuntimeError::new_err(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.",
        )),
        dims => {
            let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
            let text = format!("linalg.matrix_norm: dim must be a 2-tuple. Got {}", dims.join(" "));
            Err(PyRuntimeError::new_err(text))
        }
    }
}

/// The order of a norm: a number, or a word for one.
fn order(arguments: &Arguments<'_, '_>) -> PyResult<Scalar> {
    match arguments.object(1) {
        None => Ok(Scalar::Int(2)),
        Some(object) if object.is_instance_of::<PyString>() => match arguments.text(1)?.as_str() {
            "fro" => Ok(Scalar::Int(2)),
            "inf" => Ok(Scalar::Float(f64::INFINITY)),
            "-inf" => Ok(Scalar::Float(f64::NEG_INFINITY)),
            other => {
                Err(PyRuntimeError::new_err(format!("linalg.matrix_norm: Order {other} not supported.")))
            }
        },
        Some(_) => arguments.number(1),
    }
}
