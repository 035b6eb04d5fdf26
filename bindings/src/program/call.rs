//! A call that was recorded: whether another one is the same, and what is different about it if not.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::Tensor;
use rushlight::dispatch::default_dtype;
use rushlight::dtype::DType;
use rushlight::graph::mode::{self, Flags};
use rushlight::graph::observe::anomaly;
use rushlight::kernels::parallel;
use rushlight::program::Program;

use super::checks::Checks;
use super::guard::Form;
use crate::overrides;

/// How a thread computes.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Modes {
    flags: Flags,
    pub(super) dtype: DType,
    threads: usize,
}

impl Modes {
    /// Those of this thread, if nothing unusual goes on.
    pub(super) fn now() -> Option<Modes> {
        let usual = !mode::special() && !anomaly::is_enabled() && !overrides::in_mode();
        let (flags, dtype, threads) = (mode::flags(), default_dtype::get(), parallel::num_threads());
        usual.then_some(Modes { flags, dtype, threads })
    }
}

/// A call that is recorded, and what it takes for another one to be the same.
pub(super) struct Call {
    pub(super) modes: Modes,
    pub(super) form: Form,
    pub(super) keywords: Form,
    pub(super) outside: Vec<Tensor>,
    pub(super) checks: Checks,
}

impl Call {
    /// The known tensors of a call, if it is this one again.
    pub(super) fn known(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        program: &Program,
    ) -> Option<Vec<Tensor>> {
        self.fitting(args, kwargs, program).filter(|_| self.checks.hold(args.py()))
    }

    /// The known tensors of a call, if it is this one again as far as it shows in them.
    pub(super) fn fitting(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        program: &Program,
    ) -> Option<Vec<Tensor>> {
        let mut known = Vec::with_capacity(self.outside.len() + args.len());
        if Modes::now() != Some(self.modes)
            || !self.form.fits(args, &mut known)
            || !kwargs.map_or(self.keywords.is_empty(), |kwargs| self.keywords.fits(kwargs, &mut known))
        {
            return None;
        }
        known.extend(self.outside.iter().cloned());
        let fit = known.iter().enumerate().all(|(index, tensor)| program.fits(index, tensor));
        (fit && program.shares_alike(&known)).then_some(known)
    }

    /// What there is about another call that is not as in this one, in words; None if it is the same.
    pub(super) fn difference(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: &Bound<'_, PyDict>,
        program: &Program,
    ) -> Option<String> {
        let (py, mut known) = (args.py(), Vec::new());
        if Modes::now() != Some(self.modes) {
            return Some("a mode, the default type or the number of threads is another".to_owned());
        }
        if !self.form.fits(args, &mut known) || !self.keywords.fits(kwargs, &mut known) {
            return Some("an argument that is no tensor is another".to_owned());
        }
        let given = known.len();
        known.extend(self.outside.iter().cloned());
        let misfit = known.iter().enumerate().find(|(index, tensor)| !program.fits(*index, tensor));
        if let Some((index, tensor)) = misfit {
            let shape = tensor.layout().shape().to_vec();
            let which = if index < given { "an argument" } else { "a tensor that the function sees" };
            return Some(format!(
                "{which}, now of shape {shape:?}, has another shape, type, gradient or history than when it was recorded"
            ));
        }
        if !program.shares_alike(&known) {
            return Some("other tensors share memory".to_owned());
        }
        self.checks.iter().find(|check| !check.holds(py)).map(|check| check.difference(py))
    }
}
