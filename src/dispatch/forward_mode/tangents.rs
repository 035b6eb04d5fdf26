//! Forward mode for the entry points of operations: reading and writing the tangents of tensors, and tracing an
//! operation whose inputs carry some. Only special threads come here; levels stand in `graph::tangents`.
//!
//! Note [Tangents in memory]
//! ----
//! A tangent lies in its memory as its tensor does. So the tangent of a view is the same window of
//! the tangent of its base, and what is written to the one is seen through the other: a write to a
//! tensor goes on as a write to its tangent. A view whose base got a tangent later finds its own
//! when it is asked.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::forward_mode::propagate::{Propagation, check_shape};
use crate::dispatch::modes::{intercept, subclass};
use crate::dispatch::record::{MakeRule, attach, forms, needed, passes_by, stop};
use crate::dispatch::{batch, view};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::node::RuleBox;
use crate::graph::observe::detach_site::Standing;
use crate::graph::{
    At, Edge, Level, Node, NodeRef, Rule, SavedTensor, Shown, Source, Tangents, check_kept, mode,
    saved_tensor_hooks, tangents, transform_level,
};
use crate::ops::conjugate;
use crate::ops::conjugate::{conj, negative_view};
use crate::ops::creation::cast;
use crate::ops::geometry::{permute, reshape, strided};
use crate::ops::indexing::along;
use crate::shape::Layout;
use crate::storage::Storage;
use crate::tensor::{Array, Outputs, Tensor};

/// The tangent of a tensor at a level, its own or through the base of a view.
pub fn tangent(x: &Tensor, level: Level) -> Result<Option<Tensor>> {
    if let Some(tangent) = x.own_tangent(level) {
        return Ok(Some(tangent));
    }
    let Some(base) = x.forward_base(level) else { return Ok(None) };
    let Some(whole) = base.own_tangent(level) else { return Ok(None) };
    let _below = tangents::Ceiling::below(level);
    let tangent = view::window_like(&whole, x)?;
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
    check_shape(tangent, x)?;
    if let Some(mapping) = batch::highest([x, tangent])
        && mapping.id() > level
    {
        return batch::alike(x, tangent, &mapping, |x, tangent| make_dual(x, tangent, level));
    }
    // Within a mapping a tangent may differ between samples, whatever it is a tangent of.
    let (x, tangent) = (&batch::within(x)?, &batch::within(tangent)?);
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
    let name = if transform_level::depth() > 0 { "AliasBackward0" } else { "torch::autograd::Identity" };
    Ok((view::show_apart(name, x, level)?, tangent(x, level)?))
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
pub(crate) fn edges(inputs: &[Option<&Tensor>]) -> Result<SmallVec<[Option<Edge>; 2]>> {
    inputs.iter().map(|input| input.map_or(Ok(None), Tensor::gradient_edge)).collect()
}

/// `record::trace` where tangents may have to pass, or some inputs are numbers.
pub(crate) fn trace<R: Rule + 'static>(
    inputs: &[Option<&Tensor>],
    outputs: &[Tensor],
    rule: impl FnOnce(u64) -> R,
) -> Result<()> {
    trace_any(inputs, outputs, &mut saved_tensor_hooks::PackedInputs::default(), &mut Some(rule))
}

/// A rule for the inputs that matter and the outputs. Before the operation has run there are none of these.
pub(crate) type RuleOf<'a> = &'a mut dyn FnMut(u64, &[Tensor]) -> RuleBox;

/// A rule for these outputs.
struct RuleForOutputs<'a> {
    rule: RuleOf<'a>,
    outputs: &'a [Tensor],
}

impl MakeRule for RuleForOutputs<'_> {
    fn make(&mut self, needed: u64) -> RuleBox {
        (self.rule)(needed, self.outputs)
    }
}

/// Runs an operation and traces it. What a rule keeps of the inputs is packed before, if somebody packs on
/// this thread: whoever then ends the computation spares it the operation.
#[cold]
pub(crate) fn run(
    inputs: &[Option<&Tensor>],
    forward: &mut dyn FnMut() -> Result<Outputs>,
    rule: RuleOf<'_>,
) -> Result<Outputs> {
    let mut ahead = saved_tensor_hooks::PackedInputs::default();
    let requires_grad = |input: &Option<&Tensor>| input.is_some_and(Tensor::requires_grad);
    let recording = mode::is_grad_enabled() && inputs.iter().any(requires_grad);
    if recording && saved_tensor_hooks::packer().is_some() && !passes_by(inputs.iter().copied()) {
        let bits = inputs.iter().take(64).enumerate();
        let needed = bits.fold(0, |bits, (index, input)| bits | u64::from(requires_grad(input)) << index);
        ahead = saved_tensor_hooks::pack_inputs(&*rule(needed, &[]), inputs)?;
    }
    let outputs = forward()?;
    trace_any(inputs, &outputs, &mut ahead, &mut RuleForOutputs { rule, outputs: &outputs })?;
    Ok(outputs)
}

/// What follows an operation that has run.
pub(crate) fn trace_given(inputs: &[Option<&Tensor>], outputs: &[Tensor], rule: RuleOf<'_>) -> Result<()> {
    trace_any(
        inputs,
        outputs,
        &mut saved_tensor_hooks::PackedInputs::default(),
        &mut RuleForOutputs { rule, outputs },
    )
}

