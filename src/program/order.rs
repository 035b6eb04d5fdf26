//! When each form of a program comes into being, and when it may go.

use std::collections::HashSet;

use super::maker::Maker;
use super::{Instruction, Operand, Place};

impl Maker {
    /// Finds that out. Answers those that are there at first.
    pub(super) fn order(&mut self, stays: &HashSet<usize>) -> Vec<usize> {
        // The form of a place that is there as long as the place is; others are made of it.
        let mut home: Vec<Option<usize>> = vec![None; self.places.len()];
        let mut there = vec![false; self.forms.len()];
        let mut given = Vec::new();
        let mut is_used = vec![false; self.forms.len()];
        let read = self.instructions.iter().flat_map(Instruction::reads);
        read.chain(stays.iter().copied()).for_each(|form| is_used[form] = true);
        for (index, form) in self.forms.iter().enumerate() {
            if is_used[index] && !matches!(self.places[form.place], Place::Made) {
                home[form.place].get_or_insert(index);
                there[index] = true;
                given.push(index);
            }
        }
        for instruction in &mut self.instructions {
            for operand in &instruction.operands {
                let Operand::Form(form) = *operand else { continue };
                if !std::mem::replace(&mut there[form], true)
                    && let Some(home) = home[self.forms[form].place]
                {
                    instruction.shown.push((form, home));
                }
            }
            for &form in instruction.outputs.iter().flatten() {
                home[self.forms[form].place] = Some(form);
                there[form] = true;
            }
        }
        let mut last: Vec<Option<usize>> = vec![None; self.forms.len()];
        for (at, instruction) in self.instructions.iter().enumerate() {
            let shown = instruction.shown.iter().map(|(_, home)| *home);
            for form in instruction.reads().chain(shown).chain(instruction.outputs.iter().flatten().copied())
            {
                last[form] = Some(at);
            }
        }
        // What is left behind may be made of the form that its place came into being with.
        for &form in stays {
            last[form] = None;
            if let Some(home) = home[self.forms[form].place] {
                last[home] = None;
            }
        }
        for (form, at) in last.into_iter().enumerate() {
            if let (Some(at), Place::Made) = (at, &self.places[self.forms[form].place]) {
                self.instructions[at].last.push(form);
            }
        }
        given
    }
}
