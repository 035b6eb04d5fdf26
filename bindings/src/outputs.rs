//! `out=`: an operation's result written into tensors that exist. It is the same for every
//! operation, which calculates as without it and never sees the argument.
use crate::arguments::{Arguments, tensors_in};
use crate::border::{as_tensor, raise, type_name};
use crate::writes;
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rushlight::dtype::DType;
use rushlight::ops::{cast, reshape, resize};
use rushlight::shape;
use rushlight::{Error, Tensor};
use std::ffi::{CStr, CString};

mod history;
mod memory;
mod types;

use history::History;

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
    let of_tensors = |object: &Bound<'_, PyAny>| {
        lists(object) && object.get_item(0).is_ok_and(|first| as_tensor(&first).is_some())
    };
    let mut read = given().filter(|input| as_tensor(out).is_none_or(|out| !out.is(input)));
    let source = match (read.next(), read.next()) {
        (Some(only), None) => Some(only.dtype()),
        _ => None,
    };
    let inputs: Vec<Tensor> = arguments
        .slots
        .iter()
        .enumerate()
        .filter(|(slot, _)| Some(*slot) != arguments.signature.out)
        .flat_map(|(_, object)| object.map(tensors_in).unwrap_or_default())
        .collect();
    let history = History::of(arguments.name);
    history.check(arguments.name, source.is_some(), &inputs, &tensors_in(out))?;
    writes::check_out(arguments, out)?;
    if arguments.name == "ger" {
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), GER, 1)?;
    }
    memory::check(arguments, out)?;
    // A tensor made from nothing but its size takes the place of the old one without a word.
    let made = given().count() <= 1 && !arguments.slots.iter().flatten().any(|one| of_tensors(one));
    let silent = made && arguments.name != "arange" || SILENT.contains(&arguments.name);
    let named = arguments.named()?;
    let is_given = |wanted: &str| named.iter().any(|(name, value)| *name == wanted && !value.is_none());
    let exact = SUMS.contains(&arguments.name) && is_given("dtype");
    let into = Into { name: arguments.name, source, exact, silent, history };
    let written = history.while_calculating(|| into.deliver(out, calculate()?.bind(py)))?;
    history.record(&inputs, &tensors_in(out))?;
    if MADE.contains(&arguments.name) && as_tensor(out).is_some_and(|out| matches!(out.is_leaf(), Ok(true))) {
        // What is made requires a gradient if that is asked for.
        let asked = |(name, value): &(&str, Bound<'_, PyAny>)| {
            *name == "requires_grad" && value.is_truthy().unwrap_or(false)
        };
        let asked = named.iter().any(asked);
        as_tensor(out).map_or(Ok(()), |out| out.set_requires_grad(asked)).map_err(raise)?;
    }
    Ok(written)
}

/// What is said of `ger` only here.
const GER: &CStr =
    c"torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer instead.";

/// Operations that convert what they find unless they are told to what.
const SUMS: &[&str] = &["cumprod", "cumsum", "prod", "sum"];

/// Operations that give tensors another shape without a word.
const SILENT: &[&str] = &["addbmm", "bernoulli", "multinomial"];

/// Operations that make tensors from nothing but numbers and have something to say of gradients.
const MADE: &[&str] = &["arange", "eye", "full", "linspace", "logspace", "ones", "rand", "range", "zeros"];

/// Operations whose results have as many elements as the tensor, whatever its shape is.
const IN_LINE: &[&str] = &["arange", "linspace", "logspace", "range"];

/// What `write` does, for operations that are written in Python: `found` is what they have calculated, and
/// `name` the operation as torch's kernels know it. Without `out`, what was found is the answer.
#[pyfunction]
#[pyo3(name = "_written")]
pub(crate) fn written<'py>(
    name: &str,
    found: Bound<'py, PyAny>,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(out) = out else { return Ok(found) };
    let several = found.is_instance_of::<PyTuple>();
    if several != out.is_instance_of::<PyTuple>() || !several && as_tensor(&out).is_none() {
        let wanted = if several { "tuple of Tensors" } else { "Tensor" };
        let text = format!("{name}(): argument 'out' must be {wanted}, not {}", type_name(&out));
        return Err(PyTypeError::new_err(text));
    }
    let history = History::of(name);
    history.check(name, true, &tensors_in(&found), &tensors_in(&out))?;
    let into = Into { name, source: None, exact: false, silent: name == "range", history };
    history.while_calculating(|| into.deliver(&out, &found)).map(|written| written.into_bound(out.py()))
}

