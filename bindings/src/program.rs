//! Recorded programs as `rushlight.compiler` makes and runs them: a recording, the program that comes of it, and
//! what it takes for that to be run in the place of a function.

mod call;
mod checks;
mod difference;
mod exported;
mod function;
mod guard;
mod recorder;
mod repeated;
mod returned;
mod sight;
mod watch;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::dispatch::long_work::HostCodeGuard;
use rushlight::dispatch::{default_dtype, long_work};
use rushlight::ops::composite::moments;
use rushlight::program::portable::{Source, Written};
use rushlight::program::{Again, Apart, Number, Program};
use rushlight::{Error, Tensor};

use crate::error::{carry, raise};
use crate::interpreter::origin::describe;
use crate::tensor::object::{as_tensor, wrap};
use crate::values::memory::copied;
use call::Call;
pub(crate) use exported::Exported;
pub(crate) use function::{Function, compile_as_usual};
use guard::Form;
pub(crate) use recorder::{Recording, begin, is_recording};
pub(crate) use returned::number as returned_number;
use sight::Check;
pub(crate) use watch::Watching;

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

/// So many runs may fail before it is asked how many do not.
const MOST_FAILED: u64 = 8;

/// A recorded program in the place of a function.
#[pyclass(name = "_Program", module = "rushlight._rushlight", frozen)]
pub(crate) struct Compiled(Arc<Inner>);

struct Inner {
    program: Program,
    call: Call,
    answer: Form,
    sources: Vec<Source>,
    rates: Vec<Rate>,
    function: Py<PyAny>,
    /// What the host calls when it has run: schedules step, which only count.
    after: Vec<Py<PyAny>>,
    /// What the host makes the answer of, having done what is still to be done.
    finish: Option<Py<PyAny>>,
    /// Who calls the function once more where backward needs that.
    host: Option<Arc<dyn Again>>,
    /// How long a run takes.
    nanoseconds: AtomicU64,
    /// How many runs failed, and how many did not.
    failed: AtomicU64,
    ran: AtomicU64,
}

/// A number of an optimiser, which stands in a dictionary, and the operations that are given it.
struct Rate {
    group: Py<PyDict>,
    key: Py<PyAny>,
    given: Vec<Number>,
}

/// Calls the function of a program, as long as there is one: nodes do not keep it.
struct OnceMore(Weak<Inner>);

impl Again for OnceMore {
    fn again(&self, known: &[Tensor]) -> rushlight::Result<Vec<Tensor>> {
        let inner = self.0.upgrade().ok_or(Error::CalledOtherwise {})?;
        let _host_code = HostCodeGuard::new();
        Python::attach(|py| inner.once_more(py, known)).map_err(carry)
    }
}

impl Inner {
    /// Calls the function of these tensors. Answers what it has made.
    fn once_more(&self, py: Python<'_>, known: &[Tensor]) -> PyResult<Vec<Tensor>> {
        let otherwise = || raise(Error::CalledOtherwise {}.into());
        if default_dtype::get() != self.call.modes.dtype || !self.call.checks.hold(py) {
            return Err(otherwise());
        }
        let mut tensors = known.iter().map(|tensor| wrap(py, tensor.clone()));
        let args = self.call.form.build(py, &mut tensors)?.cast_into::<PyTuple>()?;
        let kwargs = self.call.keywords.build(py, &mut tensors)?.cast_into::<PyDict>()?;
        let result = self.function.bind(py).call(args, Some(&kwargs))?;
        let mut tensors = Vec::new();
        if !self.answer.fits(&result, &mut tensors) {
            return Err(otherwise());
        }
        let mut made: Vec<Tensor> = Vec::new();
        for (source, tensor) in self.sources.iter().zip(tensors) {
            match *source {
                Source::Made(index) if index == made.len() => made.push(tensor),
                _ => {}
            }
        }
        Ok(made)
    }

