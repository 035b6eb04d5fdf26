//! `Op` as a trait object. What a special thread does with a call (vmap, dispatch modes, saved-tensor hooks) is
//! compiled once for `AnyOp`, and not again for every operation.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::dispatch::apply;
use crate::dispatch::apply::{Keep, Op, OpRule};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::direct::Direct;
use crate::dispatch::modes::plain::What;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::Attributes;
use crate::graph::node::{RuleBox, boxed};
use crate::tensor::{Array, Arrays, Creation, Outputs, Tensor};

/// An operation of any type: the methods of `Op`.
pub(crate) trait AnyOp: Send + Sync {
    /// torch's name of the node.
    fn name(&self) -> &'static str;
    /// See `Op::plumbing`.
    fn plumbing(&self) -> &'static str;
    /// The parameters that dispatch modes are shown.
    fn dispatch_attributes(&self, inputs: &[&Tensor]) -> Attributes;
    /// The number of outputs for these inputs.
    fn outputs(&self, inputs: &[Array]) -> usize;
    /// How its outputs were made, if they are views of the first input.
    fn creation(&self) -> Option<Creation>;
    /// Tensors among its parameters.
    fn held(&self) -> SmallVec<[Tensor; 1]>;
    /// The operation with other tensors in the place of `held`.
    fn with_held(&self, held: &[Tensor]) -> Result<Arc<dyn AnyOp>>;
    /// It as a value of its own type, with so many inputs.
    fn what(&self, count: usize) -> What;
    /// A clone behind a counted handle.
    fn owned(&self) -> Arc<dyn AnyOp>;
    /// The `dtype` argument of the call.
    fn result(&self) -> Option<DType>;
    /// The type that outputs are rounded to.
    fn rounding(&self, inputs: &[Array]) -> Option<DType>;
    /// What it makes of these tensors, without a history.
    fn compute(&self, inputs: &[&Tensor]) -> Result<Outputs>;
    /// `Op::forward`, for the types that kernels compute in.
    fn forward(&self, inputs: &[Array]) -> Result<Arrays>;
    /// The batching rule.
    fn batch(&self, call: &Call<'_>) -> Result<Answer>;
    /// Runs and records it.
    fn apply(&self, inputs: &[&Tensor]) -> Result<Outputs>;
    /// What computes it into memory that is already allocated.
    fn direct(&self) -> Option<Arc<dyn Direct>>;
    /// The rule of its node.
    fn rule(&self, keep: &Keep<'_>) -> RuleBox;
}

impl<O: Op> AnyOp for O {
    fn plumbing(&self) -> &'static str {
        Op::plumbing(self)
    }

    fn name(&self) -> &'static str {
        Op::name(self)
    }

    fn dispatch_attributes(&self, inputs: &[&Tensor]) -> Attributes {
        let mut told = Op::dispatch_attributes(self);
        // What the node would show is known before the operation has run.
        told.extend(Op::shown(self, &self.save(&Keep::new(inputs, &[], u64::MAX))));
        told
    }

    fn outputs(&self, inputs: &[Array]) -> usize {
        Op::outputs(self, inputs)
    }

    fn creation(&self) -> Option<Creation> {
        Op::creation(self)
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        Op::held(self)
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Arc<dyn AnyOp>> {
        Ok(Arc::new(Op::with_held(self, held)?))
    }

    fn what(&self, count: usize) -> What {
        Op::what(self, count)
    }

    fn owned(&self) -> Arc<dyn AnyOp> {
        Arc::new(self.clone())
    }

    fn result(&self) -> Option<DType> {
        Op::result(self)
    }

    fn rounding(&self, inputs: &[Array]) -> Option<DType> {
        Op::rounding(self, inputs)
    }

    fn compute(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        apply::compute(self, inputs, &mut apply::memory(inputs))
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Op::forward(self, inputs)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        Op::batch(self, call)
    }

    fn apply(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        apply::apply(self.clone(), inputs)
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Op::direct(self)
    }

    fn rule(&self, keep: &Keep<'_>) -> RuleBox {
        boxed(OpRule { op: self.clone(), saved: self.save(keep) })
    }
}
