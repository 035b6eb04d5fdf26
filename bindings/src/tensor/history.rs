//! How a tensor takes part in autograd, as Python sees it: `requires_grad`, `grad`, `grad_fn`,
//! `data`, `detach`.

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple, PyType};
use rushlight::dispatch::batch;
use rushlight::dispatch::modes::intercept::{is_active, is_dispatching_to_subclasses};
use rushlight::dispatch::modes::subclass;
use rushlight::graph::observe::profile;
use rushlight::graph::observe::profile::Label;
use rushlight::graph::{HookId, NamedHooks, mode};
use rushlight::tensor::Subclass;
use rushlight::{Error, Tensor};
use smallvec::smallvec;

use super::object::{TensorBase, as_tensor, track, wrap, wrap_as};
use crate::autograd::hooks::{PythonHook, RemovableHandle, only_hook};
use crate::autograd::node::wrap_node;
use crate::calls::writes;
use crate::error::raise;
use crate::modes::intercept::settle_method;
use crate::transforms::transform::refuse_inside_transform;
use crate::values::dtype::{as_dtype, wrap_dtype};
use rushlight::schema::OtherArguments;

const HOOK_NO_GRAD: &str = "cannot register a hook on a tensor that doesn't require gradient";
const NON_LEAF: &str = "you can only change requires_grad flags of leaf variables.";
const NON_LEAF_HINT: &str = " If you want to use a computed variable in a subgraph that doesn't require \
    differentiation use var_no_grad = var.detach().";
const NON_LEAF_GRAD: &std::ffi::CStr = c"The .grad attribute of a Tensor that is not a leaf Tensor is being \
    accessed. Its .grad attribute won't be populated during autograd.backward(). If you indeed want the .grad \
    field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the \
    non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See \
    github.com/pytorch/pytorch/pull/30531 for more information.";

#[pymethods]
impl TensorBase {
    /// Whether operations on the tensor are recorded.
    #[getter]
    fn requires_grad(&self) -> bool {
        self.tensor().claims_grad()
    }

    #[setter]
    fn set_requires_grad(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(value) = value.cast::<PyBool>() else {
            return Err(PyRuntimeError::new_err("requires_grad must be a bool"));
        };
        self.check_leaf(value.is_true(), value.is_true())?;
        if value.is_true() && !self.tensor().dtype().is_differentiable() {
            return Err(PyRuntimeError::new_err(
                "only Tensors of floating point and complex dtype can require gradients",
            ));
        }
        self.tensor().set_requires_grad(value.is_true()).map_err(raise)
    }

