//! Objects that want to see which functions are called with them: `__torch_function__`, of classes
//! below `Tensor` and of any others; and modes, which see every function that is called.
//!
//! An ordinary call asks one flag. It is set for good when the first class below `Tensor` is made that
//! does not decline; objects of other classes are found when a call fits no signature.

mod annotated;
mod bound;
mod parameters;
mod places;
mod seeing;
mod showing;
mod takes;

use pyo3::exceptions::{PyDeprecationWarning, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple, PyType};
use smallvec::SmallVec;

use crate::interpreter::declining::Declining;
use crate::interpreter::warnings::Once;
use crate::modes::intercept;
use crate::signature::matching::Call;
use crate::tensor::object::{tensor_class, tensor_type};
pub(crate) use places::compiled;
use seeing::{AsTheyAre, Left, Watching, in_any_mode, innermost, is_shown, is_skipped};
pub(crate) use seeing::{
    Disabling, beneath, common_type, ever, exchange_beneath, exchange_state, in_mode, install, modes,
    pop_mode, push_mode, redispatch,
};
pub(crate) use showing::{shown, shown_as_method};

/// A class below `Tensor` was made.
pub(crate) fn meet(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    let name = intern!(py, "__torch_function__");
    if intercept::is_dispatch_subclass(class)? {
        // A dispatch subclass sees operations; calls it sees only if it says so.
        let inherited = tensor_class(py).getattr_opt(name)?.map(|own| own.getattr("__func__")).transpose()?;
        let found = class.getattr_opt(name)?.and_then(|own| own.getattr("__func__").ok());
        if let (Some(inherited), Some(found)) = (inherited, found)
            && inherited.is(&found)
        {
            class.setattr(name, DECLINING.function(py)?)?;
        }
    }
    if handler(class)?.is_some() {
        seeing::begin();
    }
    Ok(())
}

static DECLINING: Declining = Declining::named("_disabled_torch_function_impl");

/// Call `func` as it is: the `__torch_function__` of classes that do not want to see calls.
#[pyfunction]
#[pyo3(name = "_disabled_torch_function_impl", signature = (func, _types, args = None, kwargs = None))]
pub(crate) fn declining<'py>(
    func: &Bound<'py, PyAny>,
    _types: &Bound<'py, PyAny>,
    args: Option<&Bound<'py, PyTuple>>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let _as_they_are = AsTheyAre::enter();
    func.call(args.unwrap_or(&PyTuple::empty(func.py())), kwargs)
}

/// The `__torch_function__` of a class, unless it has none or one that declines.
fn handler<'py>(class: &Bound<'py, PyType>) -> PyResult<Option<Bound<'py, PyAny>>> {
    DECLINING.unless_declined(class, intern!(class.py(), "__torch_function__"))
}

/// Whether calls with this object are to be shown to its class, or to a mode.
pub(crate) fn is_watched(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(in_mode()
        || ever() && object.get_type_ptr() != tensor_type() && handler(&object.get_type())?.is_some())
}

/// The arguments of a call whose classes want to see it: one of each class, derived ones first.
type Interested<'py> = SmallVec<[Bound<'py, PyAny>; 2]>;

/// Whether tensors themselves count among those whose class wants to see a call: they do where torch
/// shows a call from Python, or an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plain {
    Counts,
    DoesNot,
}

/// Whether the class of an object is one of the interpreter's own for values that calls have most, which want to see
/// none: to ask a class for what it does not have takes longer than many a call.
fn is_value(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PySlice>()
}

fn consider<'py>(object: &Bound<'py, PyAny>, plain: Plain, interested: &mut Interested<'py>) -> PyResult<()> {
    if is_value(object) {
        return Ok(());
    }
    let class = object.get_type();
    let is_plain = class.as_type_ptr() == tensor_type();
    if is_plain && plain == Plain::DoesNot || interested.iter().any(|other| other.get_type().is(&class)) {
        return Ok(());
    }
    if handler(&class)?.is_none() || object.is_instance_of::<PyType>() {
        return Ok(());
    }
    let mut place = interested.len();
    for (index, other) in interested.iter().enumerate() {
        if class.is_subclass(&other.get_type())? {
            place = index;
            break;
        }
    }
    interested.insert(place, object.clone());
    Ok(())
}

/// `consider` of an argument, or of the elements of a list whose class does not want to see the call itself.
fn look<'py>(object: &Bound<'py, PyAny>, plain: Plain, interested: &mut Interested<'py>) -> PyResult<()> {
    let is_list = object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>();
    let is_derived =
        is_list && !object.is_exact_instance_of::<PyTuple>() && !object.is_exact_instance_of::<PyList>();
    if is_list && !(is_derived && handler(&object.get_type())?.is_some()) {
        return object.try_iter()?.try_for_each(|element| consider(&element?, plain, interested));
    }
    consider(object, plain, interested)
}

