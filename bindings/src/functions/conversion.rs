//! Methods that give a tensor in another element type, and `to`, which torch lets name anything.
use super::entries::method;
use crate::calls::body::Call;
use crate::calls::callable::Function;
use crate::interpreter::warnings::Once;
use crate::tensor::numpy::to_numpy;
use crate::tensor::object::tensor_class;
use crate::values::arguments::Arguments;
use crate::values::device::{Device, MemoryFormat};
use crate::values::dtype::{as_dtype, tensor_type_name};
use crate::values::returns::ToPython;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use rushlight::Tensor;
use rushlight::dispatch::default_dtype;
use rushlight::dtype::DType;
use rushlight::ops::creation::cast;
use rushlight::ops::creation::cast::Order;

const LOST_PART: &std::ffi::CStr = c"Casting complex values to real discards the imaginary part";

const NAMED: &[&str] = &["(Tensor input, *, memory_format? memory_format=None)"];

/// An entry for a method that is named for its element type.
const fn named(name: &'static str, doc: &'static str, call: Call) -> Function {
    method(name, NAMED, doc, call)
}

/// The entries.
pub(super) const TABLE: &[Function] = &[
    named("half", "The tensor converted to float16.", |a| given(a, DType::Float16)),
    named("bfloat16", "The tensor converted to bfloat16.", |a| given(a, DType::BFloat16)),
    named("float", "The tensor converted to float32.", |a| given(a, DType::Float32)),
    named("double", "The tensor converted to float64.", |a| given(a, DType::Float64)),
    named("cfloat", "The tensor converted to complex64.", |a| given(a, DType::Complex64)),
    named("cdouble", "The tensor converted to complex128.", |a| given(a, DType::Complex128)),
    named("bool", "The tensor converted to bool: whether each element is not zero.", |a| {
        given(a, DType::Bool)
    }),
    named("chalf", "The tensor converted to complex32.", |a| given(a, DType::Complex32)),
    named("byte", "The tensor converted to uint8.", |a| given(a, DType::UInt8)),
    named("char", "The tensor converted to int8.", |a| given(a, DType::Int8)),
    named("short", "The tensor converted to int16.", |a| given(a, DType::Int16)),
    named("int", "The tensor converted to int32.", |a| given(a, DType::Int32)),
    named("long", "The tensor converted to int64.", |a| given(a, DType::Int64)),
    named("cpu", "The tensor in the memory of the CPU: itself.", |a| given(a, a.tensor(0)?.dtype())),
    method(
        "cuda",
        &[
            "(Tensor input, device? device=None, bool non_blocking=False, *, memory_format? memory_format=None)",
        ],
        "Raises an error: there is no CUDA device.",
        cuda,
    ),
    method(
        "numpy",
        &["(Tensor input, *, bool force=False) -> numpy.ndarray"],
        "The tensor as a numpy array that shares its memory.",
        |a| to_numpy(a.py(), a.tensor(0)?, a.boolean(1)).map(Bound::unbind),
    ),
    method(
        "to",
        &[
            "(Tensor input, device? device=None, dtype? dtype=None, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None)",
            "(Tensor input, dtype dtype, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None)",
            "(Tensor input, Tensor tensor, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None)",
        ],
        "The tensor converted to a dtype, to a device, or to those of another tensor.",
        to,
    ),
    method(
        "type",
        &["(Tensor input, object dtype=None, bool non_blocking=False) -> Tensor | str"],
        "The name of the tensor type, or the tensor converted to the type of a name.",
        r#type,
    ),
];

/// The receiver in an element type: the very object if it is of that type already.
fn given(arguments: &Arguments<'_, '_>, dtype: DType) -> PyResult<Py<PyAny>> {
    converted(arguments, dtype, false, 1)
}

/// The name of the order in memory that a slot asks for, if it asks for one.
pub(super) fn format(arguments: &Arguments<'_, '_>, slot: usize) -> Option<&'static str> {
    arguments
        .object(slot)
        .and_then(|object| object.cast::<MemoryFormat>().ok())
        .map(|format| format.get().name())
}

