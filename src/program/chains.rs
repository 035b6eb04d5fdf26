//! Chains of operations of elements and a number each, of which nobody else reads what goes from one to the next: these
//! are computed at once, without memory for that.

use std::ops::Range;

use super::frame::Frame;
use super::{Form, Instruction, Operand, Program};
use crate::dispatch::direct::{Beside, Link, Links, MOST_LINKS, Source, Target, chained, misfit};
use crate::error::Result;

/// Finds chains. What the first operation reads stays until the last one.
pub(super) fn find(forms: &[Form], is_left: &[bool], instructions: &mut [Instruction], ends: &mut [usize]) {
    for instruction in &mut *instructions {
        instruction.link = link(instruction);
    }
    let mut first = 0;
    while first < instructions.len() {
        let mut last = first;
        while last + 1 - first < MOST_LINKS && goes_on(forms, is_left, instructions, ends, last) {
            last += 1;
        }
        if let Some(from) = read(&instructions[first]) {
            let place = forms[from].place;
            ends[place] = ends[place].max(last);
        }
        if last > first {
            let all = instructions[first..=last].iter().filter_map(|one| one.link);
            let dtype = instructions[last].way.as_ref().map(|way| forms[way.result].dtype);
            let links = dtype.and_then(|dtype| Links::new(dtype, all));
            // Without links, each operation is by itself.
            last = if links.is_some() { last } else { first };
            instructions[first].links = links;
        }
        instructions[first].chained = last + 1 - first;
        first = last + 1;
    }
}

/// Whether an operation is a link, and the next one takes what it gives and nobody else does.
fn goes_on(
    forms: &[Form],
    is_left: &[bool],
    instructions: &[Instruction],
    ends: &[usize],
    at: usize,
) -> bool {
    let Some(next) = instructions.get(at + 1) else { return false };
    let (Some(_), Some(from), [Some(made)]) = (instructions[at].link, read(next), &*instructions[at].outputs)
    else {
        return false;
    };
    let place = forms[*made].place;
    from == *made && next.shown.is_empty() && ends[place] == at + 1 && !is_left[place]
}

/// What an operation does to the elements of a form, if that is all it reads but a number.
fn link(instruction: &Instruction) -> Option<Link> {
    let way = instruction.way.as_ref().filter(|way| way.in_parts)?;
    match (&*instruction.operands, &*instruction.outputs, way.beside.first()) {
        ([Operand::Form(_), Operand::Number(number)], [Some(_)], Some(Beside::Each)) => {
            Some((way.direct.step()?, *number))
        }
        _ => None,
    }
}

/// The form that a link reads.
fn read(instruction: &Instruction) -> Option<usize> {
    instruction.link.and_then(|_| instruction.reads().next())
}

impl Program {
    /// Computes these elements of a chain, or of one operation.
    pub(super) fn compute_chain(
        &self,
        chain: &[Instruction],
        frame: &Frame,
        elements: Range<usize>,
    ) -> Result<()> {
        let (Some(first), Some(last)) = (chain.first(), chain.last()) else { return Ok(()) };
        let Some(way) = &last.way else { return Ok(()) };
        let Some(from) = read(first).filter(|_| chain.len() > 1) else {
            return self.compute_part(last, way, frame, elements);
        };
        let source = Source::Array(frame.array(from)?, elements.start, Beside::Each);
        let target = Target { array: frame.array(way.result)?, first: elements.start, count: elements.len() };
        let others = || {
            let all = chain.iter().filter_map(|one| {
                let (step, number) = one.link?;
                Some((step, frame.number(one, 1, number)))
            });
            Links::new(target.array.dtype, all)
        };
        match &first.links {
            Some(links) if frame.has_recorded_numbers() => chained(&source, links, target),
            _ => others().map_or_else(|| Err(misfit()), |links| chained(&source, &links, target)),
        }
    }
}
