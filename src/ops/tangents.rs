//! Forward mode at the doors: what carries tangents, and how they pass an operation. All of it is
//! off the way of operations on tensors without any; levels stand in `graph::tangents`.
//!
//! Note [Tangents in memory]
//! ----
//! A tangent lies in its memory as its tensor does. So the tangent of a view is the same window of
//! the tangent of its base, and what is written to the one is seen through the other: a write to a
//! tensor goes on as a write to its tangent. A view whose base got a tangent later finds its own
//! when it is asked.

use std::sync::Arc;

use smallvec::SmallVec;

use super::apply::{attach, forms, needed, stop};
use super::{along, batch, cast, permute, reshape, strided, view};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::cut::Standing;
use crate::graph::node::{RuleBox, boxed};
use crate::graph::{
    At, Edge, Gradients, Level, Node, NodeRef, Rule, SavedTensor, Source, Tangents, check_kept, mode,
    packing, tangents,
};
use crate::shape::Layout;
use crate::storage::Storage;
use crate::tensor::{Array, Tensor};

/// The tangent of a tensor at a level, its own or through the base of a view.
pub fn tangent(x: &Tensor, level: Level) -> Result<Option<Tensor>> {
    if let Some(tangent) = x.own_tangent(level) {
        return Ok(Some(tangent));
    }
    let Some(base) = x.forward_base(level) else { return Ok(None) };
    let Some(whole) = base.own_tangent(level) else { return Ok(None) };
    let _below = tangents::Ceiling::below(level);
    let tangent = view::window(&whole, (*x.layout()).clone())?;
    x.set_tangent(level, Some(tangent.clone()));
    Ok(Some(tangent))
}

/// A view of `x` that has this tangent at a level; itself if it lies in memory as `x` does.
pub fn make_dual(x: &Tensor, tangent: &Tensor, level: Level) -> Result<Tensor> {
    if self::tangent(x, level)?.is_some() {
        return Err(Error::DualOfDual {}.into());
    }
    if self::tangent(tangent, level)?.is_some() {
        return Err(Error::DualTangent {}.into());
    }
    let (got, expected) = (tangent.layout(), x.layout());
    if got.shape() != expected.shape() {
        let (got, expected) = (got.shape().to_vec(), expected.shape().to_vec());
        return Err(Error::TangentShape { got, expected }.into());
    }
    if let Some(mapping) = batch::highest([x, tangent])
        && mapping.id() > level
    {
        return batch::alike(x, tangent, &mapping, |x, tangent| make_dual(x, tangent, level));
    }
    // Within a mapping a tangent may differ between samples, whatever it is a tangent of.
    let x = &batch::within(x)?;
    let dual = view::show_apart("ViewBackward0", x, level)?;
    let _below = tangents::Ceiling::below(level);
    dual.set_tangent(level, Some(fit(tangent, x, tangent.dtype())?));
    Ok(dual)
}

/// The tensor without its tangent at a level, and the tangent.
pub fn unpack_dual(x: &Tensor, level: Level) -> Result<(Tensor, Option<Tensor>)> {
    if mode::special()
        && let Some(batch) = x.batch()
        && batch.mapping.id() > level
    {
        let (primal, tangent) = unpack_dual(&batch.value, level)?;
        let wrap = |x: Tensor| Tensor::batched(x, batch.dim, &batch.mapping);
        return Ok((wrap(primal)?, tangent.map(wrap).transpose()?));
    }
    Ok((view::show_apart("Identity", x, level)?, tangent(x, level)?))
}

/// The tangent of the highest level at which there is one.
pub fn innermost(x: &Tensor) -> Result<Option<Tensor>> {
    for level in tangents::live().into_iter().rev() {
        if let Some(tangent) = tangent(x, level)? {
            return Ok(Some(tangent));
        }
    }
    Ok(None)
}

/// Where gradients with respect to the inputs go; nowhere for numbers.
pub(super) fn edges(inputs: &[Option<&Tensor>]) -> Result<SmallVec<[Option<Edge>; 2]>> {
    inputs.iter().map(|input| input.map_or(Ok(None), Tensor::gradient_edge)).collect()
}

/// `apply::trace` where tangents may have to pass, or some inputs are numbers.
#[cold]
pub(super) fn trace<R: Rule + 'static>(
    inputs: &[Option<&Tensor>],
    outputs: &[Tensor],
    rule: impl FnOnce(u64) -> R,
) -> Result<()> {
    once(rule, &mut |rule| trace_boxed(inputs, outputs, rule))
}

/// A rule that is made at most once, boxed.
pub(super) type MakeRule<'a> = &'a mut dyn FnMut(u64) -> RuleBox;

