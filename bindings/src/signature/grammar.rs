//! From the text of a signature to its table, for one form of call.
//!
//! ```text
//! sum(Tensor input, int[1]? dim, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)
//! name ( type name [= default] , ... [, *, ...] ) [-> returned] [|deprecated]
//! ```
//! What is returned is written as a Python annotation, and a tensor if it is not written.
//! A `?` behind a type, or the default `None`, says that `None` stands for "not given".
use super::{Default, Form, Kind, Parameter, Signature};
use pyo3::Python;
use pyo3::types::PyString;

/// What is wrong with a signature's text. Only a mistake in our own tables leads here.
pub(crate) type Fault = String;

/// Reads one signature. `None` if it does not exist in this form: a method needs a receiver.
pub(crate) fn parse(
    py: Python<'_>,
    text: &'static str,
    form: Form,
    overload: usize,
) -> Result<Option<Signature>, Fault> {
    let (text, deprecated) = match text.strip_suffix("|deprecated") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (text, returns) = text.split_once(" -> ").unwrap_or((text, "Tensor"));
    let inner = text
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'))
        .ok_or_else(|| format!("no parentheses in {text:?}"))?;
    let mut signature = Signature {
        parameters: Vec::new(),
        positional: 0,
        required: 0,
        enough: 0,
        receiver: None,
        out: None,
        overload,
        returns,
        deprecated,
    };
    let (mut slot, mut keyword_only) = (0, false);
    for piece in pieces(inner) {
        if piece == "*" {
            keyword_only = true;
            continue;
        }
        let parameter = parameter(py, piece, slot, keyword_only)?;
        slot += 1;
        match form {
            Form::Method if is_receiver(&parameter) => signature.receiver = Some(parameter.slot),
            Form::Method if parameter.name == "out" => {}
            _ => {
                if parameter.name == "out" {
                    signature.out = Some(parameter.slot);
                }
                signature.positional += usize::from(!keyword_only);
                let required = !parameter.optional();
                signature.required += usize::from(required);
                signature.parameters.push(parameter);
                if required {
                    signature.enough = signature.parameters.len();
                }
            }
        }
    }
    if slot > super::matching::SLOTS {
        return Err(format!("too many parameters in {text:?}"));
    }
    Ok((form == Form::Function || signature.receiver.is_some()).then_some(signature))
}

/// Whether the object left of the dot is this parameter's argument.
fn is_receiver(parameter: &Parameter) -> bool {
    matches!(parameter.name, "input" | "self") && matches!(parameter.kind, Kind::Tensor | Kind::Operand)
}

/// The parts between top-level commas.
fn pieces(text: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0;
    text.split(move |letter| {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|piece| !piece.is_empty())
}

/// `type name`, `type name=default`.
fn parameter(
    py: Python<'_>,
    piece: &'static str,
    slot: usize,
    keyword_only: bool,
) -> Result<Parameter, Fault> {
    let (head, default_text) = match piece.split_once('=') {
        Some((head, text)) => (head.trim(), Some(text.trim())),
        None => (piece, None),
    };
    let (kind, name) = head.rsplit_once(' ').ok_or_else(|| format!("no type in {piece:?}"))?;
    let (kind, question) = match kind.trim().strip_suffix('?') {
        Some(kind) => (kind, true),
        None => (kind.trim(), false),
    };
    Ok(Parameter {
        name,
        interned: PyString::intern(py, name).unbind(),
        kind: read_kind(kind).ok_or_else(|| format!("unknown type {kind:?} in {piece:?}"))?,
        nullable: question || default_text == Some("None"),
        keyword_only,
        default: default_text.map_or(Default::Required, read_default),
        default_text: default_text.unwrap_or(""),
        slot,
    })
}

fn read_kind(text: &str) -> Option<Kind> {
    Some(match text {
        "Tensor" => Kind::Tensor,
        "Tensor|Number" => Kind::Operand,
        "Tensor[]" | "Tensor?[]" => Kind::Tensors,
        "Number" => Kind::Number,
        "Number[]" => Kind::Numbers,
        "int" => Kind::Int,
        "SymInt" => Kind::Index,
        "float" => Kind::Float,
        "bool" => Kind::Bool,
        "str" => Kind::Text,
        "dtype" => Kind::DType,
        "device" => Kind::Device,
        "layout" => Kind::Layout,
        "memory_format" => Kind::MemoryFormat,
        "Generator" => Kind::Generator,
        "Storage" => Kind::Storage,
        "object" => Kind::Object,
        _ => {
            let (element, size) = text.strip_suffix(']')?.split_once('[')?;
            let size = if size.is_empty() { 0 } else { size.parse().ok()? };
            match element {
                "int" => Kind::Ints(size),
                "float" => Kind::Floats(size),
                _ => return None,
            }
        }
    })
}

fn read_default(text: &'static str) -> Default {
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let listed = text.strip_prefix(['[', '(']).and_then(|rest| rest.strip_suffix([']', ')']));
    if let Some(text) = quoted {
        return Default::Text(text);
    }
    if let Some(list) = listed {
        return Default::Ints(list.split(',').filter_map(|part| part.trim().parse().ok()).collect());
    }
    match text {
        "True" => Default::Bool(true),
        "False" => Default::Bool(false),
        _ => match (text.parse(), text.parse()) {
            (Ok(integer), _) => Default::Int(integer),
            (_, Ok(real)) => Default::Float(real),
            _ => Default::Absent,
        },
    }
}
