//! `autograd.Function.apply`: the forward that is written in Python runs unrecorded, then its results become the
//! outputs of a node of its own.

use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use rushlight::dispatch::custom;
use rushlight::dispatch::custom::{FunctionCall, Outcome};
use rushlight::dispatch::record::gradient_edges;
use rushlight::graph::mode::{self, GradModeGuard};
use rushlight::graph::observe::profile;
use rushlight::graph::transform_level;
use rushlight::graph::{Held, NodeRef, tangents};
use rushlight::tensor::{Mapping, Tensor};
use smallvec::SmallVec;

use crate::autograd::context::{Custom, FunctionBase, State, Wishes, function_class};
use crate::error::raise;
use crate::tensor::object::{TensorBase, as_tensor, track, wrap};
use crate::transforms::transform::is_inside_transform;

const NOT_CONSTANT: &str = "mark_non_differentiable only accepts variable arguments, but got ";
const NOT_DIRTY: &str = "mark_dirty can only accept variables, but argument ";
const STRAY: &std::ffi::CStr =
    c"ctx.mark_dirty() received a tensor that was not an input. Only input Tensors \
    that have been mutated should be passed to ctx.mark_dirty().";

const NOT_APART: &str = "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, \
    ...), it must override the setup_context staticmethod. For more details, please see \
    https://pytorch.org/docs/main/notes/extending.func.html";

type Tensors = SmallVec<[Tensor; 4]>;

/// `class.apply(*args, **kwargs)`
pub(super) fn apply<'py>(
    class: &Bound<'py, PyType>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let forward = class.getattr(intern!(py, "forward"))?;
    let setup = class.getattr(intern!(py, "setup_context"))?;
    let is_apart = !setup.is(&function_class(py)?.getattr(intern!(py, "setup_context"))?);
    let bound = match kwargs {
        None if !is_apart || takes_exactly(&forward, args.len())? => None,
        _ => Some(bind(&forward, is_apart, args, kwargs)?),
    };
    let args = bound.as_ref().unwrap_or(args);

    let of_transform = is_apart && transform_level::depth() > 0;
    let named = if of_transform { intern!(py, "_generated_cls") } else { intern!(py, "_backward_cls") };
    let made = class.getattr(named)?.call0()?;
    let context = made.cast::<FunctionBase>()?;
    let inputs: Tensors = args.iter_borrowed().filter_map(|it| as_tensor(&it).cloned()).collect();
    let _profiled = match profile::is_active() {
        true => crate::modes::profile::host_function(class, &inputs)?,
        false => None,
    };
    let needs: Vec<bool> =
        args.iter_borrowed().map(|it| as_tensor(&it).is_some_and(Tensor::requires_grad)).collect();
    let edges = match mode::is_grad_enabled() && needs.contains(&true) {
        true => Some(gradient_edges(&inputs.iter().collect::<SmallVec<[&Tensor; 4]>>()).map_err(raise)?),
        false => None,
    };
    {
        let mut state = context.get().state();
        state.inputs = args.iter_borrowed().map(|it| as_tensor(&it).is_some()).collect();
        state.needs_input_grad = Some(PyTuple::new(py, needs)?.into_any().unbind());
        state.edges.extend(edges.iter().flatten().cloned());
    }

    let mut batched = mode::special() && inputs.iter().any(Tensor::is_batched);
    // Rules of backward that are mapped over gradients call functions as they are, unless these are recorded.
    let plain = mode::special() && !(batched && edges.is_some()) && !Mapping::is_any_asked_for();
    batched &= !plain;
    if !is_apart && (batched || is_inside_transform() && !(plain && transform_level::depth() == 0)) {
        return Err(PyRuntimeError::new_err(NOT_APART));
    }
    let mapped = if mode::special() { of_samples(class, args, batched)? } else { None };
    let run = || {
        if is_apart {
            let output = mapped.map_or_else(|| transform_level::hidden(|| forward.call1(args)), Ok)?;
            setup.call1((context, args, &output))?;
            Ok(output)
        } else {
            forward.call1(with_context(context, args)?)
        }
    };
    let finished = unrecorded(run).and_then(|raw| finish(context, &inputs, edges, is_apart, &raw));
    context.get().forget_early();
    finished
}

