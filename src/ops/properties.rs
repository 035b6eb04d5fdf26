//! Questions about a tensor that need none of its elements: `numel`, `is_complex`, `result_type`.

use crate::dispatch::operand;
use crate::dtype::DType;
use crate::schema::{Entry, IntoReply, function, method};

const YES_OR_NO: &[&str] = &["(Tensor input) -> bool"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function("numel", &["(Tensor input) -> int"], "The number of elements.", |a| {
        Ok(a.tensor(0)?.numel() as i64).reply()
    }),
    function("is_floating_point", YES_OR_NO, "Whether the dtype is a floating-point one.", |a| {
        Ok(a.tensor(0)?.dtype().is_float()).reply()
    }),
    function("is_complex", YES_OR_NO, "Whether the dtype is a complex one.", |a| {
        Ok(a.tensor(0)?.dtype().is_complex()).reply()
    }),
    function("is_signed", YES_OR_NO, "Whether the dtype is a signed one.", |a| {
        Ok(!matches!(a.tensor(0)?.dtype(), DType::Bool | DType::UInt8)).reply()
    }),
    function("is_inference", YES_OR_NO, "Whether the tensor was made in inference mode.", |a| {
        Ok(a.tensor(0)?.is_inference()).reply()
    }),
    method("get_device", &["(Tensor input) -> int"], "The index of the device; -1 for the CPU.", |_| {
        Ok(-1i64).reply()
    }),
    function(
        "result_type",
        &[
            "(Tensor tensor, Tensor other) -> dtype",
            "(Number scalar, Tensor tensor) -> dtype",
            "(Tensor tensor, Number other) -> dtype",
            "(Number scalar1, Number scalar2) -> dtype",
        ],
        "The dtype that arithmetic of two operands gives.",
        |a| operand::result_dtype(a.operand(0)?, a.operand(1)?).reply(),
    ),
];
