//! What every function that makes a tensor takes: element type, layout, device, pinned memory, and
//! whether gradients are wanted.
use super::conversion;
use crate::error::raise;
use crate::values::arguments::Arguments;
use crate::values::device::Device;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::dispatch::batch;
use rushlight::dtype::DType;
use rushlight::{Result, Tensor};

/// A signature that ends in the options: `options!("(int[] size, *, ")`.
macro_rules! options {
    ($start:literal) => {
        concat!(
            $start,
            "dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, ",
            "bool? requires_grad=False)"
        )
    };
}
pub(super) use options;

/// Makes a tensor with the options, of which the first stands at position `first`. `dtype` is the
/// element type if none is given.
pub(super) fn made(
    arguments: &Arguments<'_, '_>,
    first: usize,
    dtype: DType,
    make: impl FnOnce(DType) -> Result<Tensor>,
) -> PyResult<Py<PyAny>> {
    if let Some(device) = arguments.object(first + 2) {
        Device::of(device)?.usable()?;
    }
    let dtype = arguments.dtype(first).unwrap_or(dtype);
    let requires_grad = arguments.boolean(first + 4);
    let mut tensor = make(dtype).map_err(raise)?;
    if requires_grad && !dtype.is_differentiable() {
        let text = "Only Tensors of floating point and complex dtype can require gradients";
        return Err(PyRuntimeError::new_err(text));
    }
    // What is made like a tensor of many samples has room for all of them.
    if let Some(like) = arguments.optional_tensor(0).filter(|like| like.is_batched() && !tensor.is_batched())
    {
        tensor = batch::with_room(tensor, &[like]).map_err(raise)?;
    }
    if requires_grad {
        tensor.set_requires_grad(true).map_err(raise)?;
    }
    tensor.answer(arguments.py())
}

/// `made` in the shape of the tensor at position 0: with its order of dimensions in memory, unless
/// the format at position `format` is row-major.
pub(super) fn made_like(
    arguments: &Arguments<'_, '_>,
    first: usize,
    format: usize,
    make: impl FnOnce(&Tensor, DType) -> Result<Tensor>,
) -> PyResult<Py<PyAny>> {
    let x = arguments.tensor(0)?;
    let format = conversion::format(arguments, format).filter(|&format| format != "preserve_format");
    made(arguments, first, x.dtype(), |dtype| match format {
        None => make(x, dtype),
        Some("contiguous_format") if x.layout().is_row_major() => make(x, dtype),
        format => make(&conversion::cloned(&x.detach(), format)?, dtype),
    })
}
