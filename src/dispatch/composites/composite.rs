//! Operations that are written in other operations, that torch records as one node, and that have derivatives of
//! their own. Those whose derivatives are the parts' stand in `checkpointed`.

use smallvec::smallvec;

use crate::dispatch::apply::{Keep, Op, apply_one, single};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::saved_inputs::{LoadedInputs, SavedInputs};
use crate::dispatch::composites::{on_tensors, saved_inputs};
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients};
use crate::tensor::{Array, Arrays, Tensor};

/// An operation that is written in others and recorded as one node, with a vjp and a jvp by input.
pub(crate) trait Composite: Clone + Send + Sync + 'static {
    /// torch's names of the inputs that are kept, an empty one for an input that is not. An input is
    /// kept if another one's gradient needs it.
    const KEEPS: &'static [&'static str];
    /// Whether the gradient of an input needs that input too.
    const CURVED: bool = false;
    /// Whether the result is kept too, behind the inputs.
    const KEEPS_RESULT: bool = false;

    /// torch's name of the node.
    fn name(&self) -> &'static str;

    /// `KEEPS`, where the names depend on the parameters.
    fn names(&self) -> &'static [&'static str] {
        Self::KEEPS
    }

    /// The parameters, under torch's names.
    fn shown(&self) -> Attributes;

    /// The function.
    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor>;

    /// The operation with the conjugates of its parameters: see Note [Gradients of complex numbers].
    fn conjugated(&self) -> Self {
        self.clone()
    }

    /// The gradient of an input from that of the output, and from the other inputs.
    fn vjp(&self, index: usize, kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor>;

    /// What the tangent of an input adds to that of the output.
    fn jvp(&self, index: usize, kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor>;
}

#[derive(Clone)]
struct CompositeOp<C>(C);

impl<C: Composite> Op for CompositeOp<C> {
    type Saved = SavedInputs;
    const SAVED: &'static [&'static str] = C::KEEPS;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn saved_names(&self) -> &'static [&'static str] {
        self.0.names()
    }

    fn shown(&self, _saved: &SavedInputs) -> Attributes {
        self.0.shown()
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        on_tensors(inputs, |inputs| Ok(smallvec![self.0.value(inputs)?]))
    }

    fn save(&self, keep: &Keep<'_>) -> SavedInputs {
        let kept = |(index, name): (usize, &&str)| {
            let wanted = (0..C::KEEPS.len()).any(|other| {
                (C::CURVED || other != index) && !C::KEEPS[other].is_empty() && keep.needs(other)
            });
            keep.input_if(!name.is_empty() && wanted, index)
        };
        let result = C::KEEPS_RESULT.then(|| Some(keep.output(0)));
        SavedInputs(C::KEEPS.iter().enumerate().map(kept).chain(result).collect())
    }

    fn vjp(&self, saved: &SavedInputs, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (operation, kept) = (self.0.conjugated(), saved.load(at)?.conj()?);
        saved_inputs::gradients(at, &|index| operation.vjp(index, &kept, single(gradients)))
    }

    fn jvp(&self, saved: &SavedInputs, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let kept = saved.load(at)?;
        saved_inputs::tangent(at, tangents, &|index, tangent| self.0.jvp(index, &kept, tangent))
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("of batched tensors the operations are called that it consists of")
    }
}

/// The operation on these tensors. For many samples at once it is the operations that it consists of.
pub(crate) fn apply(operation: impl Composite, inputs: &[&Tensor]) -> Result<Tensor> {
    match batch::highest(inputs.iter().copied()) {
        Some(_) => operation.value(inputs),
        None => apply_one(CompositeOp(operation), inputs),
    }
}
