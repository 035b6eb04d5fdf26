//! Writing to tensors that have a history: what is allowed, and what is recorded.
//!
//! An in-place operation computes into the memory of its first operand, counts one more version and
//! gives the operand a new edge. When the operand is a view the new history belongs to the base, of
//! which one window was replaced: `window` records that, and the view finds its own edge again
//! through the base (Note [Views and writes]).

mod stretches;
mod window;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::batch;
use crate::dispatch::forward_mode::propagate::Propagation;
use crate::dispatch::forward_mode::tangents;
use crate::dispatch::modes::{recording, subclass};
use crate::dispatch::record::{MakeRule, form, gradient_edges, needed, only_once, records};
use crate::error::{Error, Result};
use crate::graph::following::Known;
use crate::graph::mode::GradModeGuard;
use crate::graph::observe::writes;
use crate::graph::tangents::live;
use crate::graph::{Edge, Forms, Node, Rule, SavedTensor, Source, check_kept, mode, saved_tensor_hooks};
use crate::ops::creation::{cast, copy};
use crate::ops::pointwise::{compare, select};
use crate::shape::{self, Layout};
use crate::tensor::{Array, Tensor, repeated};

pub use stretches::through_stretches;
pub(crate) use stretches::{at_one_go, by_stretch, is_plain};
pub(crate) use window::rebase;

/// Whether `x` may be written to. `recording` says whether the write will be recorded.
pub(crate) fn check(x: &Tensor, recording: bool) -> Result<()> {
    check_filled(x, recording)?;
    check_distinct(x)
}

/// Whether the elements of `x` are told apart: those of an expanded tensor are not, windows may overlap.
pub(crate) fn check_distinct(x: &Tensor) -> Result<()> {
    let layout = x.layout();
    // Of a tensor without numbers the memory says nothing.
    match !layout.is_non_overlapping() && repeated::is_expanded(&layout) && !x.has_no_data() {
        true => Err(Error::OverlapModified {}.into()),
        false => Ok(()),
    }
}

/// `check` of a write of one value to all elements, which may be shown several times.
pub(crate) fn check_filled(x: &Tensor, recording: bool) -> Result<()> {
    if recording {
        check_history(x)?;
    }
    if mode::special() { saved_tensor_hooks::tell(x) } else { Ok(()) }
}

/// Whether the history of `x` may be given a new end.
pub fn check_history(x: &Tensor) -> Result<()> {
    check_view(x)?;
    if x.requires_grad() && x.is_leaf()? {
        return Err(Error::LeafModified {}.into());
    }
    Ok(())
}

/// What an operation in place is refused for that failed on these tensors: torch tells whether the first of them may
/// have another history before what is wrong with any.
pub fn first_refusal(inputs: &[&Tensor], error: Box<Error>) -> Box<Error> {
    match inputs.first() {
        Some(x) if records(inputs) => check_history(x).err().unwrap_or(error),
        _ => error,
    }
}

/// Whether the history of the base of `x`, if it has one, may be given a new end through `x`.
pub(crate) fn check_view(x: &Tensor) -> Result<()> {
    let Some(base) = x.base() else { return Ok(()) };
    x.check_creation(false)?;
    if x.requires_grad() && base.is_leaf()? {
        return Err(Error::LeafViewModified {}.into());
    }
    Ok(())
}

/// Tells whether another layout for `x` itself would be recorded, if it may have one.
pub(crate) fn check_layout(x: &Tensor) -> Result<bool> {
    let recording = records(&[x]);
    if recording {
        check_history(x)?;
    }
    Ok(recording)
}

