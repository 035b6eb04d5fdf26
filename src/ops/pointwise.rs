//! Elementwise operations of three tensors or more, said in other operations: what they are, and
//! what a gradient or tangent of one input becomes. Those of one and two have kernels of their own
//! (`unary`, `binary`).

use smallvec::SmallVec;

use super::apply::{Keep, Keepsake, Op, Outputs, apply_one, single};
use super::batch::{Answer, Call};
use super::view::expand_to;
use super::{add, conjugate};
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients, SavedTensor, mode};
use crate::tensor::Tensor;

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

    /// The function, in operations that are not recorded.
    fn value(&self, inputs: &[Tensor]) -> Result<Tensor>;

    /// The operation with the conjugates of its parameters: see Note [Gradients of complex numbers].
    fn conjugated(&self) -> Self {
        self.clone()
    }

    /// `t · ∂y/∂xᵢ`; of the inputs only those that are kept are there.
    fn toward(&self, index: usize, kept: &Kept, t: &Tensor) -> Result<Tensor>;
}

/// The inputs that a rule may read.
pub struct Kept(SmallVec<[Option<Tensor>; 3]>);

impl Kept {
    /// The conjugates, as the rule for gradients takes them.
    fn conj(&self) -> Result<Kept> {
        let conj = |input: &Option<Tensor>| input.clone().map(conjugate::conj).transpose();
        self.0.iter().map(conj).collect::<Result<_>>().map(Kept)
    }

    /// An input that the operation keeps.
    pub fn input(&self, index: usize) -> &Tensor {
        self.0[index].as_ref().unwrap_or_else(|| unreachable!("a rule reads what it declared to keep"))
    }
}

/// The inputs as they are saved.
pub struct Saved(SmallVec<[Option<SavedTensor>; 3]>);

impl Keepsake for Saved {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.0.iter().map(Option::as_ref).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.0.iter_mut().flatten().collect()
    }
}

#[derive(Clone)]
struct Recordable<P>(P);

impl<P: Pointwise> Recordable<P> {
    fn load(&self, saved: &Saved, at: &At<'_>) -> Result<Kept> {
        let load = |saved: &Option<SavedTensor>| saved.as_ref().map(|saved| at.load(saved)).transpose();
        saved.0.iter().map(load).collect::<Result<_>>().map(Kept)
    }
}

impl<P: Pointwise> Op for Recordable<P> {
    type Saved = Saved;
    const SAVED: &'static [&'static str] = P::KEEPS;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn shown(&self, _saved: &Saved) -> Attributes {
        self.0.shown()
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let _off = mode::GradModeGuard::off();
        let plain: Vec<Tensor> = inputs.iter().map(|input| input.detach()).collect();
        self.0.value(&plain).map(|y| SmallVec::from_elem(y, 1))
    }

    fn save(&self, keep: &Keep<'_>) -> Saved {
        let kept = P::KEEPS.iter().enumerate();
        Saved(kept.map(|(index, name)| keep.input_if(!name.is_empty(), index)).collect())
    }

    fn vjp(&self, saved: &Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (operation, kept) = (self.0.conjugated(), self.load(saved, at)?.conj()?);
        let toward = |index: usize| operation.toward(index, &kept, single(gradients));
        (0..at.node.edges().len()).map(|index| at.needs(index).then(|| toward(index)).transpose()).collect()
    }

    fn jvp(&self, saved: &Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let kept = self.load(saved, at)?;
        let mut total: Option<Tensor> = None;
        for (index, tangent) in tangents.iter().enumerate() {
            let Some(tangent) = tangent else { continue };
            let term = self.0.toward(index, &kept, tangent)?;
            total = Some(match total {
                Some(total) => add(&total, &term)?,
                None => term,
            });
        }
        let shape = at.node.form(0).layout.clone();
        let total = total.map(|total| expand_to(&total, shape.shape())).transpose()?;
        Ok(SmallVec::from_elem(total, 1))
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(self.clone())
    }
}

/// The operation on these tensors.
pub fn apply(operation: impl Pointwise, inputs: &[&Tensor]) -> Result<Tensor> {
    apply_one(Recordable(operation), inputs)
}
