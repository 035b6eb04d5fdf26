//! The wording of a call that fits no overload. Which message it is, one about a single signature
//! or the list of all, is decided here; the list itself is written by `listing`.
use super::matching::{Call, Mismatch, Slots, Source, assign, is_named};
use super::{Form, Parameter, Signature, listing};
use crate::values::classes::type_name;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;

/// The exception for a call that fits none of the overloads.
#[cold]
pub(crate) fn explain(name: &str, form: Form, signatures: &[Signature], call: &Call<'_, '_>) -> PyErr {
    if form == Form::Method && matches!(signatures, [only] if only.parameters.is_empty()) {
        return no_arguments(name, call);
    }
    let given = call.positional.len() + call.values.len();
    let fits = |signature: &&Signature| {
        !signature.deprecated && (signature.required..=signature.parameters.len()).contains(&given)
    };
    let mut plausible = signatures.iter().filter(fits);
    let single = match (signatures, plausible.next(), plausible.next()) {
        ([only], ..) | (_, Some(only), None) => only,
        _ => return PyTypeError::new_err(listing::message(name, signatures, call)),
    };
    let mut slots: Slots<'_, '_> = [None; _];
    match assign(single, call, &mut slots) {
        Ok(_) => {
            PyRuntimeError::new_err(format!("{name}(): the arguments changed while they were looked at"))
        }
        Err(Mismatch::Raised(error)) => error,
        Err(mismatch) => PyTypeError::new_err(reason(name, single, call, &mismatch)),
    }
}

/// A method that takes nothing at all answers as one of C's would.
fn no_arguments(name: &str, call: &Call<'_, '_>) -> PyErr {
    let given = call.positional.len();
    PyTypeError::new_err(if call.values.is_empty() {
        format!("TensorBase.{name}() takes no arguments ({given} given)")
    } else {
        format!("TensorBase.{name}() takes no keyword arguments")
    })
}

fn reason(name: &str, signature: &Signature, call: &Call<'_, '_>, mismatch: &Mismatch) -> String {
    match mismatch {
        Mismatch::TooMany => too_many(name, signature, call.positional.len()),
        Mismatch::Missing(index) => missing(name, &signature.parameters[*index..]),
        Mismatch::Type { parameter, source, element } => {
            wrong_type(name, &signature.parameters[*parameter], call, *source, *element)
        }
        Mismatch::Keywords(open) => keyword(name, signature, call, *open),
        Mismatch::Raised(error) => error.to_string(),
    }
}

fn too_many(name: &str, signature: &Signature, given: usize) -> String {
    let (least, most) = (signature.required, signature.positional);
    if least == most {
        let verb = if given == 1 { "was" } else { "were" };
        let plural = if most == 1 { "" } else { "s" };
        format!("{name}() takes {most} positional argument{plural} but {given} {verb} given")
    } else {
        format!("{name}() takes from {least} to {most} positional arguments but {given} were given")
    }
}

/// Every required parameter from the first missing one on is named, given or not; the plural is
/// torch's own.
fn missing(name: &str, rest: &[Parameter]) -> String {
    let quoted = |parameter: &Parameter| format!("\"{}\"", parameter.name);
    let names: Vec<String> = rest.iter().filter(|parameter| !parameter.optional()).map(quoted).collect();
    let plural = if names.len() == 1 { "s" } else { "" };
    format!("{name}() missing {} required positional argument{plural}: {}", names.len(), names.join(", "))
}

fn wrong_type(
    name: &str,
    parameter: &Parameter,
    call: &Call<'_, '_>,
    source: Source,
    element: Option<usize>,
) -> String {
    let (argument, wanted) = (parameter.name, parameter.kind.title());
    let (object, place) = match source {
        Source::Keyword(at) => (&call.values[at], String::new()),
        Source::Position(at) => (&call.positional[at], format!(" (position {})", at + 1)),
    };
    let begin = format!("{name}(): argument '{argument}'{place} must be {wanted}");
    match element.and_then(|at| object.get_item(at).ok().map(|item| (at, type_name(&item)))) {
        Some((at, found)) => format!("{begin}, but found element of type {found} at pos {at}"),
        None => format!("{begin}, not {}", type_name(object)),
    }
}

/// The first keyword, in the order of the call, that is unknown or given already.
fn keyword(name: &str, signature: &Signature, call: &Call<'_, '_>, open: u64) -> String {
    let words = call.names.into_iter().flatten().enumerate().take(64).filter(|(at, _)| open & (1 << at) != 0);
    for (_, word) in words {
        let place = signature.parameters.iter().position(|parameter| is_named(&word, parameter.name));
        match place {
            None => return format!("{name}() got an unexpected keyword argument '{word}'"),
            Some(place) if place < call.positional.len() => {
                return format!("{name}() got multiple values for argument '{word}'");
            }
            Some(_) => {}
        }
    }
    "invalid keyword arguments".to_owned()
}
