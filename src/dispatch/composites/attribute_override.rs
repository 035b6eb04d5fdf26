//! Operations whose node shows the caller's arguments in place of the operation's own parameters: an operation
//! works with normalised dimensions, say, while torch's `grad_fn._saved_dim` is the negative number that was passed.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::dispatch::apply::{Keep, Op, apply, apply_one};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::modes::plain::What;
use crate::dispatch::view::ViewKind;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients, Inputs, Shown};
use crate::shape::Layout;
use crate::tensor::{Array, Arrays, Creation, Outputs, Tensor};

/// An operation, and what is shown in the place of its own parameters of the same names.
#[derive(Clone)]
struct WithAttributes<O> {
    op: O,
    given: Arc<Attributes>,
}

/// `own`, but for what is `given`.
fn merged(mut own: Attributes, given: &[(&'static str, Shown)]) -> Attributes {
    own.retain(|(name, _)| given.iter().all(|(other, _)| name != other));
    own.extend(given.iter().cloned());
    own
}

impl<O: Op> Op for WithAttributes<O> {
    type Saved = O::Saved;
    const SAVED: &'static [&'static str] = O::SAVED;
    const VIEW: bool = O::VIEW;
    const MOVES: bool = O::MOVES;

    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn saved_names(&self) -> &'static [&'static str] {
        self.op.saved_names()
    }

    fn what(&self, count: usize) -> What {
        self.op.what(count)
    }

    fn outputs(&self, inputs: &[Array]) -> usize {
        self.op.outputs(inputs)
    }

    fn result(&self) -> Option<DType> {
        self.op.result()
    }

    fn rounding(&self, inputs: &[Array]) -> Option<DType> {
        self.op.rounding(inputs)
    }

    fn is_together(&self) -> bool {
        self.op.is_together()
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        self.op.forward(inputs)
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        self.op.save(keep)
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        self.op.vjp(saved, at, gradients)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        self.op.jvp(saved, at, tangents)
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        merged(self.op.shown(saved), &self.given)
    }

    fn compute(&self, name: &str, saved: &Self::Saved, at: &At<'_>) -> Result<Tensor> {
        self.op.compute(name, saved, at)
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        self.op.effort(inputs)
    }

    fn work(&self, saved: &Self::Saved) -> Option<u64> {
        self.op.work(saved)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        self.op.batch(call)
    }

    fn creation(&self) -> Option<Creation> {
        self.op.creation()
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        self.op.held()
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(WithAttributes { op: self.op.with_held(held)?, given: self.given.clone() })
    }

    fn inputs(&self) -> Option<Inputs> {
        self.op.inputs()
    }
}

/// `apply` for an operation that shows these parameters.
pub(crate) fn apply_with_attributes<O: Op>(op: O, given: Attributes, inputs: &[&Tensor]) -> Result<Outputs> {
    apply(WithAttributes { op, given: Arc::new(given) }, inputs)
}

/// `apply_one` for an operation that shows these parameters.
pub(crate) fn apply_one_with_attributes<O: Op>(
    op: O,
    given: Attributes,
    inputs: &[&Tensor],
) -> Result<Tensor> {
    apply_one(WithAttributes { op, given: Arc::new(given) }, inputs)
}

/// A kind of view that shows these parameters.
pub(crate) struct ViewWithAttributes<K> {
    pub(crate) kind: K,
    pub(crate) given: Attributes,
}

impl<K: ViewKind> ViewKind for ViewWithAttributes<K> {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn shown(&self, source: &Layout) -> Attributes {
        merged(self.kind.shown(source), &self.given)
    }

    fn vjp(&self, source: &Layout, gradient: &Tensor) -> Result<Tensor> {
        self.kind.vjp(source, gradient)
    }

    fn jvp(&self, tangent: &Tensor, shape: &[usize]) -> Result<Tensor> {
        self.kind.jvp(tangent, shape)
    }
}