/// Runs `body` with a function of any rule as one that is compiled once.
pub(super) fn once<R: Rule + 'static, T>(
    rule: impl FnOnce(u64) -> R,
    body: &mut dyn FnMut(MakeRule<'_>) -> T,
) -> T {
    let mut rule = Some(rule);
    body(&mut |needed| match rule.take() {
        Some(rule) => boxed(rule(needed)),
        None => unreachable!("the rule is made once"),
    })
}

fn trace_boxed(inputs: &[Option<&Tensor>], outputs: &[Tensor], rule: MakeRule<'_>) -> Result<()> {
    let standing = inputs.iter().flatten().map(|input| input.standing());
    let standing = standing.fold(Standing::default(), Standing::and);
    let recording = mode::is_grad_enabled() && standing.requires_grad;
    let passing = Passing::of(inputs)?;
    if !recording {
        stop(standing, outputs);
    }
    if !recording && passing.is_none() {
        return Ok(());
    }
    let Some(forms) = forms(outputs) else { return Ok(()) };
    let edges = if recording { edges(inputs)? } else { SmallVec::from_elem(None, inputs.len()) };
    let mut rule = rule(needed(&edges) | passing.as_ref().map_or(0, |passing| passing.needed));
    batch::keep_samples(&mut *rule, &|source| match source {
        Source::Input(index) => inputs.get(usize::from(index)).copied().flatten(),
        Source::Output(index) => outputs.get(usize::from(index)),
        Source::Constant => None,
    });
    keep_tangents(&mut *rule, &|source| match source {
        Source::Input(index) => {
            let Some(Some(input)) = inputs.get(usize::from(index)) else { return Ok(None) };
            carried(input)
        }
        Source::Output(index) => Ok(outputs.get(usize::from(index)).map(Tensor::tangents_or_new)),
        Source::Constant => Ok(None),
    })?;
    if recording {
        check_kept(&*rule)?;
    }
    let node = Node::record_boxed(rule, edges, forms);
    if recording {
        attach(&node, outputs);
        packing::pack_saved(&node, &|source| match source {
            Source::Input(index) => inputs.get(usize::from(index)).copied().flatten().cloned(),
            Source::Output(index) => outputs.get(usize::from(index)).cloned(),
            Source::Constant => None,
        })?;
    }
    passing.map_or(Ok(()), |passing| passing.into_outputs(&node, outputs))
}

/// Has a rule keep, of the tensors that it keeps, the tangents too.
fn keep_tangents(
    rule: &mut dyn Rule,
    tangents_at: &dyn Fn(Source) -> Result<Option<Arc<Tangents>>>,
) -> Result<()> {
    if tangents::live().is_empty() {
        return Ok(());
    }
    let count = rule.saved().len();
    debug_assert_eq!(count, rule.saved_mut().len(), "a rule gives all that it keeps");
    for saved in rule.saved_mut() {
        if let Some(tangents) = tangents_at(saved.source())? {
            let plain = std::mem::replace(saved, SavedTensor::new(saved.array()?, saved.source()));
            *saved = plain.with_tangents(tangents);
        }
    }
    Ok(())
}

/// `keep_tangents` for a write to `x`, whose old values are kept as a copy.
#[cold]
pub(super) fn keep_tangents_of_write(
    rule: &mut dyn Rule,
    inputs: &[Option<&Tensor>],
    x: &Tensor,
) -> Result<()> {
    keep_tangents(rule, &|source| match source {
        Source::Input(index) => {
            let Some(Some(input)) = inputs.get(usize::from(index)) else { return Ok(None) };
            if is_shared(input, x) { copied(input) } else { carried(input) }
        }
        Source::Output(_) => Ok(Some(x.tangents_or_new())),
        Source::Constant => Ok(None),
    })
}

/// The tangents of a tensor that count, those through its base included.
pub(super) fn carried(x: &Tensor) -> Result<Option<Arc<Tangents>>> {
    for level in tangents::live() {
        tangent(x, level)?;
    }
    Ok(x.tangents().and_then(|tangents| tangents.counting()))
}

/// Copies of the tangents of a tensor that count, which stay when the tensor is written to.
fn copied(x: &Tensor) -> Result<Option<Arc<Tangents>>> {
    let mut copies: Option<Arc<Tangents>> = None;
    for level in tangents::live() {
        if let Some(tangent) = tangent(x, level)? {
            let _below = tangents::Ceiling::below(level);
            copies.get_or_insert_default().set(level, Some(cast::clone(&tangent)?));
        }
    }
    Ok(copies)
}

