//! The signature of a function written in Python that torch has compiled: it refuses what does not fit in the same
//! words.

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

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

    /// Refuses a call that fits no signature.
    pub(super) fn check(&self, call: &Call<'_, '_>) -> PyResult<()> {
        let positional = match (self.form, call.positional) {
            (Form::Function, all) | (Form::Method, [_, all @ ..]) => all,
            (Form::Method, []) => return Ok(()),
        };
        let call = Call { positional, ..*call };
        for signature in &self.signatures {
            let mut slots = [None; _];
            if assign(signature, &call, &mut slots).is_ok() {
                return check_integers(signature, &slots);
            }
        }
        Err(explain(&self.name, self.form, &self.signatures, &call))
    }
}

/// Refuses integers of Python that the engine has no number for.
fn check_integers(signature: &Signature, slots: &Slots<'_, '_>) -> PyResult<()> {
    for parameter in signature.parameters.iter().filter(|parameter| parameter.kind == Kind::Int) {
        let number = slots[parameter.slot].filter(|object| object.is_instance_of::<PyInt>());
        number.map_or(Ok(0), convert::int)?;
    }
    Ok(())
}