    /// The known tensors, if a call is one that was recorded.
    fn known(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> Option<Vec<Tensor>> {
        self.call.known(args, kwargs, &self.program)
    }

    /// Numbers that are what they are now.
    fn numbers(&self, py: Python<'_>) -> PyResult<Vec<Number>> {
        let mut numbers = Vec::new();
        for Rate { group, key, given } in &self.rates {
            if let Some(value) = group.bind(py).get_item(key)? {
                let Some(value) = sight::first_number(&value) else { continue };
                let others = given.iter().filter(|number| number.value.to_bits() != value.to_bits());
                numbers.extend(others.map(|number| Number { value, ..*number }));
            }
        }
        Ok(numbers)
    }

    /// Runs the program of these tensors. Answers what it has made; nothing if that failed.
    fn run(&self, py: Python<'_>, known: &[Tensor], numbers: &[Number]) -> PyResult<Option<Vec<Tensor>>> {
        let work = self.nanoseconds.load(Ordering::Relaxed);
        let mut made = None;
        let run = || {
            made = self.program.run(known, numbers, self.host.clone()).ok();
            Ok(())
        };
        long_work::to_the_end(work, run).map_err(raise)?;
        let count = if made.is_some() { &self.ran } else { &self.failed };
        count.fetch_add(1, Ordering::Relaxed);
        if made.is_some() {
            self.after.iter().try_for_each(|after| after.call0(py).map(drop))?;
        }
        Ok(made)
    }

    /// Whether runs fail more often than not.
    fn is_idle(&self) -> bool {
        let failed = self.failed.load(Ordering::Relaxed);
        failed > MOST_FAILED && failed > self.ran.load(Ordering::Relaxed)
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
        let answer = self.answer.build(py, &mut tensors)?;
        match &self.finish {
            Some(finish) => finish.bind(py).call1((answer,)),
            None => Ok(answer),
        }
    }
}

impl Compiled {
    /// What the function would return, having done what it would do. None, and nothing is done, if this is another
    /// call than was recorded.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(known) = self.0.known(args, kwargs) else { return Ok(None) };
        let numbers = self.0.numbers(py)?;
        // What fails has done nothing: the function fails by itself, at its own line.
        let Some(made) = self.0.run(py, &known, &numbers)? else { return Ok(None) };
        self.0.answer_of(py, &known, &made).map(Some)
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
        let answer = self.answer(args.py(), args, Some(kwargs))?;
        answer.map(|answer| PyTuple::new(args.py(), [answer])).transpose()
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
        let (mut done, mut last, mut answer) = (0, None, None);
        let is_seamless = batches.len() == 1 && self.0.program.is_seamless();
        while done < count {
            let from = (first + done) % batches.len();
            let in_turn = batches[from..].iter().chain(&batches[..from]);
            let at_once = self.0.runs_at_once().min(count - done);
            let (more, made) = match is_seamless && at_once > 1 {
                true => self.0.runs_in_a_row(batch, &self.0.numbers(py)?, at_once)?,
                false => self.0.runs(py, in_turn, at_once)?,
            };
            done += more;
            last = made.or(last);
            // What is still to be done after a run is done before the next.
            if self.0.finish.is_some()
                && let Some((known, made)) = last.take()
            {
                answer = Some(self.0.answer_of(py, &known, &made)?);
            }
            if more < at_once {
                break;
            }
            py.check_signals()?;
        }
        if let Some((known, made)) = last {
            answer = Some(self.0.answer_of(py, &known, &made)?);
        }
        Ok(answer.map(|answer| (done, answer)))
    }

    /// What there is about a call that is not as in the one that was recorded, in words; None if it is the same.
    fn difference(&self, args: &Bound<'_, PyTuple>, kwargs: &Bound<'_, PyDict>) -> Option<String> {
        self.0.call.difference(args, kwargs, &self.0.program)
    }

