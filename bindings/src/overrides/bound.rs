//! The arguments with which torch's own Python functions call `__torch_function__`: every one, those with a default
//! by keyword and the rest by position.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};

use super::parameters::Parameters;
use super::seeing::{is_shown, is_skipped, skip};
use super::{Interested, Plain, consider, handle_torch_function, in_any_mode, places};
use crate::signature::matching::Call;

/// Which arguments are asked whether they want to see a call.
#[derive(PartialEq, Eq)]
pub(super) enum Asked {
    /// Those whose parameters are annotated as tensors.
    Annotated,
    /// Those of the parameters with these names, with spaces between them.
    Named(String),
    /// All that are given.
    Anything,
}

/// A call as the parameters of a function take it.
struct BoundCall<'py> {
    asked: Vec<Bound<'py, PyAny>>,
    args: Vec<Bound<'py, PyAny>>,
    kwargs: Bound<'py, PyDict>,
}

/// Shows a call of `function`, which is known as `itself`, to those who want to see it. What is compiled behind
/// it would show the call as well.
pub(super) fn offer<'py>(
    itself: &Bound<'py, PyAny>,
    function: &Bound<'py, PyFunction>,
    compiled: bool,
    asked: &Asked,
    call: &Call<'_, 'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = itself.py();
    if is_skipped() {
        skip(compiled);
        return Ok(None);
    }
    if !in_any_mode() && !is_shown() {
        return Ok(None);
    }
    let Some(bound) = assign(function, asked, call)?.filter(|bound| !bound.asked.is_empty()) else {
        return Ok(None);
    };
    if !in_any_mode() {
        let mut interested = Interested::new();
        bound.asked.iter().try_for_each(|object| consider(object, Plain::DoesNot, &mut interested))?;
        if interested.is_empty() {
            return Ok(None);
        }
    }
    let with_indices = match bound.kwargs.get_item("return_indices")? {
        Some(asked) if asked.is_truthy()? => itself.getattr_opt("_with_indices")?,
        _ => None,
    };
    let itself = with_indices.as_ref().unwrap_or(itself);
    let relevant = PyTuple::new(py, bound.asked)?;
    let args = PyTuple::new(py, bound.args)?;
    handle_torch_function(itself, &places::of_written(itself)?, &relevant, &args, Some(&bound.kwargs))
        .map(Some)
}

/// `None` if a call does not fit: then the function says so.
fn assign<'py>(
    function: &Bound<'py, PyFunction>,
    asked: &Asked,
    call: &Call<'_, 'py>,
) -> PyResult<Option<BoundCall<'py>>> {
    let py = function.py();
    let parameters = Parameters::of(function)?;
    let (placed, named) = (parameters.placed, parameters.named);
    let given = call.positional.len();
    let mut values: Vec<Option<Bound<'py, PyAny>>> =
        call.positional.iter().take(placed).cloned().map(Some).collect();
    values.resize(placed + named, None);
    if given > placed && !parameters.takes_rest() {
        return Ok(None);
    }
    for (name, value) in call.names.iter().flat_map(|names| names.iter_borrowed()).zip(call.values) {
        let mut known = parameters.names.iter_borrowed().take(placed + named);
        let place = known.position(|known| known.eq(name).unwrap_or(false));
        match place.map(|place| &mut values[place]) {
            Some(free @ None) => *free = Some(value.clone()),
            _ => return Ok(None),
        }
    }
    let is_asked = |place: usize| -> PyResult<bool> {
        Ok(match asked {
            Asked::Named(names) => {
                let name = parameters.name(place)?;
                let name = name.to_str()?;
                names.split(' ').any(|asked| asked == name)
            }
            _ => parameters.annotation(place)?.contains("Tensor"),
        })
    };
    let mut bound = BoundCall { asked: Vec::new(), args: Vec::new(), kwargs: PyDict::new(py) };
    for (place, value) in values.into_iter().enumerate() {
        let Some(value) = value.map_or_else(|| parameters.default(place), |value| Ok(Some(value)))? else {
            return Ok(None);
        };
        if is_asked(place)? {
            bound.asked.push(value.clone());
        }
        match place < parameters.required {
            true => bound.args.push(value),
            false => bound.kwargs.set_item(parameters.name(place)?, value)?,
        }
    }
    if parameters.takes_rest() {
        let rest = &call.positional[given.min(placed)..];
        if is_asked(placed + named)? {
            bound.asked.extend_from_slice(rest);
        }
        bound.args.extend_from_slice(rest);
    }
    Ok(Some(bound))
}
