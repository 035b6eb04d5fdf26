//! Native functions and methods: one table entry each, and the way from the interpreter's call to the
//! entry's Rust function. They are C's own kinds of callables, `builtin_function_or_method` and
//! `method_descriptor`: the interpreter has its fast paths for these, and they can be pickled,
//! copied and inspected. What a call may pass is settled in `signature`.

#![allow(unsafe_code)]

use crate::calls::fallback;
use crate::calls::outputs;
use crate::calls::table::{self, Callable, FUNCTION, Function, NN, Seen};
use crate::calls::writes;
use crate::error::{panicked, raise};
use crate::interpreter::warnings::Once;
use crate::modes::intercept;
use crate::modes::profile;
use crate::overrides;
use crate::signature::errors::explain;
use crate::signature::matching::{Call, Mismatch, SLOTS, assign};
use crate::signature::{Form, Signature};
use crate::tensor::object::{as_tensor, wrap};
use crate::values::arguments::Arguments;
use crate::values::received::{place, seen};
use pyo3::exceptions::{PySystemError, PyTypeError, PyUserWarning};
use pyo3::ffi;
use pyo3::impl_::trampoline;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rushlight::dispatch::batch;
use rushlight::graph::mode;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// Makes the Python objects of all entries: functions and those of `nn` as attributes of the two
/// modules, methods as attributes of the tensor class. Signatures are read at the first call.
pub(crate) fn install(
    table: impl Iterator<Item = Function>,
    functions: &Bound<'_, PyModule>,
    neural: &Bound<'_, PyModule>,
    tensor: &Bound<'_, PyType>,
) -> PyResult<()> {
    let py = tensor.py();
    let neural_name = neural.name()?;
    for (index, callable) in table::make(table).iter().enumerate() {
        let name = callable.function.name;
        let definition = definition(index, name, callable.function.doc)?;
        if callable.form == Form::Method {
            let object = method(tensor, definition)?;
            tensor.setattr(name, &object)?;
            callable.install(object);
            continue;
        }
        if callable.function.kind & FUNCTION != 0 {
            let module = pyo3::intern!(py, "rushlight");
            let object = builtin(module.as_any(), definition)?;
            functions.add(name, &object)?;
            callable.install(object);
        }
        if callable.function.kind & NN != 0 {
            let object = builtin(neural_name.as_any(), definition)?;
            neural.add(name, &object)?;
            // Where it is a function too, that is what others know.
            callable.install(object);
        }
    }
    Ok(())
}

/// What answers calls of methods that are not in the table, by their numbers.
type Further =
    for<'py> fn(Python<'py>, usize, Option<&Bound<'py, PyAny>>, &Call<'_, 'py>) -> PyResult<Py<PyAny>>;

static FURTHER: OnceLock<Further> = OnceLock::new();

/// Says what answers calls of methods that are not in the table.
pub(crate) fn answer_further(further: Further) {
    FURTHER.get_or_init(|| further);
}

/// Makes a method of the tensor class that is not in the table, under the number that it gets here behind those of
/// the table.
pub(crate) fn further<'py>(
    tensor: &Bound<'py, PyType>,
    number: usize,
    name: &str,
    doc: &str,
) -> PyResult<Bound<'py, PyAny>> {
    method(tensor, definition(Callable::all().len() + number, name, doc)?)
}

/// What the interpreter wants to know of a callable. It lives as long as the process.
fn definition(index: usize, name: &str, doc: &str) -> PyResult<*mut ffi::PyMethodDef> {
    let entry = POOL.get(index / ROW).map(|row| row[index % ROW]);
    let entry = entry.ok_or_else(|| PySystemError::new_err("more native functions than entry points"))?;
    let text = |text: &str| CString::new(text).map(|text| text.into_raw().cast_const());
    Ok(Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: text(name)?,
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: entry },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: text(doc)?,
    })))
}

fn method<'py>(
    tensor: &Bound<'py, PyType>,
    definition: *mut ffi::PyMethodDef,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the type is alive, the definition is never freed, and both calls are made attached.
    unsafe {
        Bound::from_owned_ptr_or_err(tensor.py(), ffi::PyDescr_NewMethod(tensor.as_type_ptr(), definition))
    }
}

