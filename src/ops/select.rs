//! Choosing between elements by a condition.

use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, apply_one, single};
use super::memory_order::MemoryOrder;
use super::operand::{Operand, result_type};
use super::{binary, copy, create, in_place, view};
use crate::dtype::{Bool, DType};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor, Source};
use crate::kernels::zip;
use crate::shape;
use crate::tensor::{Array, Tensor};

/// y = the first input where the condition holds, else the second; with `FILL` the other way round
///
/// A gradient goes to the input that its element came from; the other one gets zero.
struct Select<const FILL: bool> {
    condition: Array,
    dtype: DType,
}

/// The type of which a kernel moves elements: it needs their size only.
fn bits(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::UInt8,
        2 => DType::Int16,
        4 => DType::Int32,
        _ => DType::Int64,
    }
}

fn choose(condition: &Array, a: &Array, b: &Array, dtype: DType) -> Result<Array> {
    let shape = shape::broadcast(a.layout.shape(), b.layout.shape())?;
    let shape = shape::broadcast(condition.layout.shape(), &shape)?;
    let as_bits = |array: &Array| -> Result<Array> {
        let converted = copy::as_type_in_order(array, dtype)?.into_owned();
        Ok(Array { dtype: bits(dtype), ..binary::expanded(&converted, &shape) })
    };
    let shown = |array| binary::expanded(array, &shape);
    let order = MemoryOrder::of(&[&shown(condition), &shown(a), &shown(b)]);
    let (condition, a, b) = (shown(condition), as_bits(a)?, as_bits(b)?);
    let (condition, a, b) = match &order {
        Some(order) => (order.sorted(&condition), order.sorted(&a), order.sorted(&b)),
        None => (condition, a, b),
    };
    let mut y = Array::uninit_shape(a.layout.shape(), bits(dtype))?;
    dispatch!(integer bits(dtype), T => {
        let pick = |condition: Bool, a: T, b: T| if condition.get() { a } else { b };
        zip::zip3(condition.view::<Bool>(), a.view::<T>(), b.view::<T>(), y.fresh::<T>(), pick);
    }, else { unreachable!("bits are integers") });
    let y = Array { dtype, ..y };
    Ok(match order {
        Some(order) => order.restored(&y),
        None => y,
    })
}

impl<const FILL: bool> Op for Select<FILL> {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = if FILL { &["mask"] } else { &["condition"] };

    fn name(&self) -> &'static str {
        if FILL { "MaskedFillBackward1" } else { "WhereBackward0" }
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let (a, b) = (inputs[usize::from(FILL)].array(), inputs[usize::from(!FILL)].array());
        Ok(smallvec![Tensor::from_array(choose(&self.condition, &a, &b, self.dtype)?)])
    }

    fn save(&self, _keep: &Keep<'_>) -> SavedTensor {
        SavedTensor::new(self.condition.clone(), Source::Constant)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (condition, g) = (at.load(saved)?, single(gradients));
        let toward = |index: usize| {
            let wanted = at.needs(index);
            wanted.then(|| part(&condition, g, (index == 0) != FILL)).transpose()
        };
        Ok(smallvec![toward(0)?, toward(1)?])
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let condition = at.load(saved)?;
        let operand = |index: usize| {
            let tangent = tangents.get(index).and_then(Option::as_ref);
            tangent.map_or(Operand::from(0.0), Operand::from)
        };
        let (a, b) = (operand(usize::from(FILL)), operand(usize::from(!FILL)));
        let y = where_(&condition, a, b)?;
        Ok(smallvec![Some(view::expand_to(&y, at.node.form(0).layout.shape())?)])
    }
}

/// The elements of `g` where the condition is `wanted`, else zero.
fn part(condition: &Tensor, g: &Tensor, wanted: bool) -> Result<Tensor> {
    if wanted { where_(condition, g, 0.0) } else { where_(condition, 0.0, g) }
}

/// An operand as a tensor.
fn made(operand: Operand<'_>, dtype: DType) -> Result<Tensor> {
    match operand {
        Operand::Tensor(tensor) => Ok(tensor.clone()),
        Operand::Scalar(scalar) => create::full(&[], scalar, dtype),
    }
}

/// The elements of `a` where the condition holds, those of `b` elsewhere.
pub fn where_<'a>(
    condition: &Tensor,
    a: impl Into<Operand<'a>>,
    b: impl Into<Operand<'a>>,
) -> Result<Tensor> {
    let (a, b) = (a.into(), b.into());
    let condition = match condition.dtype() {
        DType::Bool => condition.array(),
        DType::UInt8 => copy::converted(&condition.array(), DType::Bool)?,
        dtype => return Err(Error::WhereCondition { dtype }.into()),
    };
    let dtype = result_type([&a.numbers(), &b.numbers()]);
    apply_one(Select::<false> { condition, dtype }, &[&made(a, dtype)?, &made(b, dtype)?])
}

/// y = x with one number where the mask holds,  x̄ = ȳ elsewhere
struct Fill {
    mask: Array,
    value: Tensor,
}

impl Op for Fill {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["mask"];

    fn name(&self) -> &'static str {
        "MaskedFillBackward0"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let x = inputs[0].array();
        Ok(smallvec![Tensor::from_array(choose(&self.mask, &self.value.array(), &x, x.dtype)?)])
    }

    fn save(&self, _keep: &Keep<'_>) -> SavedTensor {
        SavedTensor::new(self.mask.clone(), Source::Constant)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        Ok(smallvec![Some(part(&at.load(saved)?, single(gradients), false)?)])
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Ok(smallvec![Some(part(&at.load(saved)?, super::apply::tangent(tangents), false)?)])
    }
}

/// `x` with `value`, a number or a tensor without dimensions, wherever the mask holds.
pub fn masked_fill<'a>(x: &Tensor, mask: &Tensor, value: impl Into<Operand<'a>>) -> Result<Tensor> {
    if mask.dtype() != DType::Bool {
        return Err(Error::MaskedFillMask { dtype: mask.dtype() }.into());
    }
    let (mask, dtype) = (mask.array(), x.dtype());
    match value.into() {
        Operand::Scalar(scalar) => apply_one(Fill { mask, value: create::full(&[], scalar, dtype)? }, &[x]),
        Operand::Tensor(value) if value.ndim() == 0 => {
            apply_one(Select::<true> { condition: mask, dtype }, &[x, value])
        }
        Operand::Tensor(value) => Err(Error::MaskedFillValue { ndim: value.ndim() }.into()),
    }
}

/// `masked_fill` in place.
pub fn masked_fill_<'a>(x: &Tensor, mask: &Tensor, value: impl Into<Operand<'a>>) -> Result<()> {
    let value = value.into();
    let others: &[&Tensor] = if let Operand::Tensor(value) = &value { &[*value] } else { &[] };
    in_place::through(x, others, |x| masked_fill(x, mask, value))
}
