//! Methods that tell of a tensor or change what it is, and take arguments. Those without stand
//! with the tensor object itself.
use super::entries::{function, method};
use crate::calls::table::{Function, Seen};
use crate::error::raise;
use crate::tensor::history::{detached, forget};
use crate::tensor::object::{TensorBase, wrap_as};
use crate::tensor::values::is_true;
use crate::transforms::transform::{is_requiring_allowed, refuse_inside_transform};
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use crate::values::size::wrap_size;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use rushlight::schema::{Changed, OutPolicy, UnbatchedTarget};
use rushlight::shape::normalize_dim;

/// The entries.
pub(super) const TABLE: &[Function] = &[
    function(
        "is_nonzero",
        &["(Tensor input) -> bool"],
        "Whether the only element of the tensor is not zero.",
        |a| answer(a, is_true(a.tensor(0)?)?),
    ),
    function("detach", &["(Tensor input)"], "A view of the tensor, detached from the graph.", |a| {
        answer(a, detached(a.tensor(0)?)?)
    })
    .operators(&[
        ("Detach", "detach(Tensor(a) self) -> Tensor(a)"),
        ("-", "detach(Tensor(a) self) -> Tensor(a)"),
    ]),
    function("detach_", &["(Tensor input)"], "Detaches the tensor from the graph in place.", |a| {
        forget(a.tensor(0)?)?;
        answer(a, a.object(0))
    })
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Found))
    .operators(&[("-", "detach_(Tensor(a!) self) -> Tensor(a!)")]),
    method(
        "size",
        &["(Tensor input, int? dim=None) -> Size | int"],
        "The size of the tensor, or of one dimension.",
        size,
    ),
    method(
        "stride",
        &["(Tensor input) -> tuple[int, ...]", "(Tensor input, int? dim) -> int"],
        "The stride of the tensor, or of one dimension.",
        stride,
    ),
    method(
        "requires_grad_",
        &["(Tensor input, bool requires_grad=True)"],
        "Sets whether operations on the tensor are recorded, in place.",
        set_requires_grad,
    )
    .written(&OutPolicy::PLAIN.changing(|_| Changed::Nothing)),
    method(
        "as_subclass",
        &["(Tensor input, object cls)"],
        "The tensor as an instance of a subclass, sharing its memory.",
        as_subclass,
    )
    .seen(Seen::ByNobody),
];

fn answer(arguments: &Arguments<'_, '_>, value: impl ToPython) -> PyResult<Py<PyAny>> {
    value.to_python(arguments.py()).map(Bound::unbind)
}

fn size(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let layout = arguments.tensor(0)?.layout();
    match arguments.optional_int(1)? {
        None => wrap_size(arguments.py(), layout.shape()),
        Some(dim) => {
            let size = layout.shape()[place(dim, layout.ndim())?];
            (size as i64).to_python(arguments.py())
        }
    }
    .map(Bound::unbind)
}

fn stride(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let layout = arguments.tensor(0)?.layout();
    match arguments.optional_int(1)? {
        None => Ok(PyTuple::new(arguments.py(), layout.strides())?.into_any().unbind()),
        Some(dim) => answer(arguments, layout.strides()[place(dim, layout.ndim())?] as i64),
    }
}

/// The dimension that is asked for. A tensor without any has none to ask for, though it answers to 0 elsewhere.
fn place(dim: i64, ndim: usize) -> PyResult<usize> {
    match ndim {
        0 => Err(raise(rushlight::Error::DimOfScalar { dim }.into())),
        _ => normalize_dim(dim, ndim).map_err(raise),
    }
}

fn receiver<'a, 'py>(arguments: &Arguments<'a, 'py>) -> PyResult<&'a Bound<'py, TensorBase>> {
    let object = arguments.object(0).ok_or_else(|| PyRuntimeError::new_err("a method without a tensor"))?;
    Ok(object.cast()?)
}

fn set_requires_grad(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    if !is_requiring_allowed() {
        refuse_inside_transform("requires_grad_()", " (or perhaps using torch.autograd.functional.* APIs)")?;
    }
    let object = receiver(arguments)?;
    let value = arguments.boolean(1);
    object.get().check_leaf(value, false)?;
    if value && !object.get().tensor().dtype().is_differentiable() {
        return Err(PyRuntimeError::new_err("only Tensors of floating point dtype can require gradients"));
    }
    object.get().tensor().set_requires_grad(value).map_err(raise)?;
    Ok(object.clone().into_any().unbind())
}

fn as_subclass(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let class = arguments.object(1).map(|class| class.cast::<PyType>()).transpose()?;
    let class = class.ok_or_else(|| PyRuntimeError::new_err("as_subclass() needs a class"))?;
    let alias = rushlight::ops::geometry::reshape::alias(arguments.tensor(0)?).map_err(raise)?;
    wrap_as(class, alias).map(Bound::unbind)
}