/// A copy in an order in memory; torch's `preserve_format` if none is asked for.
pub(super) fn cloned(tensor: &Tensor, format: Option<&'static str>) -> rushlight::Result<Tensor> {
    match format {
        Some("contiguous_format") => cast::clone_contiguous(tensor),
        Some("channels_last") => cast::clone_channels_last(tensor, 4),
        Some("channels_last_3d") => cast::clone_channels_last(tensor, 5),
        _ => cast::clone(tensor),
    }
}

/// The order in memory of that name; of none, and of `preserve_format`, that of the tensor.
pub(super) fn order(format: Option<&'static str>) -> Order {
    match format {
        Some("contiguous_format") => Order::RowMajor,
        Some("channels_last") => Order::ChannelsLast(4),
        Some("channels_last_3d") => Order::ChannelsLast(5),
        _ => Order::Kept,
    }
}

/// Whether a tensor lies in the order that is asked for, as far as torch looks: where sizes of one leave that
/// open, its channels do not lie last.
fn lies(tensor: &Tensor, format: Option<&'static str>) -> bool {
    let is_last = |ndim| tensor.ndim() == ndim && cast::suggests_channels_last(tensor);
    match format {
        Some("contiguous_format") => !is_last(4) && !is_last(5),
        Some("channels_last") => is_last(4),
        Some("channels_last_3d") => is_last(5),
        _ => true,
    }
}

fn converted(arguments: &Arguments<'_, '_>, dtype: DType, copy: bool, slot: usize) -> PyResult<Py<PyAny>> {
    let tensor: &Tensor = arguments.tensor(0)?;
    let format = format(arguments, slot);
    if tensor.dtype() != dtype {
        warn_of_lost_part(arguments.py(), tensor.dtype(), dtype)?;
    } else if !copy && lies(tensor, format) {
        return arguments.object(0).to_python(arguments.py()).map(Bound::unbind);
    }
    cast::to_copy(tensor, dtype, order(format)).to_python(arguments.py()).map(Bound::unbind)
}

/// Warns if imaginary parts get lost.
pub(super) fn warn_of_lost_part(py: Python<'_>, from: DType, to: DType) -> PyResult<()> {
    static TOLD: Once = Once::new();
    let lost = from.is_complex() && !to.is_complex() && to != DType::Bool;
    if lost { TOLD.warn(py, LOST_PART) } else { Ok(()) }
}

fn cuda(_: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    Err(Device::CUDA.usable().err().unwrap_or_else(|| PyTypeError::new_err("cuda() is not there")))
}

fn to(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let own = arguments.tensor(0)?.dtype();
    match arguments.overload() {
        0 => {
            if let Some(device) = arguments.object(1) {
                Device::of(device)?.usable()?;
            }
            converted(arguments, arguments.dtype(2).unwrap_or(own), arguments.boolean(4), 5)
        }
        1 => converted(arguments, arguments.dtype(1).unwrap_or(own), arguments.boolean(3), 4),
        _ => converted(arguments, arguments.tensor(1)?.dtype(), arguments.boolean(3), 4),
    }
}

fn r#type(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let Some(wanted) = arguments.object(1) else {
        let name = tensor_type_name(arguments.tensor(0)?.dtype());
        return name.as_str().to_python(arguments.py()).map(Bound::unbind);
    };
    let unknown = |name: &str| PyValueError::new_err(format!("invalid type: '{name}'"));
    let dtype = if let Ok(name) = wanted.cast::<PyString>() {
        match name.to_str()? {
            "torch.Tensor" => default_dtype::get(),
            name => DType::ALL
                .into_iter()
                .find(|&dtype| tensor_type_name(dtype) == name)
                .ok_or_else(|| unknown(name))?,
        }
    } else if let Ok(class) = wanted.cast::<PyType>() {
        // The class of all tensors of a type, as `FloatTensor` is; `Tensor` makes those of the default type.
        let named = || as_dtype(&class.getattr("dtype").ok()?);
        match class.is(tensor_class(arguments.py())) {
            true => default_dtype::get(),
            false => named().ok_or_else(|| {
                class.name().map_or_else(|error| error, |name| unknown(&name.to_string_lossy()))
            })?,
        }
    } else {
        as_dtype(wanted).ok_or_else(|| PyTypeError::new_err("dtype must be a type, str, or dtype object"))?
    };
    given(arguments, dtype)
}
