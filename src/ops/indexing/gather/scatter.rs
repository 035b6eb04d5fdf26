//! Writes to elements named one by one along a dimension: `scatter`.

mod portable;

use crate::ops::indexing::gather;
use crate::schema::Operator;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Types, both, method, receiver, warn_once};
use smallvec::{SmallVec, smallvec};

use super::{Gather, check_index, checked, counted, lines, write_lines};
use crate::dispatch::apply::{Arrays, Keep, Op, Overwrite, Unsigned, apply_in_place, apply_one, one, single};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::checkpointed::{self, CheckpointedOp};
use crate::dispatch::in_place;
use crate::dispatch::operand::Operand;
use crate::dispatch::record::records;
use crate::dtype::{Bool, DType, Ring, Scalar};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, UNDERIVED, mode};
use crate::kernels::indexing::gather as kernels;
use crate::ops::creation::{copy, create};
use crate::ops::indexing::indexed::tangent_or_zeros;
use crate::ops::indexing::scatter_reduce::{Fold, scatter_reduce};
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Array, Tensor};
pub(crate) use portable::ROWS;

/// What becomes of an element that is written to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    /// It is replaced by an element.
    Replace,
    /// It is replaced by a number.
    Fill(Scalar),
    /// An element is added to it.
    Add,
    /// It is combined with an element, or with a number.
    Combine(Combination, Option<Scalar>),
}

/// What becomes of two elements.
#[derive(Clone, Copy, PartialEq)]
pub enum Combination {
    /// Their sum.
    Sum,
    /// Their product.
    Product,
}

/// y = x, but y[i][index[i][j]] is v[i][j], or that more, for `dim` 1
///
/// dy is dx and dv so combined; x̄ is ȳ, with zeros at the indices if they were replaced, or ȳ multiplied as x
/// was; v̄ is gathered from ȳ. Products of real elements are differentiated as those of `scatter_reduce`.
#[derive(Clone)]
pub(super) struct Scatter {
    pub(super) dim: usize,
    /// The dimension as the caller named it.
    pub(super) given: i64,
    pub(super) index: Tensor,
    pub(super) mode: Mode,
}

impl Scatter {
    /// What becomes of the gradient or the tangent of `x` alone.
    fn alone(&self) -> Mode {
        match self.mode {
            Mode::Add | Mode::Combine(Combination::Sum, _) => Mode::Add,
            Mode::Combine(Combination::Product, Some(_)) => self.mode,
            _ => Mode::Fill(Scalar::Int(0)),
        }
    }
}