/// The results of a function under vmap, if an argument is batched: its own `vmap` rule, or its forward mapped over
/// the samples. The levels below the mapping record what that does.
#[cold]
fn of_samples<'py>(
    class: &Bound<'py, PyType>,
    args: &Bound<'py, PyTuple>,
    batched: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = class.py();
    if !batched && !Mapping::is_any_asked_for() {
        return Ok(None);
    }
    let module = py.import(intern!(py, "rushlight.autograd.batched_function"))?;
    if batched {
        return module.call_method1(intern!(py, "apply_batched"), (class, args)).map(Some);
    }
    module.call_method1(intern!(py, "check_support"), (class,))?;
    Ok(None)
}

/// Runs `body` with grad mode off, and forward mode too.
fn unrecorded<T>(body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let _off = GradModeGuard::off();
    let before = tangents::set_enabled(false);
    let result = body();
    tangents::set_enabled(before);
    result
}

/// The arguments of a forward that wants its context.
fn with_context<'py>(
    context: &Bound<'py, FunctionBase>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    let all: SmallVec<[Bound<'py, PyAny>; 8]> =
        std::iter::once(context.clone().into_any()).chain(args.iter()).collect();
    PyTuple::new(context.py(), all)
}

/// Whether a forward has exactly so many parameters, by position.
fn takes_exactly(forward: &Bound<'_, PyAny>, count: usize) -> PyResult<bool> {
    let py = forward.py();
    match forward.getattr_opt(intern!(py, "__code__"))? {
        Some(code) => Ok(code.getattr(intern!(py, "co_argcount"))?.extract::<usize>()? == count),
        None => Ok(false),
    }
}

/// The arguments by position, defaults included.
#[cold]
fn bind<'py>(
    forward: &Bound<'py, PyAny>,
    is_apart: bool,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let module = forward.py().import("rushlight.autograd.function")?;
    Ok(module.call_method1("_bind", (forward, is_apart, args, kwargs))?.cast_into()?)
}

/// Gives the results their roles, and the context what it is to know.
fn finish<'py>(
    context: &Bound<'py, FunctionBase>,
    inputs: &[Tensor],
    edges: Option<SmallVec<[Option<rushlight::graph::Edge>; 2]>>,
    is_apart: bool,
    raw: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = context.py();
    let results: SmallVec<[Bound<'py, PyAny>; 4]> = match raw.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => SmallVec::from_elem(raw.clone(), 1),
    };
    let wishes = taken_wishes(context);
    if results.is_empty() {
        return Ok(raw.clone());
    }
    let outputs: SmallVec<[Option<Tensor>; 4]> =
        results.iter().map(|result| as_tensor(result).cloned()).collect();
    let is_recorded = edges.is_some();
    let to_save = match is_recorded {
        true => saved(py, &wishes)?,
        false => Vec::new(),
    };
    let constant = marked(py, "non_differentiable", &wishes.non_differentiable, NOT_CONSTANT)?;
    let dirty = marked(py, "dirty_tensors", &wishes.dirty_tensors, NOT_DIRTY)?;
    let kept_apart = match is_apart {
        true => kept_apart(py, &wishes),
        false => Tensors::new(),
    };
    let call = FunctionCall {
        inputs,
        outputs: &outputs,
        dirty: &dirty,
        constant: &constant,
        kept_apart: &kept_apart,
    };
    let mut outcome = custom::adopt(&call, edges, || Custom::new(context)).map_err(raise)?;
    if outcome.stray {
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), STRAY, 1)?;
    }
    if let Some(node) = &outcome.node {
        remember(context, node, &outcome, &to_save)?;
    }
    if mode::special() {
        pass_tangents(context, &mut outcome, &call)?;
    }
    let saved_for_forward = context.get().state().wishes.saved_for_forward.take();
    drop(saved_for_forward);
    let mut answers: SmallVec<[Bound<'py, PyAny>; 4]> = SmallVec::new();
    for ((result, before), after) in results.into_iter().zip(&outputs).zip(outcome.outputs) {
        let answer = answered(result, before.as_ref(), after)?;
        if is_recorded && let Ok(answer) = answer.cast::<TensorBase>() {
            track(answer);
        }
        answers.push(answer);
    }
    match raw.is_instance_of::<PyTuple>() {
        true => Ok(PyTuple::new(py, answers)?.into_any()),
        false => answers.pop().map_or_else(|| unreachable!("a result that is no tuple is one"), Ok),
    }
}

/// Has the tangents of the inputs pass the function, which finds the inputs at its context meanwhile.
fn pass_tangents(
    context: &Bound<'_, FunctionBase>,
    outcome: &mut Outcome,
    call: &FunctionCall<'_>,
) -> PyResult<()> {
    context.get().state().primals = call.inputs.into();
    let passed = outcome.pass_tangents(call);
    let primals = std::mem::take(&mut context.get().state().primals);
    drop(primals);
    passed.map_err(raise)
}

