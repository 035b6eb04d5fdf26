//! Inputs that a node saves as they are, for operations that say their derivatives input by input
//! (`composites::pointwise`, `composites::composite`).

use smallvec::SmallVec;

use crate::dispatch::apply::Keepsake;
use crate::dispatch::view::expand_to;
use crate::error::Result;
use crate::graph::{At, Gradients, SavedTensor};
use crate::ops::{add, conjugate};
use crate::tensor::Tensor;

/// The saved inputs, loaded for one run of the rule.
pub struct LoadedInputs(SmallVec<[Option<Tensor>; 3]>);

impl LoadedInputs {
    /// The conjugates, as the rule for gradients takes them.
    pub(crate) fn conj(self) -> Result<LoadedInputs> {
        let conj = |input: Option<Tensor>| input.map(conjugate::conj).transpose();
        self.0.into_iter().map(conj).collect::<Result<_>>().map(LoadedInputs)
    }

    /// The result, if the operation keeps it behind its inputs.
    pub(crate) fn result(&self) -> &Tensor {
        self.input(self.0.len() - 1)
    }

    /// An input that the operation keeps.
    pub fn input(&self, index: usize) -> &Tensor {
        self.0[index].as_ref().unwrap_or_else(|| unreachable!("a rule reads what it declared to keep"))
    }
}

/// The inputs as a node saves them; those that are not saved leave their places empty.
pub struct SavedInputs(pub(crate) SmallVec<[Option<SavedTensor>; 3]>);

impl SavedInputs {
    /// The inputs as they were when they were saved.
    pub(crate) fn load(&self, at: &At<'_>) -> Result<LoadedInputs> {
        let load = |saved: &Option<SavedTensor>| saved.as_ref().map(|saved| at.load(saved)).transpose();
        self.0.iter().map(load).collect::<Result<_>>().map(LoadedInputs)
    }
}

impl Keepsake for SavedInputs {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.0.iter().map(Option::as_ref).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.0.iter_mut().flatten().collect()
    }
}

/// The gradients of all inputs that need one, from a rule for one of them.
pub(crate) fn gradients(at: &At<'_>, back: &dyn Fn(usize) -> Result<Tensor>) -> Result<Gradients> {
    (0..at.node.edges().len()).map(|index| at.needs(index).then(|| back(index)).transpose()).collect()
}

/// The tangent of the output: the sum of what the tangent of each input adds to it.
pub(crate) fn tangent(
    at: &At<'_>,
    tangents: &[Option<Tensor>],
    forth: &dyn Fn(usize, &Tensor) -> Result<Tensor>,
) -> Result<Gradients> {
    let mut total: Option<Tensor> = None;
    for (index, tangent) in tangents.iter().enumerate() {
        let Some(tangent) = tangent else { continue };
        let term = forth(index, tangent)?;
        total = Some(match total {
            Some(total) => add(&total, &term)?,
            None => term,
        });
    }
    let shape = at.node.form(0).layout.clone();
    let total = total.map(|total| expand_to(&total, shape.shape())).transpose()?;
    Ok(SmallVec::from_elem(total, 1))
}
