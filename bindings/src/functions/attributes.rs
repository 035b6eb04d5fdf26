//! Methods that tell of a tensor or change what it is, and take arguments. Those without stand
//! with the tensor object itself.
use super::conversion;
use super::entries::{function, method};
use crate::calls::callable::Function;
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
use rushlight::dispatch::operand;
use rushlight::dtype::DType;
use rushlight::ops::creation::cast;
use rushlight::schema::{OutPolicy, UnbatchedTarget};
use rushlight::shape::normalize_dim;

const YES_OR_NO: &[&str] = &["(Tensor input) -> bool"];

/// The entries.
pub(super) const TABLE: &[Function] = &[
    function("numel", &["(Tensor input) -> int"], "The number of elements.", |a| {
        answer(a, a.tensor(0)?.numel() as i64)
    }),
    function("is_floating_point", YES_OR_NO, "Whether the dtype is a floating-point one.", |a| {
        answer(a, a.tensor(0)?.dtype().is_float())
    }),
    function("is_complex", YES_OR_NO, "Whether the dtype is a complex one.", |a| {
        answer(a, a.tensor(0)?.dtype().is_complex())
    }),
    function("is_signed", YES_OR_NO, "Whether the dtype is a signed one.", |a| {
        answer(a, !matches!(a.tensor(0)?.dtype(), DType::Bool | DType::UInt8))
    }),
    function("is_inference", YES_OR_NO, "Whether the tensor was made in inference mode.", |a| {
        answer(a, a.tensor(0)?.is_inference())
    }),
    function("is_nonzero", YES_OR_NO, "Whether the only element of the tensor is not zero.", |a| {
        answer(a, is_true(a.tensor(0)?)?)
    }),
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
        &["(Tensor input) -> tuple[int, ...]", "(Tensor input, int dim) -> int"],
        "The stride of the tensor, or of one dimension.",
        stride,
    ),
    method(
        "is_contiguous",
        &["(Tensor input, *, memory_format memory_format=contiguous_format) -> bool"],
        "Whether the elements are contiguous in memory, in row-major order or in that of a memory format.",
        is_contiguous,
    ),
    method("get_device", &["(Tensor input) -> int"], "The index of the device; -1 for the CPU.", get_device),
    method(
        "requires_grad_",
        &["(Tensor input, bool requires_grad=True)"],
        "Sets whether operations on the tensor are recorded, in place.",
        set_requires_grad,
    ),
    method(
        "as_subclass",
        &["(Tensor input, object cls)"],
        "The tensor as an instance of a subclass, sharing its memory.",
        as_subclass,
    ),
    function(
        "result_type",
        &[
            "(Tensor tensor, Tensor other) -> dtype",
            "(Number scalar, Tensor tensor) -> dtype",
            "(Tensor tensor, Number other) -> dtype",
            "(Number scalar1, Number scalar2) -> dtype",
        ],
        "The dtype that arithmetic of two operands gives.",
        |a| operand::result_dtype(a.operand(0)?, a.operand(1)?).answer(a.py()),
    ),
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
    if arguments.overload() == 0 {
        return Ok(PyTuple::new(arguments.py(), layout.strides())?.into_any().unbind());
    }
    let stride = layout.strides()[place(arguments.int(1)?, layout.ndim())?];
    answer(arguments, stride as i64)
}

/// The dimension that is asked for. A tensor without any has none to ask for, though it answers to 0 elsewhere.
fn place(dim: i64, ndim: usize) -> PyResult<usize> {
    match ndim {
        0 => Err(raise(rushlight::Error::DimOfScalar { dim }.into())),
        _ => normalize_dim(dim, ndim).map_err(raise),
    }
}

fn is_contiguous(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let x = arguments.tensor(0)?;
    let by_channels = |ndim| Ok(x.ndim() == ndim && cast::is_channels_last(x, ndim).map_err(raise)?);
    let lies: PyResult<bool> = match conversion::format(arguments, 1) {
        Some("channels_last") => by_channels(4),
        Some("channels_last_3d") => by_channels(5),
        _ => Ok(x.is_contiguous()),
    };
    answer(arguments, lies?)
}

fn get_device(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    answer(arguments, -1i64)
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