    #[deleter]
    fn delete_requires_grad(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("requires_grad must be a bool"))
    }

    /// Whether no recorded operation made the tensor.
    #[getter]
    fn is_leaf(&self) -> PyResult<bool> {
        self.tensor().is_leaf().map_err(raise)
    }

    /// The recorded operation that made the tensor.
    #[getter]
    fn grad_fn<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(edge) = slf.get().tensor().edge().map_err(raise)? else { return Ok(None) };
        // Hooks may be added to the node, and lead back here.
        track(slf);
        wrap_node(slf.py(), &edge.node).map(Some)
    }

    /// The same, under another name.
    #[getter]
    fn _grad_fn<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Self::grad_fn(slf)
    }

    #[deleter(_grad_fn)]
    fn delete_grad_fn(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("Deletion of _grad_fn not allowed. Detach tensor instead!"))
    }

    /// What kept tensors out of the graph long ago.
    #[getter]
    fn volatile(&self, py: Python<'_>) -> PyResult<bool> {
        let text = c"volatile was removed (Variable.volatile is always False)";
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 1)?;
        Ok(false)
    }

    #[setter(volatile)]
    fn set_volatile(&self, py: Python<'_>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = c"volatile was removed and now has no effect. Use `with torch.no_grad():` instead.";
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 1)
    }

    /// Calls `hook(grad)` with every gradient with respect to the tensor; what it answers replaces it.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, hook)")]
    fn register_hook(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<RemovableHandle> {
        let hook = &only_hook("register_hook", args, kwargs)?;
        if !slf.get().tensor().requires_grad() {
            return Err(PyRuntimeError::new_err(HOOK_NO_GRAD));
        }
        track(slf);
        let handle = slf.get().tensor().register_hook(PythonHook::of(hook)).map_err(raise)?;
        Ok(RemovableHandle::new(handle))
    }

    /// The hooks of the tensor as it is now, by number; `None` if there never were any.
    #[getter]
    fn _backward_hooks<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let hooks = slf.get().tensor().gradient_hooks().map_err(raise)?;
        hooks.map(|hooks| numbered(slf, "_backward_hooks", &hooks)).transpose()
    }

    #[setter(_backward_hooks)]
    fn set_backward_hooks(slf: &Bound<'_, Self>, hooks: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        track(slf);
        slf.get().tensor().set_gradient_hooks(named(hooks)?).map_err(raise)
    }

    #[deleter(_backward_hooks)]
    fn delete_backward_hooks(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("Deletion of _backwards_hooks not allowed!"))
    }

    /// The hooks that run after accumulation, by number; `None` if there never were any.
    #[getter]
    fn _post_accumulate_grad_hooks<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let hooks = slf.get().tensor().accumulated_hooks();
        hooks.map(|hooks| numbered(slf, "_post_accumulate_grad_hooks", &hooks)).transpose()
    }

    #[setter(_post_accumulate_grad_hooks)]
    fn set_post_accumulate_grad_hooks(
        slf: &Bound<'_, Self>,
        hooks: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        track(slf);
        slf.get().tensor().set_accumulated_hooks(named(hooks)?);
        Ok(())
    }

    /// Calls `hook(tensor)` after a gradient was accumulated into this leaf's `grad`.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, hook)")]
    fn register_post_accumulate_grad_hook(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<RemovableHandle> {
        let hook = &only_hook("register_post_accumulate_grad_hook", args, kwargs)?;
        let tensor = slf.get().tensor();
        if !tensor.requires_grad() {
            return Err(PyRuntimeError::new_err(HOOK_NO_GRAD));
        }
        if !tensor.is_leaf().map_err(raise)? {
            return Err(PyRuntimeError::new_err(
                "post accumulate grad hooks cannot be registered on non-leaf tensors",
            ));
        }
        track(slf);
        Ok(RemovableHandle::new(tensor.register_accumulated_hook(PythonHook::of(hook))))
    }

    /// Which of the outputs of the operation that made it the tensor is.
    #[getter]
    fn output_nr(&self) -> u32 {
        self.tensor().known_output()
    }

    /// The accumulated gradient, or `None`.
    #[getter]
    fn grad<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let tensor = self.tensor();
        let grad = tensor.grad();
        if grad.is_none() && tensor.requires_grad() && !tensor.retains_grad() && !tensor.is_known_as_leaf() {
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), NON_LEAF_GRAD, 1)?;
        }
        grad.map(|grad| wrap(py, grad)).transpose()
    }

    #[setter]
    fn set_grad(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.is_none() {
            self.tensor().replace_grad(None);
            return Ok(());
        }
        let Some(grad) = as_tensor(value) else {
            let found = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "assigned grad expected to be a Tensor or None but got grad of type {found}"
            )));
        };
        if grad.is(self.tensor()) {
            return Err(PyRuntimeError::new_err("can't assign Variable as its own grad"));
        }
        self.tensor().set_grad(Some(grad.clone())).map_err(raise)
    }

    #[deleter]
    fn delete_grad(&self) {
        self.tensor().replace_grad(None);
    }

    /// Another name of `grad`.
    #[getter]
    fn _grad<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.grad(py)
    }

    #[setter(_grad)]
    fn set_underscored_grad(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_grad(value)
    }

    #[deleter(_grad)]
    fn delete_underscored_grad(&self) {
        self.delete_grad();
    }

    /// The element type that gradients have: the tensor's own, unless it was set; `None` allows any.
    #[getter]
    fn grad_dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.check_leaf_of_grad_dtype("accessed")?;
        self.tensor().grad_dtype().map(|dtype| wrap_dtype(py, dtype)).transpose()
    }

    #[setter]
    fn set_grad_dtype(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let dtype = match as_dtype(value) {
            Some(dtype) => Some(dtype),
            None if value.is_none() => None,
            None => {
                let found = value.get_type().name()?;
                let text = format!("grad_dtype must be a torch.dtype or None, but got {found}");
                return Err(PyRuntimeError::new_err(text));
            }
        };
        // A gradient that is looked for where there cannot be one is warned of.
        self.grad(py)?;
        self.tensor().check_grad_dtype(dtype).map_err(raise)?;
        self.check_leaf_of_grad_dtype("set")?;
        self.tensor().set_grad_dtype(dtype);
        Ok(())
    }

    /// A tensor on the same memory without history, whose writes autograd does not see.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.tensor().is_batched() && !self.tensor().is_followed() {
            return Err(PyRuntimeError::new_err("accessing `data` under vmap transform is not allowed"));
        }
        let data = match self.tensor().is_subclassed() && is_dispatching_to_subclasses() {
            true => subclass::detach(self.tensor()),
            false => self.tensor().data(),
        };
        wrap(py, data.map_err(raise)?)
    }

    #[setter]
    fn set_data(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.tensor().is_followed() {
            let text = "mutating directly with `.data` inside functorch transform is not allowed.";
            return Err(PyRuntimeError::new_err(text));
        }
        if self.tensor().is_batched() {
            let text = "mutating directly with `.data` under vmap transform is not allowed.";
            return Err(PyRuntimeError::new_err(text));
        }
        let Some(data) = as_tensor(value) else {
            let found = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!("Variable data has to be a tensor, but got {found}")));
        };
        self.tensor().set_data(data).map_err(raise)
    }

    #[deleter]
    fn delete_data(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("Deleting tensor data is not allowed. Delete tensor instead!"))
    }

    /// A tensor on the same memory without history.
    fn detach<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let tensor = slf.get().tensor();
        let shape = || smallvec![Some(profile::shape(tensor))];
        let _profiled = profile::begin(Label::Function("detach"), shape);
        if tensor.is_subclassed() && is_dispatching_to_subclasses() {
            return wrap(slf.py(), subclass::detach(tensor).map_err(raise)?);
        }
        let detached = wrap(slf.py(), detached(tensor)?)?;
        match is_active() {
            true => settle_method("detach", slf.as_any(), detached),
            false => Ok(detached),
        }
    }

    /// Forgets the history.
    #[pyo3(name = "detach_")]
    fn detach_in_place<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        forget(self.tensor())?;
        wrap(py, self.tensor().clone())
    }

    /// Keeps the gradient in `grad` although the tensor is not a leaf.
    fn retain_grad(&self) -> PyResult<()> {
        if !self.tensor().requires_grad() {
            return Err(PyRuntimeError::new_err("can't retain_grad on Tensor that has requires_grad=False"));
        }
        refuse_inside_transform("retain_grad()", "")?;
        self.tensor().retain_grad().map_err(raise)
    }

    /// A tensor of a class below `Tensor` on the memory of `data`: a leaf of its own.
    #[staticmethod]
    #[pyo3(signature = (cls, data, require_grad = false))]
    fn _make_subclass<'py>(
        cls: &Bound<'py, PyType>,
        data: &Bound<'py, PyAny>,
        require_grad: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(data) = as_tensor(data) else {
            let found = data.get_type().name()?;
            let text = format!("_make_subclass(): argument 'data' (position 2) must be Tensor, not {found}");
            return Err(PyTypeError::new_err(text));
        };
        let made = detached(data)?;
        if require_grad {
            if !made.dtype().is_differentiable() {
                return Err(raise(rushlight::Error::RequiresGradFactoryDType {}.into()));
            }
            made.set_requires_grad(true).map_err(raise)?;
        }
        let has_no_data = data.has_no_data();
        let object = wrap_as(cls, made)?;
        if let Some(made) = as_tensor(&object).filter(|made| has_no_data && made.is_subclassed()) {
            made.foreign().set_subclass(Subclass::WithoutData);
        }
        Ok(object)
    }

    /// Whether the tensor is not a leaf and keeps its gradient.
    #[getter]
    fn retains_grad(&self) -> bool {
        self.tensor().retains_grad()
    }
}

