//! A tensor that a function of the host keeps for its own backward: the tensor itself, unless it is
//! an output of the very node that keeps it.

use super::node::{Edge, NodeRef};
use super::writes;
use crate::error::{Error, Result};
use crate::tensor::{Array, Tensor};

/// A held tensor, and the version that its memory had.
pub struct Held {
    what: What,
    version: u32,
}

enum What {
    /// A tensor that does not hold the node.
    Whole(Tensor),
    /// An output of the node, without the history by which it would hold the node.
    Output(Array, u32),
}

impl Held {
    /// Keeps `tensor` for `node`.
    pub fn new(tensor: &Tensor, node: &NodeRef) -> Result<Held> {
        let version = tensor.version();
        let own = tensor.edge()?.filter(|edge| edge.node.id() == node.id());
        let what = match own {
            Some(edge) => What::Output(tensor.array(), edge.output),
            None => What::Whole(tensor.clone()),
        };
        Ok(Held { what, version })
    }

    /// The tensor, unless it was overwritten since.
    pub fn load(&self, node: &NodeRef) -> Result<Tensor> {
        let tensor = match &self.what {
            What::Whole(tensor) => tensor.clone(),
            What::Output(array, output) => {
                let edge = Edge { node: node.clone(), output: *output };
                Tensor::with_history(array.clone(), Some(edge))
            }
        };
        if tensor.version() == self.version { Ok(tensor) } else { Err(self.modified(node, &tensor)) }
    }

    #[cold]
    fn modified(&self, node: &NodeRef, tensor: &Tensor) -> Box<Error> {
        let edge = tensor.edge().ok().flatten();
        let source = edge.map_or_else(Default::default, |edge| (edge.node.name(), edge.output));
        writes::modified(node, &tensor.array(), self.version, source)
    }

    /// The tensor, if it is held as it is.
    pub fn whole(&self) -> Option<&Tensor> {
        match &self.what {
            What::Whole(tensor) => Some(tensor),
            What::Output(..) => None,
        }
    }
}
