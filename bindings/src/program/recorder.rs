//! Recordings: a call of a function that is written down, and what the program that comes of it needs besides.

use std::cell::RefCell;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::Tensor;
use rushlight::dispatch::modes::recording;
use rushlight::program::portable::Source;
use rushlight::program::{Again, Begun, Program, Refusal};

use super::call::{Call, Modes};
use super::checks::Checks;
use super::guard::Form;
use super::sight::{self, Check, first_number};
use super::{Compiled, Inner, OnceMore, Rate, returned};
use crate::error::raise;
use crate::interpreter::origin::describe;
use crate::tensor::object::{as_tensor, wrap};

thread_local!(static BEGUN: RefCell<Option<Begun>> = const { RefCell::new(None) });

/// What was begun to be recorded.
#[pyclass(name = "_Recording", module = "rushlight._rushlight", frozen)]
pub(crate) struct Recording {
    known: Vec<Tensor>,
    /// What the function is called with, if that is not what the call has.
    arguments: Option<(Py<PyAny>, Py<PyAny>)>,
    call: Mutex<Option<Call>>,
    /// The numbers that are only returned, and what they are the only elements of.
    numbers: Mutex<Vec<(Py<PyAny>, Tensor)>>,
}

/// Begin to record what this thread computes. The call's tensors and those `outside` are known; `checks` say what
/// the function sees, `is_only_returned` whether a number that is just taken out of a tensor is. None if something
/// unusual goes on; a text if it cannot be done.
#[pyfunction]
#[pyo3(name = "_begin_recording")]
pub(crate) fn begin<'py>(
    py: Python<'py>,
    args: &Bound<'py, PyTuple>,
    kwargs: &Bound<'py, PyDict>,
    outside: Vec<Bound<'py, PyAny>>,
    checks: Vec<Bound<'py, PyTuple>>,
    is_only_returned: Py<PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(modes) = Modes::now() else { return Ok(None) };
    let mut known = Vec::new();
    let form = Form::of(args, &[], &mut known, 0)?;
    let keywords = Form::of(kwargs, &[], &mut known, 0)?;
    let given = known.clone();
    let stand_in = |tensor: &Tensor| stands_in(tensor).map_err(raise);
    for index in 0..given.len() {
        known[index] = match given[..index].iter().position(|other| other.is(&given[index])) {
            Some(before) => known[before].clone(),
            None => stand_in(&given[index])?,
        };
    }
    let stand: Vec<bool> = known.iter().zip(&given).map(|(own, given)| !own.is(given)).collect();
    let arguments = if stand.contains(&true) {
        let mut tensors = known.iter().map(|tensor| wrap(py, tensor.clone()));
        Some((form.build(py, &mut tensors)?.unbind(), keywords.build(py, &mut tensors)?.unbind()))
    } else {
        None
    };
    let mut own = Vec::new();
    for object in &outside {
        let tensor = as_tensor(object).ok_or_else(|| PyTypeError::new_err("what is outside are tensors"))?;
        // Also what it is called with here: in another call that is another tensor.
        own.push(tensor.clone());
        known.push(tensor.clone());
    }
    let checks = Checks::new(py, sight::checks(&checks)?);
    let begun = match Begun::new(known.clone(), &stand) {
        Ok(begun) => begun,
        Err(refusal) => return tell(py, &refusal).map(Some),
    };
    BEGUN.set(Some(begun));
    returned::begin(is_only_returned);
    let call = Mutex::new(Some(Call { modes, form, keywords, outside: own, checks }));
    Ok(Some(Bound::new(py, Recording { known, arguments, call, numbers: Mutex::default() })?.into_any()))
}

/// A leaf in the place of what has a history, so that backward ends there.
fn stands_in(tensor: &Tensor) -> rushlight::Result<Tensor> {
    if tensor.edge()?.is_none() || tensor.differs() || tensor.is_subclassed() {
        return Ok(tensor.clone());
    }
    let leaf = Tensor::from_array(tensor.memory());
    leaf.set_requires_grad(true)?;
    Ok(leaf)
}

/// Whether what this thread does is being written down.
#[pyfunction]
#[pyo3(name = "_is_recording")]
pub(crate) fn is_recording() -> bool {
    recording::is_on()
}