    /// Run it on copies of all that it writes to, before the function itself is run. None if this is another call
    /// than was recorded.
    fn run_apart(&self, args: &Bound<'_, PyTuple>, kwargs: &Bound<'_, PyDict>) -> PyResult<Option<RunApart>> {
        let Some(known) = self.0.known(args, Some(kwargs)) else { return Ok(None) };
        let start = std::time::Instant::now();
        let numbers = self.0.numbers(args.py())?;
        let apart = self.0.program.run_apart(&known, &numbers).map_err(raise)?;
        self.0.nanoseconds.store(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        Ok(Some(RunApart { apart, known }))
    }

    /// Whether the function, which was run since and has returned `result`, has done the same.
    fn is_same(&self, apart: &RunApart, result: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mut tensors = Vec::new();
        if !self.0.answer.fits(result, &mut tensors) {
            return Ok(false);
        }
        let mut made: Vec<Tensor> = Vec::new();
        for (source, tensor) in self.0.sources.iter().zip(tensors) {
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
        let same = self.0.program.is_same(&apart.apart, &apart.known, &made).map_err(raise)?;
        let holds = |check: &Check| check.holds(py) || !self.0.after.is_empty() && check.is_scheduled();
        Ok(same && self.0.call.checks.iter().all(holds))
    }

    /// The program as bytes, with what the tensors hold that it sees; these are called as `names` says. None if this
    /// is another call than was recorded; a text and a place of what cannot be written.
    fn export<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
        names: Vec<(Bound<'py, PyAny>, String)>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = args.py();
        let Some(known) = self.0.known(args, Some(kwargs)) else { return Ok(None) };
        if !self.0.after.is_empty() {
            return Ok(Some(("a step of a schedule", py.None()).into_pyobject(py)?.into_any()));
        }
        if self.0.finish.is_some() {
            let what = "what it leaves in variables and lists";
            return Ok(Some((what, py.None()).into_pyobject(py)?.into_any()));
        }
        if let Some((name, origin)) = self.0.program.unportable() {
            return Ok(Some((name, describe(py, origin)?).into_pyobject(py)?.into_any()));
        }
        let name_of = |tensor: &Tensor| {
            let is_it = |object: &Bound<'_, PyAny>| as_tensor(object).is_some_and(|own| own.is(tensor));
            names.iter().find(|(object, _)| is_it(object)).map_or("", |(_, name)| name.as_str())
        };
        let written = Written {
            known: &known,
            inputs: known.len() - self.0.call.outside.len(),
            names: &known.iter().map(name_of).collect::<Vec<&str>>(),
            answer: &self.0.sources,
            numbers: &self.0.numbers(py)?,
        };
        let bytes = self.0.program.write(&written).map_err(raise)?;
        Ok(Some(copied(py, &bytes)?.into_any()))
    }

    /// The operation at which a run failed last, and where that was called.
    fn failure<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((name, origin)) = self.0.program.failure() else { return Ok(None) };
        let what = match name {
            "_local_scalar_dense" => "a number that it looks at is another".to_owned(),
            name => format!("{name} gives something else, or fails"),
        };
        Ok(Some((format!("{what} in most calls"), describe(py, origin)?).into_pyobject(py)?.into_any()))
    }

    /// Whether runs of it fail more often than not, since a number that it looks at is another.
    fn is_idle(&self) -> bool {
        self.0.is_idle()
    }

    /// Whether what it gives can be differentiated.
    fn leads_back(&self) -> bool {
        self.0.program.leads_back()
    }

    /// torch's names of the nodes of its operations, in order.
    fn operations(&self) -> Vec<&'static str> {
        self.0.program.names().collect()
    }

    /// Bytes of memory that operations make, all together, and the most that are there at a time.
    fn bytes(&self) -> (usize, usize) {
        self.0.program.bytes()
    }

    /// The name of each operation, the number of the group that it is computed in, and whether it is computed into
    /// memory that is kept.
    fn groups(&self) -> Vec<(&'static str, usize, bool)> {
        self.0.program.groups()
    }

    /// Bytes of memory that are kept from one run to the next.
    fn kept(&self) -> usize {
        self.0.program.kept_bytes()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let forms = [&self.0.call.form, &self.0.call.keywords, &self.0.answer];
        forms.into_iter().try_for_each(|form| form.visit(&visit))?;
        visit.call(&self.0.function)?;
        self.0.after.iter().chain(&self.0.finish).try_for_each(|after| visit.call(after))?;
        self.0.rates.iter().try_for_each(|rate| visit.call(&rate.group))?;
        self.0.call.checks.visit(&visit)
    }
}

/// What a program has come to without anybody having noticed.
#[pyclass(name = "_Apart", module = "rushlight._rushlight", frozen)]
pub(crate) struct RunApart {
    apart: Apart,
    known: Vec<Tensor>,
}
