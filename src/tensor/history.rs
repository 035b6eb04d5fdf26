//! How a tensor takes part in autograd: `requires_grad`, its edge, its gradient.

use std::sync::Arc;

use super::batched::Wrapper;
use super::view::View;
use super::{Array, Tensor, WeakTensor};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::observe::detach_site::{Cut, Reason, Standing};
use crate::graph::references::Holding;
use crate::graph::{Edge, Hooks, NodeRef, Place, Tangents, leaf, mode, saved, tangents};
use crate::sharing::Mutex;

/// What few tensors have.
#[derive(Default)]
pub(super) struct Cold {
    pub(super) view: Option<View>,
    /// What a tensor that stands for many samples is around.
    pub(super) batch: Option<Wrapper>,
    grad: Mutex<Option<Tensor>>,
    /// Nodes of this leaf from before it got another shape or type, to which graphs may still lead.
    former: Mutex<Vec<NodeRef>>,
    /// Hooks of a leaf. Those of other tensors are with the node that made them.
    pub(super) hooks: Hooks,
    retains_grad: Mutex<bool>,
    grad_dtype: Mutex<GradDType>,
    pub(super) tangents: Mutex<Option<Arc<Tangents>>>,
}

/// The element type that the gradient of a leaf has.
#[derive(Clone, Copy, Default)]
enum GradDType {
    /// That of the leaf.
    #[default]
    Same,
    /// This one.
    Is(DType),
    /// Any.
    Any,
}

impl Cold {
    pub(super) fn of_view(view: View, batch: Option<Wrapper>) -> Cold {
        Cold { view: Some(view), batch, ..Cold::default() }
    }

    pub(super) fn of_batch(wrapper: Wrapper) -> Cold {
        Cold { batch: Some(wrapper), ..Cold::default() }
    }

    /// Shows what is held here, but tangents: their level takes them off.
    pub(super) fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        self.view.iter().for_each(|view| view.visit_tensors(&mut |tensor| visit(Holding::Tensor(tensor))));
        self.batch.iter().for_each(|wrapper| visit(Holding::Tensor(wrapper.value())));
        if let Some(grad) = self.grad.try_lock() {
            grad.iter().for_each(|grad| visit(Holding::Tensor(grad)));
        }
        if let Some(former) = self.former.try_lock() {
            former.iter().for_each(|node| visit(Holding::Node(node)));
        }
        self.hooks.visit_holdings(visit);
    }
}

impl Tensor {
    pub(super) fn cold(&self) -> &Cold {
        self.0.cold.get_or_init(Box::default)
    }

    /// Whether operations on this tensor are recorded.
    pub fn requires_grad(&self) -> bool {
        let known = self.0.core.read().records();
        known.unwrap_or_else(|| self.looks_recorded())
    }

    /// Whether operations on this tensor are recorded, where a look at it did not tell: it escaped from a
    /// transform, or it is a view, on which they are if they are on its base.
    pub(super) fn looks_recorded(&self) -> bool {
        self.has_history() && !self.is_over() || self.view().is_some_and(|view| view.base.requires_grad())
    }

    /// Whether the tensor says that it requires grad: one that escaped from a transform does, though
    /// nothing is recorded of it any more.
    pub fn claims_grad(&self) -> bool {
        self.has_history() || self.requires_grad()
    }

    fn has_history(&self) -> bool {
        let core = self.0.core.read();
        core.requires_grad || core.edge.is_some()
    }

    /// Makes a leaf require grad, or not.
    pub fn set_requires_grad(&self, requires_grad: bool) -> Result<()> {
        let mut core = self.0.core.write();
        if core.edge.is_some() {
            return if requires_grad { Ok(()) } else { Err(Error::RequiresGradNonLeaf {}.into()) };
        }
        if requires_grad && !core.array.dtype.resolved().is_differentiable() {
            return Err(Error::RequiresGradDType {}.into());
        }
        if requires_grad && !core.array.storage.is_counted_throughout() && !mode::is_inference() {
            return Err(Error::InferenceRequiresGrad {}.into());
        }
        if requires_grad && !core.array.storage.is_counted_throughout() {
            mode::expect_frozen_leaves();
        }
        core.requires_grad = requires_grad;
        Ok(())
    }

    /// Whether no recorded operation made this tensor.
    pub fn is_leaf(&self) -> Result<bool> {
        Ok(self.edge()?.is_none())
    }

    /// Whether it is a leaf as far as is known: a view whose base was written since is not asked again.
    pub fn is_known_as_leaf(&self) -> bool {
        self.0.core.read().edge.is_none()
    }

    /// Which output of the operation that made it the tensor is, as far as is known: a view whose base was
    /// written since is not asked again.
    pub fn known_output(&self) -> u32 {
        self.0.core.read().edge.as_ref().map_or(0, |edge| edge.output)
    }

