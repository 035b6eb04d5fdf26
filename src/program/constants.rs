//! What is the same in every run: functions of a few elements that never change are calculated when the program is made.
//! The gradient of a mean is one, by which everything that comes after begins.

use std::collections::HashSet;

use super::maker::Maker;
use super::{Form, Instruction, Operand, Place};
use crate::dispatch::operand::Value;
use crate::graph::mode::GradModeGuard;
use crate::tensor::{Array, Tensor};

/// More elements are not worth their memory.
const FEW: usize = 64;

impl Maker {
    /// Calculates such. Forms that stay are left behind, in memory of their own each time.
    pub(super) fn fold(&mut self, stays: &HashSet<usize>) {
        let _off = GradModeGuard::off();
        let mut is_written = vec![false; self.places.len()];
        self.targets.iter().for_each(|(_, place)| is_written[*place] = true);
        stays.iter().for_each(|&form| is_written[self.forms[form].place] = true);
        let mut is_folded = vec![false; self.instructions.len()];
        for (at, is_folded) in is_folded.iter_mut().enumerate() {
            let Some((place, numbers)) = self.constant(&self.instructions[at], &is_written) else { continue };
            self.places[place] = Place::Fixed { numbers, shared: true };
            *is_folded = true;
        }
        self.leave_out(&is_folded);
    }

    /// Where the result of an instruction is, and its numbers, if it has the same ones in every run.
    fn constant(&self, instruction: &Instruction, is_written: &[bool]) -> Option<(usize, Array)> {
        let direct = instruction.direct.as_ref()?;
        let &[Some(made)] = &*instruction.outputs else { return None };
        let Form { place, layout, dtype } = &self.forms[made];
        if !direct.is_elementwise() || is_written[*place] || layout.numel() > FEW || !layout.is_row_major() {
            return None;
        }
        let operand = |operand: &Operand| match operand {
            Operand::Number(number) => Some(Value::Scalar(*number)),
            Operand::Form(form) => {
                let Form { place, layout, dtype } = &self.forms[*form];
                match &self.places[*place] {
                    Place::Fixed { numbers, shared: true } if !is_written[*place] => {
                        let (storage, layout) = (numbers.storage.clone(), layout.clone());
                        Some(Value::Tensor(Tensor::from_array(Array { storage, layout, dtype: *dtype })))
                    }
                    _ => None,
                }
            }
        };
        let operands = instruction.operands.iter().map(operand).collect::<Option<Vec<Value>>>()?;
        let made = (instruction.compute)(&operands).ok()?.pop()?.memory();
        (made.dtype == *dtype && *made.layout == **layout).then_some((*place, made))
    }
}
