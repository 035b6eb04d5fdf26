//! Tensors that enter and leave a transform of a function: see Note [Boundaries].

use super::Tensor;
use crate::error::{Error, Result};
use crate::graph::{Form, NodeRef, transform_level};

impl Tensor {
    /// A leaf on the memory of this tensor for the inside of a transform. Its gradients go on to the
    /// history of this tensor if `tracked`.
    pub(crate) fn inner_leaf(&self, tracked: bool) -> Result<Tensor> {
        let onward = if tracked { self.gradient_edge()? } else { None };
        let array = self.array();
        if !array.dtype.resolved().is_differentiable() {
            return Err(Error::RequiresGradDType {}.into());
        }
        let form = Form { layout: array.layout.clone(), dtype: array.dtype };
        let inner = self.without_history();
        {
            let mut core = inner.0.core.write();
            core.accumulator = Some(transform_level::boundary(form, onward));
            core.requires_grad = true;
        }
        Ok(inner)
    }

    /// The boundary, if this is an inner leaf.
    pub(super) fn boundary(&self) -> Option<NodeRef> {
        self.0.core.read().accumulator.clone().filter(|node| node.leaf().is_none())
    }

    /// Whether this tensor comes from outside of the transform that its thread is inside of, other than
    /// as an argument of the function.
    pub fn is_captured(&self) -> bool {
        let depth = transform_level::depth_here();
        if depth == 0 {
            return false;
        }
        let shown = self.base();
        let is_from_outside = |tensor: &Tensor| tensor.0.core.read().birth.depth() < depth;
        (is_from_outside(self) || shown.as_ref().is_some_and(is_from_outside))
            && !transform_level::is_admitted(|admitted| {
                admitted.is(self) || shown.as_ref().is_some_and(|base| base.is(admitted))
            })
    }

    /// Whether a transform that goes on, further in than what this tensor is batched by, follows it.
    pub fn is_followed(&self) -> bool {
        let own = self.mapping().map_or(0, |mapping| mapping.level());
        self.levels().iter().any(|&level| level > own)
    }

    /// The numbers of the transforms that go on and that this tensor was made
    /// inside of, or is an argument of.
    pub fn levels(&self) -> Vec<usize> {
        transform_level::levels(self.depth(), self)
    }

    /// This tensor as if it had been made outside of everything, without history.
    pub fn bare(&self) -> Tensor {
        let bare = self.without_history();
        bare.0.core.write().birth = super::Birth::OUTSIDE;
        bare
    }

    /// This tensor for those who go on with its history when the transform is over that it is from.
    pub fn kept(&self) -> Result<Tensor> {
        let (edge, boundary) = (self.edge()?, self.boundary());
        let kept = self.bare();
        let mut core = kept.0.core.write();
        core.requires_grad = edge.is_none() && boundary.is_some();
        core.accumulator = boundary;
        core.edge = edge;
        drop(core);
        Ok(kept)
    }

    /// Whether this tensor was made inside of transforms that are over, and its history ends there.
    pub(super) fn is_over(&self) -> bool {
        let edge = {
            let core = self.0.core.read();
            if core.birth.is_here() {
                return false;
            }
            core.kept_edge()
        };
        edge.is_some_and(|edge| {
            !transform_level::leads_out(&edge.node, transform_level::NONE, transform_level::depth())
        })
    }

    /// Whether the history of this tensor leads out of the transform that began at `since`.
    pub fn leads_out(&self, since: u64) -> Result<bool> {
        if self
            .gradient_edge()?
            .is_some_and(|edge| transform_level::leads_out(&edge.node, since, outside(since)))
        {
            return Ok(true);
        }
        self.batch().map_or(Ok(false), |batch| batch.value.leads_out(since))
    }

    /// This tensor as the world outside of the transform that began at `since` sees it: without what
    /// was recorded inside, unless that leads out and the outside is `tracked`.
    pub(crate) fn outer(&self, since: u64, tracked: bool) -> Result<Tensor> {
        let outer = match self.gradient_edge()? {
            Some(edge) if edge.node.leaf().is_none() && edge.node.seq() > since => {
                let stays = tracked && transform_level::leads_out(&edge.node, since, outside(since));
                if stays { self.clone() } else { self.without_history() }
            }
            _ => self.clone(),
        };
        if let Some(depth) = transform_level::around(since) {
            outer.rise(depth.min(127) as u8);
        }
        Ok(outer)
    }

    /// Loses what the transform that began at `since` recorded of writes to this tensor, unless that leads
    /// out of it.
    pub(crate) fn leave_behind(&self, since: u64) {
        if let Ok(Some(edge)) = self.edge()
            && edge.node.seq() > since
            && !transform_level::leads_out(&edge.node, since, outside(since))
        {
            self.replace_edge(None);
        }
    }

    /// The node that the history of this tensor begins with for those outside of all transforms: that of
    /// a leaf if it is one there, none if it does not lead there.
    pub fn outermost(&self) -> Result<Option<NodeRef>> {
        Ok(self.gradient_edge()?.and_then(|edge| transform_level::outermost(edge.node)))
    }

    /// How many of the transforms that go on this tensor was made inside of.
    pub fn transforms(&self) -> usize {
        self.depth().min(transform_level::depth())
    }

    /// Whether the innermost of these transforms does not follow this tensor, whatever those around do.
    pub fn is_unfollowed(&self) -> Result<bool> {
        let depth = self.transforms();
        let edge = if depth == 0 { None } else { self.gradient_edge()? };
        Ok(edge.is_some_and(|edge| !transform_level::is_within(&edge.node, depth)))
    }

    /// How many transforms the thread that made this tensor was inside of.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.0.core.read().birth.depth().into()
    }

    /// Takes the tensor out of all but so many transforms.
    fn rise(&self, depth: u8) {
        {
            let mut core = self.0.core.write();
            core.birth = core.birth.at_most(depth);
        }
        if let Some(batch) = self.batch() {
            batch.value.rise(depth);
        }
    }

    /// Of the outermost `depth` transforms that were going on when this tensor was made, how many have
    /// ended without letting it out, but for those that are around `inner` others.
    pub fn escaped(&self, depth: usize, inner: usize) -> usize {
        self.depth().min(depth).saturating_sub(inner.max(transform_level::depth()))
    }
}

/// How many transforms are around the one that began at `since`, or around this thread when it is over.
fn outside(since: u64) -> usize {
    transform_level::around(since).unwrap_or_else(transform_level::depth)
}