    /// The recorded operation that made this tensor.
    pub fn edge(&self) -> Result<Option<Edge>> {
        if self.is_view() {
            self.refresh_edge()?;
        }
        Ok(self.0.core.read().edge.clone())
    }

    /// Where a gradient with respect to this tensor goes: the operation that made it, or the leaf's
    /// accumulator; nowhere when it does not require grad.
    pub fn gradient_edge(&self) -> Result<Option<Edge>> {
        let (birth, requires_grad, kept) = {
            let core = self.0.core.read();
            let kept = if core.birth.is_view() { None } else { core.kept_edge() };
            (core.birth, core.requires_grad, kept)
        };
        if !birth.is_here() && self.is_over() {
            return Ok(None);
        }
        if kept.is_some() {
            return Ok(kept);
        }
        if birth.is_view()
            && let Some(edge) = self.edge()?
        {
            return Ok(Some(edge));
        }
        Ok(requires_grad.then(|| Edge { node: self.accumulator(), output: 0 }))
    }

    /// The node of this leaf; of an inner leaf, its boundary.
    fn accumulator(&self) -> NodeRef {
        if let Some(node) = &self.0.core.read().accumulator {
            return node.clone();
        }
        let new = leaf::accumulator(self);
        let mut core = self.0.core.write();
        // Another thread may have been here in the meantime.
        core.accumulator.get_or_insert(new).clone()
    }

    /// Gives up the node of this leaf if the leaf no longer looks as the node says. One that graphs lead to stays
    /// for them, and where only the shape is another it stays the leaf's, as torch has it.
    pub(super) fn renew_accumulator(&self) {
        let dtype = self.grad_dtype().unwrap_or_else(|| self.dtype());
        let old = {
            let mut core = self.0.core.write();
            let fits = core.accumulator.as_ref().is_none_or(|node| {
                let form = node.form(0);
                form.dtype == dtype && form.layout.shape() == core.array.layout.shape()
            });
            if fits { None } else { core.accumulator.take() }
        };
        let Some(mut old) = old.and_then(NodeRef::disown) else { return };
        if old.form(0).dtype == dtype {
            let mut core = self.0.core.write();
            // Another thread may have been here in the meantime.
            let Some(new) = core.accumulator.replace(old) else { return };
            old = new;
        }
        let mut former = self.cold().former.lock();
        let kept = std::mem::take(&mut *former).into_iter().filter_map(NodeRef::disown);
        *former = kept.chain([old]).collect();
    }

    /// The tensor that `array` is, with the history that `edge` leads to: where that is a leaf's end,
    /// the leaf, or another one that accumulates into it if the memory is not the leaf's.
    pub(crate) fn continuing(array: Array, edge: Option<Edge>) -> Tensor {
        let Some(leaf) = edge.as_ref().and_then(|edge| edge.node.leaf()) else {
            return Tensor::with_history(array, edge);
        };
        if leaf.memory().is(&array) { leaf.clone() } else { Tensor::apart(array, edge) }
    }

    /// A tensor of its own with the history that `edge` leads to: where that is a leaf's end, a leaf.
    pub(crate) fn apart(array: Array, edge: Option<Edge>) -> Tensor {
        if edge.as_ref().is_none_or(|edge| edge.node.leaf().is_none()) {
            return Tensor::with_history(array, edge);
        }
        let tensor = Tensor::from_array(array);
        let mut core = tensor.0.core.write();
        core.requires_grad = true;
        core.accumulator = edge.map(|edge| edge.node);
        drop(core);
        tensor
    }

    /// Gives a tensor that was written to in place, or made by an operation, its new history.
    pub(crate) fn set_edge(&self, edge: Option<Edge>) {
        self.replace_edge(edge);
        self.mark_seen();
    }

    pub(super) fn replace_edge(&self, edge: Option<Edge>) {
        if self.retains_grad()
            && self.release_retained().is_some()
            && let Some(edge) = &edge
        {
            edge.node.extras_or_new().hooks.retain(edge.output, self.downgrade());
        }
        let old = std::mem::replace(&mut self.0.core.write().edge, edge);
        // Dropped outside of the lock: a whole graph may go with it.
        drop(old);
    }

    fn release_retained(&self) -> Option<WeakTensor> {
        let edge = self.0.core.read().edge.clone()?;
        edge.node.extras().and_then(|extras| extras.hooks.release(edge.output))
    }

    /// A tensor on the same memory and version counter, without history.
    pub fn detach(&self) -> Tensor {
        let detached = self.aside(self.memory());
        let cut = self.standing().cut(Reason::Detach);
        if cut != Cut::NONE {
            detached.set_cut(cut);
        }
        detached
    }

    /// What unrecorded results of operations on this tensor inherit.
    pub(crate) fn standing(&self) -> Standing {
        let (known, cut) = {
            let core = self.0.core.read();
            (core.records(), core.cut)
        };
        Standing { requires_grad: known.unwrap_or_else(|| self.looks_recorded()), cut }
    }