/// `run` of an operation with one output.
pub(crate) fn run_one(
    inputs: &[Option<&Tensor>],
    forward: &mut dyn FnMut() -> Result<Tensor>,
    rule: RuleOf<'_>,
) -> Result<Tensor> {
    let mut outputs = run(inputs, &mut || Ok(smallvec![forward()?]), rule)?;
    outputs.pop().map_or_else(|| unreachable!("the operation has one output"), Ok)
}

/// `trace` of any rule, of which some may be packed `ahead`.
#[cold]
pub(crate) fn trace_any(
    inputs: &[Option<&Tensor>],
    outputs: &[Tensor],
    ahead: &mut saved_tensor_hooks::PackedInputs,
    rule: &mut dyn MakeRule,
) -> Result<()> {
    let standing = inputs.iter().flatten().map(|input| input.standing());
    let standing = standing.fold(Standing::default(), Standing::and);
    let recording = mode::is_grad_enabled() && standing.requires_grad && !passes_by(inputs.iter().copied());
    let propagation = Propagation::of(inputs)?;
    if !recording {
        stop(standing, outputs);
    }
    if !recording && propagation.is_none() {
        return Ok(());
    }
    let Some(forms) = forms(outputs) else { return Ok(()) };
    let edges = if recording { edges(inputs)? } else { SmallVec::from_elem(None, inputs.len()) };
    let mut rule =
        rule.make(needed(&edges) | propagation.as_ref().map_or(0, |propagation| propagation.needed));
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
    }
    if propagation.is_some() {
        subclass::keep_whole(&node, inputs, outputs)?;
    }
    // What is packed is not unpacked for tangents.
    propagation.map_or(Ok(()), |propagation| propagation.into_outputs(&node, outputs))?;
    if recording {
        saved_tensor_hooks::pack_saved(&node, ahead, &calculated(&node, outputs.first())?, &|source| {
            match source {
                Source::Input(index) => inputs.get(usize::from(index)).copied().flatten().cloned(),
                Source::Output(index) => outputs.get(usize::from(index)).cloned(),
                Source::Constant => None,
            }
        })?;
        subclass::keep_whole(&node, inputs, outputs)?;
    }
    Ok(())
}

/// What a new node shows of its results without keeping it, if somebody on this thread packs: calculated
/// before anything is packed, and seen by nobody.
pub(crate) fn calculated(node: &NodeRef, result: Option<&Tensor>) -> Result<Vec<(&'static str, Tensor)>> {
    if saved_tensor_hooks::packer().is_none() {
        return Ok(Vec::new());
    }
    let _hidden = (saved_tensor_hooks::suspend(), intercept::suspend(), mode::GradModeGuard::off());
    let rule = node.rule();
    let names = rule.shown().into_iter().filter(|(_, shown)| matches!(shown, Shown::Computed));
    names
        .map(|(name, _)| match result.filter(|_| name == "result") {
            Some(result) => Ok((name, result.clone())),
            None => Ok((name, rule.compute(name, &At { node, needed: 0, tracking: false, seen: false })?)),
        })
        .collect()
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
pub(crate) fn keep_tangents_of_write(
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
pub(crate) fn carried(x: &Tensor) -> Result<Option<Arc<Tangents>>> {
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
pub(crate) fn copy_tangents(copy: &Tensor, x: &Tensor) -> Result<()> {
    if let Some(tangents) = copied(x)? {
        copy.carry(tangents);
    }
    Ok(())
}

/// Gives `x`, which was overwritten with the values of `result`, its tangents.
#[cold]
pub(crate) fn take_tangents(x: &Tensor, result: &Tensor) -> Result<()> {
    for level in tangents::live() {
        let tangent = tangent(result, level)?;
        write(x, level, tangent.as_ref())?;
    }
    Ok(())
}

pub(crate) fn is_shared(a: &Tensor, b: &Tensor) -> bool {
    a.array().storage.is(&b.array().storage)
}

/// Overwrites the tangent of `x`, or that of its base where `x` is a window of it.
pub(crate) fn write(x: &Tensor, level: Level, value: Option<&Tensor>) -> Result<()> {
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
            let whole = batch::with_room(zeros_as(&base, base.dtype())?, &[value])?;
            let window = view::window_like(&whole, x)?;
            cast::copy_(&window, value)?;
            base.set_tangent(level, Some(whole));
            x.set_tangent(level, Some(window));
            Ok(())
        }
        (None, None) => Ok(()),
    }
}

/// A tangent of this element type, in memory as `x` is.
pub(crate) fn fit(tangent: &Tensor, x: &Tensor, dtype: DType) -> Result<Tensor> {
    if let Some(mapping) = batch::highest([tangent, x]) {
        let tangent = &cast::to_dtype(tangent, dtype)?;
        let fitting = batch::fit(tangent, x, &mapping, |tangent, x| fit(tangent, x, dtype))?;
        if !fitting.is(tangent) {
            // The values were moved below: what is tracked above the mapping is that of the tangent.
            fitting.set_edge(tangent.gradient_edge()?);
            copy_tangents(&fitting, tangent)?;
        }
        return Ok(fitting);
    }
    if x.is_pending() {
        let shown = |t: &Tensor| if x.dtype().is_complex() { conj(t.clone()) } else { negative_view(t) };
        return shown(&fit(&shown(tangent)?, &shown(x)?, dtype)?);
    }
    let tangent = &conjugate::resolve(tangent)?;
    let (is, like) = (tangent.array(), x.array());
    let room = |array: &Array| array.storage.room() / array.dtype.size();
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
    let storage = Storage::zeroed(array.storage.room() / array.dtype.size() * dtype.size())?;
    Ok(Tensor::from_array(Array { storage, layout: array.layout, dtype }))
}
