//! Elementwise operations of three tensors or more, said in other operations: what they are, and
//! what a gradient or tangent of one input becomes. Those of one and two have kernels of their own
//! (`unary`, `binary`).

use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Keep, Op, apply_one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::saved_inputs;
use crate::dispatch::composites::saved_inputs::{LoadedInputs, SavedInputs};
use crate::dispatch::memory_order;
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients};
use crate::shape::Layout;
use crate::tensor::{Array, Arrays, Tensor};

/// An elementwise operation of several tensors.
pub trait Pointwise: Clone + Send + Sync + 'static {
    /// torch's names of the inputs that are kept, an empty one for an input that is not.
    const KEEPS: &'static [&'static str];

    /// torch's name of the node.
    fn name(&self) -> &'static str;

    /// The parameters, under torch's names.
    fn shown(&self) -> Attributes {
        Attributes::new()
    }

    /// The function of numbers.
    fn value(&self, inputs: &[Array]) -> Result<Array>;

    /// The operation with the conjugates of its parameters: see Note [Gradients of complex numbers].
    fn conjugated(&self) -> Self {
        self.clone()
    }

    /// Whether the gradient of input `of` needs input `index`.
    fn needs(&self, of: usize, index: usize) -> bool;

    /// `t · ∂y/∂xᵢ`; of the inputs only those that it needs are there.
    fn toward(&self, index: usize, kept: &LoadedInputs, t: &Tensor) -> Result<Tensor>;
}

#[derive(Clone)]
struct PointwiseOp<P>(P);

impl<P: Pointwise> Op for PointwiseOp<P> {
    type Saved = SavedInputs;
    const SAVED: &'static [&'static str] = P::KEEPS;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn shown(&self, _saved: &SavedInputs) -> Attributes {
        self.0.shown()
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let y = self.0.value(inputs)?;
        let layouts: SmallVec<[&Layout; 4]> = inputs.iter().map(|input| &*input.layout).collect();
        Ok(smallvec![memory_order::settled(y, &layouts)?])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedInputs {
        let wanted = |index: usize| (0..keep.count()).any(|of| keep.needs(of) && self.0.needs(of, index));
        SavedInputs((0..P::KEEPS.len()).map(|index| keep.input_if(wanted(index), index)).collect())
    }

    fn vjp(&self, saved: &SavedInputs, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (operation, kept) = (self.0.conjugated(), saved.load(at)?.conj()?);
        saved_inputs::gradients(at, &|index| operation.toward(index, &kept, single(gradients)))
    }

    fn jvp(&self, saved: &SavedInputs, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let kept = saved.load(at)?;
        saved_inputs::tangent(at, tangents, &|index, tangent| self.0.toward(index, &kept, tangent))
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(self.clone())
    }
}

/// The operation on these tensors.
pub fn apply(operation: impl Pointwise, inputs: &[&Tensor]) -> Result<Tensor> {
    apply_one(PointwiseOp(operation), inputs)
}