    /// Where the history stopped, if there was one.
    pub fn cut(&self) -> Cut {
        self.0.core.read().cut
    }

    /// Sets where the history stopped.
    pub fn set_cut(&self, cut: Cut) {
        self.0.core.write().cut = cut;
    }

    /// A tensor on the same memory with a version counter of its own, without history.
    pub fn data(&self) -> Result<Tensor> {
        if let Some(batch) = self.batch() {
            return Tensor::batched(batch.value.data()?, batch.dim, &batch.mapping);
        }
        let mut array = self.memory();
        if !array.storage.is_counted() {
            saved::expect_uncounted();
        }
        array.storage = array.storage.alias()?;
        Ok(Tensor::with_cut(array, self.standing().cut(Reason::Detach)))
    }

    /// Forgets the history.
    pub fn detach_in_place(&self) -> Result<()> {
        if self.is_view() {
            return Err(Error::DetachView {}.into());
        }
        let (cut, hooks) = (self.standing().cut(Reason::Detach), self.gradient_hooks()?);
        if let Some(edge) = self.edge()? {
            edge.node.mark_detached(edge.output);
        }
        self.replace_edge(None);
        // Those of a tensor that was no leaf are with the node that it leaves.
        if hooks.is_some() {
            self.hooks().replace(Place::Output(0), hooks);
        }
        for level in tangents::live() {
            self.set_tangent(level, None);
        }
        let mut core = self.0.core.write();
        core.requires_grad = false;
        core.cut = cut;
        Ok(())
    }

    /// The accumulated gradient.
    pub fn grad(&self) -> Option<Tensor> {
        self.0.cold.get().and_then(|cold| cold.grad.lock().clone())
    }

    /// Sets or clears the gradient, without a check.
    pub fn replace_grad(&self, grad: Option<Tensor>) {
        let old = std::mem::replace(&mut *self.cold().grad.lock(), grad);
        drop(old);
    }

    /// Runs `update` on the gradient under its lock, so that two threads that accumulate into one
    /// leaf both count. It answers what takes the gradient's place, if anything does.
    pub(crate) fn update_grad(
        &self,
        update: impl FnOnce(Option<&Tensor>) -> Result<Option<Tensor>>,
    ) -> Result<()> {
        let mut slot = self.cold().grad.lock();
        let Some(updated) = update(slot.as_ref())? else { return Ok(()) };
        let old = slot.replace(updated);
        drop(slot);
        drop(old);
        Ok(())
    }

    /// Sets or clears the gradient as an assignment does.
    pub fn set_grad(&self, grad: Option<Tensor>) -> Result<()> {
        if let Some(grad) = &grad {
            let (got, expected) = (grad.array(), self.array());
            if let Some(expected) = self.grad_dtype().filter(|&dtype| dtype != got.dtype) {
                return Err(Error::GradDType { got: got.dtype, expected }.into());
            }
            if got.layout.shape() != expected.layout.shape() {
                let (got, expected) = (got.layout.shape().to_vec(), expected.layout.shape().to_vec());
                return Err(Error::GradSize { got, expected }.into());
            }
        }
        self.replace_grad(grad);
        self.note_recorded_gradient();
        Ok(())
    }

    /// The element type that the gradient of this leaf is to have; `None` allows any.
    pub fn grad_dtype(&self) -> Option<DType> {
        match self.0.cold.get().map_or(GradDType::Same, |cold| *cold.grad_dtype.lock()) {
            GradDType::Same => Some(self.dtype()),
            GradDType::Is(dtype) => Some(dtype),
            GradDType::Any => None,
        }
    }

    /// Whether the gradient, if there is one, has that element type.
    pub fn check_grad_dtype(&self, dtype: Option<DType>) -> Result<()> {
        match (dtype, self.grad().map(|grad| grad.dtype())) {
            (Some(wanted), Some(got)) if got != wanted => Err(Error::GradDTypeTaken { wanted, got }.into()),
            _ => Ok(()),
        }
    }

    /// Sets the element type that the gradient of this leaf is to have.
    pub fn set_grad_dtype(&self, dtype: Option<DType>) {
        *self.cold().grad_dtype.lock() = dtype.map_or(GradDType::Any, GradDType::Is);
        self.renew_accumulator();
    }

    /// Keeps the gradient of a tensor that is not a leaf.
    pub fn retain_grad(&self) -> Result<()> {
        if !self.requires_grad() {
            return Err(Error::RetainGradNoGrad {}.into());
        }
        if let Some(edge) = self.edge()? {
            let mut retains = self.cold().retains_grad.lock();
            if !std::mem::replace(&mut *retains, true) {
                edge.node.extras_or_new().hooks.retain(edge.output, self.downgrade());
            }
        }
        Ok(())
    }

    /// Whether the gradient of this tensor, which is not a leaf, is kept.
    pub fn retains_grad(&self) -> bool {
        self.0.cold.get().is_some_and(|cold| *cold.retains_grad.lock())
    }
}
