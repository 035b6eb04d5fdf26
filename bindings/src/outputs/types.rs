//! Which element types a tensor may have that a result is written to, where torch converts less than
//! promotion would; and by which name torch refuses to record such a write.

use crate::border::raise;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use rushlight::Error;
use rushlight::dtype::DType;

/// Refuses a result of another element type than that of the tensor that it is written to, where torch
/// converts nothing, or not that. `source` is the type of what the result was made of, if that is one tensor.
pub(super) fn check(name: &str, from: DType, to: DType, source: Option<DType>) -> PyResult<()> {
    if from == to {
        return Ok(());
    }
    let (is, wanted) = (to.title(), from.title());
    let text = match bare(name) {
        "bitwise_not" | "ceil" | "conj_physical" | "fix" | "floor" | "frac" | "neg" | "negative"
        | "round" | "sgn" | "sign" | "trunc" => format!("Found dtype {is} but expected {wanted}"),
        "clamp" | "clamp_max" | "clamp_min" | "clip" if source.is_some() => {
            format!("Found dtype {is} but expected {wanted}")
        }
        "abs" | "absolute" if source == Some(from) => format!("Found dtype {is} but expected {wanted}"),
        "addmm" | "addmv" | "argmax" | "argmin" | "baddbmm" | "bmm" | "cross" | "det" | "diag"
        | "eigvalsh" | "gather" | "index_add" | "index_copy" | "index_reduce" | "inv" | "inverse"
        | "isin" | "log_softmax" | "matmul" | "mm" | "msort" | "norm" | "renorm" | "scatter"
        | "scatter_add" | "scatter_reduce" | "softmax" | "solve" | "svdvals" | "take_along_dim" | "tril"
        | "triu" | "vector_norm" => {
            return Err(raise(Error::GatherOutput { expected: from, got: to }.into()));
        }
        "cholesky" if name != "cholesky" => {
            return Err(raise(Error::GatherOutput { expected: from, got: to }.into()));
        }
        "where" => format!("Expected out type to be {wanted} but got {is}"),
        "amax" | "amin" => format!(
            "Expected the dtype for input and out to match, but got {wanted} for input's dtype and {is} for \
             out's dtype."
        ),
        "index_select" => "index_select(): self and result must have the same scalar type".to_owned(),
        "masked_select" => "masked_select(): self and result must have the same scalar type".to_owned(),
        "quantile" | "nanquantile" => format!("{name}() out tensor must be same dtype as the input tensor"),
        "multinomial" => format!("multinomial expects Long tensor out, got: {is}"),
        "float_power" => format!(
            "the output given to float_power has dtype {is} but the operation's result requires dtype {wanted}"
        ),
        "heaviside" => "heaviside is not yet implemented for tensors with different dtypes.".to_owned(),
        "signbit" | "isposinf" | "isneginf" => format!("{name} does not support non-boolean outputs."),
        "all" | "any" if to != DType::UInt8 => {
            format!("{name} only supports bool tensor for result, got: {is}")
        }
        "complex" | "polar" => {
            format!("Expected object of scalar type {wanted} but got scalar type {is} for argument 'out'")
        }
        "tensordot" | "inner" => format!(
            "tensordot: Expected the output tensor to have dtype {wanted}, but got an output tensor with dtype {is}"
        ),
        "logcumsumexp" => format!("expected scalar_type {wanted} but found {is}"),
        "solve_triangular" => format!("expected scalar type {wanted} but found {is}"),
        "dot" | "vdot" => format!("result dtype {is} does not match input dtype {wanted}"),
        "mv" => {
            format!("addmv input tensors must have the same dtype, but got {is}, {wanted}, and {wanted}")
        }
        "addbmm" => format!("self and mat2 must have the same dtype, but got {is} and {wanted}"),
        "nan_to_num" => format!("nan_to_num: dtype of out: {is} should be same as input: {wanted}"),
        "take" => format!(
            "take(): self and out expected to have the same dtype, but got self.dtype = {wanted} and out.dtype = {is}"
        ),
        "cholesky" | "cholesky_inverse" | "cholesky_solve" | "matrix_power" | "tensorinv"
            if !from.can_cast(to) =>
        {
            format!(
                "{}: Expected result to be safely castable from {wanted} dtype, but got result with dtype {is}",
                bare(name)
            )
        }
        "logsumexp" if !from.can_cast(to) => {
            format!("logsumexp(): Expected floating point type for result tensor, but got: {is}")
        }
        "cat" | "column_stack" | "concat" | "concatenate" | "dstack" | "hstack" | "row_stack" | "stack"
        | "vstack"
            if !from.can_cast(to) =>
        {
            let text = format!("torch.cat(): input types can't be cast to the desired output type {is}");
            return Err(PyTypeError::new_err(text));
        }
        "bernoulli" | "eye" | "full" | "ones" | "zeros" => return Ok(()),
        _ if !from.can_cast(to) => {
            format!("result type {wanted} can't be cast to the desired output type {is}")
        }
        _ => return Ok(()),
    };
    Err(PyRuntimeError::new_err(text))
}

/// The name without that of its module.
fn bare(name: &str) -> &str {
    let stripped = name.strip_prefix("linalg_").or_else(|| name.strip_prefix("special_"));
    stripped.unwrap_or(name)
}

/// What torch calls the operation that refuses to be recorded with an `out=`: that which is written last.
/// `alone` says that the operation was given one tensor.
pub(super) fn refusing(name: &'static str, alone: bool) -> &'static str {
    match name {
        "absolute" => "abs",
        "clip" => "clamp",
        "column_stack" | "concat" | "concatenate" | "dstack" | "hstack" | "row_stack" | "vstack" => "cat",
        "cross" => "linalg_cross",
        "diff" => "sub",
        "fix" => "trunc",
        "float_power" | "square" => "pow",
        "ger" | "kron" | "outer" => "mul",
        "inverse" | "linalg_inv" => "linalg_inv_ex",
        "linalg_cholesky" => "linalg_cholesky_ex",
        "linalg_det" => "_linalg_det",
        "linalg_eigvalsh" => "_linalg_eigh",
        "linalg_solve" => "_linalg_solve_ex",
        "linalg_svdvals" => "_linalg_svd",
        "max" if !alone => "maximum",
        "min" if !alone => "minimum",
        "msort" => "sort",
        "nanmean" => "nansum",
        "negative" => "neg",
        "norm" => "linalg_vector_norm",
        "special_multigammaln" => "mvlgamma",
        "take_along_dim" => "gather",
        name => name,
    }
}
