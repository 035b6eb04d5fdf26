//! The graph and backward as Python sees them: nodes, hooks, saved tensors, functions of the user's own.

pub(crate) mod anomaly;
pub(crate) mod backward;
pub(crate) mod collector;
pub(crate) mod context;
pub(crate) mod creation;
pub(crate) mod descent;
pub(crate) mod function;
pub(crate) mod hooks;
pub(crate) mod inspect;
pub(crate) mod node;
pub(crate) mod packing;
pub(crate) mod saved;

use collector::Class;

use crate::tensor::object::TensorBase;

/// The classes whose objects hold things of the engine, for the collector.
pub(crate) const HOLDERS: &[Class] = &[
    Class::of::<TensorBase>(),
    Class::of::<node::GraphNode>(),
    Class::of::<context::FunctionBase>(),
    Class::of::<saved::SavedTensor>(),
];
