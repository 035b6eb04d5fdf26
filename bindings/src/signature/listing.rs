//! The message that lists every overload and says which argument did not fit which.
//!
//! torch reads its own printed signatures back for this, cutting them at the commas and each piece
//! at its last space: `*` counts as a piece, and the "name" of a parameter with a default is that
//! default. What follows from it can be seen in its messages, so it is done the same way here.
use super::Signature;
use super::matching::Call;
use super::order;
use crate::values::classes::type_name;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::fmt::Write;

/// The arguments of the call: by position, and by keyword in the order torch goes through them.
struct PassedArguments<'a, 'py> {
    positional: &'a [Bound<'py, PyAny>],
    keywords: Vec<(String, &'a Bound<'py, PyAny>)>,
}

/// One piece of a printed signature.
struct Piece<'a> {
    kind: &'a str,
    name: &'a str,
}

/// The whole message.
pub(crate) fn message(name: &str, signatures: &[Signature], call: &Call<'_, '_>) -> String {
    let given = PassedArguments::new(call);
    let mut text = format!("{name}() received an invalid combination of arguments - got ");
    let shown: Vec<String> =
        signatures.iter().filter(|one| !one.deprecated).map(Signature::to_string).collect();
    if let [only] = shown.as_slice() {
        let pieces = pieces(only);
        let unknown = given.unknown(&pieces);
        return if unknown.is_empty() {
            let got = if given.count() == pieces.len() { given.marked(&pieces) } else { given.plain() };
            format!("{text}{got}, but expected {only}")
        } else {
            format!("{text}unrecognized keyword arguments: {}", unknown.join(", "))
        };
    }
    text += &given.plain();
    text += ", but expected one of:\n";
    for signature in &shown {
        let _ = writeln!(text, " * {signature}");
        let pieces = pieces(signature);
        if pieces.len() != given.count() {
            continue;
        }
        let unknown = given.unknown(&pieces);
        let _ = if unknown.is_empty() {
            let marked = given.marked(&pieces);
            writeln!(text, "      didn't match because some of the arguments have invalid types: {marked}")
        } else {
            let unknown = unknown.join(", ");
            writeln!(text, "      didn't match because some of the keywords were incorrect: {unknown}")
        };
    }
    text
}

fn pieces(signature: &str) -> Vec<Piece<'_>> {
    let inner = signature.trim_start_matches('(').trim_end_matches(')');
    let cut = |piece| match str::rsplit_once(piece, ' ') {
        Some((kind, name)) => Piece { kind, name },
        None => Piece { kind: "", name: piece },
    };
    inner.split(", ").map(cut).collect()
}

impl Piece<'_> {
    fn takes(&self, object: &Bound<'_, PyAny>) -> bool {
        let found = type_name(object);
        self.kind == found || (self.kind == "float" && found == "int")
    }
}

impl<'a, 'py> PassedArguments<'a, 'py> {
    fn new(call: &Call<'a, 'py>) -> Self {
        let names: Vec<String> = call.names.into_iter().flatten().map(|name| name.to_string()).collect();
        let order = order::iteration_order(&names);
        let keywords = order.into_iter().map(|at| (names[at].clone(), &call.values[at])).collect();
        PassedArguments { positional: call.positional, keywords }
    }

    fn count(&self) -> usize {
        self.positional.len() + self.keywords.len()
    }

    /// `(Tensor, dim=str)`; a comma stays behind the last keyword if nothing is positional.
    fn plain(&self) -> String {
        let positional = self.positional.iter().map(type_name);
        let keywords = self.keywords.iter().map(|(name, value)| format!("{name}={}", type_name(value)));
        self.joined(positional.chain(keywords).collect())
    }

    fn joined(&self, parts: Vec<String>) -> String {
        let tail = if self.positional.is_empty() && !parts.is_empty() { ", " } else { "" };
        format!("({}{tail})", parts.join(", "))
    }

    fn keyword(&self, name: &str) -> Option<&'a Bound<'py, PyAny>> {
        self.keywords.iter().find(|(word, _)| word == name).map(|(_, value)| *value)
    }

    fn unknown(&self, pieces: &[Piece<'_>]) -> Vec<&str> {
        let start = self.positional.len().min(pieces.len());
        let known = |word: &str| pieces[start..].iter().any(|piece| piece.name == word);
        self.keywords.iter().map(|(word, _)| word.as_str()).filter(|word| !known(word)).collect()
    }

    /// The arguments with exclamation marks around those of the wrong type.
    fn marked(&self, pieces: &[Piece<'_>]) -> String {
        let mark = |fits: bool, prefix: &str, object: &Bound<'py, PyAny>| {
            if fits {
                format!("{prefix}{}", type_name(object))
            } else {
                format!("!{prefix}{}!", described(object))
            }
        };
        let positional = self.positional.iter().enumerate();
        let positional = positional
            .map(|(at, object)| mark(pieces.get(at).is_none_or(|piece| piece.takes(object)), "", object));
        let rest = pieces.iter().skip(self.positional.len());
        let keywords = rest.filter_map(|piece| {
            let object = self.keyword(piece.name)?;
            Some(mark(piece.takes(object), &format!("{}=", piece.name), object))
        });
        self.joined(positional.chain(keywords).collect())
    }
}

/// The type of an argument that did not fit, with the types of its elements.
fn described(object: &Bound<'_, PyAny>) -> String {
    let name = type_name(object);
    let elements = || -> Vec<String> {
        object.try_iter().into_iter().flatten().flatten().map(|element| type_name(&element)).collect()
    };
    if object.is_instance_of::<PyTuple>() {
        let elements = elements();
        let tail = if elements.len() == 1 { "," } else { "" };
        format!("{name} of ({}{tail})", elements.join(", "))
    } else if object.is_instance_of::<PyList>() {
        format!("{name} of [{}]", elements().join(", "))
    } else {
        name
    }
}
