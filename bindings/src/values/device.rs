//! `rushlight.device`, `layout` and `memory_format`: names that torch's API speaks of. There is one
//! device, the CPU; others can be named, as configurations do, but not used.

use std::hash::{Hash, Hasher};

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt, PyString, PyTuple, PyType};

use crate::error::raise;
use crate::tensor::object::name_in_messages;
use crate::values::classes::type_name;
use rushlight::Error;
use rushlight::ops::creation::cast::Order;

/// Every device type that torch knows the name of.
const TYPES: [&str; 20] = [
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
];

/// Where a tensor's memory lies.
#[pyclass(name = "device", module = "rushlight", frozen)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Device {
    kind: &'static str,
    number: Option<u8>,
}

impl Device {
    /// The device of every tensor.
    pub(crate) const CPU: Device = Device { kind: "cpu", number: None };

    /// The device that an argument names.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Device> {
        if let Ok(device) = object.cast::<Device>() {
            return Ok(device.get().clone());
        }
        if object.is_instance_of::<PyInt>() {
            return Device::new("cuda", Some(object.extract()?));
        }
        Device::parse(object.cast::<PyString>()?.to_str()?)
    }

    /// Whether tensors there have no numbers.
    pub(crate) fn is_meta(&self) -> bool {
        self.kind == "meta"
    }

    /// Refuses a device that tensors cannot be on.
    pub(crate) fn usable(self) -> PyResult<()> {
        match self.kind {
            "cpu" => Ok(()),
            "cuda" => Err(raise(Error::NoCuda {}.into())),
            kind => {
                Err(PyRuntimeError::new_err(format!("PyTorch is not linked with support for {kind} devices")))
            }
        }
    }

    /// `cpu`, or `cuda:1`.
    fn parse(text: &str) -> PyResult<Device> {
        if text.is_empty() {
            return Err(PyRuntimeError::new_err("Device string must not be empty"));
        }
        let (kind, number) = match text.split_once(':') {
            Some((kind, number)) => (kind, Some(number)),
            None => (text, None),
        };
        let invalid = || PyRuntimeError::new_err(format!("Invalid device string: '{text}'"));
        let letters = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let counts = |digits: &str| {
            let plain = digits == "0" || !digits.starts_with('0');
            plain && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if kind.is_empty() || !letters(kind) || !number.is_none_or(counts) {
            return Err(invalid());
        }
        let known = TYPES.iter().find(|known| **known == kind);
        let kind = known.ok_or_else(|| {
            let types = TYPES.join(", ");
            PyRuntimeError::new_err(format!(
                "Expected one of {types} device type at start of device string: {kind}"
            ))
        })?;
        let number = number.map(|digits| digits.parse().map_err(|_| invalid())).transpose()?;
        Ok(Device { kind, number })
    }

    fn new(kind: &str, number: Option<i64>) -> PyResult<Device> {
        let device = Device::parse(kind)?;
        let Some(number) = number else { return Ok(device) };
        if device.number.is_some() {
            return Err(PyRuntimeError::new_err(format!(
                "type (string) must not include an index because index was passed explicitly: {kind}"
            )));
        }
        if number < 0 {
            return Err(PyRuntimeError::new_err("Device index must not be negative"));
        }
        let number =
            u8::try_from(number).map_err(|_| PyRuntimeError::new_err("Device index is too large"))?;
        Ok(Device { number: Some(number), ..device })
    }
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (r#type = None, index = None))]
    fn construct(r#type: Option<&Bound<'_, PyAny>>, index: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
        let r#type = r#type.ok_or_else(|| PyTypeError::new_err(refused("", "")))?;
        let Some(index) = index else {
            return Device::of(r#type).map_err(|error| refusal(r#type).unwrap_or(error));
        };
        let Ok(kind) = r#type.cast::<PyString>() else {
            return Err(
                refusal(r#type).unwrap_or_else(|| PyTypeError::new_err("device() takes a str and an int"))
            );
        };
        if !index.is_instance_of::<PyInt>() {
            let name = index.get_type().name()?;
            let text = format!("device(): argument 'index' (position 2) must be int, not {name}");
            return Err(PyTypeError::new_err(text));
        }
        Device::new(kind.to_str()?, Some(index.extract()?))
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, comparison: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let equal = match (other.cast::<Device>(), comparison) {
            (_, CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge) => {
                return Err(PyTypeError::new_err("comparison not implemented"));
            }
            (Ok(other), _) => self == other.get(),
            (Err(_), _) => return Ok(py.NotImplemented()),
        };
        let answer = equal == matches!(comparison, CompareOp::Eq);
        Ok(PyBool::new(py, answer).to_owned().into_any().unbind())
    }

    fn __hash__(&self) -> u64 {
        let mut state = std::hash::DefaultHasher::new();
        self.hash(&mut state);
        state.finish()
    }

    /// The kind of device, such as `'cpu'`.
    #[getter]
    fn r#type(&self) -> &'static str {
        self.kind
    }

    /// Which of several devices of the kind, or `None`.
    #[getter]
    fn index(&self) -> Option<u8> {
        self.number
    }

    fn __repr__(&self) -> String {
        let index = self.number.map_or_else(String::new, |number| format!(", index={number}"));
        format!("device(type='{}'{index})", self.kind)
    }

    fn __str__(&self) -> String {
        let index = self.number.map_or_else(String::new, |number| format!(":{number}"));
        format!("{}{index}", self.kind)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let device = slf.get();
        let arguments = match device.number {
            Some(number) => (device.kind, number).into_pyobject(py)?,
            None => (device.kind,).into_pyobject(py)?,
        };
        Ok((slf.get_type().into_any(), arguments))
    }
}

/// The exception for an argument of a type that no overload takes.
fn refusal(given: &Bound<'_, PyAny>) -> Option<PyErr> {
    let fits = given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyInt>()
        || given.is_instance_of::<Device>();
    let name = type_name(given);
    let why = format!("      didn't match because some of the arguments have invalid types: (!{name}!)\n");
    (!fits).then(|| PyTypeError::new_err(refused(&name, &why)))
}

fn refused(given: &str, why: &str) -> String {
    format!(
        "device() received an invalid combination of arguments - got ({given}), but expected one of:\n \
         * (torch.device device)\n{why} * (str type, int index = -1)\n"
    )
}

/// How elements lie in memory. There is one way; others, of tensors made of several, are of classes below.
#[pyclass(name = "layout", module = "rushlight", frozen, subclass)]
pub(crate) struct Layout;

#[pymethods]
impl Layout {
    #[new]
    #[classmethod]
    fn construct(class: &Bound<'_, PyType>) -> PyResult<Layout> {
        if class.is(class.py().get_type::<Layout>()) {
            return Err(PyTypeError::new_err("cannot create 'torch.layout' instances"));
        }
        Ok(Layout)
    }

    fn __repr__(&self) -> &'static str {
        "torch.strided"
    }

    fn __reduce__(&self) -> &'static str {
        "strided"
    }
}