/// The tensor on the same memory without history.
pub(crate) fn detached(tensor: &Tensor) -> PyResult<Tensor> {
    if mode::special() {
        batch::check_inside(tensor, || "gen_vmap_plumbing").map_err(raise)?;
    }
    // Outside of inference mode writes to what is detached from one of its tensors are counted, as those to its data.
    match tensor.is_counted() || mode::is_inference() {
        true => Ok(tensor.detach()),
        false => tensor.data().map_err(raise),
    }
}

/// Has a tensor forget its history; in inference mode nobody does.
pub(crate) fn forget(tensor: &Tensor) -> PyResult<()> {
    if mode::is_inference() {
        return Ok(());
    }
    writes::check_in_place(tensor, "detach_", &OtherArguments::default())?;
    if tensor.is_batched() && !tensor.is_followed() {
        return Err(raise(Error::DetachView {}.into()));
    }
    tensor.detach_in_place().map_err(raise)
}

/// A dictionary of callables by the numbers of their handles.
fn numbered<'py>(
    tensor: &Bound<'py, TensorBase>,
    name: &str,
    hooks: &NamedHooks,
) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    let functions = hooks.iter().filter_map(|(id, hook)| Some((id.number(), PythonHook::function(&**hook)?)));
    let dictionary = py.import("rushlight._hooks")?.getattr("HookDictionary")?;
    dictionary.call1((tensor, name, functions.collect::<Vec<_>>()))
}

/// The hooks of such a dictionary, if there is one.
fn named(hooks: Option<&Bound<'_, PyAny>>) -> PyResult<Option<NamedHooks>> {
    let Some(hooks) = hooks else { return Ok(None) };
    let items: Vec<(u64, Bound<'_, PyAny>)> =
        hooks.call_method0("items")?.try_iter()?.map(|item| item?.extract()).collect::<PyResult<_>>()?;
    let hook =
        |(number, hook): &(u64, Bound<'_, PyAny>)| (HookId::from_number(*number), PythonHook::of(hook));
    Ok(Some(items.iter().map(hook).collect()))
}

impl TensorBase {
    fn check_leaf_of_grad_dtype(&self, done: &str) -> PyResult<()> {
        match self.tensor().is_leaf().map_err(raise)? {
            true => Ok(()),
            false => Err(PyRuntimeError::new_err(format!("grad_dtype can only be {done} on leaf tensors."))),
        }
    }

    /// Refuses to change `requires_grad` of a tensor that an operation made. To switch it on where
    /// it is on already is allowed in one place and not in the other: `refuse` says which.
    pub(crate) fn check_leaf(&self, value: bool, refuse: bool) -> PyResult<()> {
        // A view that lost its way back to its base, which fails to tell, is none.
        if self.tensor().is_leaf().unwrap_or(false) || (value && !refuse) {
            return Ok(());
        }
        let hint = if value { "" } else { NON_LEAF_HINT };
        Err(PyRuntimeError::new_err(format!("{NON_LEAF}{hint}")))
    }
}
