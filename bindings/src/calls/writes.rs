//! In-place and `out=` writes that vmap and the other function transforms refuse. The messages name operations as
//! torch's dispatcher does, overload and all; these names are in the entries, see `OutPolicy`.

use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError};
use pyo3::prelude::*;
use rushlight::Error;
use rushlight::dispatch::batch;
use rushlight::graph::mode;
use rushlight::graph::tangents;
use rushlight::schema::{Changed, OtherArguments, OutPolicy, UnbatchedTarget};
use rushlight::tensor::{Mapping, Tensor};

use crate::calls::table::Callable;
use crate::error::raise;
use crate::tensor::object::as_tensor;
use crate::values::arguments::{Arguments, tensors_in};

/// The arguments from a slot on but the target.
fn behind<'a>(arguments: &Arguments<'a, '_>, first: usize, target: Option<usize>) -> OtherArguments<'a> {
    let mut given = OtherArguments::default();
    for (slot, object) in arguments.slots.iter().enumerate().skip(first) {
        let Some(object) = *object else { continue };
        if Some(slot) == target {
            continue;
        }
        given.count += 1;
        let tensor = as_tensor(object);
        if given.count == 1 {
            let names = |kind: &str| object.get_type().name().is_ok_and(|name| name == kind);
            given.sequence = tensor.is_none() && (names("list") || names("tuple"));
            given.number = tensor.is_none() && (names("int") || names("float"));
        }
        given.tensors.extend(tensor);
    }
    given
}

/// Refuses what a method may not do to its receiver. The name ends in an underscore.
#[inline]
pub(crate) fn check_method(arguments: &Arguments<'_, '_>, policy: &OutPolicy) -> PyResult<()> {
    let target = arguments.tensor(0)?;
    if !mode::special() && !target.is_captured() {
        return Ok(());
    }
    match (policy.changed)(arguments) {
        Changed::Receiver => check_in_place(target, arguments.name, &behind(arguments, 1, None)),
        Changed::As(operation) => check_in_place(target, operation, &OtherArguments::operand(None)),
        Changed::Nothing => Ok(()),
    }
}

/// Refuses a write by `method` to a tensor that a function which is being transformed captured, or
/// that has no room for what every sample would write.
pub(crate) fn check_in_place(
    target: &Tensor,
    method: &'static str,
    given: &OtherArguments<'_>,
) -> PyResult<()> {
    if target.is_captured() {
        let overload = (policy(method).in_place)(given);
        return Err(PyRuntimeError::new_err(format!(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place \
             operation (aten::{method}{overload}) that would mutate a captured Tensor. This is not supported; please \
             rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs."
        )));
    }
    if !mode::special() {
        return Ok(());
    }
    let unbatched = || (policy(method).unbatched)(given);
    let plumbing = || match unbatched() {
        UnbatchedTarget::Arithmetic => "gen_vmap_inplace_plumbing",
        _ => "boxed_tensor_inputs_batch_rule",
    };
    batch::check_inside(target, plumbing).map_err(raise)?;
    let mut rest = given.tensors.iter();
    let Some((other, mapping)) = rest.find_map(|other| Some((other, batch::no_room(target, other)?))) else {
        return Ok(());
    };
    Err(raise(Box::new(match unbatched() {
        UnbatchedTarget::Found => return Ok(()),
        UnbatchedTarget::Shape if mapping.is_asked_for() => batch::room_shape(target, other),
        UnbatchedTarget::Arithmetic if mapping.is_asked_for() => {
            Error::UnbatchedWrite { operation: "inplace arithmetic" }
        }
        UnbatchedTarget::Rule(operation) if mapping.is_asked_for() => Error::UnbatchedWrite { operation },
        _ => Error::UnbatchedFallback { operation: method, level: mapping.level() },
    })))
}

/// How operators in place write that torch's dispatcher has under names of their own, such as `__iand__`.
const OPERATOR: OutPolicy = OutPolicy::PLAIN.overloaded().unbatched_target(|_| UnbatchedTarget::Shape);

/// How a method writes to its receiver: what its entry says.
#[cold]
fn policy(method: &str) -> &'static OutPolicy {
    if method.starts_with("__") {
        return &OPERATOR;
    }
    let mut entries = Callable::all().iter().map(Callable::function);
    entries.find(|entry| entry.name == method).map_or(&OutPolicy::PLAIN, |entry| entry.policy)
}

/// Refuses to write a result into tensors that exist where samples or tangents would be lost.
pub(crate) fn check_out(
    arguments: &Arguments<'_, '_>,
    policy: &OutPolicy,
    out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    if !mode::special() {
        return Ok(());
    }
    let name = arguments.name;
    let inputs = behind(arguments, 0, arguments.signature.out);
    let given = arguments.slots.iter().flatten();
    let all: Vec<Tensor> = given.flat_map(|object| tensors_in(object)).chain(tensors_in(out)).collect();
    if Mapping::innermost().is_some() && (policy.drawn)(&inputs) {
        return Err(PyRuntimeError::new_err(
            "vmap: We do not support calling out variants of random operations inside of vmap. Please use non-out \
             variants as a workaround",
        ));
    }
    if Mapping::innermost().is_some() && all.iter().any(Tensor::is_batched) {
        let error = match inputs.sequence {
            true => Error::MappedDecision { operation: format!("{name}.out") },
            false => Error::MappedView { operation: format!("{name}{}", (policy.out)(&inputs)) },
        };
        return Err(raise(error.into()));
    }
    if tangents::live().into_iter().any(|level| all.iter().any(|tensor| tensor.own_tangent(level).is_some()))
    {
        return Err(PyNotImplementedError::new_err(format!(
            "Trying to use forward AD with {name}_out that does not support it because it is an out= function"
        )));
    }
    Ok(())
}
