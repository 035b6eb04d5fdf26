//! `rushlight.Generator`: a stream of random numbers, and the one that is used when none is named.

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use rushlight::ops::sampling::random;

use crate::error::raise;
use crate::tensor::object::{as_tensor, name_in_messages, wrap};
use crate::values::classes::type_name;
use crate::values::device::Device;

/// A stream of random numbers that a seed determines.
#[pyclass(name = "Generator", module = "rushlight", frozen)]
pub(crate) struct Generator(random::Generator);

/// The class, its arguments, and what a new object of it is told.
type Remade<'py> = (Bound<'py, PyType>, (Device,), (u64, Py<PyAny>, Bound<'py, PyAny>));

/// Adds the class and the generator for everybody to the module.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<Generator>()?;
    name_in_messages(&py.get_type::<Generator>(), c"torch._C.Generator");
    module.add("default_generator", default(py)?)
}

/// The generator that is used when a call names none.
pub(crate) fn default(py: Python<'_>) -> PyResult<Bound<'_, Generator>> {
    static DEFAULT: PyOnceLock<Py<Generator>> = PyOnceLock::new();
    let make = || Py::new(py, Generator(random::Generator::process_wide().clone()));
    Ok(DEFAULT.get_or_try_init(py, make)?.bind(py).clone())
}

impl Generator {
    /// The stream itself.
    pub(crate) fn stream(&self) -> &random::Generator {
        &self.0
    }

    /// The seed that a number names; a negative one names the same as in two's complement.
    pub(crate) fn seed_from(number: &Bound<'_, PyAny>) -> Option<u64> {
        number.extract::<u64>().or_else(|_| number.extract::<i64>().map(i64::cast_unsigned)).ok()
    }
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(signature = (device = None))]
    fn new(device: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        if let Some(device) = device {
            Device::of(device)?.usable()?;
        }
        Ok(Generator(random::Generator::new()))
    }

    /// Begins the stream that a number names.
    fn manual_seed<'py>(slf: Bound<'py, Self>, seed: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let wrong = || match type_name(seed).as_str() {
            "int" => PyValueError::new_err("Overflow when unpacking long long"),
            found => PyRuntimeError::new_err(format!("manual_seed expected a long, but got {found}")),
        };
        slf.get().0.manual_seed(Generator::seed_from(seed).ok_or_else(wrong)?);
        Ok(slf)
    }

    /// The number that names the stream.
    fn initial_seed(&self) -> u64 {
        self.0.initial_seed()
    }

    /// Begins a stream that nothing names beforehand; tells its number.
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// Where the stream stands, as a tensor of bytes.
    fn get_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrap(py, self.0.state().map_err(raise)?)
    }

    /// Continues a stream where `get_state` told that it stood.
    fn set_state<'py>(slf: Bound<'py, Self>, new_state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let Some(state) = as_tensor(new_state) else {
            let found = type_name(new_state);
            return Err(PyTypeError::new_err(format!("expected a torch.ByteTensor, but got {found}")));
        };
        slf.get().0.set_state(state).map_err(raise)?;
        Ok(slf)
    }

    /// A generator that goes on as this one does.
    fn clone_state(&self) -> Self {
        Generator(self.0.fork())
    }

    /// How copies and files make the stream again; other devices than this one count from an offset, too.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Remade<'py>> {
        let (py, own) = (slf.py(), slf.get());
        Ok((slf.get_type(), (Device::CPU,), (own.initial_seed(), py.None(), own.get_state(py)?)))
    }

    /// Continues what `__reduce__` has told.
    fn __setstate__(slf: Bound<'_, Self>, state: (u64, Py<PyAny>, Bound<'_, PyAny>)) -> PyResult<()> {
        slf.get().0.manual_seed(state.0);
        Generator::set_state(slf, &state.2).map(drop)
    }

    /// Where numbers are drawn.
    #[getter]
    fn device(&self) -> Device {
        Device::CPU
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        format!("<torch._C.Generator object at {:p}>", slf.as_ptr())
    }
}