fn builtin<'py>(
    module: &Bound<'py, PyAny>,
    definition: *mut ffi::PyMethodDef,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: no `self` is passed, the module's name is a live string, the definition is never freed.
    unsafe {
        let pointer = ffi::PyCFunction_NewEx(definition, std::ptr::null_mut(), module.as_ptr());
        Bound::from_owned_ptr_or_err(module.py(), pointer)
    }
}

/// Every callable needs a C function of its own, because the interpreter passes nothing that says
/// which one was called: 64 rows of 32 instances that differ in nothing but their number.
const ROW: usize = 32;
const ROWS: usize = 64;
type Entry = ffi::PyCFunctionFastWithKeywords;
static POOL: [[Entry; ROW]; ROWS] = pool();

/// Writes out the instances: `row!(H: 0 1)` is `[entry::<H, 0>, entry::<H, 1>]`.
macro_rules! row {
    ($H:ident: $($low:literal)*) => { [$(entry::<$H, $low>),*] };
}

/// Writes out the rows: `rows!(0 1)` is `[row::<0>(), row::<1>()]`.
macro_rules! rows {
    ($($high:literal)*) => { [$(row::<$high>()),*] };
}

const fn row<const H: usize>() -> [Entry; ROW] {
    row!(H: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
}

const fn pool() -> [[Entry; ROW]; ROWS] {
    rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63)
}

/// A call as the interpreter makes it.
struct Frame {
    index: usize,
    receiver: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
}

/// # Safety
/// Called by the interpreter only, with what `METH_FASTCALL | METH_KEYWORDS` promises.
unsafe extern "C" fn entry<const HIGH: usize, const LOW: usize>(
    receiver: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    let frame = Frame { index: HIGH * ROW + LOW, receiver, arguments, count, names };
    // SAFETY: the frame is what the interpreter passed.
    unsafe { enter(frame) }
}

/// Runs a call as PyO3 runs those of its own functions, which its public interface does not offer
/// for a function made by hand. `Python::attach` would do the same and cost 9 ns more.
///
/// # Safety
/// The frame is one of a call that is being made by the interpreter.
#[inline(never)]
unsafe fn enter(frame: Frame) -> *mut ffi::PyObject {
    // SAFETY: the thread is attached, and the frame, which travels in the place of the receiver,
    // outlives the call.
    unsafe { trampoline::noargs::<Run>((&raw const frame).cast_mut().cast(), std::ptr::null_mut()) }
}

/// Carries `run` into the trampoline.
struct Run;

impl trampoline::MethodDef<trampoline::noargs::Func> for Run {
    const METH: trampoline::noargs::Func = run;
}

/// Sees the interpreter's pointers as borrowed objects.
///
/// # Safety
/// `frame` points to a `Frame` of the running call.
unsafe fn run(py: Python<'_>, frame: *mut ffi::PyObject) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: see above.
    let Frame { index, receiver, arguments, count, names } = unsafe { &*frame.cast::<Frame>() };
    // SAFETY: null for functions, else an object that the interpreter keeps alive for the call.
    let receiver: Option<&Bound<'_, PyAny>> = unsafe { place(py, receiver) };
    // SAFETY: what it passes is a call.
    let seen = unsafe { seen(py, *arguments, *count, names) };
    let call = AssertUnwindSafe(|| dispatch(py, *index, receiver, &seen));
    catch_unwind(call).unwrap_or_else(|payload| Err(panicked(payload))).map(Py::into_ptr)
}

