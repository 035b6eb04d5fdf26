//! The signature of a function that is written in Python, in the words of `signature::grammar`: what its
//! annotations say.

use pyo3::prelude::*;
use pyo3::types::PyFunction;

use super::parameters::Parameters;

/// What a function takes, and whether it is a method: its first parameter is `self`. Nothing if it takes more
/// than it has parameters for.
pub(super) fn signature(function: &Bound<'_, PyFunction>) -> PyResult<Option<(String, bool)>> {
    let parameters = Parameters::of(function)?;
    if parameters.takes_rest() || parameters.takes_names() {
        return Ok(None);
    }
    let count = parameters.placed + parameters.named;
    let mut pieces = Vec::new();
    for place in 0..count {
        if place == parameters.placed {
            pieces.push("*".to_owned());
        }
        let (name, kind) = (parameters.name(place)?, kind(&parameters.annotation(place)?));
        pieces.push(match parameters.default(place)? {
            Some(value) => format!("{kind} {name}={}", value.repr()?),
            None => format!("{kind} {name}"),
        });
    }
    let is_method = count > 0 && parameters.name(0)?.to_str()? == "self";
    Ok(Some((format!("({})", pieces.join(", ")), is_method)))
}

/// The type in a signature that an annotation stands for.
fn kind(annotation: &str) -> String {
    let (annotation, nullable) = match annotation.strip_suffix(" | None") {
        Some(rest) => (rest, "?"),
        None => (annotation, ""),
    };
    let kind = match annotation {
        "Tensor" | "Number" | "int" | "float" | "bool" | "str" | "dtype" => annotation,
        "DType" => "dtype",
        "Sequence[int]" => "int[]",
        "Sequence[float]" => "float[]",
        "Sequence[Tensor]" => "Tensor[]",
        "int | Sequence[int]" => "int[1]",
        _ => return "object?".to_owned(),
    };
    format!("{kind}{nullable}")
}
