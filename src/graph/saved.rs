//! A tensor kept for backward: its memory, and the version that the memory had.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::node::{Edge, NodeRef};
use super::rule::Rule;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::shape::Layout;
use crate::storage::Storage;
use crate::tensor::{Array, Tensor};

/// Where the tensor stands in its operation. From this its history is found again; keeping the
/// history itself would make outputs hold the node that holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The input of that number.
    Input(u8),
    /// The output of that number.
    Output(u8),
    /// Neither: numbers without history.
    Constant,
}

/// Whether anything was ever kept whose writes nobody counts, which is a mistake of the program.
static UNCOUNTED_KEPT: AtomicBool = AtomicBool::new(false);

/// Whether backward may rely on what a rule keeps. Asked before the rule is recorded.
pub fn check_kept(rule: &dyn Rule) -> Result<()> {
    if UNCOUNTED_KEPT.load(Ordering::Relaxed)
        && rule.saved().iter().any(|(_, saved)| !saved.storage.is_counted())
    {
        return Err(Error::InferenceSaved {}.into());
    }
    Ok(())
}

/// 24 bytes of a node.
pub struct SavedTensor {
    storage: Storage,
    layout: Arc<Layout>,
    version: u32,
    dtype: DType,
    source: Source,
}

impl SavedTensor {
    /// Keeps what `array` shows now.
    pub fn new(array: Array, source: Source) -> Self {
        let version = array.storage.version();
        if !array.storage.is_counted() {
            UNCOUNTED_KEPT.store(true, Ordering::Relaxed);
        }
        SavedTensor { storage: array.storage, layout: array.layout, version, dtype: array.dtype, source }
    }

    /// The layout that was kept.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The element type that was kept.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The memory, whatever happened to it since.
    pub fn array(&self) -> Array {
        Array { storage: self.storage.clone(), layout: self.layout.clone(), dtype: self.dtype }
    }

    /// The tensor, unless it was overwritten since. With history if `tracking`.
    pub fn load(&self, node: &NodeRef, tracking: bool) -> Result<Tensor> {
        if self.storage.version() != self.version {
            return Err(self.modified(node));
        }
        let edge = if tracking { self.edge(node) } else { None };
        Ok(Tensor::with_history(self.array(), edge))
    }

    fn edge(&self, node: &NodeRef) -> Option<Edge> {
        match self.source {
            Source::Input(index) => node.edges().get(usize::from(index)).cloned().flatten(),
            Source::Output(output) => Some(Edge { node: node.clone(), output: u32::from(output) }),
            Source::Constant => None,
        }
    }

    #[cold]
    fn modified(&self, node: &NodeRef) -> Box<Error> {
        let edge = self.edge(node).filter(|edge| edge.node.leaf().is_none());
        Error::Modified {
            dtype: self.dtype,
            shape: self.layout.shape().to_vec(),
            output: edge.as_ref().map_or(0, |edge| edge.output),
            source: edge.map_or_else(String::new, |edge| edge.node.name()),
            version: self.storage.version(),
            expected: self.version,
        }
        .into()
    }
}