/// How a result comes into the tensors that it is written to.
struct Into<'a> {
    name: &'a str,
    /// The element type of what the result was made of, if that is one tensor.
    source: Option<DType>,
    /// Whether the caller has named the element type, from which nothing is converted then.
    exact: bool,
    /// Whether other shapes are not worth a warning.
    silent: bool,
    history: History,
}

impl Into<'_> {
    /// Writes the result, and answers with what it was written to.
    fn deliver<'py>(&self, out: &Bound<'py, PyAny>, result: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        let py = out.py();
        if let (Some(out), Some(result)) = (as_tensor(out), as_tensor(result)) {
            if self.exact && result.dtype() != out.dtype() {
                let (expected, got) = (result.dtype(), out.dtype());
                return Err(raise(Error::GatherOutput { expected, got }.into()));
            }
            types::check(self.name, result.dtype(), out.dtype(), self.source)?;
            // Older operations copy element by element what newer ones find in the tensor itself.
            let copies = match self.name {
                "cholesky" | "cholesky_solve" => true,
                "cholesky_inverse" => out.numel() > 0 || out.dtype() != result.dtype(),
                _ => false,
            };
            match copies {
                true => self.store(py, out, &cast::contiguous(result).map_err(raise)?)?,
                false => self.store(py, out, result)?,
            }
        } else {
            let (results, outs) = (result.cast::<PyTuple>()?, out.try_iter()?.collect::<PyResult<Vec<_>>>()?);
            if results.len() != outs.len() {
                let text = format!("expected tuple of {} elements but got {}", results.len(), outs.len());
                return Err(PyTypeError::new_err(text));
            }
            let named = results.get_type();
            let single = || PyTypeError::new_err("expected Tensor");
            for (place, (out, result)) in outs.iter().zip(results.iter_borrowed()).enumerate() {
                let expected =
                    || PyTypeError::new_err(format!("expected Tensor, but got {}", type_name(out)));
                let (out, result) =
                    (as_tensor(out).ok_or_else(expected)?, as_tensor(&result).ok_or_else(single)?);
                types::check_one(self.name, place, result.dtype(), out.dtype())?;
                self.store(py, out, result)?;
            }
            let class = format!("{}_out", named.name()?);
            let class = py.import("rushlight.return_types")?.getattr(class.as_str());
            return class.unwrap_or(named.into_any()).call1((PyTuple::new(py, outs)?,)).map(Bound::unbind);
        }
        Ok(out.clone().unbind())
    }

    fn warn(&self, py: Python<'_>, text: String) -> PyResult<()> {
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(text)?, 1)
    }

    fn store(&self, py: Python<'_>, out: &Tensor, result: &Tensor) -> PyResult<()> {
        let (old, new) = (out.layout(), result.layout());
        let (old, new) = (old.shape(), new.shape());
        if old == new {
            return cast::copy_(out, result).map_err(raise);
        }
        if IN_LINE.contains(&self.name) && out.numel() == result.numel() {
            return cast::copy_(out, &reshape::reshape(result, &shape::signed(old)).map_err(raise)?)
                .map_err(raise);
        }
        if out.numel() > 0 && self.name == "arange" {
            let count = result.numel();
            self.warn(py, format!(
                "The number of elements in the out tensor of shape {old:?} is {} which does not match the computed \
                 number of elements {count}. Note that this may occur as a result of rounding error. The out tensor \
                 will be resized to a tensor of shape ({count},).",
                out.numel()
            ))?;
        } else if out.numel() > 0 && !self.silent {
            let text = format!(
                "An output with one or more elements was resized since it had shape {old:?}, which does not match \
                 the required output shape {new:?}. This behavior is deprecated, and in a future PyTorch release \
                 outputs will not be resized unless they have zero elements. You can explicitly reuse an out tensor \
                 t by resizing it, inplace, to zero elements with t.resize_(0)."
            );
            self.warn(py, text)?;
        }
        self.history.check_resized(out)?;
        resize::replace(out, result).map_err(raise)
    }
}
