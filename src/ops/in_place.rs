//! Writing to tensors that have a history: what is allowed, and what the write does to histories.
//!
//! An in-place operation computes into the memory of its first operand, counts one more version and
//! gives the operand a new edge. When the operand is a view the new history belongs to the base, of
//! which one window was replaced: `CopySlices` records that, and the view finds its own edge again
//! through the base (Note [Views and writes]).

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::apply::{form, needed, single};
use super::tangents::{self, Passing};
use super::{copy, view};
use crate::error::{Error, Result};
use crate::graph::{At, Edge, Forms, Gradients, Node, NodeRef, Rule, Source, mode, packing};
use crate::shape::Layout;
use crate::storage::Storage;
use crate::tensor::{Array, Creation, Tensor};

/// Whether `x` may be written to. `recording` says whether the write will be recorded.
pub(super) fn check(x: &Tensor, recording: bool) -> Result<()> {
    if !x.layout().is_non_overlapping() {
        return Err(Error::OverlapModified {}.into());
    }
    if recording {
        check_history(x)?;
    }
    if mode::special() { packing::tell(x) } else { Ok(()) }
}

/// Whether the history of `x` may be given a new end.
fn check_history(x: &Tensor) -> Result<()> {
    if let Some(base) = x.base() {
        match x.creation() {
            Creation::Default => {}
            Creation::NoGrad => return Err(Error::NoGradViewModified {}.into()),
            creation @ (Creation::MultiOutput | Creation::Custom) => {
                let edge = x.edge()?;
                let output = edge.as_ref().map_or(0, |edge| edge.output);
                let function = edge.map_or_else(String::new, |edge| edge.node.name());
                return Err(match creation {
                    Creation::Custom => Error::CustomViewModified { function, output },
                    _ => Error::MultiViewModified { function, output },
                }
                .into());
            }
        }
        if x.requires_grad() && base.is_leaf()? {
            return Err(Error::LeafViewModified {}.into());
        }
    }
    if x.requires_grad() && x.is_leaf()? {
        return Err(Error::LeafModified {}.into());
    }
    Ok(())
}

/// Shows the elements of `x` in another layout from now on, derived from the present one. The values
/// stay, so that a view's base keeps its history; `rule` says how gradients come back.
pub(super) fn lay_out(x: &Tensor, layout: Layout, rule: impl Rule + 'static) -> Result<()> {
    let recording = super::apply::records(&[x]);
    if recording {
        if x.base().is_none() && x.is_leaf()? {
            return Err(Error::LeafViewModified {}.into());
        }
        check_history(x)?;
    }
    let edges = if recording { super::apply::gradient_edges(&[x])? } else { smallvec![None] };
    let passing = if mode::special() { Passing::of(&[Some(x)])? } else { None };
    x.set_layout(layout);
    x.bump_version();
    if !recording && passing.is_none() {
        return Ok(());
    }
    let node = Node::record(rule, edges, Forms::one(form(x)));
    if recording {
        x.set_edge(Some(Edge { node: node.clone(), output: 0 }));
    }
    passing.map_or(Ok(()), |passing| passing.into_outputs(&node, std::slice::from_ref(x)))
}

/// A write to the first of some inputs: begun before anything is written, finished after.
pub(super) struct Write<'a> {
    inputs: SmallVec<[Option<&'a Tensor>; 2]>,
    edges: SmallVec<[Option<Edge>; 2]>,
    recording: bool,
    passing: Option<Box<Passing>>,
}

