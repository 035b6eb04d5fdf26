//! The signature of a function written in Python that torch has compiled: it refuses what does not fit in the same
//! words.

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};

use super::{annotated, places};
use crate::signature::errors::explain;
use crate::signature::matching::{Call, Slots, assign};
use crate::signature::{Form, Kind, Signature, grammar};
use crate::values::convert;

/// The signatures of a function, and the name by which it refuses anything else.
pub(super) struct Takes {
    name: String,
    form: Form,
    signatures: Vec<Signature>,
}

impl Takes {
    /// Reads the forms, or if there are none the annotations; nothing if these do not say what is taken. What
    /// is read lives as long as the process, as functions of modules do.
    pub(super) fn new(function: &Bound<'_, PyAny>, forms: &[String], form: Form) -> PyResult<Option<Takes>> {
        let own;
        let (forms, form) = match (forms, function.cast()) {
            ([], Ok(function)) => match annotated::signature(function)? {
                Some((text, is_method)) => {
                    own = [text];
                    (&own[..], if is_method { Form::Method } else { form })
                }
                None => return Ok(None),
            },
            ([], Err(_)) => return Ok(None),
            (forms, _) => (forms, form),
        };
        let mut signatures = Vec::new();
        for (overload, text) in forms.iter().enumerate() {
            let signature = grammar::parse(function.py(), text.clone().leak(), form, overload);
            signatures.extend(signature.map_err(PySystemError::new_err)?);
        }
        let place = places::of_given(function)?;
        let name = place.rsplit('.').next().unwrap_or_default().to_owned();
        Ok(Some(Takes { name, form, signatures }))
    }

    /// Refuses a call that fits no signature. Where it uses names of numpy, the names that the function has in
    /// their place are returned.
    pub(super) fn check<'py>(&self, call: &Call<'_, 'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let positional = match (self.form, call.positional) {
            (Form::Function, all) | (Form::Method, [_, all @ ..]) => all,
            (Form::Method, []) => return Ok(None),
        };
        let call = Call { positional, ..*call };
        for signature in &self.signatures {
            let mut slots = [None; _];
            if assign(signature, &call, &mut slots).is_ok() {
                check_integers(signature, &slots)?;
                return call.names.map_or(Ok(None), |names| own_names(signature, names));
            }
        }
        Err(explain(&self.name, self.form, &self.signatures, &call))
    }
}

/// The names of parameters for those in a call, if one of these is another name.
fn own_names<'py>(
    signature: &Signature,
    names: &Bound<'py, PyTuple>,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let (py, mut differs) = (names.py(), false);
    let mut own = Vec::with_capacity(names.len());
    for name in names {
        let name = name.cast_into::<PyString>()?;
        let text = name.to_str()?;
        let mut parameters = signature.parameters.iter();
        let is_own = parameters.clone().any(|parameter| parameter.name == text);
        let other = parameters.find(|parameter| !is_own && parameter.aliases().contains(&text));
        differs |= other.is_some();
        own.push(other.map_or_else(|| name.clone(), |parameter| PyString::new(py, parameter.name)));
    }
    differs.then(|| PyTuple::new(py, own)).transpose()
}

/// Refuses integers of Python that the engine has no number for.
fn check_integers(signature: &Signature, slots: &Slots<'_, '_>) -> PyResult<()> {
    for parameter in
        signature.parameters.iter().filter(|parameter| matches!(parameter.kind, Kind::Int | Kind::Index))
    {
        let number = slots[parameter.slot].filter(|object| object.is_instance_of::<PyInt>());
        number.map_or(Ok(0), convert::int)?;
    }
    Ok(())
}
