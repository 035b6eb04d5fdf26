//! Writes that transforms of functions do not allow: in place, and through `out=`. The messages name
//! operations as torch's dispatcher does, overload and all; these names are here.

use std::ffi::CString;

use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use rushlight::Error;
use rushlight::graph::mode;
use rushlight::graph::tangents;
use rushlight::ops::batch;
use rushlight::ops::in_place::check_history;
use rushlight::tensor::{Mapping, Randomness, Tensor};

use crate::arguments::{Arguments, tensors_in};
use crate::error::raise;
use crate::tensor::object::as_tensor;

/// What a write is given beside its target.
#[derive(Default)]
pub(crate) struct Given<'a> {
    /// The tensors.
    pub(crate) tensors: Vec<&'a Tensor>,
    /// How many arguments there are.
    pub(crate) count: usize,
    /// Whether the first is a number.
    pub(crate) number: bool,
    /// Whether the first is a sequence.
    pub(crate) sequence: bool,
}

impl<'a> Given<'a> {
    /// A single operand, which is a tensor or a number.
    pub(crate) fn operand(operand: Option<&'a Tensor>) -> Given<'a> {
        let tensors: Vec<&Tensor> = operand.into_iter().collect();
        Given { number: tensors.is_empty(), tensors, count: 1, sequence: false }
    }

    fn behind(arguments: &Arguments<'a, '_>, first: usize, target: Option<usize>) -> Given<'a> {
        let mut given = Given::default();
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
}

/// Warns of a write by `method` to a tensor that shows elements several times, unless it will be refused. `such`
/// is what else does that.
pub(crate) fn warn_repeated(py: Python<'_>, target: &Tensor, method: &str, such: &str) -> PyResult<()> {
    let layout = target.layout();
    if layout.shape().iter().zip(layout.strides()).all(|(&size, &stride)| size < 2 || stride > 0) {
        return Ok(());
    }
    if mode::is_grad_enabled() && target.requires_grad() && check_history(target).is_err() {
        return Ok(());
    }
    let text = CString::new(format!(
        "Use of {method} on expanded tensors is deprecated. Please clone() the tensor before performing this \
         operation. This also applies to advanced indexing e.g. {such}"
    ))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}

/// Refuses what a method may not do to its receiver. The name ends in an underscore.
#[inline]
pub(crate) fn check_method(arguments: &Arguments<'_, '_>) -> PyResult<()> {
    let target = arguments.tensor(0)?;
    if !mode::special() && !target.is_captured() {
        return Ok(());
    }
    match arguments.name.ends_with("dropout_") {
        // It is a product, or nothing at all.
        true if arguments.boolean(2) => check_in_place(target, "mul_", &Given::operand(None)),
        true => Ok(()),
        false => check_in_place(target, arguments.name, &Given::behind(arguments, 1, None)),
    }
}

/// Refuses a write by `method` to a tensor that a function which is being transformed captured, or
/// that has no room for what every sample would write.
pub(crate) fn check_in_place(target: &Tensor, method: &'static str, given: &Given<'_>) -> PyResult<()> {
    if target.is_captured() {
        let overload = overload(method, given);
        return Err(PyRuntimeError::new_err(format!(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place \
             operation (aten::{method}{overload}) that would mutate a captured Tensor. This is not supported; please \
             rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs."
        )));
    }
    if !mode::special() {
        return Ok(());
    }
    let plumbing = match batched_name(method, given) {
        Some(Name::Rule("inplace arithmetic")) => "gen_vmap_inplace_plumbing",
        _ => "boxed_tensor_inputs_batch_rule",
    };
    batch::check_inside(target, plumbing).map_err(raise)?;
    let mut rest = given.tensors.iter();
    let Some((other, mapping)) = rest.find_map(|other| Some((other, batch::no_room(target, other)?))) else {
        return Ok(());
    };
    match batched_name(method, given).map(|name| if mapping.is_asked_for() { name } else { Name::Fallback }) {
        Some(Name::Shape) => Err(raise(batch::room_shape(target, other).into())),
        Some(Name::Rule(operation)) => Err(raise(Error::UnbatchedWrite { operation }.into())),
        Some(Name::Fallback) => {
            Err(raise(Error::UnbatchedFallback { operation: method, level: mapping.level() }.into()))
        }
        None => Ok(()),
    }
}

/// Whose words a write that has no room gets.
enum Name {
    /// Those of an output of the wrong shape.
    Shape,
    /// Those of a rule for batches, by its name.
    Rule(&'static str),
    /// Those of torch's way for operations without a rule.
    Fallback,
}

/// The words for a method; none where the operation itself finds them.
fn batched_name(method: &str, given: &Given<'_>) -> Option<Name> {
    Some(match method {
        "add_"
        | "atan2_"
        | "arctan2_"
        | "bitwise_and_"
        | "bitwise_or_"
        | "bitwise_xor_"
        | "__iand__"
        | "__ior__"
        | "__ixor__"
        | "__ilshift__"
        | "__irshift__"
        | "bitwise_left_shift_"
        | "bitwise_right_shift_"
        | "copysign_"
        | "gcd_"
        | "lcm_" => Name::Shape,
        "sub_" | "mul_" | "div_" | "multiply_" | "divide_" | "true_divide_" | "copy_" | "clamp_min_"
        | "clamp_max_" | "logical_and_" | "logical_or_" | "logical_xor_" => Name::Rule("inplace arithmetic"),
        "masked_fill_" if given.tensors.len() < 2 => Name::Rule("inplace arithmetic"),
        "fill_" => Name::Rule("fill_"),
        "index_add_" => Name::Rule("index_add_"),
        "index_fill_" => Name::Rule("index_fill_"),
        "index_put_" => Name::Rule("index_put_"),
        "scatter_add_" => Name::Rule("scatter_add_"),
        "scatter_reduce_" => Name::Rule("scatter_reduce_"),
        "bernoulli_" if draws_for_each() => Name::Rule("inplace bernoulli"),
        "detach_" | "requires_grad_" | "bernoulli_" => return None,
        _ => Name::Fallback,
    })
}

/// Whether each sample gets random numbers of its own.
fn draws_for_each() -> bool {
    Mapping::innermost().is_some_and(|mapping| mapping.randomness() == Randomness::Different)
}

/// What torch calls the overload of a write in place that is given these.
fn overload(method: &str, given: &Given<'_>) -> &'static str {
    let tensors = given.tensors.len();
    match method {
        "add_" | "sub_" | "mul_" | "div_" | "subtract_" | "multiply_" | "divide_" | "true_divide_"
        | "floor_divide_" => ".Tensor",
        "pow_" | "float_power_" | "fill_" | "remainder_" | "fmod_" | "eq_" | "ne_" | "not_equal_" | "lt_"
        | "less_" | "le_" | "less_equal_" | "gt_" | "greater_" | "ge_" | "greater_equal_"
        | "bitwise_and_" | "bitwise_or_" | "bitwise_xor_" | "__iand__" | "__ior__" | "__ixor__"
        | "__ilshift__" | "__irshift__" => {
            if tensors > 0 {
                ".Tensor"
            } else {
                ".Scalar"
            }
        }
        "bitwise_left_shift_" | "bitwise_right_shift_" => {
            if tensors > 0 {
                ".Tensor"
            } else {
                ".Tensor_Scalar"
            }
        }
        "clamp_" | "clamp_min_" | "clamp_max_" | "clip_" if tensors > 0 => ".Tensor",
        "bernoulli_" if tensors > 0 => ".Tensor",
        "bernoulli_" => ".float",
        "masked_fill_" | "lerp_" if tensors > 1 => ".Tensor",
        "masked_fill_" | "lerp_" => ".Scalar",
        "index_fill_" if tensors > 1 => ".int_Tensor",
        "index_fill_" => ".int_Scalar",
        "scatter_" if tensors > 1 => ".src",
        "scatter_" => ".value",
        "set_" => ".source_Tensor",
        "random_" => ["", ".to", ".from"][given.count.min(2)],
        "squeeze_" if given.count == 0 => "",
        "squeeze_" if given.number => ".dim",
        "squeeze_" => ".dims",
        _ => "",
    }
}

/// The operations of random numbers that can write into tensors that exist.
const DRAWN: [&str; 7] = ["bernoulli", "multinomial", "normal", "rand", "randint", "randn", "randperm"];

/// Refuses to write a result into tensors that exist where samples or tangents would be lost.
pub(crate) fn check_out(arguments: &Arguments<'_, '_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
    if !mode::special() {
        return Ok(());
    }
    let name = arguments.name;
    let inputs = Given::behind(arguments, 0, arguments.signature.out);
    let given = arguments.slots.iter().flatten();
    let all: Vec<Tensor> = given.flat_map(|object| tensors_in(object)).chain(tensors_in(out)).collect();
    if Mapping::innermost().is_some() && DRAWN.contains(&name) && (name != "normal" || inputs.number) {
        return Err(PyRuntimeError::new_err(
            "vmap: We do not support calling out variants of random operations inside of vmap. Please use non-out \
             variants as a workaround",
        ));
    }
    if Mapping::innermost().is_some() && all.iter().any(Tensor::is_batched) {
        let error = match inputs.sequence {
            true => Error::MappedDecision { operation: format!("{name}.out") },
            false => Error::MappedView { operation: format!("{name}{}", out_overload(name, &inputs)) },
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

/// What torch calls the overload that writes into tensors that exist.
fn out_overload(name: &str, given: &Given<'_>) -> &'static str {
    let (second, alone) = (given.tensors.len() > 1, given.count < 2);
    let by_second = |tensor: &'static str, number: &'static str| if second { tensor } else { number };
    match name {
        "eq" | "ne" | "not_equal" | "lt" | "less" | "le" | "less_equal" | "gt" | "greater" | "ge"
        | "greater_equal" | "bitwise_and" | "bitwise_or" | "bitwise_xor" | "fmod" | "remainder" => {
            by_second(".Tensor_out", ".Scalar_out")
        }
        "bitwise_left_shift" | "bitwise_right_shift" => by_second(".Tensor_out", ".Tensor_Scalar_out"),
        "pow" | "float_power" => by_second(".Tensor_Tensor_out", ".Tensor_Scalar_out"),
        "isin" => by_second(".Tensor_Tensor_out", ".Tensor_Scalar_out"),
        "clamp" | "clip" | "clamp_min" | "clamp_max" => by_second(".Tensor_out", ".out"),
        "xlogy" => by_second(".OutTensor", ".OutScalar_Other"),
        "copysign" => by_second(".out", ".Scalar_out"),
        "lerp" => {
            if given.tensors.len() > 2 {
                ".Tensor_out"
            } else {
                ".Scalar_out"
            }
        }
        "normal" => by_second(".Tensor_Tensor_out", ".Tensor_float_out"),
        "where" => ".self_out",
        "max" | "min" if alone => ".unary_out",
        "max" if !second => ".dim_max",
        "min" if !second => ".dim_min",
        "any" | "all" if alone => ".all_out",
        "sort" | "topk" | "kthvalue" | "mode" => ".values",
        "median" | "nanmedian" => ".dim_values",
        "sum" => ".IntList_out",
        "prod" | "softmax" | "log_softmax" => ".int_out",
        "var" | "std" if alone => ".correction_out",
        "mean" if alone => ".dtype_out",
        _ => ".out",
    }
}
