//! Recorded programs as `rushlight.compiler` makes and runs them: a recording, the program that comes of it, and
//! what it takes for that to be run in the place of a function.

mod guard;
mod sight;

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::Tensor;
use rushlight::dispatch::modes::recording;
use rushlight::dispatch::{default_dtype, long_work};
use rushlight::dtype::DType;
use rushlight::graph::mode::{self, Flags};
use rushlight::graph::observe::anomaly;
use rushlight::kernels::parallel;
use rushlight::ops::composite::moments;
use rushlight::program::{Apart, Begun, Program, Refusal};

use crate::error::raise;
use crate::interpreter::origin::describe;
use crate::overrides;
use crate::tensor::object::{as_tensor, wrap};
use guard::Form;
use sight::Check;

/// How a thread computes.
#[derive(Clone, Copy, PartialEq)]
struct Modes {
    flags: Flags,
    dtype: DType,
    threads: usize,
}

impl Modes {
    /// Those of this thread, if nothing unusual goes on.
    fn now() -> Option<Modes> {
        let usual = !mode::special() && !anomaly::is_enabled() && !overrides::in_mode();
        let (flags, dtype, threads) = (mode::flags(), default_dtype::get(), parallel::num_threads());
        usual.then_some(Modes { flags, dtype, threads })
    }
}

thread_local!(static BEGUN: RefCell<Option<Begun>> = const { RefCell::new(None) });

/// What was begun to be recorded.
#[pyclass(name = "_Recording", module = "rushlight._rushlight", frozen)]
pub(crate) struct Recording {
    known: Vec<Tensor>,
    call: Mutex<Option<Call>>,
}

/// A call that is recorded, and what it takes for another one to be the same.
struct Call {
    modes: Modes,
    form: Form,
    keywords: Form,
    outside: Vec<Tensor>,
    checks: Vec<Check>,
}

/// Begin to record what this thread computes. The call's tensors and those `outside` are known; `checks` say what
/// the function sees. None if something unusual goes on; a text if it cannot be done.
#[pyfunction]
#[pyo3(name = "_begin_recording")]
pub(crate) fn begin<'py>(
    py: Python<'py>,
    args: &Bound<'py, PyTuple>,
    kwargs: &Bound<'py, PyDict>,
    outside: Vec<Bound<'py, PyAny>>,
    checks: Vec<Bound<'py, PyTuple>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(modes) = Modes::now() else { return Ok(None) };
    let mut known = Vec::new();
    let form = Form::of(args, &mut known, 0)?;
    let keywords = Form::of(kwargs, &mut known, 0)?;
    let mut own = Vec::new();
    for object in &outside {
        let tensor = as_tensor(object).ok_or_else(|| PyTypeError::new_err("what is outside are tensors"))?;
        if !known.iter().any(|other| other.is(tensor)) {
            own.push(tensor.clone());
            known.push(tensor.clone());
        }
    }
    let checks = sight::checks(&checks)?;
    let begun = match Begun::new(known.clone()) {
        Ok(begun) => begun,
        Err(refusal) => return tell(py, &refusal).map(Some),
    };
    BEGUN.set(Some(begun));
    let call = Mutex::new(Some(Call { modes, form, keywords, outside: own, checks }));
    Ok(Some(Bound::new(py, Recording { known, call })?.into_any()))
}

/// Whether what this thread does is being written down.
#[pyfunction]
#[pyo3(name = "_is_recording")]
pub(crate) fn is_recording() -> bool {
    recording::is_on()
}

