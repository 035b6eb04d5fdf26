//! What is there while a program runs.

use smallvec::SmallVec;

use super::registers::FILES;
use super::run::diverged;
use super::{Instruction, Number};
use crate::dtype::Scalar;
use crate::error::Result;
use crate::tensor::{Array, Tensor};

/// What operations of a run are given and give, by form.
pub(super) struct Frame {
    pub(super) arrays: Vec<Option<Array>>,
    /// Those that are wanted as tensors.
    pub(super) tensors: Vec<Option<Tensor>>,
    /// Few elements that are there all the time, by type.
    pub(super) files: [Option<Array>; FILES.len()],
    /// Numbers that are others than those that were recorded, in the order of instructions.
    pub(super) numbers: SmallVec<[Number; 4]>,
}

impl Frame {
    /// The array of a form that is there.
    pub(super) fn array(&self, form: usize) -> Result<&Array> {
        self.arrays[form].as_ref().ok_or_else(|| diverged("what is read"))
    }

    /// Takes numbers in the place of recorded ones.
    pub(super) fn take_numbers(&mut self, numbers: &[Number]) {
        self.numbers = numbers.into();
        self.numbers.sort_unstable_by_key(|number| (number.instruction, number.operand));
    }

    /// Whether all numbers are those that were recorded.
    pub(super) fn has_recorded_numbers(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The number that an instruction is given as this operand.
    pub(super) fn number(&self, instruction: &Instruction, operand: usize, recorded: Scalar) -> Scalar {
        let place = |number: &Number| (number.instruction, number.operand);
        let found = self.numbers.binary_search_by_key(&(instruction.at, operand), place);
        found.map_or(recorded, |at| Scalar::Float(self.numbers[at].value))
    }

    /// Drops what nobody reads after an instruction.
    pub(super) fn drop_after(&mut self, instruction: &Instruction) {
        for &form in &instruction.dropped {
            self.arrays[form] = None;
            self.tensors[form] = None;
        }
    }

    /// The same as a tensor.
    pub(super) fn tensor(&mut self, form: usize) -> Result<Tensor> {
        if let Some(tensor) = &self.tensors[form] {
            return Ok(tensor.clone());
        }
        let tensor = Tensor::from_array(self.array(form)?.clone());
        self.tensors[form] = Some(tensor.clone());
        Ok(tensor)
    }
}
