//! Elementwise operations that the engine's lists do not have: comparisons, logic, division with
//! rounding, and choices.
use super::entries::{function, in_place, method};
use crate::calls::callable::Function;
use crate::calls::writes::warn_repeated;
use crate::error::raise;
use crate::interpreter::warnings::Once;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dispatch::operand;
use rushlight::dtype::DType;
use rushlight::ops::indexing::nonzero;
use rushlight::ops::pointwise::select;
use rushlight::schema::{OutPolicy, Types, UnbatchedTarget};
use std::ffi::CStr;

const BYTE_CONDITION: &CStr = c"where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of PyTorch. Use a boolean condition instead.";

const MASKED: &[&str] =
    &["(Tensor input, Tensor mask, Tensor value)", "(Tensor input, Tensor mask, Number value)"];

const MASKED_OVER: OutPolicy =
    OutPolicy::PLAIN.in_place_as(|given| given.named(2, ".Tensor", ".Scalar")).unbatched_target(|given| {
        if given.tensors.len() < 2 { UnbatchedTarget::Arithmetic } else { UnbatchedTarget::Fallback }
    });

fn chosen(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    match a.overload() {
        0 => nonzero::chosen(a.tensor(0)?).answer(a.py()),
        _ if a.tensor(0)?.dtype() == DType::UInt8 => {
            static TOLD: Once = Once::new();
            TOLD.warn(a.py(), BYTE_CONDITION)?;
            select::where_(a.tensor(0)?, a.operand(1)?, a.operand(2)?).answer(a.py())
        }
        _ => select::where_(a.tensor(0)?, a.operand(1)?, a.operand(2)?).answer(a.py()),
    }
}

/// Entries with arguments of their own.
pub(super) const TABLE: &[Function] = &[
    method("masked_fill_", MASKED, "Sets the elements to `value` where the mask is true.", |a| {
        warn_repeated(a.py(), a.tensor(0)?, "masked_fill_", "tensor[mask] = scalar")?;
        in_place(a, select::masked_fill_(a.tensor(0)?, a.tensor(1)?, a.operand(2)?))
    })
    .written(&MASKED_OVER),
    function(
        "where",
        &[
            "(Tensor condition) -> tuple[Tensor, ...]",
            "(Tensor condition, Tensor input, Tensor other, *, Tensor out=None)",
            "(Tensor condition, Number self, Tensor other)",
            "(Tensor condition, Tensor input, Number other)",
            "(Tensor condition, Number self, Number other)",
        ],
        "Elements of `input` where the condition is true, and of `other` elsewhere.",
        chosen,
    )
    .written(&OutPolicy::ALIGNED.typed(Types::Chosen).out_as(|_| ".self_out")),
    function(
        "result_type",
        &[
            "(Tensor tensor, Tensor other) -> dtype",
            "(Number scalar, Tensor tensor) -> dtype",
            "(Tensor tensor, Number other) -> dtype",
            "(Number scalar1, Number scalar2) -> dtype",
        ],
        "The dtype that arithmetic of two operands gives.",
        |a| operand::result_dtype(a.operand(0)?, a.operand(1)?).map_err(raise)?.answer(a.py()),
    ),
];
