//! Values on the way between Python and the engine: arguments, results, and the small classes beside tensors.

pub(crate) mod arguments;
pub(crate) mod checkpointed;
pub(crate) mod classes;
pub(crate) mod convert;
pub(crate) mod device;
pub(crate) mod dtype;
pub(crate) mod element_types;
pub(crate) mod generator;
pub(crate) mod limits;
pub(crate) mod list;
pub(crate) mod memory;
pub(crate) mod received;
pub(crate) mod returns;
pub(crate) mod size;
