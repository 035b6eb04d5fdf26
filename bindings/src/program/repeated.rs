//! Runs of a program that follow one another: what nothing can have changed meanwhile is looked at once for all of them.

use std::sync::atomic::Ordering;
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::Tensor;
use rushlight::dispatch::long_work;
use rushlight::program::Number;

use super::Inner;
use crate::error::raise;

/// The known tensors of a run, and what that has made.
type Made = (Vec<Tensor>, Vec<Tensor>);

/// So many nanoseconds go by, at most, before everything is looked at again.
const UNSEEN: u64 = 1_000_000;

impl Inner {
    /// How many runs follow one another without anything that has to be looked at between them: none of the host's
    /// code runs there, and a run leaves all tensors as it finds them but for their numbers.
    pub(super) fn runs_at_once(&self) -> usize {
        let work = self.nanoseconds.load(Ordering::Relaxed).max(1);
        let is_alone = self.after.is_empty()
            && self.finish.is_none()
            && self.program.leaves_forms()
            && !long_work::is_long(work);
        if is_alone { usize::try_from(UNSEEN / work).unwrap_or(1).max(1) } else { 1 }
    }

    /// Runs with the same arguments, without anything between the runs.
    pub(super) fn runs_in_a_row(
        &self,
        batch: &Bound<'_, PyTuple>,
        numbers: &[Number],
        count: usize,
    ) -> PyResult<(usize, Option<Made>)> {
        let Some(known) = self.known(batch, None) else { return Ok((0, None)) };
        let work = self.nanoseconds.load(Ordering::Relaxed);
        let run = || self.program.run_often(&known, numbers, count);
        let start = Instant::now();
        let made = long_work::to_the_end(work, run).map_err(raise)?;
        let done = made.as_ref().map_or(0, |(done, _)| *done);
        // What a program was found to take while it was verified is more.
        if let Some(each) = (start.elapsed().as_nanos() as u64).checked_div(done as u64) {
            self.nanoseconds.store(each.max(1), Ordering::Relaxed);
        }
        self.ran.fetch_add(done as u64, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(done < count), Ordering::Relaxed);
        Ok((done, made.map(|(_, made)| (known, made))))
    }

    /// Runs with these arguments in turn, until one is to be looked at otherwise. Answers how many, the known tensors of
    /// the last, and what that has made.
    pub(super) fn runs<'a, 'py: 'a>(
        &self,
        py: Python<'py>,
        batches: impl Iterator<Item = &'a Bound<'py, PyTuple>>,
        count: usize,
    ) -> PyResult<(usize, Option<Made>)> {
        let numbers = self.numbers(py)?;
        let (mut seen, mut batches): (Vec<Vec<Tensor>>, _) = (Vec::new(), batches.fuse());
        let (mut done, mut last) = (0, None);
        while done < count {
            if let Some(batch) = batches.next() {
                let known = if done == 0 {
                    self.known(batch, None)
                } else {
                    self.call.fitting(batch, None, &self.program)
                };
                let Some(known) = known else { break };
                seen.push(known);
            }
            let at = done % seen.len();
            let Some(made) = self.run(py, &seen[at], &numbers)? else { break };
            last = Some((at, made));
            done += 1;
        }
        Ok((done, last.map(|(at, made)| (seen.swap_remove(at), made))))
    }
}
