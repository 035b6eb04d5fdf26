//! `Op` as a trait object. What a special thread does with a call (vmap, dispatch modes, saved-tensor hooks) is
//! compiled once for `AnyOp`, and not again for every operation.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::dispatch::apply;
use crate::dispatch::apply::{Keep, Op, OpRule, Outputs};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::direct::Direct;
use crate::dispatch::half;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::Attributes;
use crate::graph::node::{RuleBox, boxed};
use crate::tensor::{Creation, Tensor};

/// An operation of any type, with what `Op` says of it.
pub(crate) trait AnyOp: Send + Sync {
    /// torch's name of the node.
    fn name(&self) -> &'static str;
    /// The parameters that an interceptor is shown.
    fn told(&self, inputs: &[&Tensor]) -> Attributes;
    /// How many tensors it gives for these inputs.
    fn outputs(&self, inputs: &[&Tensor]) -> usize;
    /// How its outputs came to be, if they are views of the first input.
    fn shows(&self) -> Option<Creation>;
    /// Tensors that it holds beside its inputs.
    fn held(&self) -> SmallVec<[Tensor; 1]>;
    /// The operation with other tensors in the place of these.
    fn holding(&self, held: &[Tensor]) -> Result<Arc<dyn AnyOp>>;
    /// A handle that lasts.
    fn owned(&self) -> Arc<dyn AnyOp>;
    /// The element type that the caller has named for the result.
    fn result(&self) -> Option<DType>;
    /// The type that results are rounded to.
    fn rounding(&self, inputs: &[&Tensor]) -> Option<DType>;
    /// The numbers, of any element type.
    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs>;
    /// `forward` on the types that operations calculate in.
    fn numbers(&self, inputs: &[&Tensor]) -> Result<Outputs>;
    /// The operation for many samples at once.
    fn batch(&self, call: &Call<'_>) -> Result<Answer>;
    /// Runs and records it.
    fn apply(&self, inputs: &[&Tensor]) -> Result<Outputs>;
    /// What computes it into memory that is there.
    fn direct(&self) -> Option<Arc<dyn Direct>>;
    /// The rule of its node.
    fn rule(&self, keep: &Keep<'_>) -> RuleBox;
}

impl<O: Op> AnyOp for O {
    fn name(&self) -> &'static str {
        Op::name(self)
    }

    fn told(&self, inputs: &[&Tensor]) -> Attributes {
        let mut told = Op::told(self);
        // What the node would show is known before the operation has run.
        told.extend(Op::shown(self, &self.save(&Keep::new(inputs, &[], u64::MAX))));
        told
    }

    fn outputs(&self, inputs: &[&Tensor]) -> usize {
        Op::outputs(self, inputs)
    }

    fn shows(&self) -> Option<Creation> {
        Op::shows(self)
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        Op::held(self)
    }

    fn holding(&self, held: &[Tensor]) -> Result<Arc<dyn AnyOp>> {
        Ok(Arc::new(Op::holding(self, held)?))
    }

    fn owned(&self) -> Arc<dyn AnyOp> {
        Arc::new(self.clone())
    }

    fn result(&self) -> Option<DType> {
        Op::result(self)
    }

    fn rounding(&self, inputs: &[&Tensor]) -> Option<DType> {
        Op::rounding(self, inputs)
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        half::forward(self, inputs)
    }

    fn numbers(&self, inputs: &[&Tensor]) -> Result<Outputs> {
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
