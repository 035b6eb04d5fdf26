//! `out=`: an operation's result written into tensors that exist. It is the same for every
//! operation, which calculates as without it and never sees the argument.
use crate::calls::table::Function;
use crate::calls::writes;
use crate::error::raise;
use crate::tensor::object::as_tensor;
use crate::values::arguments::{Arguments, tensors_in};
use crate::values::classes::type_name;
use crate::values::dtype::element_type;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rushlight::dtype::DType;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::{reshape, resize};
use rushlight::shape;
use rushlight::{Error, Tensor};
use std::ffi::CString;

mod composed;
mod history;
mod memory;

mod types;

use rushlight::schema::{History, Memory, OtherArguments, OutPolicy, Placed, Shape, warn};
use types::Conversion;

/// Calculates and writes the result into `out`, which is returned, in the result's class of tuple
/// if there are several.
#[cold]
pub(crate) fn write<'py>(
    arguments: &Arguments<'_, 'py>,
    function: &Function,
    out: &Bound<'py, PyAny>,
    calculate: impl FnOnce() -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (py, policy) = (arguments.py(), function.policy);
    let given = || arguments.slots.iter().flatten().filter_map(|object| as_tensor(object));
    let lists =
        |object: &Bound<'_, PyAny>| object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    let of_tensors = |object: &Bound<'_, PyAny>| {
        lists(object) && object.get_item(0).is_ok_and(|first| as_tensor(&first).is_some())
    };
    let inputs: Vec<Tensor> = arguments
        .slots
        .iter()
        .enumerate()
        .filter(|(slot, _)| Some(*slot) != arguments.signature.out)
        .flat_map(|(_, object)| object.map(tensors_in).unwrap_or_default())
        .collect();
    let source = match &inputs[..] {
        [only] => Some(only.dtype()),
        _ => None,
    };
    let first = inputs.first().map(Tensor::dtype);
    if let Some(notice) = policy.notice {
        warn(notice()).map_err(raise)?;
    }
    let named = arguments.named()?;
    if policy.made {
        check_named_type(&named, out)?;
    }
    let history = policy.history;
    history::check(history, arguments.name, source.is_some(), &inputs, &tensors_in(out))?;
    writes::check_out(arguments, policy, out)?;
    memory::check(policy, &inputs, out)?;
    // A tensor made from nothing but its size takes the place of the old one without a word.
    let made = given().count() <= 1 && !arguments.slots.iter().flatten().any(|one| of_tensors(one));
    let is_given = |wanted: &str| named.iter().any(|(name, value)| *name == wanted && !value.is_none());
    let exact = policy.exact && is_given("dtype");
    let into = Into { name: arguments.name, policy, source, first, exact, silent: made };
    let written = history::while_calculating(history, || into.deliver(out, calculate()?.bind(py)))?;
    history::record(history, &inputs, &tensors_in(out))?;
    if policy.made && as_tensor(out).is_some_and(|out| matches!(out.is_leaf(), Ok(true))) {
        // What is made requires a gradient if that is asked for.
        let asked = |(name, value): &(&str, Bound<'_, PyAny>)| {
            *name == "requires_grad" && value.is_truthy().unwrap_or(false)
        };
        let asked = named.iter().any(asked);
        as_tensor(out).map_or(Ok(()), |out| out.set_requires_grad(asked)).map_err(raise)?;
    }
    Ok(written)
}

