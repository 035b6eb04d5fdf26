//! Registers: what lies in memory that a program keeps and has few elements lies there side by side, all of one type in one
//! array. Functions of elements are computed there at once, without a look at arrays and how they lie; what they read of
//! other memory is fetched into registers of its own before, and stays there until somebody writes to that memory.

use std::ops::Range;

use smallvec::SmallVec;

use super::frame::Frame;
use super::{Form, Instruction, Operand, Program};
use crate::dispatch::direct::{Beside, Register, Registers, misfit};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::observe::spread::SpreadMap;
use crate::shape::{Layout, SharedLayout};
use crate::tensor::Array;

/// The types of elements in registers; those of each are a file.
pub(super) const FILES: [DType; 2] = [DType::Float32, DType::Float64];

/// So many elements at most are few: what is saved for each operation counts for nothing beside more of them.
const FEW: usize = 1 << 10;

/// So many elements of one operand at most are fetched into registers of their own, and so many of all.
const FETCHED: usize = 64;
const MOST_FETCHED: usize = 1 << 12;

/// Chains that are longer are quicker than as many operations in registers.
const LONGEST_CHAIN: usize = 4;

/// An operation on registers.
pub(super) struct InRegisters {
    file: usize,
    operands: SmallVec<[Register; 2]>,
    result: Range<usize>,
    /// What is fetched before it: forms, and where their elements go.
    fetched: SmallVec<[(usize, Range<usize>); 1]>,
}

/// Elements of a place that were fetched: from one on, so many, and where they are.
type Fetched = (usize, usize, usize);

/// The file of elements, if there are few of them.
pub(super) fn file_of(dtype: DType, count: usize) -> Option<usize> {
    FILES.iter().position(|&file| file == dtype).filter(|_| (1..=FEW).contains(&count))
}

/// Where places have registers, and what is fetched into others.
pub(super) struct Finder<'a> {
    forms: &'a [Form],
    /// The file of each place that has registers, and the first of them.
    homes: &'a [Option<(usize, usize)>],
    /// What was fetched of each place.
    fetched: SpreadMap<usize, SmallVec<[Fetched; 1]>>,
    /// How many registers each file has, and how many of these are for what is fetched.
    ends: [usize; FILES.len()],
    fetching: usize,
}