/// Shows the elements of `x` in another layout from now on, derived from the present one. The values
/// stay, so that a view's base keeps its history; `rule` says how gradients come back.
pub(crate) fn lay_out(x: &Tensor, layout: Layout, rule: impl Rule + 'static) -> Result<()> {
    let recording = check_layout(x)?;
    let edges = if recording { gradient_edges(&[x])? } else { smallvec![None] };
    let propagation = if mode::special() { Propagation::of(&[Some(x)])? } else { None };
    x.set_layout(layout);
    {
        // It counts as a write, and none of the numbers is another one.
        let _known = Known::new();
        x.bump_version()?;
    }
    if !recording && propagation.is_none() {
        return Ok(());
    }
    let node = Node::record(rule, edges, Forms::one(form(x)));
    if recording {
        writes::led_to(&x.array().storage, &node);
        x.set_edge(Some(Edge { node: node.clone(), output: 0 }));
    }
    propagation.map_or(Ok(()), |propagation| propagation.into_outputs(&node, std::slice::from_ref(x)))
}

/// A write to the first of some inputs: begun before anything is written, finished after.
pub(crate) struct Write<'a> {
    inputs: SmallVec<[Option<&'a Tensor>; 2]>,
    edges: SmallVec<[Option<Edge>; 2]>,
    recording: bool,
    propagation: Option<Box<Propagation>>,
    ahead: saved_tensor_hooks::PackedInputs,
    /// A copy of what the first input was, if it is of a dispatch subclass.
    before: Option<Tensor>,
}

