//! What torch's dispatcher calls the operators behind an entry, as schemas that follow from the entry's signatures
//! where torch says the same in both notations.

use std::borrow::Cow;

use crate::schema::Entry;

/// An operator as torch's dispatcher has it: the name of the node that the engine records for it, or `-` if there is
/// none, and its schema. Of a schema that follows from the entry's first signature there is only the name, `add.out`;
/// `arange.start@1` follows from the second. Behind ` | ` stand torch's tags of it that do not follow from the schema:
/// `dynamic_output_shape` if the shape of the result depends on numbers, `data_dependent_output` if it answers with one.
pub type Operator = (&'static str, &'static str);

/// What stands before the tags of an operator.
const TAGS: &str = " | ";

/// The kinds of parameters that the dispatcher calls otherwise.
const KINDS: [(&str, &str); 6] = [
    ("Number", "Scalar"),
    ("SymInt", "int"),
    ("dtype", "ScalarType"),
    ("layout", "Layout"),
    ("device", "Device"),
    ("memory_format", "MemoryFormat"),
];

/// What only functions of the host take: where results go, and whether a gradient is wanted of them.
const OF_HOST: [&str; 2] = ["out", "requires_grad"];

/// The schema of an operator of the entry.
pub fn schema_of(entry: &Entry, said: &'static str) -> Cow<'static, str> {
    if said.contains('(') {
        return Cow::Borrowed(said);
    }
    let (called, tags) = said.split_at(said.find(TAGS).unwrap_or(said.len()));
    let (name, place) = called.split_once('@').unwrap_or((called, "0"));
    let signature = place.parse().ok().and_then(|place: usize| entry.signatures.get(place));
    let signature = signature.unwrap_or_else(|| panic!("{name} has no signature {place}"));
    Cow::Owned(schema(name, signature) + tags)
}

/// The schema of the operator of that name with those parameters.
fn schema(name: &str, signature: &str) -> String {
    let signature = signature.trim_end_matches("|deprecated");
    let (parameters, result) = signature.split_once(" -> ").unwrap_or((signature, "Tensor"));
    let parameters = parameters.trim_start_matches('(').trim_end_matches(')');
    let in_place = name.split('.').next().is_some_and(|name| name.ends_with('_'));
    let mut parts: Vec<String> = split(parameters).filter_map(parameter).collect();
    if parts.last().is_some_and(|last| last == "*") {
        parts.pop();
    }
    let result = match result.strip_prefix("tuple[") {
        _ if in_place => "Tensor(a!)".to_owned(),
        Some(elements) => format!("({})", elements.trim_end_matches(']')),
        None => result.to_owned(),
    };
    if let Some(own) = parts.first_mut() {
        *own = match own.strip_prefix("Tensor input") {
            Some(rest) if in_place => format!("Tensor(a!) self{rest}"),
            Some(rest) => format!("Tensor self{rest}"),
            None => std::mem::take(own),
        };
    }
    format!("{name}({}) -> {result}", parts.join(", "))
}

/// The parameters of a list, of which some have lists as defaults.
fn split(parameters: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    let parts = parameters.split(move |letter| {
        depth += i32::from(matches!(letter, '[' | '(')) - i32::from(matches!(letter, ']' | ')'));
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// A parameter in the dispatcher's notation; none if it is the host's own.
fn parameter(text: &str) -> Option<String> {
    let Some((kind, rest)) = text.split_once(' ') else { return Some(text.to_owned()) };
    let (name, default) = rest.split_once('=').map_or((rest, None), |(name, default)| (name, Some(default)));
    if OF_HOST.contains(&name) {
        return None;
    }
    let (kind, optional) = kind.strip_suffix('?').map_or((kind, ""), |kind| (kind, "?"));
    let kind = KINDS.iter().find(|(own, _)| *own == kind).map_or(kind, |(_, theirs)| theirs);
    let default = match default {
        None => String::new(),
        // Whether memory is pinned is asked of the device, which has no answer of its own.
        Some(_) if name == "pin_memory" => "=None".to_owned(),
        Some(default) if kind == "float" && default.parse::<u64>().is_ok() => format!("={default}."),
        Some(default) => match default.strip_suffix(".0") {
            Some(whole) => format!("={whole}."),
            None => format!("={default}"),
        },
    };
    Some(format!("{kind}{optional} {name}{default}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_follow_from_signatures() {
        let said = [
            (
                "add",
                "(Tensor input, Tensor|Number other, *, Tensor out=None)",
                "add(Tensor self, Tensor|Number other) -> Tensor",
            ),
            ("zero_", "(Tensor input)", "zero_(Tensor(a!) self) -> Tensor(a!)"),
            (
                "full",
                "(int[] size, Number fill_value, *, Tensor out=None, dtype? dtype=None, bool? pin_memory=False, bool? requires_grad=False)",
                "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, bool? pin_memory=None) -> Tensor",
            ),
            (
                "norm",
                "(Tensor input, float p=2.0, int[2] stride=[1, 1]) -> tuple[Tensor, Tensor]",
                "norm(Tensor self, float p=2., int[2] stride=[1, 1]) -> (Tensor, Tensor)",
            ),
        ];
        for (name, signature, expected) in said {
            assert_eq!(schema(name, signature), expected);
        }
    }
}
