//! Which element types a tensor may have that a result is written to, where torch converts less than
//! promotion would; and by which name torch refuses to record such a write.

use crate::border::raise;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use rushlight::Error;
use rushlight::dtype::DType;
use rushlight::ops::create::name_in_c;

/// Refuses a result of another element type than that of the tensor that it is written to, where torch
/// converts nothing, or not that. `source` is the type of what the result was made of, if that is one tensor.
pub(super) fn check(name: &str, from: DType, to: DType, source: Option<DType>) -> PyResult<()> {
    if from == to {
        return Ok(());
    }
    let (is, wanted) = (to.title(), from.title());
    if let Some(transform) = name.strip_prefix("fft_") {
        if to.is_complex() == from.is_complex() {
            return Ok(());
        }
        let kind = if from.is_complex() { "complex" } else { "floating point" };
        // In two dimensions it is that in any number.
        let shown = transform.replace('2', "n");
        let text = format!("{shown} expects a {kind} output tensor, but got {is}");
        return Err(PyRuntimeError::new_err(text));
    }
    let text = match bare(name) {
        "bitwise_not" | "ceil" | "conj_physical" | "fix" | "floor" | "frac" | "neg" | "negative"
        | "round" | "sgn" | "sign" | "trunc" => format!("Found dtype {is} but expected {wanted}"),
        "clamp" | "clamp_max" | "clamp_min" | "clip" if source.is_some() => {
            format!("Found dtype {is} but expected {wanted}")
        }
        "abs" | "absolute" if source == Some(from) => format!("Found dtype {is} but expected {wanted}"),
        "addmm" | "addmv" | "argmax" | "argmin" | "baddbmm" | "bmm" | "cross" | "det" | "diag"
        | "diagonal_copy" | "eigvalsh" | "expand_copy" | "lu_solve" | "permute_copy" | "select_copy"
        | "squeeze_copy" | "t_copy" | "view_as_real_copy" | "gather" | "index_add" | "index_copy"
        | "index_reduce" | "inv" | "inverse" | "isin" | "log_softmax" | "matmul" | "mm" | "msort"
        | "norm" | "renorm" | "scatter" | "scatter_add" | "scatter_reduce" | "softmax" | "solve"
        | "svdvals" | "take_along_dim" | "tril" | "triu" | "vector_norm" => {
            return Err(raise(Error::GatherOutput { expected: from, got: to }.into()));
        }
        "cholesky" if name != "cholesky" => {
            return Err(raise(Error::GatherOutput { expected: from, got: to }.into()));
        }
        "cond" | "pinv" if !from.can_cast(to) => {
            format!("linalg.{}: {}", bare(name), unsafe_cast("result", from, to))
        }
        "matrix_power" | "tensorinv" | "tensorsolve" if !from.can_cast(to) => {
            format!("{}: {}", bare(name), unsafe_cast("result", from, to))
        }
        "matrix_power" => return Err(raise(Error::GatherOutput { expected: from, got: to }.into())),
        "eigvals" if !from.can_cast(to) => {
            format!("torch.linalg.eigvals: {}", unsafe_cast("eigenvalues", from, to))
        }
        "histc" => format!(
            "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {} and hist {}",
            name_in_c(from),
            name_in_c(to)
        ),
        "ldexp" if !from.can_cast(to) => format!("ldexp can't be cast to the desired output type {is}"),
        "mvlgamma" | "multigammaln" if !from.can_cast(to) => {
            format!("mvlgamma: result type {wanted} can't be cast to the desired output type {wanted}")
        }
        "nonzero" => format!("nonzero: Expected out tensor to have scalar type Long but got scalar type{is}"),
        "searchsorted" => format!(
            "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending \
             on whether out_int32 flag is True, but we got output tensor's dtype {is} and out_int32 flag is {}",
            if from == DType::Int32 { "True" } else { "False" }
        ),
        "where" => format!("Expected out type to be {wanted} but got {is}"),
        "amax" | "amin" => format!(
            "Expected the dtype for input and out to match, but got {wanted} for input's dtype and {is} for \
             out's dtype."
        ),
        "index_select" => "index_select(): self and result must have the same scalar type".to_owned(),
        "masked_select" => "masked_select(): self and result must have the same scalar type".to_owned(),
        "quantile" | "nanquantile" => {
            "quantile() out tensor must be same dtype as the input tensor".to_owned()
        }
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
        "householder_product" if !from.can_cast(to) => format!(
            "torch.linalg.householder_product: Expected result to be safely castable from {wanted} dtype, but got \
             result with dtype {is}"
        ),
        "max" | "min" if source == Some(from) && !from.can_cast(to) => CAN_CAST.to_owned(),
        "cumprod" | "cumsum" | "empty" | "linspace" | "logspace" | "prod" | "randint" | "sum" => {
            return Ok(());
        }
        "dot" | "vdot" => format!("result dtype {is} does not match input dtype {wanted}"),
        "mv" => {
            format!("addmv input tensors must have the same dtype, but got {is}, {wanted}, and {wanted}")
        }
        "addbmm" => format!("self and mat2 must have the same dtype, but got {is} and {wanted}"),
        "nan_to_num" => format!("nan_to_num: dtype of out: {is} should be same as input: {wanted}"),
        "take" => format!(
            "take(): self and out expected to have the same dtype, but got self.dtype = {wanted} and out.dtype = {is}"
        ),
        "cholesky" | "cholesky_inverse" | "cholesky_solve" if !from.can_cast(to) => {
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

/// What torch says of an extreme of all elements.
const CAN_CAST: &str = "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be \
                        true, but got false.  (Could this error message be improved?  If so, please report an \
                        enhancement request to PyTorch.)";

/// What torch says of a result that it does not convert.
fn unsafe_cast(part: &str, from: DType, to: DType) -> String {
    format!(
        "Expected {part} to be safely castable from {} dtype, but got {part} with dtype {}",
        from.title(),
        to.title()
    )
}

/// `check` for one of several results: none is converted.
pub(super) fn check_one(name: &str, place: usize, from: DType, to: DType) -> PyResult<()> {
    let (is, wanted) = (to.title(), from.title());
    let text = match bare(name) {
        _ if from == to => return Ok(()),
        "eig" if from.can_cast(to) => return Ok(()),
        "eig" | "geqrf" if !from.can_cast(to) => {
            let part = match (bare(name), place) {
                ("eig", 0) => "eigenvalues",
                ("eig", _) => "eigenvectors",
                (_, 0) => "a",
                _ => "tau",
            };
            format!("torch.{}: {}", name.replace("linalg_", "linalg."), unsafe_cast(part, from, to))
        }
        "frexp" if place == 0 => format!(
            "torch.frexp() expects mantissa to have dtype {} but got {}",
            name_in_c(from),
            name_in_c(to)
        ),
        "cummax" | "cummin" if place == 0 => format!("expected scalar_type {wanted} but found {is}"),
        "kthvalue" if place == 0 => "output values must be of same type as input".to_owned(),
        "mode" if place == 0 => format!("expected scalar type '{wanted}' but got '{is}' for values output"),
        _ => return Err(raise(Error::GatherOutput { expected: from, got: to }.into())),
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
pub(super) fn refusing(name: &str, alone: bool) -> &str {
    match name {
        "absolute" => "abs",
        "arccos" => "acos",
        "arccosh" => "acosh",
        "arcsin" => "asin",
        "arcsinh" => "asinh",
        "arctan" => "atan",
        "arctan2" => "atan2",
        "arctanh" => "atanh",
        "chain_matmul" => "mm",
        "clip" => "clamp",
        "column_stack" | "concat" | "concatenate" | "dstack" | "hstack" | "row_stack" | "vstack" => "cat",
        "cross" => "linalg_cross",
        "diff" | "subtract" => "sub",
        "divide" | "true_divide" => "div",
        "fft_fft" | "fft_rfft" | "fft_rfftn" => "_fft_r2c",
        "fft_fft2" | "fft_fftn" | "fft_ifft2" | "fft_ifftn" => "_fft_c2c",
        "fft_hfft" | "fft_irfft" | "fft_irfft2" | "fft_irfftn" => "_fft_c2r",
        "fix" => "trunc",
        "float_power" | "square" => "pow",
        "ger" | "kron" | "multiply" | "outer" => "mul",
        "inverse" | "linalg_inv" => "linalg_inv_ex",
        "linalg_cholesky" => "linalg_cholesky_ex",
        "linalg_det" => "_linalg_det",
        "linalg_eigh" | "linalg_eigvalsh" => "_linalg_eigh",
        "linalg_lu_factor" => "linalg_lu_factor_ex",
        "linalg_matrix_power" => "matmul",
        "linalg_slogdet" | "slogdet" => "_linalg_slogdet",
        "linalg_solve" => "_linalg_solve_ex",
        "linalg_svd" | "linalg_svdvals" | "svd" => "_linalg_svd",
        "lu_solve" => "linalg_lu_solve",
        "max" if !alone => "maximum",
        "min" if !alone => "minimum",
        "msort" => "sort",
        "nanmean" => "nansum",
        "negative" => "neg",
        "norm" => "linalg_vector_norm",
        "qr" => "linalg_qr",
        "special_gammainc" => "igamma",
        "special_gammaincc" => "igammac",
        "special_multigammaln" => "mvlgamma",
        "take_along_dim" => "gather",
        name => name,
    }
}
