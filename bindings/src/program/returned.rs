//! Numbers that leave a call that is recorded, but only by what it returns: a program has the tensors that they come
//! from in their place.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use rushlight::graph::following::{self, Known};
use rushlight::graph::mode::GradModeGuard;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::reshape;
use rushlight::{Result, Tensor};

use crate::error::raise;
use crate::values::returns::ToPython;

/// The numbers of the call that this thread records.
struct Leaving {
    /// Who tells, of the number that is just taken out, whether that is only returned.
    is_only_returned: Py<PyAny>,
    numbers: Vec<(Py<PyAny>, Tensor)>,
}

/// The first of the numbers that stand for others, which there are no others like.
const FIRST: u128 = 1 << 100;
static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local!(static LEAVING: RefCell<Option<Leaving>> = const { RefCell::new(None) });

/// From now on.
pub(super) fn begin(is_only_returned: Py<PyAny>) {
    LEAVING.set(Some(Leaving { is_only_returned, numbers: Vec::new() }));
}

/// No longer. Answers the numbers, and what they are the only elements of.
pub(super) fn end() -> Vec<(Py<PyAny>, Tensor)> {
    LEAVING.take().map(|leaving| leaving.numbers).unwrap_or_default()
}

/// The only element of a tensor, if a call is recorded that does nothing with it but return it. Whole numbers and truth
/// values may be one object with others that are equal: something else stands for these, until `Recording::told`.
pub(crate) fn number<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !following::is_on() || tensor.numel() != 1 || tensor.differs() || tensor.is_subclassed() {
        return Ok(None);
    }
    let asked = LEAVING.with_borrow(|leaving| Some(leaving.as_ref()?.is_only_returned.clone_ref(py)));
    let Some(asked) = asked else { return Ok(None) };
    if !asked.bind(py).call0()?.is_truthy()? {
        return Ok(None);
    }
    let held = held(tensor).map_err(raise)?;
    let number = if held.dtype().is_float() || held.dtype().is_complex() {
        let _known = Known::new();
        held.item().map_err(raise)?.to_python(py)?
    } else {
        (FIRST + u128::from(COUNT.fetch_add(1, Ordering::Relaxed))).into_pyobject(py)?.into_any()
    };
    LEAVING.with_borrow_mut(|leaving| {
        leaving.iter_mut().for_each(|leaving| leaving.numbers.push((number.clone().unbind(), held.clone())));
    });
    Ok(Some(number))
}

/// What a tensor holds now, without dimensions.
fn held(tensor: &Tensor) -> Result<Tensor> {
    let _off = GradModeGuard::off();
    cast::clone(&reshape::reshape(tensor, &[])?)
}