/// Take the last part of a step of Adam, which counts on numbers that are different in every step.
#[pyfunction]
#[pyo3(name = "_advance")]
pub(crate) fn advance(
    parameter: &Bound<'_, PyAny>,
    means: [Bound<'_, PyAny>; 3],
    rate: f64,
    betas: [f64; 2],
    eps: f64,
) -> PyResult<()> {
    let tensor = |object| as_tensor(object).ok_or_else(|| PyTypeError::new_err("a step takes tensors"));
    let [mean, square, step] = &means;
    let means = [tensor(mean)?, tensor(square)?, tensor(step)?];
    moments::advance(tensor(parameter)?, means, rate, betas, eps).map_err(raise)
}

#[pymethods]
impl Recording {
    /// End it: the program that gives `result`, or a text that says why there is none.
    fn end<'py>(&self, py: Python<'py>, result: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(begun), Some(call)) = (BEGUN.take(), call) else {
            return Err(PyRuntimeError::new_err("nothing is recorded"));
        };
        let mut tensors = Vec::new();
        let answer = Form::of(result, &mut tensors, 0)?;
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
        let program = match begun.end(&made) {
            Ok(program) => program,
            Err(refusal) => return tell(py, &refusal),
        };
        if Modes::now() != Some(call.modes) || !call.checks.iter().all(|check| check.holds(py)) {
            return Ok("it changes what it depends on".into_pyobject(py)?.into_any());
        }
        let compiled = Compiled { program, call, answer, sources, nanoseconds: AtomicU64::new(0) };
        Ok(Bound::new(py, compiled)?.into_any())
    }

    /// Give it up.
    fn abandon(&self) {
        drop(BEGUN.take());
    }
}

/// Where a tensor of the result comes from.
#[derive(Clone, Copy)]
enum Source {
    Known(usize),
    Gradient(usize),
    Made(usize),
}

fn tell<'py>(py: Python<'py>, refusal: &Refusal) -> PyResult<Bound<'py, PyAny>> {
    let text = match refusal {
        Refusal::Left { what, origin } => {
            let place = describe(py, *origin)?;
            return Ok((format!("numbers leave by {what}"), place).into_pyobject(py)?.into_any());
        }
        Refusal::Unknown { name } => format!("{name} is given what was made without being recorded"),
        Refusal::Written => "memory is written to without that being recorded".to_owned(),
        Refusal::Moved => "a tensor that stays is given other memory or another shape".to_owned(),
        Refusal::Origin => "it leaves a tensor behind that was made without being recorded".to_owned(),
        Refusal::LeadsBack => "it leaves a tensor behind that leads back".to_owned(),
        Refusal::View => "it leaves a view of a tensor behind".to_owned(),
        Refusal::Unusual => {
            "it is given a tensor that has a history, hooks, or a class of its own".to_owned()
        }
    };
    Ok(text.into_pyobject(py)?.into_any())
}

/// A recorded program in the place of a function.
#[pyclass(name = "_Program", module = "rushlight._rushlight", frozen)]
pub(crate) struct Compiled {
    program: Program,
    call: Call,
    answer: Form,
    sources: Vec<Source>,
    /// How long a run takes.
    nanoseconds: AtomicU64,
}

impl Compiled {
    /// The known tensors, if a call is one that was recorded.
    fn known(&self, args: &Bound<'_, PyTuple>, kwargs: &Bound<'_, PyDict>) -> Option<Vec<Tensor>> {
        let call = &self.call;
        let mut known = Vec::with_capacity(call.outside.len() + args.len());
        if Modes::now() != Some(call.modes)
            || !call.form.fits(args, &mut known)
            || !call.keywords.fits(kwargs, &mut known)
        {
            return None;
        }
        known.extend(call.outside.iter().cloned());
        let fit = known.iter().enumerate().all(|(index, tensor)| self.program.fits(index, tensor));
        let holds = fit
            && self.program.shares_alike(&known)
            && call.checks.iter().all(|check| check.holds(args.py()));
        holds.then_some(known)
    }

    /// Runs the program of these tensors. Answers what it has made.
    fn run(&self, known: &[Tensor]) -> PyResult<Vec<Tensor>> {
        let work = self.nanoseconds.load(Ordering::Relaxed);
        long_work::to_the_end(work, || self.program.run(known)).map_err(raise)
    }

