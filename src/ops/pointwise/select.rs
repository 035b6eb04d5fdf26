//! Choosing between elements by a condition.

use std::sync::Arc;

use crate::dispatch::apply;
use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row, damaged};
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, UnbatchedTarget};
use crate::schema::{both, method, receiver, warn_repeated};
use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply_one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::direct::few::{Few, TYPES, has_few, is_few_of, write_each};
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dispatch::memory_order;
use crate::dispatch::memory_order::MemoryOrder;
use crate::dispatch::operand::Operand;
use crate::dispatch::{batch, in_place, view};
use crate::dtype::{Bool, DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::pointwise::zip;
use crate::ops::creation::{cast, copy, create};
use crate::shape;
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

/// What is chosen where the condition holds, the last operand, computed into memory that is there.
enum Chosen {
    /// The operand of this number, of two.
    Operand(usize),
    /// A number, beside the only operand.
    Number(Scalar),
}

impl Chosen {
    fn choose<T: Element>(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let of = |index: usize| sources.get(index).ok_or_else(misfit);
        let elements = |index: usize| Few::<T>::of(of(index)?, target.count);
        let (yes, no, condition) = match self {
            Chosen::Operand(yes) => (elements(*yes)?, elements(1 - yes)?, of(2)?),
            Chosen::Number(number) => (Few::All(number.to()), elements(0)?, of(1)?),
        };
        let condition = Few::<Bool>::of(condition, target.count)?;
        write_each(sources, target, |at| if condition.at(at).get() { yes.at(at) } else { no.at(at) });
        Ok(())
    }
}

impl Direct for Chosen {
    fn takes(&self, operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
        let Some((condition, others)) = operands.split_last() else { return false };
        TYPES.contains(&dtype)
            && has_few(result)
            && is_few_of(condition, DType::Bool, result)
            && others.iter().all(|operand| is_few_of(operand, dtype, result))
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        dispatch!(usual target.array.dtype, T => self.choose::<T>(sources, target), else { Err(misfit()) })
    }
}

/// y = the first input where the condition holds, else the second; with `FILL` the other way round
///
/// A gradient goes to the input that its element came from; the other one gets zero.
#[derive(Clone)]
struct Select<const FILL: bool> {
    condition: Tensor,
    dtype: DType,
}

/// Elements of the one operand where a condition holds, of the other elsewhere, in this type.
pub(crate) fn choose(condition: &Array, a: &Array, b: &Array, dtype: DType) -> Result<Array> {
    let shape = shape::broadcast(condition.layout.shape(), a.layout.shape())?;
    let shape = shape::broadcast(&shape, b.layout.shape())?;
    let (a, b) = (copy::as_type_in_order(a, dtype)?, copy::as_type_in_order(b, dtype)?);
    let order = MemoryOrder::of(&shape, &[&condition.layout, &a.layout, &b.layout])?;
    let shown = |array: &Array| -> Result<Array> {
        let array = array.expanded(&shape)?;
        Ok(order.as_ref().map_or_else(|| array.clone(), |order| order.sorted(&array)))
    };
    let (condition, a, b) = (shown(condition)?, shown(&a)?, shown(&b)?);
    let mut y = Array::uninit_shape(a.layout.shape(), dtype)?;
    dispatch!(bits dtype, T => {
        let pick = |condition: Bool, a: T, b: T| if condition.get() { a } else { b };
        zip::zip3(&condition.strided::<Bool>(), &a.strided::<T>(), &b.strided::<T>(), y.fresh::<T>(), pick);
    });
    Ok(match order {
        Some(order) => order.restored(y),
        None => y,
    })
}

impl<const FILL: bool> Op for Select<FILL> {
    type Saved = SavedTensor;
    const MOVES: bool = true;
    const SAVED: &'static [&'static str] = if FILL { &["mask"] } else { &["condition"] };

    fn name(&self) -> &'static str {
        if FILL { "MaskedFillBackward1" } else { "WhereBackward0" }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (a, b) = (&inputs[usize::from(FILL)], &inputs[usize::from(!FILL)]);
        let y = choose(&self.condition.array(), a, b, self.dtype)?;
        Ok(smallvec![if FILL { memory_order::in_order(y)? } else { y }])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(Chosen::Operand(usize::from(FILL))))
    }

    fn save(&self, _keep: &Keep<'_>) -> SavedTensor {
        SavedTensor::constant(&self.condition)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (condition, g) = (at.load(saved)?, single(gradients));
        let toward = |index: usize| match FILL && index == 0 {
            true => masked_fill(g, &condition, 0.0),
            false => part(&condition, g, (index == 0) != FILL),
        };
        let toward = |index: usize| at.needs(index).then(|| toward(index)).transpose();
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

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(self.clone())
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        smallvec![self.condition.clone()]
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(Select { condition: held[0].clone(), dtype: self.dtype })
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
        DType::Bool => condition.clone(),
        DType::UInt8 => cast::to_dtype(condition, DType::Bool)?,
        dtype => return Err(Error::WhereCondition { dtype }.into()),
    };
    let dtype = batch::value_type([a, b])?;
    apply_one(Select::<false> { condition, dtype }, &[&made(a, dtype)?, &made(b, dtype)?])
}

/// y = x with one number where the mask holds,  x̄ = ȳ elsewhere
#[derive(Clone)]
struct Fill {
    mask: Tensor,
    value: Tensor,
}

