//! The extension module `rushlight._rushlight`: converts and delegates.
use pyo3::prelude::*;
pub(crate) mod engine;
mod tensor;

#[pymodule(gil_used = true)]
mod _rushlight {
    use super::*;
    use std::sync::Mutex;
    static KEPT: Mutex<Vec<engine::Tensor>> = Mutex::new(Vec::new());
    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        tensor::object::install(m)
    }
    #[pyfunction]
    fn make(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        tensor::object::wrap(py, engine::Tensor::new([1., 2., 3., 4.]))
    }
    #[pyfunction]
    fn make_as<'py>(c: &Bound<'py, pyo3::types::PyType>) -> PyResult<Bound<'py, PyAny>> {
        tensor::object::wrap_as(c, engine::Tensor::new([1., 2., 3., 4.]))
    }
    #[pyfunction]
    fn keep(x: &Bound<'_, PyAny>) {
        if let Some(t) = tensor::object::tensor_in(x) {
            KEPT.lock().unwrap().push(t.clone());
        }
    }
    #[pyfunction]
    fn kept(py: Python<'_>, i: usize) -> PyResult<Bound<'_, PyAny>> {
        let t = KEPT.lock().unwrap()[i].clone();
        tensor::object::wrap(py, t)
    }
    #[pyfunction]
    fn release(i: usize, elsewhere: bool) {
        let t = KEPT.lock().unwrap().remove(i);
        if elsewhere {
            std::thread::spawn(move || drop(t)).join().unwrap();
        }
    }
}