    /// What the function would return.
    fn answer_of<'py>(
        &self,
        py: Python<'py>,
        known: &[Tensor],
        made: &[Tensor],
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut tensors = self.sources.iter().map(|source| match *source {
            Source::Known(index) => wrap(py, known[index].clone()),
            Source::Gradient(index) => match known[index].grad() {
                Some(gradient) => wrap(py, gradient),
                None => Err(PyRuntimeError::new_err("the gradient that is returned has gone")),
            },
            Source::Made(index) => wrap(py, made[index].clone()),
        });
        self.answer.build(py, &mut tensors)
    }
}

#[pymethods]
impl Compiled {
    /// What the function would return, having done what it would do. None, and nothing is done, if this is another
    /// call than was recorded; else a tuple of it.
    fn call<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(known) = self.known(args, kwargs) else { return Ok(None) };
        let made = self.run(&known)?;
        PyTuple::new(args.py(), [self.answer_of(args.py(), &known, &made)?]).map(Some)
    }

    /// `call` so many times at most, with these arguments in turn, from the ones in this place on. How often that was
    /// done, and what came of the last time.
    fn repeat<'py>(
        &self,
        batches: Vec<Bound<'py, PyTuple>>,
        first: usize,
        count: usize,
    ) -> PyResult<Option<(usize, Bound<'py, PyAny>)>> {
        let Some(batch) = batches.first() else { return Ok(None) };
        let py = batch.py();
        let none = PyDict::new(py);
        let mut last = None;
        let mut done = 0;
        while done < count {
            let Some(known) = self.known(&batches[(first + done) % batches.len()], &none) else { break };
            let made = self.run(&known)?;
            last = Some((known, made));
            done += 1;
            py.check_signals()?;
        }
        let answer = last.map(|(known, made)| self.answer_of(py, &known, &made)).transpose()?;
        Ok(answer.map(|answer| (done, answer)))
    }

    /// Run it on copies of all that it writes to, before the function itself is run. None if this is another call
    /// than was recorded.
    fn run_apart(&self, args: &Bound<'_, PyTuple>, kwargs: &Bound<'_, PyDict>) -> PyResult<Option<RunApart>> {
        let Some(known) = self.known(args, kwargs) else { return Ok(None) };
        let start = std::time::Instant::now();
        let apart = self.program.run_apart(&known).map_err(raise)?;
        self.nanoseconds.store(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        Ok(Some(RunApart { apart, known }))
    }

    /// Whether the function, which was run since and has returned `result`, has done the same.
    fn is_same(&self, apart: &RunApart, result: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mut tensors = Vec::new();
        if !self.answer.fits(result, &mut tensors) {
            return Ok(false);
        }
        let mut made: Vec<Tensor> = Vec::new();
        for (source, tensor) in self.sources.iter().zip(tensors) {
            match *source {
                Source::Known(index) if !apart.known[index].is(&tensor) => return Ok(false),
                Source::Gradient(index)
                    if !apart.known[index].grad().is_some_and(|gradient| gradient.is(&tensor)) =>
                {
                    return Ok(false);
                }
                Source::Made(index) if index == made.len() => made.push(tensor),
                Source::Made(index) if !made[index].is(&tensor) => return Ok(false),
                _ => {}
            }
        }
        let py = result.py();
        let same = self.program.is_same(&apart.apart, &apart.known, &made).map_err(raise)?;
        Ok(same && self.call.checks.iter().all(|check| check.holds(py)))
    }

    /// torch's names of the nodes of its operations, in order.
    fn operations(&self) -> Vec<&'static str> {
        self.program.names().collect()
    }

    /// Bytes of memory that operations make, all together, and the most that are there at a time.
    fn bytes(&self) -> (usize, usize) {
        self.program.bytes()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let forms = [&self.call.form, &self.call.keywords, &self.answer];
        forms.into_iter().try_for_each(|form| form.visit(&visit))?;
        self.call.checks.iter().try_for_each(|check| check.visit(&visit))
    }
}

/// What a program has come to without anybody having noticed.
#[pyclass(name = "_Apart", module = "rushlight._rushlight", frozen)]
pub(crate) struct RunApart {
    apart: Apart,
    known: Vec<Tensor>,
}
