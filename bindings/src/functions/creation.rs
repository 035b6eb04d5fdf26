//! Tensors out of nothing.
use crate::arguments::Arguments;
use crate::body::Body;
use crate::callable::{FUNCTION, Function};
use crate::device::Device;
use crate::error::raise;
use crate::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dtype::{DType, Scalar};
use rushlight::ops::{create, default_dtype};
use rushlight::{Result, Tensor};

/// The entries.
pub(super) const TABLE: &[Function] = &[
    Function {
        name: "zeros",
        signatures: &[
            "(int[] size, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False)",
        ],
        doc: "A tensor of zeros.",
        body: Body::Any(|arguments| {
            let size = arguments.ints(0)?;
            made(arguments, 2, default_dtype::get(), |dtype| create::zeros(&size, dtype))
        }),
        kind: FUNCTION,
    },
    Function {
        name: "ones",
        signatures: &[
            "(int[] size, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False)",
        ],
        doc: "A tensor of ones.",
        body: Body::Any(|arguments| {
            let size = arguments.ints(0)?;
            made(arguments, 2, default_dtype::get(), |dtype| create::full(&size, Scalar::Int(1), dtype))
        }),
        kind: FUNCTION,
    },
    Function {
        name: "full",
        signatures: &[
            "(int[] size, Number fill_value, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False)",
        ],
        doc: "A tensor with every element the same. Its type is that of the number unless `dtype` says otherwise.",
        body: Body::Any(|arguments| {
            let (size, value) = (arguments.ints(0)?, arguments.number(1)?);
            let dtype = match value {
                Scalar::Bool(_) => DType::Bool,
                Scalar::Int(_) => DType::Int64,
                Scalar::Float(_) => default_dtype::get(),
            };
            made(arguments, 3, dtype, |dtype| create::full(&size, value, dtype))
        }),
        kind: FUNCTION,
    },
];

/// Makes a tensor with the options that every such function has: `dtype` at position `first`,
/// then `layout`, `device`, `pin_memory` and `requires_grad`.
fn made(
    arguments: &Arguments<'_, '_>,
    first: usize,
    dtype: DType,
    make: impl FnOnce(DType) -> Result<Tensor>,
) -> PyResult<Py<PyAny>> {
    if let Some(device) = arguments.object(first + 2) {
        Device::of(device)?.usable()?;
    }
    let tensor = make(arguments.dtype(first).unwrap_or(dtype)).map_err(raise)?;
    if arguments.boolean(first + 4) {
        tensor.set_requires_grad(true).map_err(raise)?;
    }
    tensor.answer(arguments.py())
}
