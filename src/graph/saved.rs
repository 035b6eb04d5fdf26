//! A tensor kept for backward: its memory, and the version that the memory had.

use std::sync::Arc;

use super::node::{Edge, NodeRef};
use super::tangents::Tangents;
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

/// 24 bytes of a node.
pub struct SavedTensor(Form);

enum Form {
    Plain(Plain),
    Special(Box<Special>),
}

/// Memory and the version that it had.
struct Plain {
    storage: Storage,
    layout: Arc<Layout>,
    version: u32,
    dtype: DType,
    source: Source,
}

/// What few saved tensors are.
enum Special {
    /// A tensor with tangents.
    Dual(Plain, Arc<Tangents>),
    /// Something that gives the tensor back.
    Kept { kept: Box<dyn Kept>, layout: Arc<Layout>, dtype: DType, source: Source },
}

/// What stands for a saved tensor whose memory was not kept as it was.
pub trait Kept: Send + Sync {
    /// The tensor. Its history, if it has any, is replaced by that of the saved one.
    fn unpack(&self) -> Result<Tensor>;
}

impl SavedTensor {
    /// Keeps what `array` shows now.
    pub fn new(array: Array, source: Source) -> Self {
        let version = array.storage.version();
        let plain =
            Plain { storage: array.storage, layout: array.layout, version, dtype: array.dtype, source };
        SavedTensor(Form::Plain(plain))
    }

    /// Keeps tangents too: those of the tensor that was saved.
    pub fn with_tangents(self, tangents: Arc<Tangents>) -> Self {
        match self.0 {
            Form::Plain(plain) => SavedTensor(Form::Special(Box::new(Special::Dual(plain, tangents)))),
            special @ Form::Special(_) => SavedTensor(special),
        }
    }

    /// Keeps `kept` instead of the memory.
    pub fn packed(&self, kept: Box<dyn Kept>) -> Self {
        let (layout, dtype, source) = (self.layout().clone(), self.dtype(), self.source());
        SavedTensor(Form::Special(Box::new(Special::Kept { kept, layout, dtype, source })))
    }

    /// The layout that was kept.
    pub fn layout(&self) -> &Arc<Layout> {
        match &self.0 {
            Form::Plain(plain) => &plain.layout,
            Form::Special(special) => match &**special {
                Special::Dual(plain, _) => &plain.layout,
                Special::Kept { layout, .. } => layout,
            },
        }
    }

    /// The element type that was kept.
    pub fn dtype(&self) -> DType {
        match &self.0 {
            Form::Plain(plain) => plain.dtype,
            Form::Special(special) => match &**special {
                Special::Dual(plain, _) => plain.dtype,
                Special::Kept { dtype, .. } => *dtype,
            },
        }
    }

    /// Where the tensor stands in its operation.
    pub fn source(&self) -> Source {
        match &self.0 {
            Form::Plain(plain) => plain.source,
            Form::Special(special) => match &**special {
                Special::Dual(plain, _) => plain.source,
                Special::Kept { source, .. } => *source,
            },
        }
    }

    /// Whether the host has packed it.
    pub fn is_packed(&self) -> bool {
        matches!(&self.0, Form::Special(special) if matches!(**special, Special::Kept { .. }))
    }

    /// The memory, whatever happened to it since.
    pub fn array(&self) -> Result<Array> {
        match &self.0 {
            Form::Plain(plain) => Ok(plain.array()),
            Form::Special(special) => match &**special {
                Special::Dual(plain, _) => Ok(plain.array()),
                Special::Kept { kept, .. } => Ok(kept.unpack()?.array()),
            },
        }
    }

    /// The tensor, unless it was overwritten since. With history if `tracking`.
    pub fn load(&self, node: &NodeRef, tracking: bool) -> Result<Tensor> {
        match &self.0 {
            Form::Plain(plain) => plain.load(node, tracking),
            Form::Special(special) => special.load(node, tracking),
        }
    }
}

impl Special {
    #[cold]
    fn load(&self, node: &NodeRef, tracking: bool) -> Result<Tensor> {
        let (tensor, tangents) = match self {
            Special::Dual(plain, tangents) => (plain.load(node, tracking)?, tangents.counting()),
            Special::Kept { kept, source, .. } => {
                let unpacked = kept.unpack()?;
                let edge = if tracking { source.edge(node) } else { None };
                let tangents = unpacked.tangents().and_then(|tangents| tangents.counting());
                (Tensor::apart(unpacked.array(), edge), tangents)
            }
        };
        if let Some(tangents) = tangents {
            tensor.carry(tangents);
        }
        Ok(tensor)
    }
}

impl Source {
    fn edge(self, node: &NodeRef) -> Option<Edge> {
        match self {
            Source::Input(index) => node.edges().get(usize::from(index)).cloned().flatten(),
            Source::Output(output) => Some(Edge { node: node.clone(), output: u32::from(output) }),
            Source::Constant => None,
        }
    }
}

impl Plain {
    fn array(&self) -> Array {
        Array { storage: self.storage.clone(), layout: self.layout.clone(), dtype: self.dtype }
    }

    fn load(&self, node: &NodeRef, tracking: bool) -> Result<Tensor> {
        if self.storage.version() != self.version {
            return Err(self.modified(node));
        }
        let edge = if tracking { self.source.edge(node) } else { None };
        Ok(Tensor::continuing(self.array(), edge))
    }

    #[cold]
    fn modified(&self, node: &NodeRef) -> Box<Error> {
        let edge = self.source.edge(node).filter(|edge| edge.node.leaf().is_none());
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
