//! Copies that nobody can tell from the original: where an operation's result is read by the copy last of all, the copy
//! is the result itself. Gradients come to be that way: while it is recorded, a gradient is held by the record too, so
//! that the engine copies what it would have taken over.

use std::collections::HashSet;

use super::maker::Maker;
use super::{Form, Instruction, Operand, Place};

impl Maker {
    /// Leaves out such copies. Forms that stay are left behind.
    pub(super) fn leave_out_copies(&mut self, stays: &HashSet<usize>) {
        // The instruction that reads a place last, and how much memory it came into being with.
        let (mut ends, mut sizes) = (vec![0; self.places.len()], vec![0; self.places.len()]);
        for (at, instruction) in self.instructions.iter().enumerate() {
            instruction.reads().for_each(|form| ends[self.forms[form].place] = at);
            for form in instruction.outputs.iter().flatten().map(|&form| &self.forms[form]) {
                sizes[form.place] = form.layout.end().saturating_mul(form.dtype.size());
            }
        }
        stays.iter().for_each(|&form| ends[self.forms[form].place] = usize::MAX);
        let mut is_left_out = vec![false; self.instructions.len()];
        // Which place each one is; that of an original comes before that of its copy.
        let mut same: Vec<usize> = (0..self.places.len()).collect();
        for (at, is_left_out) in is_left_out.iter_mut().enumerate() {
            let Some((original, copy)) = copied(&self.forms, &self.instructions[at]) else { continue };
            let original = same[original];
            let is_made = [original, copy].iter().all(|&place| matches!(self.places[place], Place::Made));
            if ends[original] != at || !is_made || sizes[original] != sizes[copy] {
                continue;
            }
            *is_left_out = true;
            ends[original] = ends[copy];
            same[copy] = original;
        }
        self.forms.iter_mut().for_each(|form| form.place = same[form.place]);
        self.targets.iter_mut().for_each(|(_, place)| *place = same[*place]);
        self.leave_out(&is_left_out);
    }

    /// Leaves out instructions.
    pub(super) fn leave_out(&mut self, is_left_out: &[bool]) {
        if !is_left_out.contains(&true) {
            return;
        }
        let numbers = is_left_out.iter().scan(0, |next, is_left_out| {
            let number = *next;
            *next += usize::from(!is_left_out);
            Some(number)
        });
        let numbers: Vec<usize> = numbers.collect();
        self.targets.iter_mut().for_each(|(at, _)| *at = numbers.get(*at).copied().unwrap_or(0));
        let mut kept = is_left_out.iter().map(|is_left_out| !is_left_out);
        self.instructions.retain(|_| kept.next().unwrap_or(true));
    }
}

/// The places of the original and of the copy, if that is what an instruction makes and both lie alike.
fn copied(forms: &[Form], instruction: &Instruction) -> Option<(usize, usize)> {
    let is_copy = instruction.direct.as_ref().is_some_and(|direct| direct.is_copy());
    match (&*instruction.operands, &*instruction.outputs) {
        (&[Operand::Form(original)], &[Some(copy)]) if is_copy => {
            let (original, copy) = (&forms[original], &forms[copy]);
            let is_alike = original.dtype == copy.dtype && *original.layout == *copy.layout;
            let is_whole = copy.layout.is_dense() && copy.layout.offset() == 0;
            (is_alike && is_whole).then_some((original.place, copy.place))
        }
        _ => None,
    }
}
