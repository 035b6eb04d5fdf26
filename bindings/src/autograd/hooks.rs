//! Python callables as the engine's hooks, and the handles that take them out again.

use std::any::Any;
use std::sync::Arc;

use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyWeakrefReference};
use rushlight::dispatch::long_work::HostCodeGuard;
use rushlight::dtype::DType;
use rushlight::graph::{Gradients, Hook, HookCall, HookId};
use rushlight::tensor::HookHandle;
use rushlight::{Result, Tensor};

use crate::error::carry;
use crate::tensor::object::{Reference, as_tensor, host, wrap};
use crate::values::dtype::tensor_type_name;
use crate::values::returns::ToPython;

/// A Python callable on a tensor or node.
pub(crate) struct PythonHook {
    function: Reference<PyAny>,
}

impl PythonHook {
    /// The callable as a hook.
    pub(crate) fn of(function: &Bound<'_, PyAny>) -> Arc<dyn Hook> {
        host();
        Arc::new(PythonHook { function: Reference::new(function.clone().unbind()) })
    }

    /// The callable of a hook that Python made, for the collector.
    pub(crate) fn function(hook: &dyn Hook) -> Option<&Py<PyAny>> {
        (hook as &dyn Any).downcast_ref::<PythonHook>().map(|hook| hook.function.get())
    }

    fn run(&self, py: Python<'_>, call: HookCall<'_>) -> PyResult<()> {
        let function = self.function.get().bind(py);
        match call {
            HookCall::Gradient(gradient) => {
                let answer = function.call1((gradient.clone().to_python(py)?,))?;
                if !answer.is_none() {
                    let Some(before) = gradient.as_ref() else { return Err(nothing_to_replace()) };
                    *gradient = Some(checked(function, &answer, Some(before))?);
                }
            }
            HookCall::Accumulated(leaf) => {
                let given = wrap(py, leaf.clone())?;
                let answer = function.call1((&given,))?;
                if !answer.is_none() && !answer.is(&given) {
                    checked(function, &answer, Some(leaf))?;
                    let text = "Tensor post accumulate grad hooks should return None.";
                    return Err(PyRuntimeError::new_err(text));
                }
            }
            HookCall::Before(gradients) => {
                let answer = function.call1((tuple_of(py, gradients)?,))?;
                replace_all(function, &answer, gradients)?;
            }
            HookCall::After(gradients, outputs) => {
                let answer = function.call1((tuple_of(py, gradients)?, tuple_of(py, outputs)?))?;
                replace_all(function, &answer, gradients)?;
            }
        }
        Ok(())
    }
}

impl Hook for PythonHook {
    fn call(&self, call: HookCall<'_>) -> Result<()> {
        let _host_code = HostCodeGuard::new();
        Python::attach(|py| self.run(py, call)).map_err(carry)
    }
}

fn tuple_of<'py>(py: Python<'py>, gradients: &Gradients) -> PyResult<Bound<'py, PyTuple>> {
    let wrapped: PyResult<Vec<_>> = gradients
        .iter()
        .map(|gradient| gradient.clone().map(|gradient| wrap(py, gradient)).transpose())
        .collect();
    PyTuple::new(py, wrapped?)
}

/// Takes over what a node's hook answered, unless it was `None`.
fn replace_all(
    function: &Bound<'_, PyAny>,
    answer: &Bound<'_, PyAny>,
    gradients: &mut Gradients,
) -> PyResult<()> {
    if answer.is_none() {
        return Ok(());
    }
    let Ok(answers) = answer.cast::<PyTuple>() else {
        let found = answer.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected tuple, but hook returned '{found}'")));
    };
    let (got, expected) = (answers.len(), gradients.len());
    if got != expected {
        let name = name_of(function);
        return Err(PyRuntimeError::new_err(format!(
            "hook '{name}' has returned an incorrect number of values (got {got}, but expected {expected})"
        )));
    }
    for (gradient, answer) in gradients.iter_mut().zip(answers.iter()) {
        *gradient = match (gradient.as_ref(), answer.is_none()) {
            (_, true) => None,
            (None, false) => {
                return Err(nothing_to_replace());
            }
            (before, false) => Some(checked(function, &answer, before)?),
        };
    }
    Ok(())
}

fn nothing_to_replace() -> PyErr {
    PyRuntimeError::new_err("can't replace a None gradient with a non-None value")
}

/// What a hook put in the place of a gradient: a tensor that looks like it.
fn checked(
    function: &Bound<'_, PyAny>,
    answer: &Bound<'_, PyAny>,
    before: Option<&Tensor>,
) -> PyResult<Tensor> {
    let Some(tensor) = as_tensor(answer) else {
        let found = answer.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected Variable, but hook returned '{found}'")));
    };
    let Some(before) = before else { return Ok(tensor.clone()) };
    let name = || name_of(function);
    if before.dtype() != tensor.dtype() {
        let (was, got) = (type_in_messages(before.dtype()), type_in_messages(tensor.dtype()));
        let text = format!("hook '{}' has changed the type of value (was {was} got {got})", name());
        return Err(PyRuntimeError::new_err(text));
    }
    if before.layout().shape() != tensor.layout().shape() {
        return Err(PyRuntimeError::new_err(format!("hook '{}' has changed the size of value", name())));
    }
    Ok(tensor.clone())
}

/// The name of a tensor type in messages; torch has another one for the later types here.
fn type_in_messages(dtype: DType) -> String {
    if dtype.is_complex() || matches!(dtype, DType::Bool | DType::BFloat16) {
        format!("CPU{}Type", dtype.title())
    } else {
        tensor_type_name(dtype)
    }
}