/// Shows a call of what is compiled to those who want to see it. The answer is theirs; `None` if there is
/// nobody.
#[cold]
pub(crate) fn offer<'py>(
    py: Python<'py>,
    function: impl FnOnce() -> PyResult<(Bound<'py, PyAny>, String)>,
    receiver: Option<&Bound<'py, PyAny>>,
    call: &Call<'_, 'py>,
) -> PyResult<Option<Py<PyAny>>> {
    offer_as_given(py, Watching::Compiled, function, receiver, call)
}

fn offer_as_given<'py>(
    py: Python<'py>,
    watching: Watching,
    function: impl FnOnce() -> PyResult<(Bound<'py, PyAny>, String)>,
    receiver: Option<&Bound<'py, PyAny>>,
    call: &Call<'_, 'py>,
) -> PyResult<Option<Py<PyAny>>> {
    if is_skipped() {
        return Ok(None);
    }
    let mut interested = Interested::new();
    if is_shown() {
        let all = receiver.into_iter().chain(call.positional).chain(call.values);
        all.into_iter().try_for_each(|object| look(object, Plain::DoesNot, &mut interested))?;
    }
    let mode = innermost(py, watching);
    if interested.is_empty() && mode.is_none() {
        return Ok(None);
    }
    let (function, name) = function()?;
    let args = PyTuple::new(py, receiver.into_iter().chain(call.positional).collect::<SmallVec<[_; 8]>>())?;
    let kwargs = match call.names {
        Some(names) if !call.values.is_empty() => {
            let kwargs = PyDict::new(py);
            for (name, value) in names.iter_borrowed().zip(call.values) {
                kwargs.set_item(name, value)?;
            }
            Some(kwargs)
        }
        _ => None,
    };
    match show(&function, watching, &interested, &args, kwargs.as_ref(), tell_once)? {
        Some(answer) => Ok(Some(answer.unbind())),
        None => Err(PyTypeError::new_err(nobody(&name, mode.as_ref(), &interested))),
    }
}

/// A method of tensors that is not in the table of functions, as classes and modes are shown it.
#[derive(Clone, Copy)]
pub(crate) struct Method {
    /// Its name.
    pub(crate) name: &'static str,
    /// Whether torch has written it in Python: it shows its calls as such functions do.
    in_python: bool,
}

impl Method {
    /// One that torch has compiled.
    pub(crate) const fn compiled(name: &'static str) -> Method {
        Method { name, in_python: false }
    }

    /// One that torch has written in Python.
    pub(crate) const fn in_python(name: &'static str) -> Method {
        Method { name, in_python: true }
    }
}

/// `offer` for a method that an operator of the language calls: who declines leaves it to the other operand.
#[cold]
pub(crate) fn offer_method<'py>(
    py: Python<'py>,
    method: Method,
    operands: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if is_skipped() {
        return Ok(None);
    }
    let mut interested = Interested::new();
    if is_shown() {
        let plain = if method.in_python && in_mode() { Plain::Counts } else { Plain::DoesNot };
        operands.iter().try_for_each(|object| look(object, plain, &mut interested))?;
    }
    if interested.is_empty() && !in_mode() {
        return Ok(None);
    }
    let (function, args) = (tensor_class(py).getattr(method.name)?, PyTuple::new(py, operands)?);
    let kwargs = method.in_python.then(|| PyDict::new(py));
    let answer = show(&function, Watching::Compiled, &interested, &args, kwargs.as_ref(), tell_once)?;
    Ok(Some(answer.unwrap_or_else(|| py.NotImplemented().into_bound(py))))
}

/// `offer` for what is a method or an attribute of the first operand, whose class it asks alone. `function`
/// is what reads or writes it, or calls it.
#[cold]
pub(crate) fn offer_member<'py>(
    function: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    receiver: &Bound<'py, PyAny>,
    args: impl FnOnce() -> PyResult<Bound<'py, PyTuple>>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if is_skipped() {
        return Ok(None);
    }
    let py = receiver.py();
    let mode = innermost(py, Watching::Compiled);
    let mut interested = Interested::new();
    if is_shown() {
        let plain = if mode.is_some() { Plain::Counts } else { Plain::DoesNot };
        consider(receiver, plain, &mut interested)?;
    }
    if interested.is_empty() && mode.is_none() {
        return Ok(None);
    }
    let function = function()?;
    match show(&function, Watching::Compiled, &interested, &args()?, kwargs, tell_once)? {
        Some(answer) => Ok(Some(answer)),
        None => {
            let name = function.getattr(intern!(py, "__name__"))?;
            Err(PyTypeError::new_err(nobody(&format!("torch.Tensor.{name}"), mode.as_ref(), &interested)))
        }
    }
}

