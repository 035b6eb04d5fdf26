//! Functions of elements for many samples at once: the values are aligned, and that is all.

use std::sync::Arc;

use super::{Samples, below, check_open, highest, samples};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::mode;
use crate::ops::cast;
use crate::ops::operand::{Operand, Value, result_dtype};
use crate::shape;
use crate::tensor::{Mapping, Tensor};

/// What `f` makes of the value of a batched tensor, in which samples stay where they are.
pub(in crate::ops) fn unary(x: &Tensor, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> Option<Result<Tensor>> {
    let batch = if mode::special() { x.batch()? } else { return None };
    let run = || {
        check_open(&batch.mapping)?;
        Tensor::batched(f(&batch.value)?, batch.dim, &batch.mapping)
    };
    Some(below(&batch.mapping, run))
}

/// Two operands whose values broadcast against each other.
struct Pair {
    a: Value,
    b: Value,
    dim: Option<usize>,
}

/// What `f` makes of the values of two operands at a mapping, wrapped.
pub(in crate::ops) fn pair(
    a: Operand<'_>,
    b: Operand<'_>,
    mapping: &Arc<Mapping>,
    f: impl FnOnce(Operand<'_>, Operand<'_>) -> Result<Tensor>,
) -> Result<Tensor> {
    below(mapping, || {
        let Pair { a, b, dim } = Pair::new(a, b, mapping)?;
        Tensor::batched(f((&a).into(), (&b).into())?, dim, mapping)
    })
}

/// `pair` if one of the operands is batched.
pub(in crate::ops) fn pair_if_batched(
    a: Operand<'_>,
    b: Operand<'_>,
    f: impl FnOnce(Operand<'_>, Operand<'_>) -> Result<Tensor>,
) -> Option<Result<Tensor>> {
    let mapping = highest([a, b].into_iter().filter_map(Operand::tensor))?;
    Some(pair(a, b, &mapping, f))
}

impl Pair {
    /// The operands of an operation at a mapping. They are calculated in the type that samples are.
    fn new(a: Operand<'_>, b: Operand<'_>, mapping: &Arc<Mapping>) -> Result<Pair> {
        check_open(mapping)?;
        let pair = [a, b].map(|operand| operand.tensor().map(|x| samples(x, mapping)));
        // What does not fit is found, and told, where the samples are first.
        let fits = match (a, b) {
            (Operand::Tensor(a), Operand::Tensor(b)) => {
                shape::broadcast(a.layout().shape(), b.layout().shape()).is_ok()
            }
            _ => true,
        };
        let dtype = result_dtype(a, b);
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
        let [first, second] = pair;
        let mut pair = Pair { a: value(first, a)?, b: value(second, b)?, dim };
        if result_dtype((&pair.a).into(), (&pair.b).into()) != dtype {
            pair = Pair { a: in_type(pair.a, dtype)?, b: in_type(pair.b, dtype)?, dim };
        }
        Ok(pair)
    }
}

/// What `f` makes of the values of two tensors, if one of them is batched.
pub(in crate::ops) fn both(
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
        scalar @ Value::Scalar(_) => Ok(scalar),
    }
}
