//! Which memory a result may be written to, given what the operation reads: not to what it reads in
//! another order, nor to elements that are shown several times.

use crate::arguments::{Arguments, tensors_in};
use crate::border::{as_tensor, raise};
use pyo3::prelude::*;
use rushlight::shape::broadcast;
use rushlight::{Error, Tensor, ops};

/// Operations whose result may show none of the memory of what they read.
const APART: &[&str] = &[
    "cat",
    "column_stack",
    "concat",
    "concatenate",
    "cross",
    "diff",
    "dstack",
    "gather",
    "ger",
    "hstack",
    "index_select",
    "kron",
    "linalg_cross",
    "masked_select",
    "outer",
    "row_stack",
    "stack",
    "take",
    "take_along_dim",
    "vstack",
];

/// Operations beside those of the engine's lists that read and write element by element.
const ALIGNED: &[&str] = &[
    "absolute",
    "addcdiv",
    "addcmul",
    "addr",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "conj_physical",
    "divide",
    "eq",
    "fix",
    "float_power",
    "floor_divide",
    "gcd",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "heaviside",
    "igamma",
    "igammac",
    "lcm",
    "le",
    "lerp",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "lt",
    "max",
    "min",
    "multiply",
    "nan_to_num",
    "ne",
    "negative",
    "not_equal",
    "polygamma",
    "scatter",
    "special_entr",
    "special_erfcx",
    "special_gammainc",
    "special_gammaincc",
    "special_i0e",
    "special_i1",
    "special_i1e",
    "special_log_ndtr",
    "special_ndtri",
    "special_polygamma",
    "special_xlog1py",
    "special_zeta",
    "square",
    "subtract",
    "true_divide",
    "where",
];

/// Operations that go on from their first tensor, element by element.
const OF_FIRST: &[&str] = &[
    "addbmm",
    "addmm",
    "addmv",
    "baddbmm",
    "bernoulli",
    "cumprod",
    "cumsum",
    "index_add",
    "index_copy",
    "index_reduce",
    "logcumsumexp",
    "msort",
    "normal",
    "renorm",
    "scatter_add",
    "scatter_reduce",
];

/// Operations that write no element twice, also where they would give the tensor another shape.
const ONCE: &[&str] = &[
    "complex",
    "diff",
    "frexp",
    "ger",
    "index_select",
    "isneginf",
    "isposinf",
    "masked_select",
    "nonzero",
    "outer",
    "polar",
    "signbit",
    "take",
];

/// Refuses memory that cannot be written to by this operation.
pub(super) fn check(arguments: &Arguments<'_, '_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
    let name = arguments.name;
    let listed = || {
        ops::ELEMENTWISE.iter().any(|entry| entry.name == name)
            || ops::ELEMENTWISE2.iter().any(|entry| entry.name == name)
    };
    let Some(written) = as_tensor(out) else { return Ok(()) };
    let aligned = ALIGNED.contains(&name) || listed();
    let memory = written.array();
    if (aligned || ONCE.contains(&name)) && !memory.layout.is_non_overlapping() {
        return Err(raise(Error::OverlapModified {}.into()));
    }
    let apart = APART.contains(&name);
    let read: Vec<Tensor> = arguments
        .slots
        .iter()
        .enumerate()
        .filter(|(slot, _)| Some(*slot) != arguments.signature.out)
        .flat_map(|(_, object)| object.map(tensors_in).unwrap_or_default())
        .collect();
    if aligned {
        check_same_shape(&read, written)?;
    }
    let check = |read: &Tensor| match apart {
        true => memory.check_apart(&read.array()),
        false => memory.check_read(&read.array()),
    };
    let first = read.first().filter(|first| first.layout().shape() == memory.layout.shape());
    match apart || aligned {
        true => read.iter().try_for_each(check),
        false if OF_FIRST.contains(&name) => first.map_or(Ok(()), check),
        false => Ok(()),
    }
    .map_err(raise)
}

/// Refuses to give a tensor that is read another shape.
fn check_same_shape(read: &[Tensor], written: &Tensor) -> PyResult<()> {
    if !read.iter().any(|read| read.is(written)) {
        return Ok(());
    }
    let (mut shape, output) = (written.layout().shape().to_vec(), written.layout().shape().to_vec());
    for read in read {
        // What does not go together is told by the operation.
        match broadcast(&shape, read.layout().shape()) {
            Ok(larger) => shape = larger.to_vec(),
            Err(_) => return Ok(()),
        }
    }
    if shape == output { Ok(()) } else { Err(raise(Error::OutputShape { output, broadcast: shape }.into())) }
}
