//! `rushlight.Generator`: a stream of random numbers, and the one that is used when none is named.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyInt;
use rushlight::Tensor;
use rushlight::dtype::DType;
use rushlight::kernels::random;

use crate::border::type_name;
use crate::device::Device;
use crate::error::raise;
use crate::tensor::object::{as_tensor, name_in_messages, wrap};

/// A stream of random numbers that a seed determines.
#[pyclass(name = "Generator", module = "rushlight", frozen)]
pub(crate) struct Generator(Mutex<random::Generator>);

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
    Ok(DEFAULT
        .get_or_try_init(py, || Py::new(py, Generator::of(random::Generator::DEFAULT_SEED)))?
        .bind(py)
        .clone())
}

impl Generator {
    fn of(seed: u64) -> Self {
        Generator(Mutex::new(random::Generator::new(seed)))
    }

    /// The stream, for as long as the guard lives.
    pub(crate) fn lock(&self) -> MutexGuard<'_, random::Generator> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        Ok(Generator::of(random::Generator::DEFAULT_SEED))
    }

    /// Begins the stream that a number names; a negative one names the same as in two's complement.
    fn manual_seed<'py>(slf: Bound<'py, Self>, seed: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        if !seed.is_instance_of::<PyInt>() {
            let found = type_name(seed);
            return Err(PyRuntimeError::new_err(format!("manual_seed expected a long, but got {found}")));
        }
        let seed = seed.extract::<u64>().or_else(|_| seed.extract::<i64>().map(i64::cast_unsigned));
        let seed = seed.map_err(|_| PyValueError::new_err("Overflow when unpacking long long"))?;
        *slf.get().lock() = random::Generator::new(seed);
        Ok(slf)
    }

    /// The number that names the stream.
    fn initial_seed(&self) -> u64 {
        self.lock().seed()
    }

    /// Begins a stream that nothing names beforehand; tells its number.
    fn seed(&self, py: Python<'_>) -> PyResult<u64> {
        let bytes: [u8; 8] = py.import("os")?.call_method1("urandom", (8,))?.extract()?;
        // 53 bits, so that the number survives being held as a real one.
        let seed = u64::from_le_bytes(bytes) >> 11;
        *self.lock() = random::Generator::new(seed);
        Ok(seed)
    }

    /// Where the stream stands, as a tensor of bytes.
    fn get_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.lock().state_bytes();
        wrap(py, Tensor::from_slice(&[bytes.len()], &bytes).map_err(raise)?)
    }

    /// Continues a stream where `get_state` told that it stood.
    fn set_state<'py>(slf: Bound<'py, Self>, new_state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let Some(state) = as_tensor(new_state) else {
            let found = type_name(new_state);
            return Err(PyTypeError::new_err(format!("expected a torch.ByteTensor, but got {found}")));
        };
        if state.dtype() != DType::UInt8 {
            return Err(PyTypeError::new_err("RNG state must be a torch.ByteTensor"));
        }
        let read = random::Generator::from_state_bytes(&state.to_vec::<u8>()).ok_or_else(|| {
            let (expected, found) = (random::Generator::STATE_BYTES, state.numel());
            PyRuntimeError::new_err(format!(
                "Expected a CPUGeneratorImplState of size {expected} but found the input RNG state size to be {found}"
            ))
        })?;
        *slf.get().lock() = read;
        Ok(slf)
    }

    /// A generator that goes on as this one does.
    fn clone_state(&self) -> Self {
        Generator(Mutex::new(self.lock().clone()))
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

/// Begin the stream of random numbers that `seed` names; return the generator for everybody.
#[pyfunction]
pub(crate) fn manual_seed<'py>(seed: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Generator>> {
    let py = seed.py();
    Generator::manual_seed(default(py)?, &py.get_type::<PyInt>().call1((seed,))?)
}

/// Begin a stream of random numbers that nothing names beforehand; return its number.
#[pyfunction]
pub(crate) fn seed(py: Python<'_>) -> PyResult<u64> {
    default(py)?.get().seed(py)
}

/// Return the number that names the stream of random numbers.
#[pyfunction]
pub(crate) fn initial_seed(py: Python<'_>) -> PyResult<u64> {
    Ok(default(py)?.get().initial_seed())
}

/// Return where the stream of random numbers stands, as a tensor of bytes.
#[pyfunction]
pub(crate) fn get_rng_state(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    default(py)?.get().get_state(py)
}

/// Continue the stream of random numbers where `get_rng_state` told that it stood.
#[pyfunction]
pub(crate) fn set_rng_state(new_state: &Bound<'_, PyAny>) -> PyResult<()> {
    Generator::set_state(default(new_state.py())?, new_state).map(drop)
}