#[pymethods]
impl Recording {
    /// What the function is to be called with in the place of the call's own arguments, if it is.
    fn arguments<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (args, kwargs) = self.arguments.as_ref()?;
        Some((args.bind(py).clone(), kwargs.bind(py).clone()))
    }

    /// Record what backward does from what `result` has that leads back. A text if that cannot be done.
    fn lead_back<'py>(
        &self,
        py: Python<'py>,
        result: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(mut begun) = BEGUN.take() else { return Ok(None) };
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).extend(returned::end());
        let made = self.made(result)?.2;
        let outcome = begun.lead_back(&made);
        BEGUN.set(Some(begun));
        outcome.err().map(|refusal| tell(py, &refusal)).transpose()
    }

    /// End it: the program that gives `result` in the place of `function`, or a text that says why there is none.
    /// What is `after` it is called by the host each time, and `finish` with the answer, which it makes another of.
    fn end<'py>(
        &self,
        py: Python<'py>,
        result: &Bound<'py, PyAny>,
        function: Py<PyAny>,
        after: Vec<Py<PyAny>>,
        finish: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(begun), Some(mut call)) = (BEGUN.take(), call) else {
            return Err(PyRuntimeError::new_err("nothing is recorded"));
        };
        let (answer, sources, made) = self.made(result)?;
        let program = match begun.end(&made) {
            Ok(program) => program,
            Err(refusal) => return tell(py, &refusal),
        };
        if program.leads_back() && !after.is_empty() {
            let text = "it steps a schedule, and what it returns leads back";
            return Ok(text.into_pyobject(py)?.into_any());
        }
        if Modes::now() != Some(call.modes) {
            return Ok("it changes what it depends on: a mode".into_pyobject(py)?.into_any());
        }
        let rates = rates(py, &program, &self.known, &mut call.checks)?;
        let is_changed = |check: &&Check| !check.holds(py) && (after.is_empty() || !check.is_scheduled());
        if let Some(changed) = call.checks.iter().find(is_changed) {
            let text = format!("it changes what it depends on: {}", changed.difference(py));
            return Ok(text.into_pyobject(py)?.into_any());
        }
        let inner = Arc::new_cyclic(|inner: &Weak<Inner>| {
            let host: Option<Arc<dyn Again>> = match program.leads_back() {
                true => Some(Arc::new(OnceMore(inner.clone()))),
                false => None,
            };
            let [nanoseconds, failed, ran] = [0, 0, 0].map(AtomicU64::new);
            Inner {
                program,
                call,
                answer,
                sources,
                rates,
                function,
                after,
                finish,
                host,
                nanoseconds,
                failed,
                ran,
            }
        });
        Ok(Bound::new(py, Compiled(inner))?.into_any())
    }

    /// What has the numbers that something else stands for in a result.
    fn told<'py>(&self, py: Python<'py>, result: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.extend(returned::end());
        if numbers.is_empty() {
            return Ok(result.clone());
        }
        let mut tensors = Vec::new();
        let form = Form::of(result, &numbers, &mut tensors, 0)?;
        form.build(py, &mut tensors.into_iter().map(|tensor| wrap(py, tensor)))
    }

    /// Give it up.
    fn abandon(&self) {
        drop((BEGUN.take(), returned::end()));
    }
}

impl Recording {
    /// The form of a result, where its tensors come from, and those that were made.
    fn made(&self, result: &Bound<'_, PyAny>) -> PyResult<(Form, Vec<Source>, Vec<Tensor>)> {
        let mut tensors = Vec::new();
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = Form::of(result, &numbers, &mut tensors, 0)?;
        let mut sources = Vec::new();
        let mut made: Vec<Tensor> = Vec::new();
        for tensor in tensors {
            let known = self.known.iter().position(|known| known.is(&tensor));
            let is_gradient = |known: &Tensor| known.grad().is_some_and(|gradient| gradient.is(&tensor));
            let gradient = self.known.iter().position(is_gradient);
            let before = made.iter().position(|made| made.is(&tensor));
            sources.push(match (known, gradient, before) {
                (Some(known), ..) => Source::Known(known),
                (_, Some(known), _) => Source::Gradient(known),
                (.., Some(made)) => Source::Made(made),
                _ => {
                    made.push(tensor);
                    Source::Made(made.len() - 1)
                }
            });
        }
        Ok((answer, sources, made))
    }
}

fn tell<'py>(py: Python<'py>, refusal: &Refusal) -> PyResult<Bound<'py, PyAny>> {
    let text = match refusal {
        Refusal::Left { what, origin } => {
            let place = describe(py, *origin)?;
            return Ok((format!("numbers leave by {what}"), place).into_pyobject(py)?.into_any());
        }
        Refusal::Unknown { name, origin } => {
            let text = format!("{name} is given what was made without being recorded");
            return Ok((text, describe(py, *origin)?).into_pyobject(py)?.into_any());
        }
        Refusal::Written => "memory is written to without that being recorded".to_owned(),
        Refusal::Moved => "a tensor that stays is given other memory or another shape".to_owned(),
        Refusal::Origin => "it leaves a tensor behind that was made without being recorded".to_owned(),
        Refusal::LeadsBack { how } => format!("it leaves a tensor behind that leads back {how}"),
        Refusal::View => "it leaves a view of a tensor behind".to_owned(),
        Refusal::Unusual => {
            "it is given a tensor that has a history, hooks, or a class of its own".to_owned()
        }
    };
    Ok(text.into_pyobject(py)?.into_any())
}

/// The numbers that may be others in every call: those of groups of parameters that nothing writes to but steps, each of
/// which is given it. All others are fixed.
fn rates(py: Python<'_>, program: &Program, known: &[Tensor], checks: &mut Checks) -> PyResult<Vec<Rate>> {
    let mut found = Vec::new();
    for check in checks.iter_mut() {
        let Some((group, free)) = check.given(py) else { continue };
        let parameters = group.get_item("params")?.map(|all| all.try_iter()?.collect::<PyResult<Vec<_>>>());
        let parameters = parameters.transpose()?.unwrap_or_default();
        let known = |parameter: &Bound<'_, PyAny>| {
            let own = as_tensor(parameter)?;
            known.iter().position(|known| known.is(own)).filter(|&index| program.writes_to(index))
        };
        let known: Vec<usize> = parameters.iter().filter_map(known).collect();
        for (place, key, value) in free {
            let which = usize::from(key.extract::<&str>().is_ok_and(|key| key == "lr"));
            let value = first_number(&value);
            let number = |&index: &usize| {
                program.numbers_of(index).map(|numbers| numbers[which]).filter(|own| Some(own.value) == value)
            };
            match known.iter().map(number).collect::<Option<Vec<_>>>().filter(|given| !given.is_empty()) {
                Some(given) => found.push(Rate { group: group.clone().unbind(), key: key.unbind(), given }),
                None => check.fix(place),
            }
        }
    }
    Ok(found)
}
