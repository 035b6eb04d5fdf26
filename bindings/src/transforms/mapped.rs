//! Memory formats that functions under vmap cannot ask for: a sample lies in memory as all of them do.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::tensor::Mapping;

use crate::values::arguments::{Arguments, tensors_in};

/// Refuses a call on batched tensors that asks for such an order.
#[cold]
pub(crate) fn check(arguments: &Arguments<'_, '_>) -> PyResult<()> {
    if Mapping::innermost().is_none() || !matches!(arguments.name, "clone" | "contiguous" | "is_contiguous") {
        return Ok(());
    }
    let mut given = arguments.slots.iter().flatten().flat_map(|object| tensors_in(object));
    match order(arguments) {
        Some(text) if given.any(|tensor| tensor.differs()) => Err(PyRuntimeError::new_err(text)),
        _ => Ok(()),
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
