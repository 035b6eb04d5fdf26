//! What is asked of the interpreter itself: frames, signals, warnings, its lock, and where the program is.

pub(crate) mod callbacks;
pub(crate) mod declining;
pub(crate) mod frame;
pub(crate) mod module_attributes;
pub(crate) mod module_calls;
pub(crate) mod origin;
pub(crate) mod signals;
pub(crate) mod unlocked;
pub(crate) mod warnings;
