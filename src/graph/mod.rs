//! What backward runs over: nodes in an arena, the edges between them, and the tensors they keep.

pub mod anomaly;
pub mod arena;
pub mod boundary;
pub mod census;
pub mod cut;
pub mod following;
pub mod held;
pub mod holding;
pub mod hooks;
pub mod host;
pub(crate) mod leaf;
pub mod mode;
pub mod node;
pub mod packing;
pub mod profile;
mod released;
mod replaced;
pub mod rule;
pub mod saved;
mod seq;
pub mod shown;
pub mod tangents;
pub mod undefined;
pub(crate) mod writes;

pub use census::Census;
pub use held::Held;
pub use holding::Holding;
pub use hooks::{Call, Hook, HookId, Hooks, NamedHooks, Place};
pub use node::{Edge, Extras, Form, FormRef, Forms, Node, NodeId, NodeRef};
pub use packing::Packer;
pub use released::Freeing;
pub(crate) use replaced::replace_kept;
pub use rule::{At, Gradients, Inputs, Rule, Traits};
pub use saved::{Kept, SavedTensor, Source, check_kept};
pub use shown::{Attributes, Shown};
pub use tangents::{Level, Tangents};