/// Refuses an element type that is named and another than that of the tensor which is to hold what is made.
fn check_named_type(named: &[(&str, Bound<'_, PyAny>)], out: &Bound<'_, PyAny>) -> PyResult<()> {
    let wanted = named.iter().find(|(name, _)| *name == "dtype").and_then(|(_, value)| element_type(value));
    match (wanted, as_tensor(out).map(Tensor::dtype)) {
        (Some(wanted), Some(found)) if wanted != found => {
            let (wanted, found) = (wanted.title(), found.title());
            let text = format!("dtype {wanted} does not match dtype of out parameter ({found})");
            Err(PyRuntimeError::new_err(text))
        }
        _ => Ok(()),
    }
}

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
    let policy = composed::policy(name);
    let inputs = tensors_in(&found);
    history::check(policy.history, name, true, &inputs, &tensors_in(&out))?;
    let into = Into { name, policy, source: None, first: None, exact: false, silent: policy.made };
    let written = history::while_calculating(policy.history, || into.deliver(&out, &found))?;
    history::record(policy.history, &inputs, &tensors_in(&out))?;
    Ok(written.into_bound(out.py()))
}

/// How a result comes into the tensors that it is written to.
struct Into<'a> {
    name: &'a str,
    policy: &'a OutPolicy,
    /// The element type of what the result was made of, if that is one tensor.
    source: Option<DType>,
    /// That of the first tensor that is read.
    first: Option<DType>,
    /// Whether the caller has named the element type, from which nothing is converted then.
    exact: bool,
    /// Whether nothing was given from which another shape could be a mistake.
    silent: bool,
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
            if let Err(error) = self.check_type(None, result, out) {
                if self.policy.resizes_first && out.layout().shape() != result.layout().shape() {
                    if out.numel() > 0 {
                        self.tell_resized(py, out, result)?;
                    }
                    let sizes = shape::signed(result.layout().shape());
                    resize::resize_(out, &sizes).map_err(raise)?;
                }
                return Err(error);
            }
            let in_order = match self.policy.placed {
                Placed::AsItLies | Placed::Copied => false,
                Placed::InOrder => true,
                Placed::InOrderUnlessEmpty => out.numel() > 0 || out.dtype() != result.dtype(),
            };
            match in_order {
                true => self.store(py, out, &cast::contiguous(result).map_err(raise)?)?,
                false => self.store(py, out, result)?,
            }
        } else if as_tensor(out).is_some() {
            let text = format!("{} does not support the out kwarg when as_tuple is True", self.name);
            return Err(PyRuntimeError::new_err(text));
        } else {
            let (results, outs) = (result.cast::<PyTuple>()?, out.try_iter()?.collect::<PyResult<Vec<_>>>()?);
            if results.is_exact_instance_of::<PyTuple>() {
                return self.deliver_parts(py, &outs, results);
            }
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
                self.check_type(Some(place), result, out)?;
                self.store(py, out, result)?;
            }
            let class = format!("{}_out", named.name()?);
            let class = py.import("rushlight.return_types")?.getattr(class.as_str());
            return class.unwrap_or(named.into_any()).call1((PyTuple::new(py, outs)?,)).map(Bound::unbind);
        }
        Ok(out.clone().unbind())
    }

    /// Writes the parts of a tensor into as many tensors, and answers with nothing.
    fn deliver_parts(
        &self,
        py: Python<'_>,
        outs: &[Bound<'_, PyAny>],
        parts: &Bound<'_, PyTuple>,
    ) -> PyResult<Py<PyAny>> {
        let copies = self.policy.placed == Placed::Copied;
        if parts.len() != outs.len() {
            let overload = (self.policy.out)(&OtherArguments::default()).replace('.', "_");
            let operator = format!("{}{overload}{}", self.name, if copies { "()" } else { "" });
            let (wanted, given) = (parts.len(), outs.len());
            let text = format!("{operator} expected an out= argument of size {wanted}, got size {given}");
            return Err(PyRuntimeError::new_err(text));
        }
        for (out, part) in outs.iter().zip(parts.iter_borrowed()) {
            let (Some(out), Some(part)) = (as_tensor(out), as_tensor(&part)) else { continue };
            match copies {
                true => cast::copy_(out, part).map_err(raise)?,
                false => self.store(py, out, part)?,
            }
        }
        Ok(py.None())
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
        let in_line = matches!(self.policy.shape, Shape::InLine | Shape::Counted);
        if in_line && out.numel() == result.numel() {
            return cast::copy_(out, &reshape::reshape(result, &shape::signed(old)).map_err(raise)?)
                .map_err(raise);
        }
        if out.numel() > 0 {
            match self.policy.shape {
                Shape::Counted => self.warn(py, counted(old, out.numel(), result.numel()))?,
                Shape::Told if !self.silent => self.tell_resized(py, out, result)?,
                Shape::Told | Shape::Silent | Shape::InLine => {}
            }
        }
        history::check_resized(self.policy, out)?;
        resize::replace(out, result).map_err(raise)
    }

    /// Tells of another shape, as often as torch gives it to a tensor: to what it calculates in, to what that is
    /// converted to, and to what is conjugated on the way back.
    fn tell_resized(&self, py: Python<'_>, out: &Tensor, result: &Tensor) -> PyResult<()> {
        // What has no gradients answers in truths, but calculates in the type that it reads.
        let calculated = match self.policy.history {
            History::None => self.first.unwrap_or(result.dtype()),
            _ => result.dtype(),
        };
        let converted = self.policy.memory == Memory::Aligned
            && ![result.dtype(), calculated].contains(&out.dtype())
            && !out.dtype().is_pending();
        let (old, new) = (out.layout(), result.layout());
        for _ in 0..=usize::from(converted) {
            self.warn(py, resized(old.shape(), new.shape()))?;
        }
        Ok(())
    }

    fn check_type(&self, place: Option<usize>, result: &Tensor, out: &Tensor) -> PyResult<()> {
        let modules = ["linalg_", "special_", "fft_"];
        let bare = modules.iter().find_map(|module| self.name.strip_prefix(module)).unwrap_or(self.name);
        let (from, to) = (result.dtype(), out.dtype());
        if from == to {
            return Ok(());
        }
        Conversion { name: self.name, bare, from, to, source: self.source, place }.check(self.policy.types)
    }
}

/// That a tensor has another number of elements than what is counted out.
fn counted(old: &[usize], given: usize, count: usize) -> String {
    format!(
        "The number of elements in the out tensor of shape {old:?} is {given} which does not match the computed number \
         of elements {count}. Note that this may occur as a result of rounding error. The out tensor will be resized to \
         a tensor of shape ({count},)."
    )
}

/// That a tensor had another shape than the result.
fn resized(old: &[usize], new: &[usize]) -> String {
    format!(
        "An output with one or more elements was resized since it had shape {old:?}, which does not match the required \
         output shape {new:?}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized \
         unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero \
         elements with t.resize_(0)."
    )
}
