//! Operations that are written in Python as functions of others and recorded as one node (`_as_one`).

use std::any::Any;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::dispatch::apply::Outputs;
use rushlight::dispatch::composites::checkpointed::{self, CheckpointedOp};
use rushlight::dispatch::forward_mode::tangents::innermost;
use rushlight::dispatch::long_work::HostCodeGuard;
use rushlight::dtype::Scalar;
use rushlight::graph::{Attributes, Shown};
use rushlight::ops::neural;
use rushlight::{Result, Tensor};

use crate::error::{carry, raise};
use crate::tensor::object::{Reference, as_tensor, wrap};
use crate::values::convert;

/// Texts that nodes show: those of the package's own functions, which are few.
static TEXTS: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// The text, for ever.
fn kept(text: &str) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    texts.get(text).copied().unwrap_or_else(|| {
        let text: &'static str = Box::leak(text.into());
        texts.insert(text);
        text
    })
}

/// Texts that are separated by spaces, for ever. A dash stands for an empty one.
fn kept_list(texts: &str) -> &'static [&'static str] {
    static LISTS: Mutex<Vec<(&str, &[&str])>> = Mutex::new(Vec::new());
    let texts = kept(texts);
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, list)) = lists.iter().find(|(key, _)| std::ptr::eq(*key, texts)) {
        return list;
    }
    let list: Vec<&str> = texts.split(' ').map(|text| if text == "-" { "" } else { text }).collect();
    lists.push((texts, Box::leak(list.into())));
    lists.last().map_or(&[], |(_, list)| list)
}

fn shown(value: &Bound<'_, PyAny>) -> PyResult<Shown> {
    if value.is_none() {
        return Ok(Shown::Nothing);
    }
    if value.is(value.py().Ellipsis()) {
        return Ok(Shown::NoTensor);
    }
    if let Ok(text) = value.extract::<&str>() {
        return Ok(Shown::Text(kept(text)));
    }
    if let Ok(numbers) = value.extract::<Vec<i64>>() {
        return Ok(Shown::Ints(numbers));
    }
    match convert::number(value)? {
        Scalar::Int(number) => Ok(Shown::Int(number)),
        number => Ok(number.into()),
    }
}

/// A function of the Python side that an operation consists of.
struct Function(Reference<PyAny>);

/// The function that an operation consists of, if this is one.
pub(crate) fn function_in(host: &(dyn Any + Send + Sync)) -> Option<&Py<PyAny>> {
    host.downcast_ref::<Function>().map(|function| function.0.get())
}

fn call(function: &Py<PyAny>, inputs: &[&Tensor]) -> PyResult<Outputs> {
    Python::attach(|py| {
        let inputs = inputs.iter().map(|&input| wrap(py, input.clone())).collect::<PyResult<Vec<_>>>()?;
        let answer = function.bind(py).call1(PyTuple::new(py, inputs)?)?;
        let answers: Vec<Bound<'_, PyAny>> = match answer.cast::<PyTuple>() {
            Ok(several) => several.iter().collect(),
            Err(_) => vec![answer],
        };
        let tensor = |answer: &Bound<'_, PyAny>| {
            as_tensor(answer).cloned().ok_or_else(|| PyTypeError::new_err("expected a function of tensors"))
        };
        answers.iter().map(tensor).collect()
    })
}

/// Call a function of tensors that is recorded as one operation. `names` are that of the operation, that of
/// its node, and those of its inputs and outputs as the node shows them; `derivatives` say how many inputs
/// have any, in which inputs it is linear and which outputs have none, a bit each; then come the
/// parameters as the node shows them: `...` is a tensor that was left out.
#[pyfunction]
#[pyo3(name = "_as_one", signature = (function, names, derivatives, parameters, *inputs))]
pub(crate) fn as_one<'py>(
    py: Python<'py>,
    function: Py<PyAny>,
    names: (String, String, String),
    derivatives: (usize, u64, u64),
    parameters: &Bound<'py, PyDict>,
    inputs: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (counted, linear, constant) = derivatives;
    let attribute = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((kept(name.extract::<&str>()?), shown(&value)?))
    };
    let parameters = parameters.iter().map(attribute).collect::<PyResult<Attributes>>()?;
    let function = Arc::new(Function(Reference::new(function)));
    let called = function.clone();
    let parts = move |inputs: &[&Tensor]| -> Result<Outputs> {
        let _host_code = HostCodeGuard::new();
        call(called.0.get(), inputs).map_err(carry)
    };
    let inputs: Vec<Tensor> = inputs
        .iter()
        .map(|input| as_tensor(&input).cloned().ok_or_else(|| PyTypeError::new_err("expected tensors")))
        .collect::<PyResult<_>>()?;
    // Which inputs are needless may depend on which require grad; tangents may need the others.
    let dual = |input| Ok(innermost(input).map_err(raise)?.is_some());
    let is_dual = inputs.iter().map(dual).collect::<PyResult<Vec<_>>>()?.contains(&true);
    let operation = CheckpointedOp {
        operation: kept(&names.0),
        name: kept(&names.1),
        names: kept_list(&names.2),
        counted,
        linear: if is_dual { 0 } else { linear },
        constant,
        at_once: neural::at_once(&names.1, &parameters),
        shown: parameters,
        function: Some(function),
        parts: Arc::new(parts),
    };
    if operation.names.len() <= inputs.len() || operation.counted > inputs.len() {
        return Err(PyTypeError::new_err("expected a name for every input and output"));
    }
    let outputs = checkpointed::apply(operation, &inputs.iter().collect::<Vec<_>>()).map_err(raise)?;
    let answers = outputs.into_iter().map(|output| wrap(py, output)).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, answers)
}
