//! What a call of an operation passes on its way to a kernel and to a node in the graph. The operations themselves
//! stand in `ops`.
//!
//! Note [The layers of a call]
//! ----
//! `ops::mul(a, b)` calls the entry point for its kind of operation: `unary::apply`, `binary::apply`,
//! `apply::apply` for structured operations, `view::apply` for views; each has a form in place. That function tests
//! one flag of the thread (`mode::special`). If it is clear, the operation computes and is recorded if an input
//! requires grad: steps 4 to 6; one that takes long releases the host's lock meanwhile (`long_work`). If the flag is
//! set, the call passes all of these layers, the outermost first:
//!
//! 1. *vmap* (`batch`): where an operand is a batched tensor, the operation's batching rule computes with the values
//!    beneath the highest mapping, by calls that come back to the entry point; the results are wrapped.
//! 2. *saved-tensor hooks* (`forward_mode::tangents::run`): what the rule would keep of the inputs is packed first, so
//!    that a hook that stops the computation, as checkpointing does, stops it before anything is computed.
//! 3. *dispatch modes*, *dispatch subclasses*, profiler and recorder (`modes::intercept`): each is shown the operation
//!    and may answer in its place; `Operation::proceed` hands it on, and behind the last one it is computed.
//! 4. *stored types* (`stored`): inputs of such types are widened, results are rounded.
//! 5. *forward*, with kernels: arrays of arrays. `numbers` of an entry point is steps 4 and 5 alone.
//! 6. *recording* (`record::trace`, `forward_mode::tangents::trace_any`): the rule becomes a node, and the outputs get
//!    edges to it, if an input requires grad.
//! 7. *forward mode* (`forward_mode::propagate`): the rule's jvp computes the tangents of the outputs from those of the
//!    inputs, level by level; then saved-tensor hooks pack what is left.
//!
//! An operation in place passes the same layers; `in_place` says what it may write to and how histories change.

pub mod accumulate;
pub mod apply;
pub mod batch;
pub mod binary;
pub mod composites;
pub mod custom;
pub mod default_dtype;
pub mod direct;
pub(crate) mod erased;
pub(crate) mod fixed;
pub mod forward_mode;
pub(crate) mod fused;
pub mod in_place;
pub mod long_work;
pub(crate) mod memory_order;
pub mod modes;
pub mod operand;
pub mod record;
pub mod stored;
pub mod transform;
pub mod unary;
pub mod view;
