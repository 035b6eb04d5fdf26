//! What backward runs over: nodes in an arena, the edges between them, and the tensors they keep.

pub mod arena;
pub mod hooks;
pub mod host;
pub mod host_saved;
pub(crate) mod leaf;
pub mod mode;
pub mod node;
pub mod observe;
pub mod references;
mod released;
mod replaced;
pub mod rule;
pub mod saved;
pub mod saved_tensor_hooks;
mod seq;
pub mod shown;
pub mod tangents;
pub mod transform_level;
pub mod undefined;

pub use crate::graph::host_saved::Held;
pub use crate::graph::observe::census::Census;
pub use crate::graph::references::Holding;
pub use crate::graph::saved_tensor_hooks::Packer;
pub use hooks::{Call, Hook, HookId, Hooks, NamedHooks, Place};
pub use node::{Edge, Extras, Form, FormRef, Forms, Node, NodeId, NodeRef};
pub use released::Freeing;
pub(crate) use replaced::replace_kept;
pub use rule::{At, Gradients, Inputs, Rule, Traits};
pub use saved::{Kept, SavedTensor, Source, check_kept};
pub use shown::{Attributes, Shown};
pub use tangents::{Level, Tangents};