/// The object of a result: the very one that forward returned, unless the tensor in it became another.
fn answered<'py>(
    result: Bound<'py, PyAny>,
    before: Option<&Tensor>,
    after: Option<Tensor>,
) -> PyResult<Bound<'py, PyAny>> {
    match (before, after) {
        (Some(before), Some(after)) if !before.is(&after) => wrap(result.py(), after),
        _ => Ok(result),
    }
}

/// Takes what forward told the context (`save_for_backward`, `mark_dirty`, …); what `save_for_forward` saved stays.
fn taken_wishes(context: &Bound<'_, FunctionBase>) -> Wishes {
    let py = context.py();
    let mut state = context.get().state();
    let saved_for_forward = state.wishes.saved_for_forward.as_ref().map(|saved| saved.clone_ref(py));
    std::mem::replace(&mut state.wishes, Wishes { saved_for_forward, ..Wishes::default() })
}

/// Tells the context its node, and saves there what forward asked to be saved.
fn remember(
    context: &Bound<'_, FunctionBase>,
    node: &NodeRef,
    outcome: &Outcome,
    to_save: &[Option<Tensor>],
) -> PyResult<()> {
    let keep = |tensor: &Option<Tensor>| {
        tensor.as_ref().map(|tensor| Held::new(tensor, node).map(Arc::new)).transpose()
    };
    let kept: rushlight::Result<Vec<Option<Arc<Held>>>> = to_save.iter().map(keep).collect();
    let kept = kept.map_err(raise)?;
    context.get().hand_over(context.py(), node);
    let mut state = context.get().state();
    let State { outputs, edges, forms, materialize_constants, .. } = &mut *state;
    let is_material = |output: &Tensor| *materialize_constants || output.requires_grad();
    outputs.extend(outcome.outputs.iter().map(|output| output.as_ref().is_some_and(is_material)));
    if edges.is_empty() {
        edges.extend(node.edges().iter().cloned());
    }
    forms.extend((0..node.outputs() as u32).map(|output| node.form(output).to_form()));
    state.node = Some(node.id());
    state.kept = kept;
    Ok(())
}

/// An attribute of the context that the function may have set itself.
fn tuple_of<'a, 'py>(py: Python<'py>, name: &str, wish: &'a Py<PyAny>) -> PyResult<&'a Bound<'py, PyTuple>> {
    wish.bind(py).cast::<PyTuple>().map_err(|_| {
        let problem = "attribute is expected to be a tuple but is ";
        PyRuntimeError::new_err(format!("autograd internal error: {name} {problem}"))
    })
}

/// The tensors of a tuple that the function has set.
fn marked(py: Python<'_>, name: &str, wish: &Option<Py<PyAny>>, refusal: &'static str) -> PyResult<Tensors> {
    let Some(wish) = wish else { return Ok(Tensors::new()) };
    let tensors = tuple_of(py, name, wish)?.iter().map(|object| match as_tensor(&object) {
        Some(tensor) => Ok(tensor.clone()),
        None => Err(PyRuntimeError::new_err(refusal)),
    });
    tensors.collect()
}

/// All tensors of `save_for_backward` and `save_for_forward`, whether a node will keep them or not.
fn kept_apart(py: Python<'_>, wishes: &Wishes) -> Tensors {
    let wishes = [&wishes.to_save, &wishes.saved_for_forward].into_iter().flatten();
    let tuples = wishes.filter_map(|wish| wish.bind(py).cast::<PyTuple>().ok());
    tuples.flat_map(|tuple| tuple.iter()).filter_map(|object| as_tensor(&object).cloned()).collect()
}

/// The tensors of `save_for_backward`.
fn saved(py: Python<'_>, wishes: &Wishes) -> PyResult<Vec<Option<Tensor>>> {
    let Some(wish) = &wishes.to_save else { return Ok(Vec::new()) };
    let tensors =
        tuple_of(py, "to_save", wish)?.iter().enumerate().map(|(index, object)| match as_tensor(&object) {
            Some(tensor) => Ok(Some(tensor.clone())),
            None if object.is_none() => Ok(None),
            None => {
                let found = object.get_type().name()?;
                let text = format!(
                    "save_for_backward can only save variables, but argument {index} is of type {found}"
                );
                Err(PyTypeError::new_err(text))
            }
        });
    tensors.collect()
}
