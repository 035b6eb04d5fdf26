//! Calls that torch refuses while a function is mapped over samples, since it has no rule for so many of
//! them. Where it runs an operation for one sample after the other, there has to be one.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use rushlight::ops::batch;
use rushlight::tensor::Mapping;
use rushlight::{Error, Tensor};

use crate::arguments::{Arguments, tensors_in};
use crate::error::raise;

/// What torch lacks for an operation on batched tensors.
enum Lack {
    /// A rule; and it runs views for no sample.
    View,
    /// A rule; and it cannot take the arguments apart.
    Rule,
    /// All of it, and it says so.
    Support,
    /// A rule; the operation runs for one sample after the other.
    Together,
    /// A rule for this order in memory, which is told in its own words.
    Order(String),
}

/// Refuses a call on batched tensors for what torch lacks.
#[cold]
pub(crate) fn check(arguments: &Arguments<'_, '_>) -> PyResult<()> {
    if Mapping::innermost().is_none() {
        return Ok(());
    }
    let Some((lack, overload)) = lack(arguments) else { return Ok(()) };
    let mut given = arguments.slots.iter().flatten().flat_map(|object| tensors_in(object));
    let batched = match given.find(Tensor::differs) {
        Some(batched) => batched,
        None if arguments.name.starts_with("rrelu") => arguments.tensor(0)?.clone(),
        None => return Ok(()),
    };
    let operation = match arguments.name {
        // What is taken apart has become that.
        "rrelu" if !batch::is_innermost() => "rrelu_with_noise".to_owned(),
        "rrelu_" if !batch::is_innermost() => "rrelu_with_noise_".to_owned(),
        name => format!("{name}{overload}"),
    };
    let error = match lack {
        Lack::View => Error::MappedView { operation },
        Lack::Rule => Error::MappedDecision { operation },
        Lack::Together if !is_of_none(&batched) => return Ok(()),
        Lack::Together => Error::MappedNoSamples { operation },
        Lack::Support if arguments.name == "as_strided_scatter" => {
            return Err(PyRuntimeError::new_err(format!(
                "Error: aten::{operation} requires special handling, and does not yet have a batching rule. Feel \
                 free to file a github issue!"
            )));
        }
        Lack::Support => {
            let text = format!("vmap: we do not yet support aten::{operation}. Please file an issue");
            return Err(PyRuntimeError::new_err(text));
        }
        Lack::Order(text) => return Err(PyRuntimeError::new_err(text)),
    };
    Err(raise(error.into()))
}

/// Whether a tensor stands for no samples.
fn is_of_none(x: &Tensor) -> bool {
    x.batch().is_some_and(|batch| batch.mapping.size() == 0 || is_of_none(&batch.value))
}

/// What torch lacks for a call, and what it calls the overload.
fn lack(arguments: &Arguments<'_, '_>) -> Option<(Lack, &'static str)> {
    let tensor = |slot| arguments.optional_tensor(slot).is_some();
    let composite = batch::is_innermost();
    let alone = (Lack::Together, "");
    Some(match arguments.name {
        "moveaxis" if composite && arguments.object(1).is_some_and(|dim| dim.is_instance_of::<PyInt>()) => {
            (Lack::View, ".int")
        }
        "narrow" if composite && tensor(2) => (Lack::View, ".Tensor"),
        "column_stack" if composite => (Lack::Rule, ""),
        "split_copy" => (Lack::Rule, ".Tensor"),
        "tensor_split" if composite && tensor(1) => (Lack::Rule, ".tensor_indices_or_sections"),
        "as_strided_scatter" | "rrelu" | "rrelu_" => (Lack::Support, ""),
        "isin" => (Lack::Together, if tensor(0) && tensor(1) { ".Tensor_Tensor" } else { ".Tensor_Scalar" }),
        "masked_fill" if tensor(2) => (Lack::Together, ".Tensor"),
        "quantile" | "nanquantile" => (Lack::Together, if tensor(1) { "" } else { ".scalar" }),
        "repeat_interleave" if repeats(arguments).is_some_and(Tensor::is_batched) => {
            (Lack::Together, ".Tensor")
        }
        "select_copy" | "transpose_copy" => (Lack::Together, ".int"),
        "slice_copy" => (Lack::Together, ".Tensor"),
        name if name.starts_with("special_") && name.contains("_polynomial_") => {
            (Lack::Together, if tensor(1) { "" } else { ".n_scalar" })
        }
        "detach_copy" | "index_reduce" | "isclose" | "linalg_lu" | "lu_solve" | "masked_scatter"
        | "permute_copy" | "put" | "renorm" | "special_airy_ai" | "squeeze_copy" | "t_copy" | "take"
        | "unsqueeze_copy" => alone,
        "clone" | "contiguous" | "is_contiguous" => (Lack::Order(order(arguments)?), ""),
        _ => return None,
    })
}

/// How often `repeat_interleave` is to repeat, if tensors say so.
fn repeats<'a>(arguments: &Arguments<'a, '_>) -> Option<&'a Tensor> {
    match arguments.object(1) {
        Some(_) => arguments.optional_tensor(1),
        None => arguments.optional_tensor(0),
    }
}

/// The words for an order in memory that mapped functions cannot ask for.
fn order(arguments: &Arguments<'_, '_>) -> Option<String> {
    let format = arguments.object(1)?.to_string();
    let got = match format.rsplit('.').next()? {
        "contiguous_format" => return None,
        "channels_last" => "ChannelsLast",
        "channels_last_3d" => "ChannelsLast3d",
        "preserve_format" if arguments.name != "clone" => "Preserve",
        _ => return None,
    };
    Some(match arguments.name {
        "clone" => format!(
            "NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format \
             torch.preserve_format or torch.contiguous_format (got {got})"
        ),
        _ => {
            "NYI: querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format"
                .to_owned()
        }
    })
}