impl Op for Fill {
    type Saved = SavedTensor;
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const SAVED: &'static [&'static str] = &["mask"];

    fn name(&self) -> &'static str {
        "MaskedFillBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let y = choose(&self.mask.array(), &self.value.array(), x, x.dtype)?;
        Ok(smallvec![memory_order::in_order(y)?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        let mut number = None;
        self.value.array().each_number(&mut |value| number = Some(value));
        Some(Arc::new(Chosen::Number(number?)))
    }

    fn save(&self, _keep: &Keep<'_>) -> SavedTensor {
        SavedTensor::constant(&self.mask)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        Ok(smallvec![Some(masked_fill(single(gradients), &at.load(saved)?, 0.0)?)])
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Ok(smallvec![Some(masked_fill(apply::tangent(tangents), &at.load(saved)?, 0.0)?)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(self.clone())
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        smallvec![self.mask.clone()]
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(Fill { mask: held[0].clone(), value: self.value.clone() })
    }
}

/// `x` with `value`, a number or a tensor without dimensions, wherever the mask holds.
pub fn masked_fill<'a>(x: &Tensor, mask: &Tensor, value: impl Into<Operand<'a>>) -> Result<Tensor> {
    // Sizes that do not go together are told first.
    let fits = || shape::broadcast(mask.layout().shape(), x.layout().shape());
    let value = value.into();
    if let Operand::Tensor(value) = value
        && value.ndim() > 0
    {
        return fits().and(Err(Error::MaskedFillValue { ndim: value.ndim() }.into()));
    }
    if mask.dtype() != DType::Bool {
        fits()?;
        return Err(Error::MaskedFillMask { dtype: mask.dtype() }.into());
    }
    let (kept, dtype) = (mask.clone(), x.dtype());
    match value {
        Operand::Scalar(scalar) => {
            let value = create::full(&[], scalar, dtype).or_else(|error| fits().and(Err(error)))?;
            apply_one(Fill { mask: kept, value }, &[x])
        }
        Operand::Tensor(value) => {
            if !batch::is_batched(value) && value.dtype() != dtype {
                create::check_value(value.item()?, dtype)?;
            }
            apply_one(Select::<true> { condition: kept, dtype }, &[x, value])
        }
    }
}

/// `masked_fill` in place.
pub fn masked_fill_<'a>(x: &Tensor, mask: &Tensor, value: impl Into<Operand<'a>>) -> Result<()> {
    let value = value.into();
    let mut others: SmallVec<[&Tensor; 2]> = smallvec![mask];
    others.extend(value.tensor());
    in_place::through_repeated(x, &others, |x| masked_fill(x, mask, value))
}

const MASKED: &[&str] =
    &["(Tensor input, Tensor mask, Tensor value)", "(Tensor input, Tensor mask, Number value)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("masked_fill", MASKED, "A copy of `input` with `value` where the mask is true.", |a| {
        masked_fill(a.tensor(0)?, a.tensor(1)?, a.operand(2)?).reply()
    })
    .operators(&[
        ("MaskedFillBackward0", "masked_fill.Scalar@1"),
        ("MaskedFillBackward1", "masked_fill.Tensor"),
    ]),
    method(
        "where",
        &["(Tensor input, Tensor condition, Tensor other)", "(Tensor input, Tensor condition, Number other)"],
        "Elements of `input` where the condition is true, and of `other` elsewhere.",
        chosen_method,
    )
    .operators(&[("WhereBackward0", "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor")]),
    method("masked_fill_", MASKED, "Sets the elements to `value` where the mask is true.", |a| {
        warn_repeated(a.tensor(0)?, "masked_fill_", "tensor[mask] = scalar")?;
        receiver(a, masked_fill_(a.tensor(0)?, a.tensor(1)?, a.operand(2)?))
    })
    .written(&MASKED_OVER),
];

fn chosen_method(a: &dyn Arguments) -> Result<Reply> {
    where_(a.tensor(1)?, a.operand(0)?, a.operand(2)?).reply()
}

const MASKED_OVER: OutPolicy =
    OutPolicy::PLAIN.in_place_as(|given| given.named(2, ".Tensor", ".Scalar")).unbatched_target(|given| {
        if given.tensors.len() < 2 { UnbatchedTarget::Arithmetic } else { UnbatchedTarget::Fallback }
    });

/// The mask is an operand: what is read has none yet. The value is one number.
impl Plain for Fill {
    fn write(&self, to: &mut Vec<u8>) {
        let mut number = None;
        self.value.array().each_number(&mut |value| number = Some(value));
        (self.value.dtype(), number).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Fill> {
        let (dtype, number) = <(DType, Option<Scalar>)>::read(from)?;
        let number = number.ok_or_else(|| damaged("there is nothing to fill in"))?;
        Ok(Fill { mask: Plain::read(from)?, value: create::full(&[], number, dtype)? })
    }
}

/// The condition is an operand: what is read has none yet.
impl<const FILL: bool> Plain for Select<FILL> {
    fn write(&self, to: &mut Vec<u8>) {
        self.dtype.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Select<FILL>> {
        Ok(Select { condition: Plain::read(from)?, dtype: DType::read(from)? })
    }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<Select<false>>("where"),
    portable::row::<Select<true>>("masked fill of a tensor"),
    portable::row::<Fill>("masked fill"),
];