/// Shows the call of a function that sets a flag to the innermost mode; `false` if there is none.
#[inline]
pub(crate) fn offer_flag(py: Python<'_>, name: &str, value: bool) -> PyResult<bool> {
    if !in_mode() {
        return Ok(false);
    }
    show_flag(py, name, value).map(|()| true)
}

#[cold]
fn show_flag(py: Python<'_>, name: &str, value: bool) -> PyResult<()> {
    let function = py.import("rushlight._rushlight")?.getattr(format!("_{name}"))?;
    let (mode, args) = (innermost(py, Watching::Compiled), PyTuple::new(py, [value])?);
    match show(&function, Watching::Compiled, &Interested::new(), &args, None, tell_once)? {
        Some(_) => Ok(()),
        None => {
            Err(PyTypeError::new_err(nobody(&format!("torch._C.{name}"), mode.as_ref(), &Interested::new())))
        }
    }
}

/// Warns, once, of a `__torch_function__` that is a plain method.
fn tell_once(py: Python<'_>) -> PyResult<()> {
    static TOLD: Once = Once::new();
    let text = c"Defining your `__torch_function__` as a plain method is deprecated and will be an error in \
        future, please define it as a classmethod.";
    TOLD.warn(py, text)
}

/// The same where a function of Python shows its call.
fn tell(py: Python<'_>) -> PyResult<()> {
    let text = c"Defining your `__torch_function__ as a plain method is deprecated and will be an error in \
        future, please define it as a classmethod.";
    PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), text, 1)
}

/// Asks the innermost mode, which is left meanwhile, then the arguments; `None` if all decline.
fn show<'py>(
    function: &Bound<'py, PyAny>,
    watching: Watching,
    interested: &Interested<'py>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    warn: fn(Python<'py>) -> PyResult<()>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = function.py();
    let types = PyTuple::new(py, interested.iter().map(|object| object.get_type()))?;
    let ask = |method: Bound<'py, PyAny>| {
        let answer = method.call1((function, &types, args, kwargs))?;
        Ok::<_, PyErr>((!answer.is(py.NotImplemented())).then_some(answer))
    };
    let method = |object: &Bound<'py, PyAny>| object.getattr(intern!(py, "__torch_function__"));
    if let Some(left) = Left::innermost(watching)
        && let Some(mode) = left.mode()
        && let Some(answer) = method(mode.bind(py)).and_then(ask)?
    {
        return Ok(Some(answer));
    }
    for object in interested {
        let method = method(object)?;
        if method.getattr_opt(intern!(py, "__self__"))?.is_some_and(|owner| owner.is(object)) {
            warn(py)?;
        }
        if let Some(answer) = ask(method)? {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

fn nobody(name: &str, mode: Option<&Py<PyAny>>, interested: &Interested<'_>) -> String {
    let told = |object: &Bound<'_, PyAny>| {
        let class = object.get_type();
        let class = class.repr().map_or_else(|_| String::new(), |class| class.to_string());
        format!("  - tensor subclass {class}\n")
    };
    let mode = mode.map_or_else(String::new, |mode| format!("  - mode object {mode}\n"));
    let told: String = std::iter::once(mode).chain(interested.iter().map(told)).collect();
    format!(
        "Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n\n\
         {told}\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )
}

/// Tell whether a call with these arguments would be shown to one of them, or to a mode.
#[pyfunction]
#[pyo3(name = "_has_torch_function")]
pub(crate) fn has_torch_function(arguments: &Bound<'_, PyAny>) -> PyResult<bool> {
    if is_skipped() {
        return Ok(false);
    }
    if in_any_mode() || !is_shown() {
        return Ok(in_any_mode());
    }
    let mut interested = Interested::new();
    look(arguments, Plain::DoesNot, &mut interested)?;
    Ok(!interested.is_empty())
}

/// Show a call of a function that is written in Python; fails if all decline.
#[pyfunction]
#[pyo3(name = "_handle_torch_function", signature = (function, name, relevant, args, kwargs))]
pub(crate) fn handle_torch_function<'py>(
    function: &Bound<'py, PyAny>,
    name: &str,
    relevant: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let mut interested = Interested::new();
    if is_shown() {
        look(relevant, Plain::Counts, &mut interested)?;
    }
    if let Some(answer) = show(function, Watching::Written, &interested, args, kwargs, tell)? {
        return Ok(answer);
    }
    let types = PyList::new(py, interested.iter().map(|object| object.get_type()))?.repr()?;
    let mode = innermost(py, Watching::Written)
        .map(|mode| format!(" nor was it found on the currently active mode {mode}"));
    let mode = mode.unwrap_or_default();
    Err(PyTypeError::new_err(format!(
        "no implementation found for '{name}' on types that implement __torch_function__: {types}{mode}"
    )))
}
