//! The table of native callables as Python data, from which `tools/stubs.py` writes the type stub.
use crate::calls::table::{Callable, FUNCTION, METHOD, NN};
use crate::signature::{Form, Parameter, Signature};
use pyo3::prelude::*;

/// Name, type in the notation of signatures, whether `None` is taken, whether it stands behind the
/// `*`, and the default as written.
type Row = (&'static str, String, bool, bool, Option<&'static str>);

/// The parameters and what is returned.
type Overload = (Vec<Row>, &'static str);

/// Every native callable: where it is found (`function`, `nn`, `method`), its name, its overloads.
#[pyfunction]
#[pyo3(name = "_signatures")]
pub(crate) fn signatures(py: Python<'_>) -> PyResult<Vec<(&'static str, &'static str, Vec<Overload>)>> {
    let mut rows = Vec::new();
    for callable in Callable::all() {
        let overloads: Vec<Overload> =
            callable.signatures(py)?.iter().filter(|one| !one.deprecated).map(overload).collect();
        let places = match callable.form() {
            Form::Method => &[(METHOD, "method")][..],
            Form::Function => &[(FUNCTION, "function"), (NN, "nn")],
        };
        for (kind, place) in places {
            if callable.function().kind & kind != 0 {
                rows.push((*place, callable.function().name, overloads.clone()));
            }
        }
    }
    // By name, so that the stub does not depend on where an entry stands.
    rows.sort_by_key(|(place, name, _)| (*place, *name));
    Ok(rows)
}

fn overload(signature: &Signature) -> Overload {
    (signature.parameters.iter().map(row).collect(), signature.returns)
}

fn row(parameter: &Parameter) -> Row {
    let default = parameter.optional().then_some(parameter.default_text);
    (parameter.name, format!("{:?}", parameter.kind), parameter.nullable, parameter.keyword_only, default)
}