impl<'a> Write<'a> {
    /// Makes sure that the first input may be written to, and remembers where all came from.
    pub(super) fn begin(inputs: &[&'a Tensor]) -> Result<Write<'a>> {
        Write::with_numbers(inputs.iter().copied().map(Some).collect())
    }

    /// `begin` where some operands are numbers, but not the first.
    pub(super) fn with_numbers(inputs: SmallVec<[Option<&'a Tensor>; 2]>) -> Result<Write<'a>> {
        let recording = mode::is_grad_enabled() && inputs.iter().flatten().any(|input| input.requires_grad());
        if let Some(Some(x)) = inputs.first() {
            check(x, recording)?;
        }
        let edges = if recording { tangents::edges(&inputs)? } else { SmallVec::new() };
        let passing = if mode::special() { Passing::of(&inputs)?.map(Box::new) } else { None };
        Ok(Write { inputs, edges, recording, passing })
    }

    /// Whether a rule will be asked for, so that what it needs of the old values has to be kept.
    pub(super) fn is_traced(&self) -> bool {
        self.recording || self.passing.is_some()
    }

    /// A bit for each input that gradients or tangents come from or go to.
    pub(super) fn needed(&self) -> u64 {
        needed(&self.edges) | self.passing.as_ref().map_or(0, |passing| passing.needed)
    }

    /// Counts the write and records it: its first input gets a new history, and new tangents.
    pub(super) fn finish<R: Rule + 'static>(self, rule: impl FnOnce(u64) -> R) -> Result<()> {
        let Some(Some(x)) = self.inputs.first().copied() else { return Ok(()) };
        x.bump_version();
        if !self.is_traced() {
            return Ok(());
        }
        let mut rule = rule(self.needed());
        if mode::special() {
            tangents::keep_tangents_of_write(&mut rule, &self.inputs, x)?;
        }
        let edges = if self.recording { self.edges } else { SmallVec::from_elem(None, self.inputs.len()) };
        let node = Node::record(rule, edges, Forms::one(form(x)));
        if self.recording {
            rebase(x, node.clone())?;
            if mode::special() {
                packing::pack_saved(&node, |source| match source {
                    // The values before the write are there in the copy only.
                    Source::Input(0) | Source::Constant => None,
                    Source::Input(index) => self.inputs.get(usize::from(index)).copied().flatten().cloned(),
                    Source::Output(_) => Some(x.clone()),
                })?;
            }
        }
        self.passing.map_or(Ok(()), |passing| passing.into_written(&node, x))
    }
}

/// Makes `write`, whose first edge is that of `x` before, the history of `x` or of its base.
pub(super) fn rebase(x: &Tensor, write: NodeRef) -> Result<()> {
    let Some(base) = x.base() else {
        x.set_edge(Some(Edge { node: write, output: 0 }));
        return Ok(());
    };
    let mut edges: SmallVec<[Option<Edge>; 2]> = SmallVec::from_elem(base.gradient_edge()?, 1);
    edges.extend(write.edges().iter().skip(1).cloned());
    let rule = CopySlices { base: base.layout(), window: x.layout(), write };
    let node = Node::record(rule, edges, Forms::one(form(&base)));
    base.set_edge(Some(Edge { node, output: 0 }));
    Ok(())
}

/// A tensor of which one window was overwritten by `write`.
///
/// The gradient outside of the window passes; inside it goes through `write`.
struct CopySlices {
    base: Arc<Layout>,
    window: Arc<Layout>,
    write: NodeRef,
}

impl CopySlices {
    /// The gradient in memory of its own that is laid out as the base is, so that the window of the
    /// base is a window of it.
    fn in_base_layout(&self, gradient: &Tensor) -> Result<Tensor> {
        if self.base.is_plain() {
            return super::cast::clone(gradient);
        }
        let start = self.base.offset();
        let layout = Layout::strided(self.base.shape().into(), self.base.strides().into(), 0);
        let bytes = (self.base.end() - start).saturating_mul(gradient.dtype().size());
        let storage = Storage::zeroed(bytes)?;
        let copy = Tensor::from_array(Array { storage, layout: Arc::new(layout), dtype: gradient.dtype() });
        super::cast::copy_(&copy, gradient)?;
        Ok(copy)
    }

    /// A copy of a gradient or tangent of the base, and the window of it.
    fn window(&self, whole: &Tensor) -> Result<(Tensor, Tensor)> {
        let whole = self.in_base_layout(whole)?;
        let offset = self.window.offset() - self.base.offset();
        let layout = Layout::strided(self.window.shape().into(), self.window.strides().into(), offset);
        let window = view::window(&whole, layout)?;
        Ok((whole, window))
    }

    fn inside<'a>(&'a self, at: &At<'a>) -> At<'a> {
        At { node: &self.write, needed: at.needed, tracking: at.tracking }
    }
}

impl Rule for CopySlices {
    fn name(&self) -> &str {
        "torch::autograd::CopySlices"
    }

    fn keeps(&self) -> bool {
        self.write.rule().keeps()
    }

    fn visit_nodes(&self, visit: &mut dyn FnMut(&NodeRef)) {
        visit(&self.write);
    }

    fn caller_only(&self) -> bool {
        self.write.rule().caller_only()
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (whole, window) = self.window(single(gradients))?;
        let mut result =
            self.write.rule().vjp(&self.inside(at), &smallvec![Some(super::cast::clone(&window)?)])?;
        if at.needs(0) {
            overwrite(&window, result.first_mut().and_then(Option::take))?;
            result[0] = Some(whole);
        }
        Ok(result)
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let before = match tangents.first().cloned().flatten() {
            Some(tangent) => tangent,
            None => super::create::zeros(&sizes(self.base.shape()), at.node.form(0).dtype)?,
        };
        let (whole, window) = self.window(&before)?;
        let mut inside = tangents.to_vec();
        inside[0] = Some(super::cast::clone(&window)?);
        let mut result = self.write.rule().jvp(&self.inside(at), &inside)?;
        overwrite(&window, result.first_mut().and_then(Option::take))?;
        Ok(smallvec![Some(whole)])
    }
}

fn sizes(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).collect()
}

fn overwrite(window: &Tensor, inside: Option<Tensor>) -> Result<()> {
    match inside {
        Some(inside) => super::cast::copy_(window, &inside),
        None => super::cast::zero_(window),
    }
}

/// Writes what `operation` makes of the values of `x` back to `x`: the in-place form of an operation
/// that has no kernel of its own for it.
pub fn through(
    x: &Tensor,
    others: &[&Tensor],
    operation: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    let mut inputs: SmallVec<[&Tensor; 2]> = SmallVec::from_elem(x, 1);
    inputs.extend(others.iter().copied());
    let recording = super::apply::records(&inputs);
    check(x, recording)?;
    let target = x.array();
    // The operation keeps the values that it sees; those of `x` itself are about to go.
    let before = match recording {
        true => Tensor::with_history(copy::dense(&target)?, x.gradient_edge()?),
        false => x.clone(),
    };
    if recording && mode::special() {
        tangents::copy_tangents(&before, x)?;
    }
    let result = operation(&before)?;
    let values = result.array();
    if !values.dtype.can_cast(target.dtype) {
        return Err(Error::ResultCast { from: values.dtype, to: target.dtype }.into());
    }
    if values.layout.shape() != target.layout.shape() {
        let (output, broadcast) = (target.layout.shape().to_vec(), values.layout.shape().to_vec());
        return Err(Error::OutputShape { output, broadcast }.into());
    }
    copy::write(&target, &values)?;
    x.bump_version();
    if let Some(edge) = result.edge()?
        && recording
    {
        rebase(x, edge.node)?;
    }
    if mode::special() { tangents::take_tangents(x, &result) } else { Ok(()) }
}
