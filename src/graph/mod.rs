//! What backward runs over: nodes in an arena, the edges between them, and the tensors they keep.

pub mod anomaly;
pub mod arena;
pub mod boundary;
pub mod held;
pub mod hooks;
pub(crate) mod leaf;
pub mod mode;
pub mod node;
pub mod rule;
pub mod saved;
mod seq;
pub mod tangents;
pub mod undefined;
pub(crate) mod writes;

pub use held::Held;
pub use hooks::{Call, Hook, HookId, Hooks, Place};
pub use node::{Edge, Extras, Form, Forms, Node, NodeId, NodeRef};
pub use rule::{At, Gradients, Rule};
pub use saved::{Kept, SavedTensor, Source, check_kept};
pub use tangents::{Level, Tangents};
