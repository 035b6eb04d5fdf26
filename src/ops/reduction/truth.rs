//! Whether any element is not zero, whether all are, and how many. Nothing here has a derivative.

use crate::dispatch::apply::Outputs;
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::Value;
use crate::dispatch::{batch, long_work};
use crate::dtype::{Bool, DType};
use crate::error::Result;
use crate::kernels::reduction::reduce as kernels;
use crate::ops::creation::copy;
use crate::ops::reduction::over::Over;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Types, both};
use crate::tensor::{Array, Tensor};
use smallvec::smallvec;

/// Whether any element along some dimensions, or all, is not zero. No dimension named in `dims`
/// asks every element by itself.
pub fn any(x: &Tensor, dims: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    truth(x, dims, keepdim, true)
}

/// Whether no element along some dimensions, or all, is zero. No dimension named in `dims` asks
/// every element by itself.
pub fn all(x: &Tensor, dims: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    truth(x, dims, keepdim, false)
}

fn truth(x: &Tensor, dims: Option<&[i64]>, keepdim: bool, any: bool) -> Result<Tensor> {
    let over = Over::new(dims, keepdim, x)?;
    let whole = dims.is_some_and(<[i64]>::is_empty);
    if let Some(y) = batch::reduced(x, &over, whole, |x, dims| truth(x, dims, keepdim, any)) {
        return y;
    }
    let truth = Truth { over, whole, any };
    if recording::is_on()
        && let Some(y) = intercept::of_value(if any { "any" } else { "all" }, &[x.into()], truth.clone())
    {
        return y;
    }
    answered(x, &truth.over, whole, any)
}

/// Whether any or all elements are not zero, as a recorded operation.
#[derive(Clone)]
struct Truth {
    over: Over,
    /// Whether every element is asked by itself.
    whole: bool,
    any: bool,
}

impl Portable for Truth {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        Ok(smallvec![answered(intercept::only(operands)?, &self.over, self.whole, self.any)?])
    }
}

/// `truth` of a tensor that is not batched.
fn answered(x: &Tensor, over: &Over, whole: bool, any: bool) -> Result<Tensor> {
    let array = x.array();
    let truths = copy::as_type(&array, DType::Bool)?;
    let result = if whole {
        copy::dense(&truths)?
    } else {
        let mut result = Array::uninit_shape(&over.shape(array.layout.shape()), DType::Bool)?;
        let is_all = over.dims.len() == array.layout.ndim();
        let all = if is_all { truths.slice::<Bool>() } else { None };
        match any {
            _ if let (Some(truths), [result]) = (all, result.fresh()) => {
                let count = kernels::truths(truths);
                result.write(Bool::new(if any { count > 0 } else { count == truths.len() as i64 }));
            }
            true => kernels::any(truths.view::<Bool>(), &over.dims, result.fresh()),
            false => kernels::all(truths.view::<Bool>(), &over.dims, result.fresh()),
        }
        result
    };
    // Bytes were truth values before there was a type for them.
    let dtype = if x.dtype() == DType::UInt8 { DType::UInt8 } else { DType::Bool };
    Ok(Tensor::from_array(copy::as_type(&result, dtype)?.into_owned()))
}

/// How many elements along some dimensions, or all, are not zero.
pub fn count_nonzero(x: &Tensor, dims: Option<&[i64]>) -> Result<Tensor> {
    let over = Over::new(dims, false, x)?;
    if let Some(y) = batch::reduced(x, &over, false, count_nonzero) {
        return y;
    }
    let count = Count { over };
    if recording::is_on()
        && let Some(y) = intercept::of_value("count_nonzero", &[x.into()], count.clone())
    {
        return y;
    }
    counted(x, &count.over)
}

/// How many elements are not zero, as a recorded operation.
#[derive(Clone)]
struct Count {
    over: Over,
}

impl Portable for Count {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        Ok(smallvec![counted(intercept::only(operands)?, &self.over)?])
    }
}

/// `count_nonzero` of a tensor that is not batched.
fn counted(x: &Tensor, over: &Over) -> Result<Tensor> {
    let array = x.array();
    let mut count = Array::uninit_shape(&over.shape(array.layout.shape()), DType::Int64)?;
    long_work::patiently(array.layout.numel() as u64, || {
        let truths = copy::as_type(&array, DType::Bool)?;
        match (truths.slice::<Bool>(), count.fresh()) {
            (Some(truths), [count]) if over.dims.len() == array.layout.ndim() => {
                count.write(kernels::truths(truths));
            }
            (_, count) => kernels::count_nonzero(truths.view::<Bool>(), &over.dims, count),
        }
        Ok(())
    })?;
    Ok(Tensor::from_array(count))
}

const TRUTH: &[&str] = &[
    "(Tensor input, *, Tensor out=None)",
    "(Tensor input, int[]? dim=None, bool keepdim=False, *, Tensor out=None)",
    "(Tensor input, int dim, bool keepdim=False, *, Tensor out=None)",
];

/// How answers to questions about all elements are written.
const QUESTION: OutPolicy = OutPolicy::PLAIN
    .unrecorded()
    .typed(Types::TruthOfAll)
    .out_as(|given| if given.count < 2 { ".all_out" } else { ".out" });

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("any", TRUTH, "Whether any element is true, of all or along dimensions.", |a| truths(a, any))
        .written(&QUESTION)
        .operators(&[("-", "any"), ("-", "any.dim@2")]),
    both("all", TRUTH, "Whether all elements are true, of all or along dimensions.", |a| truths(a, all))
        .written(&QUESTION)
        .operators(&[("-", "all"), ("-", "all.dim@2")]),
    both(
        "count_nonzero",
        &["(Tensor input, int? dim=None)", "(Tensor input, int[] dim)"],
        "The number of elements that are not zero.",
        |a| {
            let dims = if a.given(1) { a.dims(1)? } else { None };
            count_nonzero(a.tensor(0)?, dims.as_deref()).reply()
        },
    )
    .operators(&[("-", "count_nonzero")]),
];

fn truths(
    arguments: &dyn Arguments,
    operation: fn(&Tensor, Option<&[i64]>, bool) -> Result<Tensor>,
) -> Result<Reply> {
    let x = arguments.tensor(0)?;
    match arguments.overload() {
        0 => operation(x, None, false).reply(),
        1 => operation(x, arguments.dims(1)?.as_deref(), arguments.boolean(2)).reply(),
        _ => operation(x, Some(&[arguments.int(1)?]), arguments.boolean(2)).reply(),
    }
}

plain! {
    struct Truth { over, whole, any }
    struct Count { over }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[Row::of::<Truth>("truth of all"), Row::of::<Count>("count_nonzero")];
