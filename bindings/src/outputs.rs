//! `out=`: an operation's result written into tensors that exist. It is the same for every
//! operation, which calculates as without it and never sees the argument.
use crate::arguments::Arguments;
use crate::border::{as_tensor, raise, type_name};
use crate::writes;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rushlight::graph::mode::{GradModeGuard, is_grad_enabled};
use rushlight::ops::{self, cast, resize};
use rushlight::shape::broadcast;
use rushlight::{Error, Tensor};
use std::ffi::CString;

mod types;

/// Calculates and writes the result into `out`, which is returned, in the result's class of tuple
/// if there are several.
#[cold]
pub(crate) fn write<'py>(
    arguments: &Arguments<'_, 'py>,
    out: &Bound<'py, PyAny>,
    calculate: impl FnOnce() -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let py = arguments.py();
    let given = || arguments.slots.iter().flatten().filter_map(|object| as_tensor(object));
    let lists =
        |object: &Bound<'_, PyAny>| object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    let requires_grad = |item: PyResult<Bound<'_, PyAny>>| {
        item.is_ok_and(|item| as_tensor(&item).is_some_and(Tensor::requires_grad))
    };
    let listed = |object: &Bound<'_, PyAny>| {
        lists(object) && object.try_iter().is_ok_and(|mut items| items.any(requires_grad))
    };
    let mut read = given().filter(|input| as_tensor(out).is_none_or(|out| !out.is(input)));
    let source = match (read.next(), read.next()) {
        (Some(only), None) => Some(only.dtype()),
        _ => None,
    };
    let recorded =
        || given().any(Tensor::requires_grad) || arguments.slots.iter().flatten().any(|one| listed(one));
    if is_grad_enabled() && recorded() {
        return Err(PyRuntimeError::new_err(format!(
            "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.",
            types::refusing(arguments.name, source.is_some())
        )));
    }
    writes::check_out(arguments, out)?;
    check_memory(arguments, out)?;
    let _off = GradModeGuard::off();
    let result = calculate()?.into_bound(py);
    // A tensor made from nothing but its size takes the place of the old one without a word.
    let of_tensors = |object: &Bound<'_, PyAny>| {
        lists(object) && object.get_item(0).is_ok_and(|first| as_tensor(&first).is_some())
    };
    let silent = given().count() <= 1 && !arguments.slots.iter().flatten().any(|one| of_tensors(one));
    let written = out.clone().unbind();
    if let (Some(out), Some(result)) = (as_tensor(out), as_tensor(&result)) {
        types::check(arguments.name, result.dtype(), out.dtype(), source)?;
        // Older operations copy element by element what newer ones find in the tensor itself.
        let copies = match arguments.name {
            "cholesky" | "cholesky_solve" => true,
            "cholesky_inverse" => out.numel() > 0 || out.dtype() != result.dtype(),
            _ => false,
        };
        match copies {
            true => store(py, out, &cast::contiguous(result).map_err(raise)?, silent)?,
            false => store(py, out, result, silent)?,
        }
        return Ok(written);
    }
    let (results, outs) = (result.cast::<PyTuple>()?, out.try_iter()?.collect::<PyResult<Vec<_>>>()?);
    if results.len() != outs.len() {
        let text = format!("expected tuple of {} elements but got {}", results.len(), outs.len());
        return Err(PyTypeError::new_err(text));
    }
    for (out, result) in outs.iter().zip(results.iter_borrowed()) {
        let expected = || PyTypeError::new_err(format!("expected Tensor, but got {}", type_name(out)));
        let (out, result) = (as_tensor(out).ok_or_else(expected)?, as_tensor(&result).ok_or_else(expected)?);
        types::check("", result.dtype(), out.dtype(), source)?;
        store(py, out, result, false)?;
    }
    result.get_type().call1((PyTuple::new(py, outs)?,)).map(Bound::unbind)
}

/// Operations whose result may show none of the memory of what they read.
const APART: &[&str] = &[
    "addr",
    "cat",
    "column_stack",
    "concat",
    "concatenate",
    "diff",
    "dstack",
    "gather",
    "ger",
    "hstack",
    "index_select",
    "kron",
    "masked_select",
    "outer",
    "row_stack",
    "stack",
    "take",
    "take_along_dim",
    "vstack",
];

/// Operations beside those of the engine's lists that read and write element by element.
const ALIGNED: &[&str] = &[
    "absolute",
    "addcdiv",
    "addcmul",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "cumprod",
    "cumsum",
    "divide",
    "eq",
    "fix",
    "float_power",
    "floor_divide",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "le",
    "lerp",
    "less",
    "less_equal",
    "logcumsumexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "lt",
    "multiply",
    "nan_to_num",
    "ne",
    "negative",
    "not_equal",
    "square",
    "subtract",
    "true_divide",
    "where",
];

/// Refuses to write into memory that is read in another order.
fn check_memory(arguments: &Arguments<'_, '_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
    let name = arguments.name;
    let listed = || {
        ops::ELEMENTWISE.iter().any(|entry| entry.name == name)
            || ops::ELEMENTWISE2.iter().any(|entry| entry.name == name)
    };
    let apart = APART.contains(&name);
    if !apart && !ALIGNED.contains(&name) && !listed() {
        return Ok(());
    }
    let Some(written) = as_tensor(out) else { return Ok(()) };
    if !apart {
        check_same_shape(arguments, written)?;
    }
    let written = written.array();
    let check = |read: &Tensor| match apart {
        true => written.check_apart(&read.array()),
        false => written.check_read(&read.array()),
    };
    for (slot, object) in arguments.slots.iter().enumerate() {
        let Some(object) = object.filter(|_| Some(slot) != arguments.signature.out) else { continue };
        if let Some(read) = as_tensor(object) {
            check(read).map_err(raise)?;
        } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            for item in object.try_iter()? {
                as_tensor(&item?).map_or(Ok(()), check).map_err(raise)?;
            }
        }
    }
    Ok(())
}

/// Refuses to give a tensor that is read another shape.
fn check_same_shape(arguments: &Arguments<'_, '_>, written: &Tensor) -> PyResult<()> {
    let given = arguments.slots.iter().enumerate().filter(|(slot, _)| Some(*slot) != arguments.signature.out);
    let read: Vec<&Tensor> = given.filter_map(|(_, object)| as_tensor((*object)?)).collect();
    if !read.iter().any(|read| read.is(written)) {
        return Ok(());
    }
    let (mut shape, output) = (written.layout().shape().to_vec(), written.layout().shape().to_vec());
    for read in read {
        // What does not go together is told by the operation.
        match broadcast(&shape, read.layout().shape()) {
            Ok(larger) => shape = larger.to_vec(),
            Err(_) => return Ok(()),
        }
    }
    if shape == output { Ok(()) } else { Err(raise(Error::OutputShape { output, broadcast: shape }.into())) }
}

fn store(py: Python<'_>, out: &Tensor, result: &Tensor, silent: bool) -> PyResult<()> {
    let (old, new) = (out.layout(), result.layout());
    let (old, new) = (old.shape(), new.shape());
    if old == new {
        return cast::copy_(out, result).map_err(raise);
    }
    if out.numel() > 0 && !silent {
        let text = format!(
            "An output with one or more elements was resized since it had shape {old:?}, which does not match the \
             required output shape {new:?}. This behavior is deprecated, and in a future PyTorch release outputs will \
             not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, \
             inplace, to zero elements with t.resize_(0)."
        );
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(text)?, 1)?;
    }
    resize::replace(out, result).map_err(raise)
}
