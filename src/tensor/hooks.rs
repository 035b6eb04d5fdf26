//! Hooks on tensors. A leaf keeps its own; those of other tensors are kept by the node that made the tensor.

use std::sync::Arc;

use super::{Tensor, WeakTensor};
use crate::error::{Error, Result};
use crate::graph::arena::Strong;
use crate::graph::{Edge, Hook, HookId, Hooks, NamedHooks, Node, NodeId, NodeRef, Place, transform_level};

/// Removes a hook later. It keeps neither the tensor nor the node alive.
pub struct HookHandle {
    on: On,
    id: HookId,
}

enum On {
    Leaf(WeakTensor),
    Node(NodeId),
}

impl HookHandle {
    /// A handle to a hook of a node.
    pub fn on_node(node: &NodeRef, id: HookId) -> HookHandle {
        HookHandle { on: On::Node(node.id()), id }
    }

    /// The id of the hook.
    pub fn id(&self) -> HookId {
        self.id
    }

    /// Removes the hook, if it is still there.
    pub fn remove(&self) {
        match &self.on {
            On::Leaf(tensor) => {
                if let Some(tensor) = tensor.upgrade() {
                    tensor.hooks().remove(self.id);
                }
            }
            On::Node(id) => {
                if let Some(node) = Strong::<Node>::upgrade(*id)
                    && let Some(extras) = node.extras()
                {
                    extras.hooks.remove(self.id);
                }
            }
        }
    }
}

impl Tensor {
    /// The hooks of a leaf.
    pub(crate) fn hooks(&self) -> &Hooks {
        &self.cold().hooks
    }

    /// The hooks of a leaf, if it ever had any.
    pub(crate) fn hooks_if_any(&self) -> Option<&Hooks> {
        self.0.cold.get().map(|cold| &cold.hooks)
    }

    /// Adds a hook that sees the gradient with respect to this tensor.
    pub fn register_hook(&self, hook: Arc<dyn Hook>) -> Result<HookHandle> {
        if !self.requires_grad() {
            return Err(Error::HookNoGrad {}.into());
        }
        let inner = || self.boundary().map(|node| Edge { node, output: 0 });
        Ok(match self.edge()?.or_else(inner) {
            Some(edge) => {
                let id = edge.node.add_hook(Place::Output(edge.output), hook);
                HookHandle { on: On::Node(edge.node.id()), id }
            }
            None => self.leaf_hook(Place::Output(0), hook),
        })
    }

    /// The hooks that see the gradient with respect to this tensor as it is now, with their names;
    /// `None` if there were never any.
    pub fn gradient_hooks(&self) -> Result<Option<NamedHooks>> {
        Ok(match self.edge()? {
            Some(edge) => {
                edge.node.extras().and_then(|extras| extras.hooks.named(Place::Output(edge.output)))
            }
            None => self.hooks_if_any().and_then(|hooks| hooks.named(Place::Output(0))),
        })
    }

    /// Puts others in the place of the hooks that see the gradient with respect to this tensor.
    pub fn set_gradient_hooks(&self, hooks: Option<NamedHooks>) -> Result<()> {
        match self.edge()? {
            Some(edge) => edge.node.extras_or_new().hooks.replace(Place::Output(edge.output), hooks),
            None => self.hooks().replace(Place::Output(0), hooks),
        }
        Ok(())
    }

    /// The hooks that run after this leaf's `.grad` was set, with their names; `None` if it never had
    /// any hook.
    pub fn accumulated_hooks(&self) -> Option<NamedHooks> {
        self.hooks_if_any().and_then(|hooks| hooks.named(Place::Accumulated))
    }

    /// Puts others in the place of the hooks that run after this leaf's `.grad` was set.
    pub fn set_accumulated_hooks(&self, hooks: Option<NamedHooks>) {
        self.hooks().replace(Place::Accumulated, hooks);
    }

    /// Adds a hook that runs after this leaf's `.grad` was set.
    pub fn register_accumulated_hook(&self, hook: Arc<dyn Hook>) -> HookHandle {
        self.leaf_hook(Place::Accumulated, hook)
    }

    fn leaf_hook(&self, place: Place, hook: Arc<dyn Hook>) -> HookHandle {
        let home = transform_level::home_at(self.depth());
        HookHandle { id: self.hooks().add(place, home, hook), on: On::Leaf(self.downgrade()) }
    }
}
