//! Where results of operations lie that nobody gets: memory that a program keeps, in which each has a place from the
//! operation that makes it to the last one that reads it.

use std::collections::HashSet;

use smallvec::SmallVec;

use super::{Form, Instruction, Operand, Place, Way, chains, tiles};
use crate::dispatch::direct::{Beside, Lies, all_beside, beside_in_turns};

/// What is there all the time, and what is not.
pub(super) struct Plan {
    /// Memory that is kept, in bytes.
    pub(super) rooms: Vec<usize>,
    /// Forms that lie there, and in which of it.
    pub(super) kept: Vec<(usize, usize)>,
    /// Forms that come into being in every run.
    pub(super) passing: Vec<usize>,
}

/// Finds the ways of instructions, and a place for what these make. Forms that stay are left behind.
pub(super) fn plan(
    places: &[Place],
    forms: &[Form],
    instructions: &mut [Instruction],
    stays: &HashSet<usize>,
) -> Plan {
    let mut is_left = vec![false; places.len()];
    stays.iter().for_each(|&form| is_left[forms[form].place] = true);
    for instruction in &mut *instructions {
        instruction.way = way(forms, instruction);
    }
    let mut ends = ends(places.len(), forms, instructions);
    chains::find(forms, &is_left, instructions, &mut ends);
    tiles::group(forms, instructions, &mut ends);
    let (mut rooms, mut room_of) = (Vec::new(), vec![None; places.len()]);
    let mut free: Vec<usize> = Vec::new();
    let mut going: Vec<Vec<usize>> = vec![Vec::new(); instructions.len()];
    for (at, instruction) in instructions.iter_mut().enumerate() {
        if let (Some(way), [Some(made)]) = (&mut instruction.way, &*instruction.outputs) {
            let place = forms[*made].place;
            way.is_fresh = is_left[place];
            if !way.is_fresh {
                let bytes = way.count * forms[*made].dtype.size();
                let room = take(&mut free, &mut rooms, bytes);
                room_of[place] = Some(room);
                going[ends[place].max(at)].push(room);
            }
        }
        free.append(&mut going[at]);
    }
    let kept: Vec<(usize, usize)> =
        forms.iter().enumerate().filter_map(|(form, shown)| Some((form, room_of[shown.place]?))).collect();
    let is_lasting = |form: usize| {
        let place = forms[form].place;
        room_of[place].is_some() || matches!(places[place], Place::Fixed { shared: true, .. })
    };
    for instruction in instructions {
        instruction.shown.retain(|(form, _)| !is_lasting(*form));
        instruction.dropped = instruction.last.iter().copied().filter(|&form| !is_lasting(form)).collect();
    }
    let passing = (0..forms.len()).filter(|&form| !is_lasting(form)).collect();
    Plan { rooms, kept, passing }
}

/// The last instruction that reads each place, or makes it.
fn ends(places: usize, forms: &[Form], instructions: &[Instruction]) -> Vec<usize> {
    let mut ends = vec![0; places];
    for (at, instruction) in instructions.iter().enumerate() {
        for form in instruction.reads().chain(instruction.outputs.iter().flatten().copied()) {
            ends[forms[form].place] = at;
        }
    }
    ends
}

/// The smallest memory that is free and large enough, or more.
fn take(free: &mut Vec<usize>, rooms: &mut Vec<usize>, bytes: usize) -> usize {
    let fits = free.iter().enumerate().filter(|(_, room)| rooms[**room] >= bytes);
    match fits.min_by_key(|(_, room)| rooms[**room]).map(|(index, _)| index) {
        Some(index) => free.swap_remove(index),
        None => {
            rooms.push(bytes);
            rooms.len() - 1
        }
    }
}

/// How an instruction can be computed into memory that is there, if all lies as that takes.
fn way(forms: &[Form], instruction: &Instruction) -> Option<Way> {
    let direct = instruction.direct.clone()?;
    let result = match (&*instruction.outputs, instruction.operands.first()) {
        ([Some(made)], _) => *made,
        // A write.
        ([], Some(Operand::Form(first))) => *first,
        _ => return None,
    };
    let lies: SmallVec<[Lies<'_>; 6]> = instruction
        .operands
        .iter()
        .map(|operand| match operand {
            Operand::Number(number) => Lies::Number(*number),
            Operand::Form(form) => Lies::Tensor(&forms[*form].layout, forms[*form].dtype),
        })
        .collect();
    let Form { layout, dtype, .. } = &forms[result];
    let is_whole = layout.offset() == 0 && layout.end() == layout.numel();
    if !direct.takes(&lies, (layout, *dtype)) || !is_whole && !instruction.outputs.is_empty() {
        return None;
    }
    let result_lies = (&**layout, *dtype);
    let found = match direct.is_elementwise() {
        true => all_beside(&lies, result_lies),
        false => None,
    };
    let in_turns = match direct.is_elementwise() && !direct.is_copy() && found.is_none() {
        true => Some(beside_in_turns(&lies, result_lies)?),
        false => None,
    };
    let (in_parts, count, is_fresh) = (found.is_some(), layout.numel(), false);
    let (beside, turns) = match (found, in_turns) {
        (Some(beside), _) => (beside, None),
        (None, Some((beside, turns))) => (beside, Some(turns)),
        (None, None) => (lies.iter().map(|_| Beside::Each).collect(), None),
    };
    Some(Way { direct, beside, result, count, in_parts, is_fresh, turns })
}