impl<'a> Finder<'a> {
    pub(super) fn new(
        forms: &'a [Form],
        homes: &'a [Option<(usize, usize)>],
        ends: [usize; FILES.len()],
    ) -> Finder<'a> {
        Finder { forms, homes, fetched: SpreadMap::default(), ends, fetching: 0 }
    }

    /// Finds operations on registers. Answers how many registers each file has then.
    pub(super) fn find(mut self, instructions: &mut [Instruction]) -> [usize; FILES.len()] {
        let mut at = 0;
        while at < instructions.len() {
            let group = instructions[at].chained.max(instructions[at].together);
            let all = &mut instructions[at..at + group];
            at += group;
            let is_short = all[0].together == 1 && group <= LONGEST_CHAIN;
            if is_short && all.iter().all(|instruction| self.fits(instruction)) {
                all[0].links = None;
                for instruction in all {
                    instruction.chained = 1;
                    instruction.in_registers = self.of(instruction);
                }
            } else {
                all.iter().for_each(|instruction| self.forget_written(instruction));
            }
        }
        self.ends
    }

    /// Whether an operation can be computed there.
    fn fits(&self, instruction: &Instruction) -> bool {
        let Some(way) = &instruction.way else { return false };
        let (Form { place, dtype, .. }, is_made) = (&self.forms[way.result], !instruction.outputs.is_empty());
        let goes = |(operand, beside): (&Operand, &Beside)| match operand {
            Operand::Number(_) => true,
            Operand::Form(form) => {
                let Form { place, dtype: own, .. } = &self.forms[*form];
                let is_near = *beside == Beside::All || self.homes[*place].is_some() || way.count <= FETCHED;
                own == dtype && matches!(beside, Beside::Each | Beside::All) && is_near
            }
        };
        is_made
            && way.direct.takes_registers()
            && way.in_parts
            && way.turns.is_none()
            && self.homes[*place].is_some()
            && self.fetching + instruction.operands.len() * FETCHED <= MOST_FETCHED
            && instruction.operands.iter().zip(&way.beside).all(goes)
    }

    /// An operation that fits.
    fn of(&mut self, instruction: &Instruction) -> Option<InRegisters> {
        let way = instruction.way.as_ref()?;
        let (file, first) = self.homes[self.forms[way.result].place]?;
        let mut fetched = SmallVec::new();
        let mut operands = SmallVec::new();
        for (operand, beside) in instruction.operands.iter().zip(&way.beside) {
            operands.push(match operand {
                Operand::Number(number) => Register::Number(*number),
                Operand::Form(form) => {
                    let Form { place, layout, .. } = &self.forms[*form];
                    let count = if *beside == Beside::All { 1 } else { way.count };
                    let start = match self.homes[*place] {
                        Some((_, home)) => home + layout.offset(),
                        None => {
                            let (start, is_new) = self.fetch(file, *place, layout.offset(), count);
                            if is_new {
                                fetched.push((*form, start..start + count));
                            }
                            start
                        }
                    };
                    Register::Elements(start..start + count)
                }
            });
        }
        Some(InRegisters { file, operands, result: first..first + way.count, fetched })
    }

    /// Where so many elements of a place are that are fetched, and whether that is yet to be done.
    fn fetch(&mut self, file: usize, place: usize, first: usize, count: usize) -> (usize, bool) {
        let there = self.fetched.entry(place).or_default();
        if let Some((.., start)) = there.iter().find(|own| (own.0, own.1) == (first, count)) {
            return (*start, false);
        }
        let start = self.ends[file];
        there.push((first, count, start));
        self.ends[file] += count;
        self.fetching += count;
        (start, true)
    }

    /// What an operation writes to has to be fetched again. One that is computed as it computes itself may write to what it
    /// is given.
    fn forget_written(&mut self, instruction: &Instruction) {
        if instruction.way.is_some() && !instruction.outputs.is_empty() {
            return;
        }
        for form in instruction.reads() {
            self.fetched.remove(&self.forms[form].place);
        }
    }
}

impl Program {
    /// Files of registers, with nothing in them.
    pub(super) fn empty_files(&self) -> Result<[Option<Array>; FILES.len()]> {
        let mut files = [const { None }; FILES.len()];
        for ((file, dtype), count) in files.iter_mut().zip(FILES).zip(self.files) {
            *file = Some(Array::zeroed(&SharedLayout::contiguous(&[count])?, dtype)?);
        }
        Ok(files)
    }

    /// A form whose place has registers from this one on.
    pub(super) fn show_registers(&self, form: usize, file: Option<&Array>, first: usize) -> Result<Array> {
        let (Form { layout, .. }, file) = (&self.forms[form], file.ok_or_else(misfit)?);
        let (shape, strides) = (layout.shape().into(), layout.strides().into());
        Ok(file.with_layout(Layout::strided(shape, strides, first + layout.offset())?))
    }

    /// Computes an operation on registers.
    pub(super) fn compute_in_registers(
        &self,
        instruction: &Instruction,
        found: &InRegisters,
        frame: &Frame,
    ) -> Result<()> {
        let (Some(way), Some(file)) = (&instruction.way, &frame.files[found.file]) else {
            return Err(misfit());
        };
        for (form, range) in &found.fetched {
            let from = frame.array(*form)?;
            fetch(from, file, range.clone())?;
        }
        way.direct.in_registers(&Registers { file, operands: &found.operands, result: found.result.clone() })
    }
}

/// Fetches elements of an array into registers.
fn fetch(from: &Array, file: &Array, range: Range<usize>) -> Result<()> {
    dispatch!(float file.dtype, T => {
        let one = from.first_element::<T>().filter(|_| range.len() == 1);
        let elements = match &one {
            Some(one) => std::slice::from_ref(one),
            None => from.part::<T>(0, range.len()).ok_or_else(misfit)?,
        };
        file.overwrite_between(range, |_: &[T], out, _| {
            out.write_copy_of_slice(elements);
        });
    }, else { return Err(misfit()) });
    Ok(())
}
