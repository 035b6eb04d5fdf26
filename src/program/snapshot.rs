//! What a call finds, to have it again: where it fails, and where it is done once more for backward.

use smallvec::SmallVec;

use crate::error::Result;
use crate::ops::creation::copy;
use crate::ops::sampling::random::Generator;
use crate::tensor::Tensor;

/// A tensor as it was.
struct Saved {
    tensor: Tensor,
    numbers: Tensor,
    version: u32,
}

impl Saved {
    /// What a tensor is now.
    fn of(tensor: Tensor) -> Result<Saved> {
        let numbers = Tensor::from_array(copy::whole(&tensor.memory())?);
        let version = tensor.version();
        Ok(Saved { tensor, numbers, version })
    }

    /// Has the tensor be that again.
    fn restore(&self) -> Result<()> {
        copy::write(&self.tensor.memory(), &self.numbers.memory())?;
        if self.tensor.is_counted() {
            self.tensor.set_version(self.version);
        }
        Ok(())
    }
}

/// Tensors as they were, and where random numbers had come to.
pub(super) struct Snapshot {
    tensors: SmallVec<[Saved; 4]>,
    drawn: Option<Tensor>,
}

impl Snapshot {
    /// What these tensors are now, and where random numbers are if they matter.
    pub(super) fn of(tensors: impl Iterator<Item = Tensor>, draws: bool) -> Result<Snapshot> {
        let drawn = if draws { Some(Generator::process_wide().state()?) } else { None };
        Ok(Snapshot { tensors: tensors.map(Saved::of).collect::<Result<_>>()?, drawn })
    }

    /// What the same is now.
    pub(super) fn again(&self) -> Result<Snapshot> {
        Snapshot::of(self.tensors.iter().map(|saved| saved.tensor.clone()), self.drawn.is_some())
    }

    /// Has all of it be as it was, also what comes after something that cannot be.
    pub(super) fn restore(&self) -> Result<()> {
        let tensors = self.tensors.iter().map(Saved::restore).fold(Ok(()), Result::and);
        let drawn = self.drawn.as_ref().map(|drawn| Generator::process_wide().set_state(drawn));
        tensors.and(drawn.unwrap_or(Ok(())))
    }
}
