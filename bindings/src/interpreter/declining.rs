//! `_disabled_torch_function_impl` and `_disabled_torch_dispatch_impl`: the functions that a class has in the place
//! of its handler to be left out of overrides. They are recognised by identity.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

/// The function that a class has in the place of its handler to be left out of one kind of override.
pub(crate) struct Declining {
    name: &'static str,
    function: PyOnceLock<Py<PyAny>>,
}

impl Declining {
    /// The function of this name in the compiled module.
    pub(crate) const fn named(name: &'static str) -> Declining {
        Declining { name, function: PyOnceLock::new() }
    }

    /// The function itself, as classes have it.
    pub(crate) fn function<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let find = || py.import("rushlight._rushlight")?.getattr(self.name).map(Bound::unbind);
        Ok(self.function.get_or_try_init(py, find)?.bind(py))
    }

    /// The `handler` of a class, unless it has none or declines by it.
    pub(crate) fn unless_declined<'py>(
        &self,
        class: &Bound<'py, PyType>,
        handler: &Bound<'py, PyString>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let declining = self.function(class.py())?;
        Ok(class.getattr_opt(handler)?.filter(|found| !found.is(declining)))
    }
}