/// The name of a callable in messages.
fn name_of(function: &Bound<'_, PyAny>) -> String {
    function.getattr("__name__").and_then(|name| name.extract()).unwrap_or_else(|_| "<unknown>".to_owned())
}

/// What a handle is made again from: its number and the dictionaries that it takes the hook out of.
type Parts<'py> = (u64, Vec<Bound<'py, PyAny>>);

/// What a handle tells of itself.
type State<'py> = (Option<Bound<'py, PyAny>>, u64, Bound<'py, PyTuple>);

/// Takes a hook out again: by `remove()`, or at the end of a `with` block.
#[pyclass(module = "rushlight.utils.hooks", subclass, dict, weakref, frozen)]
pub(crate) struct RemovableHandle {
    /// A number of its own.
    #[pyo3(get)]
    id: u64,
    on: On,
}

/// Where the hook is.
enum On {
    /// At a tensor or node.
    Engine(HookHandle),
    /// In dictionaries, under the handle's number.
    Dictionaries(Vec<Py<PyWeakrefReference>>),
}

impl RemovableHandle {
    pub(crate) fn new(hook: HookHandle) -> Self {
        RemovableHandle { id: hook.id().number(), on: On::Engine(hook) }
    }
}

#[pymethods]
impl RemovableHandle {
    /// A handle to what will stand in the dictionary under the handle's number.
    #[new]
    #[pyo3(signature = (hooks_dict, *, extra_dict = None))]
    fn of_dictionary(hooks_dict: &Bound<'_, PyAny>, extra_dict: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let extra: Vec<_> = match extra_dict {
            Some(several) if several.is_instance_of::<PyList>() => {
                several.try_iter().into_iter().flatten().flatten().collect()
            }
            one => one.cloned().into_iter().collect(),
        };
        Self::restored(HookId::fresh().number(), std::iter::once(hooks_dict.clone()).chain(extra).collect())
    }

    /// A handle with a number that it had before.
    #[staticmethod]
    #[pyo3(name = "_restored")]
    fn restored(id: u64, dictionaries: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let references = dictionaries.iter().map(|it| PyWeakrefReference::new(it).map(Bound::unbind));
        Ok(RemovableHandle { id, on: On::Dictionaries(references.collect::<PyResult<_>>()?) })
    }

    /// The dictionary that the hook is in, its number, and further dictionaries: `None` where one is gone.
    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<State<'py>> {
        let references = match &self.on {
            On::Engine(_) => &[][..],
            On::Dictionaries(references) => references,
        };
        let mut all = references.iter().map(|reference| reference.bind(py).upgrade());
        let first = all.next().flatten();
        Ok((first, self.id, PyTuple::new(py, all.collect::<Vec<_>>())?))
    }

    /// Copies go with copies of the dictionaries. The hooks of tensors stay behind.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let references = match &self.on {
            On::Engine(_) => &[][..],
            On::Dictionaries(references) => references,
        };
        let dictionaries = references.iter().filter_map(|reference| reference.bind(py).upgrade());
        let again = py.import("rushlight.utils.hooks")?.getattr("_handle_again")?;
        Ok((again, (self.id, dictionaries.collect())))
    }

    /// A weak reference to the dictionary that the hook is in. The hooks of tensors are in none.
    #[getter]
    fn hooks_dict_ref(&self, py: Python<'_>) -> PyResult<Py<PyWeakrefReference>> {
        match &self.on {
            On::Dictionaries(references) if !references.is_empty() => Ok(references[0].clone_ref(py)),
            _ => Err(PyAttributeError::new_err("'RemovableHandle' object has no attribute 'hooks_dict_ref'")),
        }
    }

    /// Weak references to further dictionaries that have something under the handle's number.
    #[getter]
    fn extra_dict_ref<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let further = match &self.on {
            On::Engine(_) => &[][..],
            On::Dictionaries(references) => references.get(1..).unwrap_or_default(),
        };
        PyTuple::new(py, further.iter().map(|reference| reference.clone_ref(py)))
    }

    /// Removes the hook; nothing happens if it is gone already.
    fn remove(&self, py: Python<'_>) -> PyResult<()> {
        match &self.on {
            On::Engine(hook) => hook.remove(),
            On::Dictionaries(references) => {
                for dictionary in references.iter().filter_map(|reference| reference.bind(py).upgrade()) {
                    dictionary.call_method1("pop", (self.id, py.None()))?;
                }
            }
        }
        Ok(())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.remove(py)
    }
}

/// The one argument of a method that takes a hook. Errors are worded as for methods that Python itself reads.
pub(crate) fn only_hook<'py>(
    method: &str,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut hook = args.get_item(0).ok();
    let refused = |text: String| Err(PyTypeError::new_err(format!("Tensor.{method}() {text}")));
    for (name, value) in kwargs.into_iter().flatten() {
        if name.str()?.to_str()? != "hook" {
            return refused(format!("got an unexpected keyword argument '{name}'"));
        }
        if hook.replace(value).is_some() {
            return refused("got multiple values for argument 'hook'".to_owned());
        }
    }
    if args.len() > 1 {
        return refused(format!("takes 2 positional arguments but {} were given", args.len() + 1));
    }
    match hook {
        Some(hook) => Ok(hook),
        None => refused("missing 1 required positional argument: 'hook'".to_owned()),
    }
}
