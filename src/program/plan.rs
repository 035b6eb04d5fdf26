//! Where results of operations lie that nobody gets: memory that a program keeps, in which each has a place from the
//! operation that makes it to the last one that reads it.

use std::collections::{BTreeMap, HashSet};

use smallvec::SmallVec;

use super::registers::{FILES, Finder, file_of};
use super::{Form, Instruction, Operand, Place, Way, chains, tiles};
use crate::dispatch::direct::{Beside, Lies, all_beside, beside_in_turns};

/// What is there all the time, and what is not.
pub(super) struct Plan {
    /// Memory that is kept, in bytes.
    pub(super) rooms: Vec<usize>,
    /// How many registers there are of each type.
    pub(super) files: [usize; FILES.len()],
    /// Forms that lie there, and where.
    pub(super) kept: Vec<(usize, Home)>,
    /// Forms that come into being in every run.
    pub(super) passing: Vec<usize>,
}

/// Where memory is kept for a place.
#[derive(Clone, Copy)]
pub(super) enum Home {
    /// In this room.
    Room(usize),
    /// In registers of this file, from this one on.
    Registers { file: usize, first: usize },
}

/// Memory of one kind, in pieces that are taken in turn.
#[derive(Default)]
struct Pieces {
    sizes: Vec<usize>,
    /// Those that are free, by size.
    free: BTreeMap<usize, Vec<usize>>,
}

impl Pieces {
    /// The smallest piece that is free and large enough, or one more.
    fn take(&mut self, size: usize) -> usize {
        let fits = self.free.range_mut(size..).find_map(|(_, pieces)| pieces.pop());
        fits.unwrap_or_else(|| {
            self.sizes.push(size);
            self.sizes.len() - 1
        })
    }

    /// Has a piece be taken by others from now on.
    fn give(&mut self, piece: usize) {
        self.free.entry(self.sizes[piece]).or_default().push(piece);
    }

    /// Where pieces begin that lie one after the other, and where the last one ends.
    fn starts(&self) -> (Vec<usize>, usize) {
        let mut end = 0;
        let starts = self.sizes.iter().map(|size| {
            end += size;
            end - size
        });
        (starts.collect(), end)
    }
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
    let mut rooms = Pieces::default();
    let mut registers: [Pieces; FILES.len()] = Default::default();
    // Of places that have a piece, the file it is of, if any, and which one it is.
    let mut piece_of: Vec<Option<(Option<usize>, usize)>> = vec![None; places.len()];
    let mut going: Vec<Vec<(Option<usize>, usize)>> = vec![Vec::new(); instructions.len()];
    for (at, instruction) in instructions.iter_mut().enumerate() {
        if let (Some(way), [Some(made)]) = (&mut instruction.way, &*instruction.outputs) {
            let (place, dtype) = (forms[*made].place, forms[*made].dtype);
            way.is_fresh = is_left[place];
            if !way.is_fresh {
                let piece = match file_of(dtype, way.count) {
                    Some(file) => (Some(file), registers[file].take(way.count)),
                    None => (None, rooms.take(way.count * dtype.size())),
                };
                piece_of[place] = Some(piece);
                going[ends[place].max(at)].push(piece);
            }
        }
        for (file, piece) in going[at].drain(..) {
            file.map_or(&mut rooms, |file| &mut registers[file]).give(piece);
        }
    }
    let starts = registers.each_ref().map(|pieces| pieces.starts());
    let register_of = |place: usize| match piece_of[place] {
        Some((Some(file), piece)) => Some((file, starts[file].0[piece])),
        _ => None,
    };
    let homes: Vec<Option<(usize, usize)>> = (0..places.len()).map(register_of).collect();
    let home_of = |place: usize| match (homes[place], piece_of[place]) {
        (Some((file, first)), _) => Some(Home::Registers { file, first }),
        (None, piece) => piece.map(|(_, room)| Home::Room(room)),
    };
    let files = Finder::new(forms, &homes, starts.each_ref().map(|(_, end)| *end)).find(instructions);
    let kept: Vec<(usize, Home)> =
        forms.iter().enumerate().filter_map(|(form, shown)| Some((form, home_of(shown.place)?))).collect();
    let is_lasting = |form: usize| {
        let place = forms[form].place;
        piece_of[place].is_some() || matches!(places[place], Place::Fixed { shared: true, .. })
    };
    for instruction in instructions {
        instruction.shown.retain(|(form, _)| !is_lasting(*form));
        instruction.dropped = instruction.last.iter().copied().filter(|&form| !is_lasting(form)).collect();
    }
    let passing = (0..forms.len()).filter(|&form| !is_lasting(form)).collect();
    Plan { rooms: rooms.sizes, files, kept, passing }
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
