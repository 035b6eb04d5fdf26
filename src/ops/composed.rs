//! Operations that are said in others, and that torch records as one: what they are, and what gradients
//! and tangents become.

use smallvec::SmallVec;

use super::apply::{Keep, Keepsake, Op, Outputs, apply_one, single};
use super::batch::{Answer, Call};
use super::{add, batch, conjugate, expand};
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients, SavedTensor, Shown, mode};
use crate::tensor::Tensor;

/// An operation that is recorded as one.
pub(super) trait Composed: Clone + Send + Sync + 'static {
    /// torch's names of the inputs that are kept, an empty one for an input that is not. An input is
    /// kept if another one's gradient needs it.
    const KEEPS: &'static [&'static str];
    /// Whether the gradient of an input needs that input too.
    const CURVED: bool = false;
    /// Whether the node shows the result, which is calculated from the inputs for that.
    const SHOWS_RESULT: bool = false;

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
    fn back(&self, index: usize, kept: &Kept, gradient: &Tensor) -> Result<Tensor>;

    /// What the tangent of an input adds to that of the output.
    fn forth(&self, index: usize, kept: &Kept, tangent: &Tensor) -> Result<Tensor>;
}

/// The inputs that a rule may read.
pub(super) struct Kept(SmallVec<[Option<Tensor>; 3]>);

impl Kept {
    /// The conjugates, as the rule for gradients takes them.
    fn conj(self) -> Result<Kept> {
        let conj = |input: Option<Tensor>| input.map(conjugate::conj).transpose();
        self.0.into_iter().map(conj).collect::<Result<_>>().map(Kept)
    }

    /// An input that was kept.
    pub(super) fn input(&self, index: usize) -> &Tensor {
        self.0[index].as_ref().unwrap_or_else(|| unreachable!("a rule reads what it declared to keep"))
    }
}

/// The inputs as they are saved.
pub(super) struct Saved(SmallVec<[Option<SavedTensor>; 3]>);

impl Keepsake for Saved {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.0.iter().map(Option::as_ref).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.0.iter_mut().flatten().collect()
    }
}

#[derive(Clone)]
struct Recordable<C>(C);

impl<C: Composed> Recordable<C> {
    fn load(&self, saved: &Saved, at: &At<'_>) -> Result<Kept> {
        let load = |saved: &Option<SavedTensor>| saved.as_ref().map(|saved| at.load(saved)).transpose();
        saved.0.iter().map(load).collect::<Result<_>>().map(Kept)
    }
}

impl<C: Composed> Op for Recordable<C> {
    type Saved = Saved;
    const SAVED: &'static [&'static str] = C::KEEPS;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn saved_names(&self) -> &'static [&'static str] {
        self.0.names()
    }

    fn shown(&self, _saved: &Saved) -> Attributes {
        let mut shown = self.0.shown();
        if C::SHOWS_RESULT {
            shown.push(("result", Shown::Computed));
        }
        shown
    }

    fn compute(&self, _name: &str, saved: &Saved, at: &At<'_>) -> Result<Tensor> {
        let kept = self.load(saved, at)?;
        let inputs: SmallVec<[&Tensor; 3]> = (0..C::KEEPS.len()).map(|index| kept.input(index)).collect();
        Ok(at.output(&self.0.value(&inputs)?, 0))
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let _off = mode::GradModeGuard::off();
        let plain: Vec<Tensor> = inputs.iter().map(|input| input.detach()).collect();
        let plain: Vec<&Tensor> = plain.iter().collect();
        self.0.value(&plain).map(|y| SmallVec::from_elem(Tensor::from_array(y.array()), 1))
    }

    fn save(&self, keep: &Keep<'_>) -> Saved {
        let kept = |(index, name): (usize, &&str)| {
            let wanted = (0..C::KEEPS.len()).any(|other| {
                (C::CURVED || other != index) && !C::KEEPS[other].is_empty() && keep.needs(other)
            });
            keep.input_if(!name.is_empty() && wanted, index)
        };
        Saved(C::KEEPS.iter().enumerate().map(kept).collect())
    }

    fn vjp(&self, saved: &Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (operation, kept) = (self.0.conjugated(), self.load(saved, at)?.conj()?);
        let back = |index: usize| operation.back(index, &kept, single(gradients));
        (0..at.node.edges().len()).map(|index| at.needs(index).then(|| back(index)).transpose()).collect()
    }

    fn jvp(&self, saved: &Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let kept = self.load(saved, at)?;
        let mut total: Option<Tensor> = None;
        for (index, tangent) in tangents.iter().enumerate() {
            let Some(tangent) = tangent else { continue };
            let term = self.0.forth(index, &kept, tangent)?;
            total = Some(match total {
                Some(total) => add(&total, &term)?,
                None => term,
            });
        }
        let shape = at.node.form(0).layout.clone();
        let total = total.map(|total| expand::expand_to(&total, shape.shape())).transpose()?;
        Ok(SmallVec::from_elem(total, 1))
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("of batched tensors the operations are called that it consists of")
    }
}

/// The operation on these tensors. For many samples at once it is the operations that it consists of.
pub(super) fn apply(operation: impl Composed, inputs: &[&Tensor]) -> Result<Tensor> {
    match batch::highest(inputs.iter().copied()) {
        Some(_) => operation.value(inputs),
        None => apply_one(Recordable(operation), inputs),
    }
}
