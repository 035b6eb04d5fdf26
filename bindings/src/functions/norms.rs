//! Norms whose order is a number or a word.
use super::entries::both;
use crate::calls::callable::Function;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rushlight::Tensor;
use rushlight::dtype::Scalar;
use rushlight::ops::linalg::norms::nuclear;
use rushlight::ops::reduction::norm;
use rushlight::schema::{OutPolicy, Types};

/// The entries.
pub(super) const TABLE: &[Function] = &[
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
];

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