/// Gives `copy`, a copy of the numbers of `x`, copies of its tangents.
#[cold]
pub(super) fn copy_tangents(copy: &Tensor, x: &Tensor) -> Result<()> {
    if let Some(tangents) = copied(x)? {
        copy.carry(tangents);
    }
    Ok(())
}

/// Gives `x`, which was overwritten with the values of `result`, its tangents.
#[cold]
pub(super) fn take_tangents(x: &Tensor, result: &Tensor) -> Result<()> {
    for level in tangents::live() {
        let tangent = tangent(result, level)?;
        write(x, level, tangent.as_ref())?;
    }
    Ok(())
}

/// What an output of a function of the host is.
#[derive(Clone, Copy)]
pub(super) enum Role {
    /// New, or a view.
    New,
    /// An input that was written to.
    Written,
}

/// Tangents on their way through an operation.
pub(super) struct Passing {
    /// A bit for each input that has a tangent.
    pub(super) needed: u64,
    /// The tangents of the inputs by level, in ascending order.
    levels: SmallVec<[(Level, Gradients); 1]>,
}

impl Passing {
    /// The tangents of the inputs, if there are any.
    #[cold]
    pub(super) fn of(inputs: &[Option<&Tensor>]) -> Result<Option<Passing>> {
        let mut passing = Passing { needed: 0, levels: SmallVec::new() };
        for level in tangents::live() {
            let tangents = inputs
                .iter()
                .map(|input| input.map_or(Ok(None), |input| tangent(input, level)))
                .collect::<Result<Gradients>>()?;
            if tangents.iter().all(Option::is_none) {
                continue;
            }
            for (index, _) in tangents.iter().enumerate().take(64).filter(|(_, tangent)| tangent.is_some()) {
                passing.needed |= 1 << index;
            }
            passing.levels.push((level, tangents));
        }
        Ok(if passing.levels.is_empty() { None } else { Some(passing) })
    }

    /// Puts copies in the place of tangents in the memory of that of the first input, which is about
    /// to be written to: they are still read then, and may be kept for backward.
    pub(super) fn before_write(mut self) -> Result<Passing> {
        for (level, tangents) in &mut self.levels {
            let _below = tangents::Ceiling::below(*level);
            let Some(Some(written)) = tangents.first().cloned() else { continue };
            for tangent in tangents.iter_mut().flatten() {
                if is_shared(tangent, &written) {
                    *tangent = cast::clone(tangent)?;
                }
            }
        }
        Ok(self)
    }

    /// Gives new outputs their tangents. Lower levels come first, since the outputs that a rule has
    /// kept carry them into the tangents of the higher ones.
    pub(super) fn into_outputs(self, node: &NodeRef, outputs: &[Tensor]) -> Result<()> {
        for (level, tangents) in self.levels {
            // A new view that is apart at this level gets its tangent from who makes it.
            let apart = |output: &Tensor| output.is_apart(level) && output.own_tangent(level).is_none();
            if outputs.iter().any(apart) {
                continue;
            }
            let _below = tangents::Ceiling::below(level);
            let results = run(node, &tangents)?;
            for (output, result) in outputs.iter().zip(results) {
                let Some(result) = result.filter(|_| output.dtype().is_differentiable()) else { continue };
                let is_new = output.forward_base(level).is_some()
                    || !tangents.iter().flatten().any(|tangent| is_shared(&result, tangent));
                let result = if is_new { result } else { cast::clone(&result)? };
                let fitting = match output.layout().is_non_overlapping() {
                    true => fit(&result, output, output.dtype())?,
                    false => cast::to_dtype(&result, output.dtype())?,
                };
                output.set_tangent(level, Some(fitting));
            }
        }
        Ok(())
    }

    /// Gives the outputs of a function of the host their tangents; `None` stands for what has none.
    pub(super) fn into_roles(self, node: &NodeRef, outputs: &[Option<(&Tensor, Role)>]) -> Result<()> {
        for (level, tangents) in self.levels {
            let results = {
                let _below = tangents::Ceiling::below(level);
                run(node, &tangents)?
            };
            for (position, (output, result)) in outputs.iter().zip(results).enumerate() {
                match (output, result) {
                    (Some((output, Role::Written)), Some(result)) => {
                        // What had a tangent has had it written to, where it lies.
                        match tangent(output, level)? {
                            Some(before) if !before.is(&result) => {
                                return Err(Error::TangentReplaced {}.into());
                            }
                            _ => write(output, level, Some(&result))?,
                        }
                    }
                    (Some((output, Role::New)), Some(result)) => {
                        let _below = tangents::Ceiling::below(level);
                        output.set_tangent(level, Some(fit(&result, output, output.dtype())?));
                    }
                    (Some(_), None) => {}
                    (None, Some(_)) => return Err(Error::TangentOfConstant { position }.into()),
                    (None, None) => {}
                }
            }
        }
        Ok(())
    }

