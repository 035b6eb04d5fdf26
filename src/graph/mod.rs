//! The autograd graph that backward runs over: nodes in an arena, edges, saved tensors, hooks, and the modes of
//! threads.

pub mod arena;
pub mod following;
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

pub use hooks::{Hook, HookCall, HookId, Hooks, NamedHooks, Place};
pub use host_saved::Held;
pub use node::{Edge, Extras, Form, FormRef, Forms, Node, NodeId, NodeRef};
pub use observe::census::Census;
pub use references::Holding;
pub use released::Freeing;
pub(crate) use replaced::replace_kept;
pub use rule::{At, Gradients, Inputs, Rule, Traits, UNDERIVED};
pub use saved::{Packed, SavedTensor, Source, check_kept};
pub use saved_tensor_hooks::Packer;
pub use shown::{Attributes, Shown};
pub use tangents::{Level, Tangents};
