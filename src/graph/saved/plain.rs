//! Memory that is kept as it was, and what is known of it whatever becomes of it.

use super::Source;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::node::{Edge, NodeRef, any_detached};
use crate::graph::observe::writes;
use crate::shape::{self, Layout, SharedLayout};
use crate::storage::Storage;
use crate::tensor::{Array, Tensor};

/// What is to be said of a saved tensor when it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It is the tensor of its source.
    Original,
    /// A copy of what an input was before the operation overwrote it.
    Former,
    /// torch does not keep it.
    Hidden,
}

/// What is known of a saved tensor, whatever became of its memory.
#[derive(Clone)]
pub(super) struct Facts {
    pub(super) layout: SharedLayout,
    /// The version that the memory had.
    pub(super) version: u32,
    pub(super) dtype: DType,
    pub(super) source: Source,
    pub(super) mark: Mark,
}

impl Facts {
    /// What stands for the tensor now, as rules expect it: in the shape and type of what was kept.
    pub(super) fn fitting(&self, array: Array) -> Result<Array> {
        let (expected, like) = (self.layout.shape(), self.dtype.resolved());
        let array = match array.dtype.resolved() {
            dtype if dtype == like || like.is_stored() => array,
            _ => array.converted(like)?,
        };
        let (layout, dtype) = (array.layout.clone(), array.dtype.resolved());
        if dtype == like && layout.shape() == expected {
            return Ok(array);
        }
        if dtype != like || !shape::is_expandable(layout.shape(), expected) {
            shape::broadcast(expected, layout.shape())?;
            let (got, expected) = (layout.shape().to_vec(), expected.to_vec());
            return Err(Error::UnpackedOtherwise { got, dtype, expected, like }.into());
        }
        let strides = shape::expanded_strides(layout.shape(), layout.strides(), expected);
        Ok(array.with_layout(Layout::strided(expected.into(), strides, layout.offset())?))
    }
}

/// Memory as it was.
#[derive(Clone)]
pub(super) struct Plain {
    pub(super) storage: Storage,
    pub(super) facts: Facts,
}

impl Plain {
    /// The array, whatever happened to it since.
    pub(super) fn array(&self) -> Array {
        let Facts { layout, dtype, .. } = &self.facts;
        Array { storage: self.storage.clone(), layout: layout.clone(), dtype: *dtype }
    }

    /// The tensor, unless it was overwritten since. With history if `tracking`.
    pub(super) fn load(&self, node: &NodeRef, tracking: bool) -> Result<Tensor> {
        Ok(Tensor::continuing(self.checked(node)?, self.edge(node, tracking)))
    }

    /// The numbers, unless they were overwritten since.
    pub(super) fn checked(&self, node: &NodeRef) -> Result<Array> {
        self.check_history(node)?;
        let version = self.facts.version;
        if self.storage.version() != version {
            let source = self.present_source(node);
            return Err(writes::modified(node, &self.array(), version, source));
        }
        Ok(self.array())
    }

    /// Refuses an input that has forgotten its history since.
    pub(super) fn check_history(&self, node: &NodeRef) -> Result<()> {
        if any_detached() && self.is_detached(node) {
            return Err(Error::SavedDetached {}.into());
        }
        Ok(())
    }

    /// Whether this is an input, no leaf, that has forgotten its history since.
    #[cold]
    pub(super) fn is_detached(&self, node: &NodeRef) -> bool {
        let Facts { source, mark, .. } = &self.facts;
        matches!(source, Source::Input(_))
            && *mark == Mark::Original
            && source.edge(node).is_some_and(|edge| edge.node.is_detached(edge.output))
    }

    /// The history of the tensor, if it is to be tracked and the type has any.
    pub(super) fn edge(&self, node: &NodeRef, tracking: bool) -> Option<Edge> {
        let Facts { dtype, source, .. } = &self.facts;
        if tracking && dtype.resolved().is_differentiable() { source.edge(node) } else { None }
    }

    /// The name of the node that the tensor comes from as of now, and which of its outputs it is. An
    /// input has a new history if the write was recorded.
    #[cold]
    fn present_source(&self, node: &NodeRef) -> (String, u32) {
        let edge = self.facts.source.edge(node);
        if let Source::Output(_) = self.facts.source {
            return edge.map_or_else(Default::default, |edge| (edge.node.name(), edge.output));
        }
        let before = edge.is_none().then_some(self.facts.version);
        let write = writes::last(&self.storage).and_then(|write| write.history(before));
        match (write, edge) {
            // Whatever was written, to the base or through it: a view finds its own way from there.
            (_, Some(edge)) if edge.node.rule().is_view() => ("AsStridedBackward0".to_owned(), 0),
            (Some(write), _) => (write, 0),
            (None, Some(edge)) if edge.node.leaf().is_none() => (edge.node.name(), edge.output),
            _ => Default::default(),
        }
    }
}
