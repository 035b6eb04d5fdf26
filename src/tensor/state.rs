//! What every operation reads of a tensor: its array, and what is known of its history without asking others.

use super::Array;
use crate::error::{Error, Result};
use crate::graph::observe::detach_site::{Cut, Standing};
use crate::graph::observe::writes;
use crate::graph::{Edge, NodeRef, mode, transform_level};
use crate::sharing::RwLockReadGuard;

/// What every operation reads.
pub(super) struct Core {
    pub(super) array: Array,
    pub(super) edge: Option<Edge>,
    /// The node of a leaf, once a graph has led to it: see Note [Leaves and their nodes].
    pub(super) accumulator: Option<NodeRef>,
    /// Set on leaves only; other tensors require grad because they have an edge.
    pub(super) requires_grad: bool,
    pub(super) birth: Birth,
    /// Where the history stopped, if there was one.
    pub(super) cut: Cut,
}

/// In one byte, whether a tensor is a view, and how many transforms of functions the thread that made
/// it was inside of.
#[derive(Clone, Copy)]
pub(super) struct Birth(u8);

impl Birth {
    const VIEW: u8 = 1 << 7;

    pub(super) fn now(is_view: bool) -> Birth {
        Birth(transform_level::depth_here() | if is_view { Birth::VIEW } else { 0 })
    }

    pub(super) fn is_view(self) -> bool {
        self.0 & Birth::VIEW != 0
    }

    /// No view, and made outside of every transform.
    pub(super) const OUTSIDE: Birth = Birth(0);

    pub(super) fn depth(self) -> u8 {
        self.0 & !Birth::VIEW
    }

    /// Whether every transform that the tensor was made inside of is one that this thread is inside of, as
    /// far as their number tells.
    #[inline]
    pub(super) fn is_here(self) -> bool {
        self.depth() == 0 || self.depth() <= transform_level::depth_here()
    }

    pub(super) fn of_view(self) -> Birth {
        Birth(self.0 | Birth::VIEW)
    }

    pub(super) fn at_most(self, depth: u8) -> Birth {
        Birth(self.0 & Birth::VIEW | self.depth().min(depth))
    }
}

impl Core {
    /// Whether operations on the tensor are recorded. A view without a history of its own does not
    /// know: its base may have got one since. The base is asked when nothing is being read, since it
    /// may be another operand. Nor is it known of a tensor that came out of a transform.
    #[inline]
    pub(super) fn records(&self) -> Option<bool> {
        match self.requires_grad || self.edge.is_some() {
            true => self.birth.is_here().then_some(true),
            false if self.birth.is_view() => None,
            false => Some(false),
        }
    }

    /// Where a gradient goes, if that is known here.
    #[inline]
    pub(super) fn edge_here(&self) -> Option<Edge> {
        if !self.birth.is_here() {
            return None;
        }
        self.kept_edge()
    }

    /// The history that the tensor has, even if that is of no use any more.
    #[inline]
    pub(super) fn kept_edge(&self) -> Option<Edge> {
        match (&self.edge, &self.accumulator) {
            (Some(edge), _) => Some(edge.clone()),
            (None, Some(node)) if self.requires_grad => Some(Edge { node: node.clone(), output: 0 }),
            _ => None,
        }
    }
}

/// A tensor that is being read: its numbers where they lie, without a handle to them of one's own.
/// Reading one tensor twice at a time could wait for a writer between the two, which waits for the
/// first: operands that are the same tensor are read once.
pub(crate) struct Reading<'a>(pub(super) RwLockReadGuard<'a, Core>);

impl Reading<'_> {
    /// The numbers.
    #[inline]
    pub(crate) fn array(&self) -> &Array {
        &self.0.array
    }

    /// Whether operations on the tensor are recorded, unless that has to be looked up: see `records`.
    #[inline]
    pub(crate) fn requires_grad(&self) -> Option<bool> {
        self.0.records()
    }

    /// Counts a write to the memory: see `Tensor::bump_version`.
    pub(crate) fn bump_version(&self) -> Result<()> {
        let counted = self.array().storage.bump_version();
        writes::note(&self.array().storage);
        if counted || mode::is_inference() { Ok(()) } else { Err(Error::InferenceModified {}.into()) }
    }

    /// What unrecorded results inherit. A view without a history of its own is taken for one without.
    pub(crate) fn standing(&self) -> Standing {
        Standing { requires_grad: self.0.records() == Some(true), cut: self.0.cut }
    }

    /// Where a gradient goes, unless that has to be looked up: for a view, or for a new leaf.
    #[inline]
    pub(crate) fn edge(&self) -> Option<Edge> {
        if self.0.birth.is_view() { None } else { self.0.edge_here() }
    }
}