/// Finds the overload and runs it.
#[inline]
fn dispatch<'py>(
    py: Python<'py>,
    index: usize,
    receiver: Option<&Bound<'py, PyAny>>,
    call: &Call<'_, 'py>,
) -> PyResult<Py<PyAny>> {
    let Some(callable) = Callable::all().get(index) else {
        let further = FURTHER.get().ok_or_else(|| PySystemError::new_err("a method that nobody answers"))?;
        return further(py, index - Callable::all().len(), receiver, call);
    };
    if overrides::ever()
        && let Some(answer) = callable.offer(py, receiver, call)?
    {
        return Ok(answer);
    }
    let signatures = callable.signatures(py)?;
    let name = callable.function.name;
    for signature in signatures {
        let mut arguments = Arguments { py, name, signature, slots: [None; SLOTS], spread: None };
        match assign(signature, call, &mut arguments.slots) {
            Ok(spread) => {
                if let Some(slot) = signature.receiver {
                    arguments.slots[slot] = receiver;
                }
                if signature.deprecated {
                    warn_deprecated(py, name, signature, signatures)?;
                    arguments = arguments.renewed(signatures);
                }
                arguments.spread = spread.map(|slot| (slot, call.positional));
                if callable.function.is_in_place() {
                    writes::check_method(&arguments, callable.function.policy)?;
                }
                let run = || callable.function.body.run(&arguments);
                let answer = match arguments.signature.out.and_then(|slot| arguments.slots[slot]) {
                    None if rushlight::dispatch::modes::intercept::is_active() => {
                        intercept::call(&arguments, run)
                    }
                    None if mode::special() && !callable.function.is_in_place() => {
                        run().and_then(|made| within(py, made))
                    }
                    None => run(),
                    Some(out) => {
                        let _profiled = profile::called(&arguments);
                        outputs::write(&arguments, &callable.function, out, run)
                    }
                };
                return answer.or_else(|error| callable.offer_late(py, receiver, call, error));
            }
            Err(Mismatch::Raised(error)) => return callable.offer_late(py, receiver, call, error),
            Err(_) => {}
        }
    }
    if let Some(answer) = callable.offer(py, receiver, call)? {
        return Ok(answer);
    }
    match fallback::answer(py, || callable.itself(py), receiver, call)? {
        Some(answer) => Ok(answer),
        None => Err(explain(name, callable.form, signatures, call)),
    }
}

/// What a function has made, as the mapping that it was called in sees it.
#[cold]
fn within(py: Python<'_>, made: Py<PyAny>) -> PyResult<Py<PyAny>> {
    let bound = match as_tensor(made.bind(py)) {
        Some(tensor) => batch::made_within(tensor).map_err(raise)?,
        None => None,
    };
    bound.map_or(Ok(made), |bound| Ok(wrap(py, bound)?.unbind()))
}

impl Callable {
    /// Shows the call to the arguments that want to see it.
    #[cold]
    fn offer<'py>(
        &self,
        py: Python<'py>,
        receiver: Option<&Bound<'py, PyAny>>,
        call: &Call<'_, 'py>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let Function { name, seen, .. } = self.function;
        if seen == Seen::ByNobody || seen == Seen::InModes && !overrides::in_mode() {
            return Ok(None);
        }
        let itself = || {
            let place = match self.form {
                Form::Method => format!("torch.Tensor.{name}"),
                Form::Function if self.function.kind & FUNCTION != 0 => format!("torch.{name}"),
                Form::Function => overrides::compiled(name),
            };
            Ok((self.itself(py)?, place))
        };
        overrides::offer(py, itself, receiver, call)
    }

    /// `offer` of a call that failed: an element of a list was no tensor, but may want to see it, or it named
    /// what tensors of other kinds have.
    #[cold]
    fn offer_late<'py>(
        &self,
        py: Python<'py>,
        receiver: Option<&Bound<'py, PyAny>>,
        call: &Call<'_, 'py>,
        error: PyErr,
    ) -> PyResult<Py<PyAny>> {
        if let Some(answer) = fallback::answer(py, || self.itself(py), receiver, call)? {
            return Ok(answer);
        }
        if overrides::ever() || !error.is_instance_of::<PyTypeError>(py) {
            return Err(error);
        }
        self.offer(py, receiver, call)?.ok_or(error)
    }
}

#[cold]
fn warn_deprecated(py: Python<'_>, name: &str, used: &Signature, all: &[Signature]) -> PyResult<()> {
    static TOLD: Once = Once::new();
    if !TOLD.is_due() {
        return Ok(());
    }
    let told: String =
        all.iter().filter(|one| !one.deprecated).map(|one| format!("\n\t{name}{one}")).collect();
    let text = format!(
        "This overload of {name} is deprecated:\n\t{name}{used}\nConsider using one of the following signatures instead:{told}"
    );
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(text)?, 1)
}