impl<'a> Write<'a> {
    /// Makes sure that the first input may be written to, and remembers where all came from.
    pub(crate) fn begin(inputs: &[&'a Tensor]) -> Result<Write<'a>> {
        Write::with_numbers(inputs.iter().copied().map(Some).collect())
    }

    /// `begin` where some operands are numbers, but not the first.
    pub(crate) fn with_numbers(inputs: SmallVec<[Option<&'a Tensor>; 2]>) -> Result<Write<'a>> {
        Write::checked(inputs, check)
    }

    /// `begin` of a write of one value to all elements of the first input.
    pub(crate) fn filling(inputs: &[&'a Tensor]) -> Result<Write<'a>> {
        Write::checked(inputs.iter().copied().map(Some).collect(), check_filled)
    }

    fn checked(
        inputs: SmallVec<[Option<&'a Tensor>; 2]>,
        check: fn(&Tensor, bool) -> Result<()>,
    ) -> Result<Write<'a>> {
        let recording = mode::is_grad_enabled() && inputs.iter().flatten().any(|input| input.requires_grad());
        if let Some(Some(x)) = inputs.first() {
            check(x, recording)?;
        }
        let edges = if recording { tangents::edges(&inputs)? } else { SmallVec::new() };
        let propagation = if mode::special() { Propagation::of(&inputs)? } else { None };
        let propagation = propagation.map(Propagation::before_write).transpose()?.map(Box::new);
        Ok(Write {
            inputs,
            edges,
            recording,
            propagation,
            ahead: saved_tensor_hooks::PackedInputs::default(),
            before: None,
        })
    }

    /// Whether a rule will be asked for, so that what it needs of the old values has to be kept.
    pub(crate) fn is_traced(&self) -> bool {
        self.recording || self.propagation.is_some()
    }

    /// Whether any input has a tangent.
    pub(crate) fn has_tangents(&self) -> bool {
        self.propagation.is_some()
    }

    /// A bit for each input that gradients or tangents come from or go to.
    pub(crate) fn needed(&self) -> u64 {
        needed(&self.edges) | self.propagation.as_ref().map_or(0, |propagation| propagation.needed)
    }

    /// Packs what the rule keeps of the inputs, if somebody on this thread packs: old values of the first as
    /// a copy that has its history. It may be refused, and nothing is written then.
    #[cold]
    pub(crate) fn pack(&mut self, rule: &dyn Rule) -> Result<()> {
        let subclassed = self.inputs.iter().flatten().any(|input| input.is_subclassed());
        if !self.recording || saved_tensor_hooks::packer().is_none() && !subclassed {
            return Ok(());
        }
        let is_first = |(_, saved): &(&str, &SavedTensor)| saved.source() == Source::Input(0);
        let before = match self.inputs.first() {
            Some(Some(x)) if rule.saved().iter().any(is_first) => Some(cast::clone(x)?),
            _ => None,
        };
        self.before = before.clone().filter(Tensor::is_subclassed);
        let others = self.inputs.iter().copied().skip(1);
        let inputs: SmallVec<[Option<&Tensor>; 2]> = std::iter::once(before.as_ref()).chain(others).collect();
        self.ahead = saved_tensor_hooks::pack_inputs(rule, &inputs)?;
        Ok(())
    }

    /// Counts the write and records it: its first input gets a new history, and new tangents.
    pub(crate) fn finish<R: Rule + 'static>(self, rule: impl FnOnce(u64) -> R) -> Result<()> {
        let Some(Some(x)) = self.inputs.first().copied() else { return Ok(()) };
        // What is batched has been counted where its samples were written to.
        if !(mode::special() && x.is_batched()) {
            x.bump_version()?;
        }
        if self.is_traced() { self.record(x, &mut Some(rule)) } else { Ok(()) }
    }

    /// Records what was written to `x`, its first input.
    fn record(mut self, x: &Tensor, rule: &mut dyn MakeRule) -> Result<()> {
        let mut rule = rule.make(self.needed());
        check_kept(&*rule)?;
        if mode::special() {
            tangents::keep_tangents_of_write(&mut *rule, &self.inputs, x)?;
        }
        let edges = if self.recording { self.edges } else { SmallVec::from_elem(None, self.inputs.len()) };
        let node = Node::record_boxed(rule, edges, Forms::one(form(x)));
        if self.recording {
            rebase(x, node.clone())?;
        }
        // What is packed is not unpacked for tangents.
        self.propagation.map_or(Ok(()), |propagation| propagation.into_written(&node, x))?;
        if self.recording && mode::special() {
            let calculated = tangents::calculated(&node, Some(x))?;
            saved_tensor_hooks::pack_saved(&node, &mut self.ahead, &calculated, &|source| match source {
                // The values before the write are there in the copy only.
                Source::Input(0) | Source::Constant => None,
                Source::Input(index) => self.inputs.get(usize::from(index)).copied().flatten().cloned(),
                Source::Output(_) => Some(x.clone()),
            })?;
            let others = self.inputs.iter().copied().skip(1);
            let inputs: SmallVec<[_; 2]> = std::iter::once(self.before.as_ref()).chain(others).collect();
            subclass::keep_whole(&node, &inputs, std::slice::from_ref(x))?;
        }
        Ok(())
    }
}

/// Writes what `operation` makes of the values of `x` back to `x`: the in-place form of an operation
/// that has no kernel of its own for it.
pub fn through(
    x: &Tensor,
    others: &[&Tensor],
    operation: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    through_any(x, others, check, |_, _| Ok(()), &mut only_once(operation))
}

/// `through` of an operation that computes each element from those at its place: it may not read what it
/// writes at others.
pub fn through_elements(
    x: &Tensor,
    others: &[&Tensor],
    operation: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    through_any(x, others, check, Array::check_read, &mut only_once(operation))
}

/// `through` of an operation that may not read what it writes.
pub(crate) fn through_apart(
    x: &Tensor,
    others: &[&Tensor],
    operation: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    through_any(x, others, check, Array::check_apart, &mut only_once(operation))
}

/// `through` of a tensor that may show elements several times: each place gets what is new there.
pub(crate) fn through_repeated(
    x: &Tensor,
    others: &[&Tensor],
    operation: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    through_any(x, others, check_filled, |_, _| Ok(()), &mut only_once(operation))
}

fn through_any(
    x: &Tensor,
    others: &[&Tensor],
    check: fn(&Tensor, bool) -> Result<()>,
    check_other: fn(&Array, &Array) -> Result<()>,
    operation: &mut dyn FnMut(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    let mut inputs: SmallVec<[&Tensor; 2]> = SmallVec::from_elem(x, 1);
    inputs.extend(others.iter().copied());
    if batch::highest(inputs.iter().copied()).is_some() {
        return batch::through(x, others, "inplace arithmetic", operation);
    }
    let recording = records(&inputs);
    check(x, recording)?;
    if x.is_subclassed() {
        return through_subclass(x, recording, operation);
    }
    let target = x.memory();
    others.iter().try_for_each(|other| check_other(&target, &other.array()))?;
    // The operation keeps the values that it sees; those of `x` itself are about to go.
    let repeated = !x.layout().is_non_overlapping();
    // What is written down only sees `x` as it is before the write.
    let unusual = mode::special() && !(recording::is_on() && live().is_empty());
    let before = match recording || unusual || repeated {
        true => Tensor::with_history(former(x)?, if recording { x.gradient_edge()? } else { None }),
        false => x.clone(),
    };
    if mode::special() {
        tangents::copy_tangents(&before, x)?;
    }
    let result = operation(&before)?;
    check_result(x, &result)?;
    match repeated {
        true => write_changes(&target, &before.array(), &result.array())?,
        false if recording::is_on() => {
            let write = |targets: &[&Tensor], others: &[&Tensor]| {
                copy::write(&targets[0].memory(), &others[0].array())
            };
            recording::overwriting("torch::autograd::CopyBackwards", &[x], &[&result], write)?;
        }
        false => copy::write(&target, &result.array())?,
    }
    x.bump_version()?;
    if let Some(edge) = result.edge()?
        && recording
    {
        let copy = before.array();
        edge.node.change_saved(|saved| saved.into_iter().for_each(|saved| saved.mark_former(&copy)));
        rebase(x, edge.node)?;
    }
    if mode::special() { tangents::take_tangents(x, &result) } else { Ok(()) }
}

/// The elements before a write, in row-major order and in memory of their own: by an operation, if those are recorded.
pub(crate) fn former(x: &Tensor) -> Result<Array> {
    if !recording::is_on() {
        return copy::dense(&x.array());
    }
    let _off = mode::GradModeGuard::off();
    cast::clone_contiguous(x).map(|copy| copy.array())
}

/// `through` of a tensor of a dispatch subclass: it is shown the operation and a copy.
#[cold]
fn through_subclass(
    x: &Tensor,
    recording: bool,
    operation: &mut dyn FnMut(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    let result = operation(&cast::clone(x)?)?;
    check_result(x, &result)?;
    {
        let _off = mode::GradModeGuard::off();
        cast::copy_(x, &result)?;
    }
    match result.edge()? {
        Some(edge) if recording => rebase(x, edge.node),
        _ => Ok(()),
    }
}

/// Whether values broadcast to `x`.
pub(crate) fn check_broadcast(x: &Tensor, values: &Tensor) -> Result<()> {
    shape::check_expandable(values.layout().shape(), x.layout().shape())
        .map_err(|error| batch::told_of_all(error, &[x, values]))
}

/// Whether a result can be written to `x`.
pub(crate) fn check_result(x: &Tensor, result: &Tensor) -> Result<()> {
    let (from, to) = (result.dtype(), x.dtype());
    if !from.can_cast(to) {
        return Err(Error::ResultCast { from, to }.into());
    }
    let (output, broadcast) = (x.layout(), result.layout());
    if output.shape() != broadcast.shape() {
        let (output, broadcast) = (output.shape().to_vec(), broadcast.shape().to_vec());
        return Err(batch::told_of_all(Error::OutputShape { output, broadcast }, &[x, result]));
    }
    Ok(())
}

/// Writes the elements of `after` that are not those of `before`, which `target` had: what did not change leaves
/// alone what another row wrote.
fn write_changes(target: &Array, before: &Array, after: &Array) -> Result<()> {
    let _off = GradModeGuard::off();
    repeated::in_turn(target, &[before.clone(), after.clone()], &mut |target, others| {
        let [before, after] = others else { unreachable!("as many as there were") };
        let [before, after, now] = [before, after, target].map(|array| Tensor::from_array(array.clone()));
        let changed = compare::ne(&after, &before)?;
        copy::write(target, &select::where_(&changed, &after, &now)?.array())
    })
}
