//! A tensor that a custom function of the host saves for its backward (`ctx.save_for_backward`): the tensor itself,
//! unless it is an output of the very node that saves it.

use std::sync::Arc;

use super::mode;
use super::node::{Edge, NodeRef};
use super::saved::Packed;
use super::tangents::Tangents;
use crate::error::{Error, Result};
use crate::graph::observe::writes;
use crate::graph::saved_tensor_hooks;
use crate::graph::saved_tensor_hooks::Packer;
use crate::tensor::{Array, Batch, Tensor};

/// A held tensor, and the version that its memory had.
pub struct Held {
    what: What,
    version: u32,
}

pub(super) enum What {
    /// What the host made of it, and where its history is.
    Packed(Box<dyn Packed>, Option<Edge>),
    /// The same for an output of the node.
    PackedOutput(Box<dyn Packed>, u32),
    /// A tensor that does not hold the node.
    Tensor(Tensor),
    /// An output of the node, without the history by which it would hold the node.
    Output(Array, u32, Option<Box<Beside>>),
}

/// What an output has beside its memory while functions are transformed.
pub(super) struct Beside {
    /// Shared with the output, which gets its tangents after it was kept.
    tangents: Arc<Tangents>,
    batch: Option<Batch>,
}

impl Beside {
    fn of(tensor: &Tensor) -> Option<Box<Beside>> {
        mode::special()
            .then(|| Box::new(Beside { tangents: tensor.tangents_or_new(), batch: tensor.batch() }))
    }

    /// The tensor with what it had beside its memory.
    fn put(&self, tensor: Tensor) -> Tensor {
        let tensor = match &self.batch {
            Some(batch) => Tensor::around(batch, tensor),
            None => tensor,
        };
        if let Some(tangents) = self.tangents.counting() {
            tensor.carry(tangents);
        }
        tensor
    }
}

impl Held {
    /// Keeps `tensor` for `node`, packed if somebody on this thread asked for that.
    pub fn new(tensor: &Tensor, node: &NodeRef) -> Result<Held> {
        if tensor.is_inference() {
            return Err(Error::InferenceSaved {}.into());
        }
        let version = tensor.version();
        let own = tensor.edge()?.filter(|edge| edge.node.id() == node.id());
        let mut packed = saved_tensor_hooks::packer()
            .map(|packer| saved_tensor_hooks::pack(&*packer, tensor))
            .transpose()?;
        if packed.is_none() && own.is_some() {
            packed = saved_tensor_hooks::pack_subclass(tensor, true).transpose()?;
        }
        let what = match (own, packed) {
            (None, None) => What::Tensor(tensor.clone()),
            (Some(edge), None) => What::Output(tensor.array(), edge.output, Beside::of(tensor)),
            (None, Some(packed)) => What::Packed(packed, tensor.gradient_edge()?),
            (Some(edge), Some(packed)) => What::PackedOutput(packed, edge.output),
        };
        Ok(Held { what, version })
    }

    /// The same, packed: what was kept as it is.
    pub fn packed(&self, packer: &dyn Packer) -> Result<Held> {
        let what = match &self.what {
            What::Packed(..) | What::PackedOutput(..) => return Err(Error::PackedAlready {}.into()),
            What::Tensor(tensor) => {
                What::Packed(saved_tensor_hooks::pack(packer, &tensor.detach())?, tensor.gradient_edge()?)
            }
            What::Output(array, output, _) => {
                let tensor = Tensor::from_array(array.clone());
                What::PackedOutput(saved_tensor_hooks::pack(packer, &tensor)?, *output)
            }
        };
        Ok(Held { what, version: self.version })
    }

    /// The tensor, unless it was overwritten since.
    pub fn load(&self, node: &NodeRef) -> Result<Tensor> {
        let own = |output| Some(Edge { node: node.clone(), output });
        let tensor = match &self.what {
            What::Packed(packed, edge) => return unpacked(&**packed, edge.clone()),
            What::PackedOutput(packed, output) => return unpacked(&**packed, own(*output)),
            What::Tensor(tensor) => tensor.clone(),
            What::Output(array, output, beside) => {
                let tensor = Tensor::with_history(array.clone(), own(*output));
                match beside {
                    Some(beside) => beside.put(tensor),
                    None => tensor,
                }
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

    /// The memory that is held, unless the host has packed it.
    pub fn array(&self) -> Option<Array> {
        match &self.what {
            What::Tensor(tensor) => Some(tensor.array()),
            What::Output(array, ..) => Some(array.clone()),
            What::Packed(..) | What::PackedOutput(..) => None,
        }
    }

    /// What is held.
    pub(super) fn what(&self) -> &What {
        &self.what
    }
}

/// The tensor that was packed, with this history.
fn unpacked(packed: &dyn Packed, edge: Option<Edge>) -> Result<Tensor> {
    let tensor = packed.unpack()?;
    if !tensor.is_subclassed() {
        return Ok(Tensor::apart(tensor.array(), edge));
    }
    if tensor.gradient_edge()?.is_none() {
        tensor.set_edge(edge);
    }
    Ok(tensor)
}
