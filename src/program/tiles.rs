//! Runs of elementwise operations on many elements, computed a tile of these at a time: what one operation writes, the
//! next one finds near. A tile is computed as all elements are, and no element depends on where it lies, so that the bits
//! are the same.

use std::ops::Range;

use parking_lot::Mutex;

use super::frame::Frame;
use super::{Form, Instruction, Operand, Program};
use crate::dispatch::direct::Beside;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::parallel::parallel_items;

/// Elements of a tile: a few slices of so many stay in the nearest memory.
const TILE: usize = 4096;
/// Tiles that are worth a turn of a thread.
const TURN: usize = 16;

/// Finds instructions that can be computed together. What they read of what was made before stays until the last of them:
/// each turn is at another of them.
pub(super) fn group(forms: &[Form], instructions: &mut [Instruction], ends: &mut [usize]) {
    let mut first = 0;
    while first < instructions.len() {
        let kind = kind_of(forms, &instructions[first]);
        if kind.is_none() {
            first += 1;
            continue;
        }
        let mut made: Vec<usize> = Vec::new();
        let mut count = 0;
        for instruction in &instructions[first..] {
            // An element that all depend on has to be there before any of them.
            let mut read = read(forms, instruction);
            let waits = read.any(|(place, beside)| beside == Beside::All && made.contains(&place));
            if waits || kind_of(forms, instruction) != kind {
                break;
            }
            made.extend(instruction.outputs.iter().flatten().map(|&form| forms[form].place));
            count += 1;
        }
        instructions[first].together = count;
        let last = first + count - 1;
        for instruction in &instructions[first..=last] {
            for (place, _) in read(forms, instruction) {
                if !made.contains(&place) {
                    ends[place] = ends[place].max(last);
                }
            }
        }
        first = last + 1;
    }
}

/// The places that an instruction reads, and how these go with its result.
fn read<'a>(forms: &'a [Form], instruction: &'a Instruction) -> impl Iterator<Item = (usize, Beside)> + 'a {
    let beside = instruction.way.iter().flat_map(|way| way.beside.iter().copied());
    instruction.operands.iter().zip(beside).filter_map(move |(operand, beside)| match operand {
        Operand::Form(form) => Some((forms[*form].place, beside)),
        Operand::Number(_) => None,
    })
}

/// How many elements an instruction has, and of which type, if it can be computed in tiles and is worth that.
fn kind_of(forms: &[Form], instruction: &Instruction) -> Option<(usize, DType)> {
    let way = instruction.way.as_ref()?;
    let goes = way.in_parts
        && instruction.outputs.len() == 1
        && way.count >= 2 * TILE
        && way.beside.iter().all(|beside| matches!(beside, Beside::Each | Beside::All));
    goes.then(|| (way.count, forms[way.result].dtype))
}

impl Program {
    /// Computes instructions together.
    pub(super) fn in_tiles(&self, group: &[Instruction], frame: &mut Frame) -> Result<()> {
        let ways = || group.iter().filter_map(|instruction| Some((instruction, instruction.way.as_ref()?)));
        let mut count = 0;
        for (instruction, way) in ways() {
            self.make_room(way, frame)?;
            for &(form, home) in &instruction.shown {
                frame.arrays[form] = Some(self.show(form, &frame.array(home)?.storage));
            }
            count = way.count;
        }
        let there = &*frame;
        let turn = |elements: Range<usize>| -> Result<()> {
            for start in elements.clone().step_by(TILE) {
                let tile = start..(start + TILE).min(elements.end);
                let mut left = group;
                while let Some(first) = left.first() {
                    let (chain, rest) = left.split_at(first.chained);
                    self.compute_chain(chain, there, tile.clone())?;
                    left = rest;
                }
            }
            Ok(())
        };
        let turns = (0..count).step_by(TILE * TURN).map(|start| start..(start + TILE * TURN).min(count));
        let outcome: Mutex<Result<()>> = Mutex::new(Ok(()));
        parallel_items(turns, 1, |elements| {
            if let Err(error) = turn(elements) {
                *outcome.lock() = Err(error);
            }
        });
        outcome.into_inner()?;
        group.iter().for_each(|instruction| frame.drop_after(instruction));
        Ok(())
    }
}