    /// Gives a tensor that was written to its tangents.
    pub(super) fn into_written(self, node: &NodeRef, x: &Tensor) -> Result<()> {
        for (level, tangents) in self.levels {
            let result = {
                let _below = tangents::Ceiling::below(level);
                run(node, &tangents)?.first_mut().and_then(Option::take)
            };
            write(x, level, result.as_ref())?;
        }
        Ok(())
    }
}

fn run(node: &NodeRef, tangents: &Gradients) -> Result<Gradients> {
    // What is not recorded has no history, not even that of its outputs.
    let tracking = mode::is_grad_enabled() && node.edges().iter().any(Option::is_some);
    let at = At { node, needed: u64::MAX, tracking };
    node.rule().jvp(&at, tangents)
}

fn is_shared(a: &Tensor, b: &Tensor) -> bool {
    a.array().storage.is(&b.array().storage)
}

/// Overwrites the tangent of `x`, or that of its base where `x` is a window of it.
fn write(x: &Tensor, level: Level, value: Option<&Tensor>) -> Result<()> {
    if !x.dtype().is_differentiable() {
        return Ok(());
    }
    let before = tangent(x, level)?;
    let _below = tangents::Ceiling::below(level);
    match (before, value) {
        (Some(before), Some(value)) if before.is(value) => Ok(()),
        (Some(before), Some(value)) => cast::copy_(&before, value),
        (Some(before), None) => cast::zero_(&before),
        (None, Some(value)) => {
            let Some(base) = x.forward_base(level) else {
                x.set_tangent(level, Some(fit(&cast::clone(value)?, x, x.dtype())?));
                return Ok(());
            };
            let whole = zeros_as(&base, base.dtype())?;
            let window = view::window(&whole, (*x.layout()).clone())?;
            cast::copy_(&window, value)?;
            base.set_tangent(level, Some(whole));
            x.set_tangent(level, Some(window));
            Ok(())
        }
        (None, None) => Ok(()),
    }
}

/// A tangent of this element type, in memory as `x` is.
fn fit(tangent: &Tensor, x: &Tensor, dtype: DType) -> Result<Tensor> {
    if let Some(mapping) = batch::highest([tangent, x]) {
        return batch::fit(tangent, x, &mapping, |tangent, x| fit(tangent, x, dtype));
    }
    let (is, like) = (tangent.array(), x.array());
    let room = |array: &Array| array.storage.bytes() / array.dtype.size();
    if is.dtype == dtype && room(&is) == room(&like) && lie_alike(&is.layout, &like.layout) {
        return Ok(tangent.clone());
    }
    let repeats = |(&stride, &size): (&usize, &usize)| stride == 0 && size > 1;
    let mut dims = like.layout.strides().iter().zip(like.layout.shape());
    if like.layout.is_non_overlapping() || dims.any(repeats) {
        let fitting = zeros_as(x, dtype)?;
        cast::copy_(&fitting, tangent)?;
        return Ok(fitting);
    }
    // Where windows overlap, the last element written to a place is what all of them show. They are
    // written in the order in which they lie.
    let (sizes, strides) = (like.layout.shape(), like.layout.strides());
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&dim| std::cmp::Reverse((strides[dim], sizes[dim])));
    let mut last = vec![0i64; room(&like)];
    for (element, place) in (0..).zip(strided::places(&permute::reordered(&like.layout, &order))) {
        last[place] = element;
    }
    let last = Tensor::from_slice(&[last.len()], &last)?;
    let order: Vec<i64> = order.into_iter().map(|dim| dim as i64).collect();
    let ordered = permute::permute(&cast::to_dtype(tangent, dtype)?, &order)?;
    let elements = reshape::flatten(&ordered, 0, -1)?;
    let memory = along::index_select(&elements, 0, &last)?;
    view::window(&memory, (*like.layout).clone())
}

fn lie_alike(a: &Layout, b: &Layout) -> bool {
    let strides = || a.strides().iter().zip(b.strides()).zip(a.shape());
    a.offset() == b.offset() && a.shape() == b.shape() && strides().all(|((a, b), &size)| a == b || size <= 1)
}

/// Zeros of this element type in memory of the size and layout of that of `x`.
fn zeros_as(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if let Some(zeros) = batch::unary(x, |x| zeros_as(x, dtype)) {
        return zeros;
    }
    let array = x.array();
    let storage = Storage::zeroed(array.storage.bytes() / array.dtype.size() * dtype.size())?;
    Ok(Tensor::from_array(Array { storage, layout: array.layout, dtype }))
}