/// The order of dimensions in memory that an operation is asked for.
#[pyclass(name = "memory_format", module = "rushlight", frozen)]
pub(crate) struct MemoryFormat(&'static str);

impl MemoryFormat {
    /// What it asks for.
    pub(crate) fn order(&self) -> Order {
        match self.0 {
            "contiguous_format" => Order::RowMajor,
            "channels_last" => Order::ChannelsLast(4),
            "channels_last_3d" => Order::ChannelsLast(5),
            _ => Order::Kept,
        }
    }
}

#[pymethods]
impl MemoryFormat {
    fn __repr__(&self) -> String {
        format!("torch.{}", self.0)
    }

    fn __reduce__(&self) -> &'static str {
        self.0
    }
}

static STRIDED: PyOnceLock<Py<Layout>> = PyOnceLock::new();

/// The layout of every tensor.
pub(crate) fn strided(py: Python<'_>) -> PyResult<Py<Layout>> {
    STRIDED.get_or_try_init(py, || Py::new(py, Layout)).map(|layout| layout.clone_ref(py))
}

/// Adds the classes and their objects to the module.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<Device>()?;
    module.add_class::<Layout>()?;
    module.add_class::<MemoryFormat>()?;
    name_in_messages(&py.get_type::<Device>(), c"torch.device");
    name_in_messages(&py.get_type::<Layout>(), c"torch.layout");
    name_in_messages(&py.get_type::<MemoryFormat>(), c"torch.memory_format");
    module.add("strided", strided(py)?)?;
    for name in ["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"] {
        module.add(name, Py::new(py, MemoryFormat(name))?)?;
    }
    Ok(())
}
