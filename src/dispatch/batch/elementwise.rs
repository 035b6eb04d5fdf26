//! Batching of elementwise operations: aligning the values' dimensions is all it takes.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Samples, all_of, below, check_open, highest, samples};
use crate::dispatch::operand::{Numbers, Operand, Value, result_dtype, result_type};
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::graph::mode;
use crate::ops::creation::cast;
use crate::shape;
use crate::tensor::{Mapping, Tensor};

/// What `f` makes of the value of a batched tensor, in which samples stay where they are.
pub(crate) fn unary(x: &Tensor, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> Option<Result<Tensor>> {
    let batch = if mode::special() { x.batch()? } else { return None };
    let run = || {
        check_open(&batch.mapping)?;
        Tensor::batched(f(&batch.value)?, batch.dim, &batch.mapping)
    };
    Some(below(&batch.mapping, run))
}

/// The type in which operands are calculated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promotion {
    /// That of samples, in which numbers give way to tensors with dimensions.
    OfSamples,
    /// That of values, in which all samples of a number have a dimension.
    OfValues,
}

/// Two operands whose values broadcast against each other.
struct Pair {
    a: Value,
    b: Value,
    dim: Option<usize>,
}

/// What `f` makes of the values of two operands at a mapping, wrapped.
pub(crate) fn pair(
    a: Operand<'_>,
    b: Operand<'_>,
    mapping: &Arc<Mapping>,
    f: impl FnOnce(Operand<'_>, Operand<'_>) -> Result<Tensor>,
) -> Result<Tensor> {
    below(mapping, || {
        let Pair { a, b, dim } = Pair::new(a, b, mapping, Promotion::OfSamples)?;
        Tensor::batched(f((&a).into(), (&b).into())?, dim, mapping)
    })
}

/// What `f` answers about the values of two operands, if one of them is batched: comparisons are made in
/// the type of the values.
pub(crate) fn compared(
    a: Operand<'_>,
    b: Operand<'_>,
    f: impl FnOnce(Operand<'_>, Operand<'_>) -> Result<Tensor>,
) -> Option<Result<Tensor>> {
    let mapping = highest([a, b].into_iter().filter_map(Operand::tensor))?;
    Some(below(&mapping, || {
        let Pair { a, b, dim } = Pair::new(a, b, &mapping, Promotion::OfValues)?;
        Tensor::batched(f((&a).into(), (&b).into())?, dim, &mapping)
    }))
}

/// The type that operands are calculated in where that is the type of their values.
pub(crate) fn value_type<'a>(operands: impl IntoIterator<Item = Operand<'a>>) -> Result<DType> {
    let numbers = |operand: Operand<'_>| match operand {
        Operand::Tensor(x) if mode::special() => Numbers::Array(all_of(x).array()),
        operand => operand.numbers(),
    };
    let numbers: SmallVec<[Numbers; 3]> = operands.into_iter().map(numbers).collect();
    result_type(&numbers)
}

/// Two tensors in the type of their samples, if one of them is a number for each sample and the other is
/// not.
pub(crate) fn in_one_type(a: &Tensor, b: &Tensor) -> Result<[Tensor; 2]> {
    let is_number = |x: &Tensor, mapping: &Arc<Mapping>| {
        let samples = samples(x, mapping);
        samples.dim.is_some() && samples.rank() == 0
    };
    match highest([a, b]) {
        Some(mapping) if is_number(a, &mapping) != is_number(b, &mapping) => {
            let dtype = result_dtype(a.into(), b.into())?;
            Ok([cast::to_dtype(a, dtype)?, cast::to_dtype(b, dtype)?])
        }
        _ => Ok([a.clone(), b.clone()]),
    }
}

/// `pair` if one of the operands is batched.
pub(crate) fn pair_if_batched(
    a: Operand<'_>,
    b: Operand<'_>,
    f: impl FnOnce(Operand<'_>, Operand<'_>) -> Result<Tensor>,
) -> Option<Result<Tensor>> {
    let mapping = highest([a, b].into_iter().filter_map(Operand::tensor))?;
    Some(pair(a, b, &mapping, f))
}

impl Pair {
    /// The operands of an operation at a mapping.
    fn new(a: Operand<'_>, b: Operand<'_>, mapping: &Arc<Mapping>, promotion: Promotion) -> Result<Pair> {
        check_open(mapping)?;
        let pair = [a, b].map(|operand| operand.tensor().map(|x| samples(x, mapping)));
        // What does not fit is found, and told, where the samples are first.
        let fits = match (a, b) {
            (Operand::Tensor(a), Operand::Tensor(b)) => {
                shape::broadcast(a.layout().shape(), b.layout().shape()).is_ok()
            }
            _ => true,
        };
        let ranks = pair.each_ref().map(|samples| samples.as_ref().map_or(0, Samples::rank));
        let dims = pair.each_ref().map(|samples| samples.as_ref().and_then(|samples| samples.dim));
        let alone = |index: usize| match &pair[index] {
            None => true,
            Some(samples) => samples.dim.is_none() && samples.rank() == 0,
        };
        // Samples that lie alike, or that meet nothing but one number, stay where they are; so do
        // tensors that all samples share.
        let alike = dims[0] == dims[1] && (ranks[0] == ranks[1] || dims[0].is_none());
        let stay = fits && (alike || alone(0) || alone(1));
        let rank = ranks[0].max(ranks[1]);
        let dim = dims[0].or(dims[1]).map(|dim| if stay { dim } else { 0 });
        let value = |samples: Option<Samples>, operand: Operand<'_>| match (samples, operand) {
            (Some(samples), _) if stay => Ok(Value::Tensor(samples.value)),
            (Some(samples), _) => samples.aligned(rank).map(Value::Tensor),
            (None, Operand::Scalar(scalar)) => Ok(Value::Scalar(scalar)),
            (None, Operand::Tensor(_)) => unreachable!("a tensor has samples"),
        };
        let is_number = |index: usize| dims[index].is_some() && ranks[index] == 0;
        let converts = promotion == Promotion::OfSamples && is_number(0) != is_number(1);
        let [first, second] = pair;
        let pair = Pair { a: value(first, a)?, b: value(second, b)?, dim };
        if !converts {
            return Ok(pair);
        }
        let dtype = result_dtype(a, b)?;
        Ok(Pair { a: in_type(pair.a, dtype)?, b: in_type(pair.b, dtype)?, dim })
    }
}

/// What `f` makes of the values of two tensors, if one of them is batched.
pub(crate) fn both(
    a: &Tensor,
    b: &Tensor,
    f: impl FnOnce(&Tensor, &Tensor) -> Result<Tensor>,
) -> Option<Result<Tensor>> {
    pair_if_batched(a.into(), b.into(), |a, b| match (a, b) {
        (Operand::Tensor(a), Operand::Tensor(b)) => f(a, b),
        _ => unreachable!("both are tensors"),
    })
}

fn in_type(value: Value, dtype: DType) -> Result<Value> {
    match value {
        Value::Tensor(tensor) => cast::to_dtype(&tensor, dtype).map(Value::Tensor),
        Value::Scalar(Scalar::Bool(truth)) if dtype != DType::Bool => {
            Ok(Value::Scalar(Scalar::Int(truth.into())))
        }
        scalar @ Value::Scalar(_) => Ok(scalar),
    }
}