impl Op for Scatter {
    type Saved = SavedTensor;
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const SAVED: &'static [&'static str] = &["index"];

    fn name(&self) -> &'static str {
        match self.mode {
            Mode::Replace => "ScatterBackward0",
            Mode::Fill(_) => "ScatterBackward1",
            Mode::Add => "ScatterAddBackward0",
            Mode::Combine(..) => UNDERIVED,
        }
    }

    fn saved_names(&self) -> &'static [&'static str] {
        if matches!(self.mode, Mode::Combine(..)) { &[""] } else { Self::SAVED }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        match self.mode {
            Mode::Combine(..) => Attributes::new(),
            _ => shown! { dim: self.given },
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        self.overwritten(inputs)
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {
        SavedTensor::constant(&self.index)
    }

    fn vjp(&self, index: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        if self.mode == Mode::Combine(Combination::Product, None) {
            return Err(Error::NoDerivative { operation: "scatter" }.into());
        }
        let (index, gradient, dim) = (at.load(index)?, single(gradients), self.dim);
        let x = match (at.needs(0), self.alone()) {
            (true, Mode::Add) => Some(gradient.clone()),
            (true, mode) => {
                Some(apply_one(Scatter { dim, given: self.given, index: index.clone(), mode }, &[gradient])?)
            }
            (false, _) => None,
        };
        if matches!(self.mode, Mode::Fill(_) | Mode::Combine(_, Some(_))) {
            return Ok(smallvec![x]);
        }
        let values = || apply_one(Gather { dim, given: self.given, index }, &[gradient]);
        Ok(smallvec![x, at.needs(1).then(values).transpose()?])
    }

    fn jvp(&self, index: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        if self.mode == Mode::Combine(Combination::Product, None) {
            return Err(Error::NoTangent { operation: "scatter" }.into());
        }
        let (index, dim) = (at.load(index)?, self.dim);
        let x = tangent_or_zeros(at, tangents, 0, at.node.form(0).layout.shape())?;
        let Some(values) = tangents.get(1).cloned().flatten() else {
            return match self.alone() {
                Mode::Add => one(x),
                mode => one(apply_one(Scatter { dim, given: self.given, index, mode }, &[&x])?),
            };
        };
        one(apply_one(Scatter { dim, given: self.given, index, mode: self.mode }, &[&x, &values])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let op = Scatter { dim: self.dim + 1, index: lines(call, self.dim)?, ..self.clone() };
        write_lines(call, op)
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        smallvec![self.index.clone()]
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(Scatter { index: held[0].clone(), ..self.clone() })
    }
}

impl Overwrite for Scatter {
    fn reads_apart(&self) -> bool {
        true
    }

    fn in_place_name(&self) -> &'static str {
        if self.mode == Mode::Add { "scatter_add_" } else { "scatter_" }
    }

    fn overwrite(&self, target: &Array, inputs: &[Array]) -> Result<()> {
        let index = self.index.array();
        if index.layout.numel() == 0 {
            return Ok(());
        }
        let apart = if target.overlaps(&index) { copy::dense(&index)? } else { index };
        let index = copy::as_type(&apart, DType::Int64)?;
        let values = match (self.mode, inputs.get(1)) {
            (Mode::Fill(value) | Mode::Combine(_, Some(value)), _) => {
                let value = Array::from_scalar(value, target.dtype)?;
                value.expanded(index.layout.shape())?
            }
            (_, Some(values)) => corner(values, index.layout.shape())?,
            (_, None) => unreachable!("elements are scattered from a tensor"),
        };
        let (dim, numbers) = (self.dim, &*index);
        let index = numbers.view::<i64>();
        macro_rules! into {
            ($T:ty, $combine:expr) => {
                target.overwrite([numbers, &values], |place| {
                    kernels::scatter(place, dim, index, values.view::<$T>(), $combine)
                })
            };
        }
        match self.mode {
            Mode::Replace | Mode::Fill(_) => dispatch!(bits target.dtype, T => into!(T, |_, value| value)),
            Mode::Combine(Combination::Product, _) => {
                dispatch!(ring target.dtype, T => into!(T, |old: T, value: T| Ring::mul(old, value)), else {
                    into!(Bool, |old: Bool, value: Bool| Bool::new(old.get() && value.get()))
                })
            }
            Mode::Add | Mode::Combine(Combination::Sum, _) => {
                dispatch!(ring target.dtype, T => into!(T, |old: T, value: T| Ring::add(old, value)), else {
                    into!(Bool, |old: Bool, value: Bool| Bool::new(old.get() || value.get()))
                })
            }
        }
        Ok(())
    }
}

/// The first elements along every dimension.
fn corner(array: &Array, shape: &[usize]) -> Result<Array> {
    let mut strides: Dims = array.layout.strides().into();
    // Only where one of the two has no dimensions and the other has one element.
    strides.resize(shape.len(), 1);
    Ok(array.with_layout(Layout::strided(shape.into(), strides, array.layout.offset())?))
}

/// The operation of a scatter, with its arguments checked.
fn prepared(x: &Tensor, dim: i64, index: &Tensor, values: Operand<'_>, mode: Mode) -> Result<Scatter> {
    check_index("scatter", x, dim, index)?;
    if let Operand::Tensor(values) = values
        && values.dtype() != x.dtype()
    {
        return Err(Error::ScatterDType { operation: "scatter" }.into());
    }
    let (given, places) = (dim, index);
    let dim = checked("scatter", x, dim, index, |shape, index, dim| {
        if index.len() != shape.len() {
            return Err(Error::GatherDimensions { argument: "self" }.into());
        }
        let beyond = (0..shape.len()).any(|at| at != dim && index[at] > shape[at]);
        let as_given = |tensor: &Tensor| tensor.layout().shape().to_vec();
        let Operand::Tensor(values) = values else {
            return match beyond {
                true => {
                    let (index, shape) = (as_given(places), as_given(x));
                    Err(batch::told_of_all(Error::ScatterShape { index, shape, dim }, &[x, places]))
                }
                false => Ok(()),
            };
        };
        // The first dimension of the index that the source has not is looked for, unless it has none at all.
        if (1..index.len()).contains(&values.ndim()) {
            shape::normalize_dim(values.ndim() as i64, values.ndim())?;
        }
        let layout = values.layout();
        let source = counted(layout.shape());
        if source.len() != index.len() {
            return Err(Error::GatherDimensions { argument: "src" }.into());
        }
        if beyond || index.iter().zip(source).any(|(index, source)| index > source) {
            let (index, shape, source) = (as_given(places), as_given(x), as_given(values));
            let error = Error::ScatterSource { index, shape, dim, source };
            return Err(batch::told_of_all(error, &[x, places, values]));
        }
        Ok(())
    })?;
    Ok(Scatter { dim, given, index: index.clone(), mode })
}

/// Checks what is scattered from a tensor; answers the dimension.
pub(crate) fn checked_scatter(x: &Tensor, dim: i64, index: &Tensor, values: &Tensor) -> Result<usize> {
    prepared(x, dim, index, Operand::Tensor(values), Mode::Add).map(|scatter| scatter.dim)
}

/// What a scatter of an operand does, and its inputs.
fn replacing<'a>(x: &'a Tensor, values: Operand<'a>) -> Result<(Mode, SmallVec<[&'a Tensor; 2]>)> {
    Ok(match values {
        Operand::Tensor(values) => (Mode::Replace, smallvec![x, values]),
        Operand::Scalar(value) => {
            create::check_value(value, x.dtype())?;
            (Mode::Fill(value), smallvec![x])
        }
    })
}

