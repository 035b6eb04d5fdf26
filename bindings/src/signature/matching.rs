//! Assigns the arguments of one call to the parameters of one overload. It only looks; what a
//! mismatch is called is in `errors`.
use super::accept::{Verdict, accepts, is_index};
use super::{Parameter, Signature};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// The most parameters a signature can have.
pub(crate) const SLOTS: usize = 16;

/// One argument for each parameter of the written signature; `None` where the default holds.
pub(crate) type Slots<'a, 'py> = [Option<&'a Bound<'py, PyAny>>; SLOTS];

/// What a call passes, apart from a method's receiver.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a, 'py> {
    /// The arguments given by position.
    pub(crate) positional: &'a [Bound<'py, PyAny>],
    /// The names of those given by keyword.
    pub(crate) names: Option<&'a Bound<'py, PyTuple>>,
    /// And their values.
    pub(crate) values: &'a [Bound<'py, PyAny>],
}

/// Which argument of a call.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// The one at this position.
    Position(usize),
    /// The one with this keyword, counted in the order of the call.
    Keyword(usize),
}

/// Why a call is not one of an overload.
pub(crate) enum Mismatch {
    /// More arguments by position than there are places.
    TooMany,
    /// The required parameter with this index is missing.
    Missing(usize),
    /// The parameter does not take this argument.
    Type {
        /// Index of the parameter.
        parameter: usize,
        /// Where its argument came from.
        source: Source,
        /// The argument was a list whose element here is of the wrong type.
        element: Option<usize>,
    },
    /// These keywords (a bit for each) belong to no parameter.
    Keywords(u64),
    /// Looking at an argument failed in a way that no other overload can make good.
    Raised(PyErr),
}

/// Fills the slots, which must be empty; says which list parameter took all arguments spread out,
/// if one did.
#[inline]
pub(crate) fn assign<'a, 'py>(
    signature: &Signature,
    call: &Call<'a, 'py>,
    slots: &mut Slots<'a, 'py>,
) -> Result<Option<usize>, Mismatch> {
    let given = call.positional.len();
    let spread =
        signature.spreads() && call.positional.first().is_some_and(|first| given == 1 || is_index(first));
    if given > signature.positional && !spread {
        return Err(Mismatch::TooMany);
    }
    // One bit for each keyword that has not found its parameter yet.
    let mut open = call.names.map_or(0, |_| u64::MAX >> (64 - call.values.len().clamp(1, 64)));
    if spread && given > 1 {
        let first = &signature.parameters[0];
        slots[first.slot] = call.positional.first();
        keywords(&signature.parameters[1..], 1, call, &mut open, slots)?;
        return if open == 0 { Ok(Some(first.slot)) } else { Err(Mismatch::Keywords(open)) };
    }
    let mut spread_slot = None;
    for (index, (parameter, object)) in signature.parameters.iter().zip(call.positional).enumerate() {
        if object.is_none() && parameter.nullable {
            continue;
        }
        slots[parameter.slot] = Some(object);
        match accepts(parameter.kind, object, index) {
            Verdict::Yes => {}
            Verdict::No(_) if spread && is_index(object) => spread_slot = Some(parameter.slot),
            Verdict::No(element) => {
                return Err(Mismatch::Type { parameter: index, source: Source::Position(index), element });
            }
            Verdict::Raised(error) => return Err(Mismatch::Raised(error)),
        }
    }
    if given < signature.enough || open != 0 {
        keywords(&signature.parameters[given..], given, call, &mut open, slots)?;
    }
    if open == 0 { Ok(spread_slot) } else { Err(Mismatch::Keywords(open)) }
}

/// Looks up the parameters that were not given by position, the first of which has index `start`.
fn keywords<'a, 'py>(
    parameters: &[Parameter],
    start: usize,
    call: &Call<'a, 'py>,
    open: &mut u64,
    slots: &mut Slots<'a, 'py>,
) -> Result<(), Mismatch> {
    for (parameter, index) in parameters.iter().zip(start..) {
        let found = match call.names {
            Some(names) if *open != 0 => find(parameter, names, open),
            _ => None,
        };
        let Some(at) = found else {
            if !parameter.optional() {
                return Err(Mismatch::Missing(index));
            }
            continue;
        };
        let object = &call.values[at];
        if object.is_none() && parameter.nullable {
            continue;
        }
        match accepts(parameter.kind, object, index) {
            Verdict::Yes => slots[parameter.slot] = Some(object),
            Verdict::No(_) => {
                return Err(Mismatch::Type { parameter: index, source: Source::Keyword(at), element: None });
            }
            Verdict::Raised(error) => return Err(Mismatch::Raised(error)),
        }
    }
    Ok(())
}

/// The keyword that names this parameter; it is no longer open then.
fn find(parameter: &Parameter, names: &Bound<'_, PyTuple>, open: &mut u64) -> Option<usize> {
    let interned = parameter.interned.as_ptr();
    let same = |name: &Bound<'_, PyAny>| name.as_ptr() == interned;
    let at = search(names, *open, same)
        .or_else(|| search(names, *open, |name| is_named(name, parameter.name)))
        .or_else(|| {
            let mut aliases = parameter.aliases().iter();
            aliases.find_map(|alias| search(names, *open, |name| is_named(name, alias)))
        })?;
    *open &= !(1 << at);
    Some(at)
}

fn search(
    names: &Bound<'_, PyTuple>,
    open: u64,
    matches: impl Fn(&Bound<'_, PyAny>) -> bool,
) -> Option<usize> {
    names
        .iter_borrowed()
        .enumerate()
        .take(64)
        .find(|(at, name)| open & (1 << at) != 0 && matches(name))
        .map(|(at, _)| at)
}

/// Whether the keyword is this word, of plain letters: most are told apart by their lengths.
pub(crate) fn is_named(name: &Bound<'_, PyAny>, word: &str) -> bool {
    let Ok(name) = name.cast::<PyString>() else { return false };
    name.len().is_ok_and(|length| length == word.len()) && name.to_str().is_ok_and(|name| name == word)
}