/// The tensor with values where an index says along a dimension.
pub fn scatter<'a>(
    x: &'a Tensor,
    dim: i64,
    index: &Tensor,
    values: impl Into<Operand<'a>>,
) -> Result<Tensor> {
    let values = values.into();
    let (mode, inputs) = replacing(x, values)?;
    apply_one(prepared(x, dim, index, values, mode)?, &inputs)
}

/// `scatter` in place.
pub fn scatter_<'a>(x: &'a Tensor, dim: i64, index: &Tensor, values: impl Into<Operand<'a>>) -> Result<()> {
    let values = values.into();
    let (mode, inputs) = replacing(x, values)?;
    apply_in_place(prepared(x, dim, index, values, mode)?, &inputs)
}

/// A combination with an operand, with its arguments checked, and its inputs.
fn combining<'a>(
    x: &'a Tensor,
    dim: i64,
    index: &Tensor,
    values: Operand<'a>,
    combination: Combination,
) -> Result<(Scatter, SmallVec<[&'a Tensor; 2]>)> {
    let (mode, inputs) = replacing(x, values)?;
    let number = if let Mode::Fill(value) = mode { Some(value) } else { None };
    Ok((prepared(x, dim, index, values, Mode::Combine(combination, number))?, inputs))
}

/// The tensor with values combined with what is there, where an index says along a dimension.
pub fn scatter_combined(
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    values: Operand<'_>,
    combination: Combination,
) -> Result<Tensor> {
    let (op, inputs) = combining(x, dim, index, values, combination)?;
    match op.mode {
        Mode::Combine(Combination::Product, None) if x.dtype().is_float() => {
            let (name, index) = (op.name(), index.clone());
            let parts = move |inputs: &[&Tensor]| {
                let product = scatter_reduce(inputs[0], dim, &index, inputs[1], Fold::Product, true)?;
                Ok(smallvec![product])
            };
            checkpointed::apply_one(CheckpointedOp::new("scatter", name, &["", "", ""], 2, parts), &inputs)
        }
        _ => apply_one(op, &inputs),
    }
}

/// `scatter_combined` in place.
pub fn scatter_combined_(
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    values: Operand<'_>,
    combination: Combination,
) -> Result<()> {
    let (op, inputs) = combining(x, dim, index, values, combination)?;
    if combination == Combination::Product && (records(&inputs) || mode::special()) {
        return in_place::through(x, &inputs[1..], |x| scatter_combined(x, dim, index, values, combination));
    }
    apply_in_place(op, &inputs)
}

/// The tensor with values added where an index says along a dimension.
pub fn scatter_add(x: &Tensor, dim: i64, index: &Tensor, values: &Tensor) -> Result<Tensor> {
    apply_one(prepared(x, dim, index, Operand::Tensor(values), Mode::Add)?, &[x, values])
}

/// `scatter_add` in place.
pub fn scatter_add_(x: &Tensor, dim: i64, index: &Tensor, values: &Tensor) -> Result<()> {
    apply_in_place(prepared(x, dim, index, Operand::Tensor(values), Mode::Add)?, &[x, values])
}

/// What torch's dispatcher calls the operators that no entry names.
pub(crate) const OPERATORS: &[Operator] =
    &[("ScatterAddBackward0", "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor")];

const SCATTERED: &[&str] = &[
    "(Tensor input, int dim, Tensor index, Tensor src, *, Tensor out=None)",
    "(Tensor input, int dim, Tensor index, Tensor src, *, str reduce, Tensor out=None)",
    "(Tensor input, int dim, Tensor index, Number value, *, Tensor out=None)",
    "(Tensor input, int dim, Tensor index, Number value, *, str reduce, Tensor out=None)",
];

const SCATTER: &[&str] = &[
    "(Tensor input, int dim, Tensor index, Tensor src)",
    "(Tensor input, int dim, Tensor index, Tensor src, *, str reduce)",
    "(Tensor input, int dim, Tensor index, Number value)",
    "(Tensor input, int dim, Tensor index, Number value, *, str reduce)",
];

/// The entries.
pub(crate) const ENTRIES: &[Entry] = &[
    both(
        "scatter",
        SCATTERED,
        "A copy of `input` with `src` or a value at the given indices along a dimension.",
        |a| {
            let (x, dim, index, values) = (a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?);
            match combination(a)? {
                None => gather::scatter(x, dim, index, values).reply(),
                Some(combine) => scatter_combined(x, dim, index, values, combine).reply(),
            }
        },
    )
    .written(&OutPolicy::ALIGNED.typed(Types::Same))
    .operators(&[("ScatterBackward0", "scatter.src"), ("ScatterBackward1", "scatter.value@2")]),
    method(
        "scatter_",
        SCATTER,
        "Writes `src` or a value at the given indices along a dimension, in place.",
        |a| {
            let (x, dim, index, values) = (a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?);
            match combination(a)? {
                None => receiver(a, gather::scatter_(x, dim, index, values)),
                Some(combine) => receiver(a, scatter_combined_(x, dim, index, values, combine)),
            }
        },
    )
    .written(&OutPolicy::PLAIN.in_place_as(|given| given.named(2, ".src", ".value"))),
];

/// Refuses what a scatter refuses before it looks at how elements are combined.
#[cold]
pub(in crate::ops::indexing) fn check_scattered(arguments: &dyn Arguments) -> Result<()> {
    let (x, dim, index) = (arguments.tensor(0)?.detach(), arguments.int(1)?, arguments.tensor(2)?);
    gather::scatter(&x, dim, index, arguments.operand(3)?).map(drop)
}

/// What a scatter makes of values and what they meet, if it is to combine them.
fn combination(arguments: &dyn Arguments) -> Result<Option<Combination>> {
    let overload = arguments.overload();
    if matches!(overload, 0 | 2) {
        return Ok(None);
    }
    if overload == 1 {
        warn_once(Error::ScatterReduceOfTensor {})?;
    }
    match arguments.text(4)?.as_str() {
        "add" => Ok(Some(Combination::Sum)),
        "multiply" => Ok(Some(Combination::Product)),
        _ => {
            check_scattered(arguments)?;
            Err(Error::ScatterCombination {}.into())
        }
    }
}
