//! Few elements in registers, as operations take them: side by side in one array, so that it need not be looked at how they lie.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::{Side, misfit};
use crate::dtype::{Element, Scalar};
use crate::error::Result;
use crate::tensor::Array;

/// An operand among registers.
pub enum Register {
    /// These elements: one for each of the result, or one for all.
    Elements(Range<usize>),
    /// It is a number.
    Number(Scalar),
}

/// Few elements that lie beside others of their type, in order: what an operation reads there, and what it writes.
pub struct Registers<'a> {
    /// All elements that lie there.
    pub file: &'a Array,
    /// What is read.
    pub operands: &'a [Register],
    /// What is written.
    pub result: Range<usize>,
}

impl Registers<'_> {
    /// Has the result written by what takes the one operand.
    #[inline]
    pub(crate) fn write_of_one<T: Element>(
        &self,
        write: impl FnOnce(Side<'_, T>, &mut [MaybeUninit<T>]),
    ) -> Result<()> {
        let [a] = self.operands else { return Err(misfit()) };
        self.file.overwrite_between(self.result.clone(), |before, out, behind| {
            write(self.side(a, before, behind).ok_or_else(misfit)?, out);
            Ok(())
        })
    }

    /// Has the result written by what takes both operands.
    #[inline]
    pub(crate) fn write_of_two<T: Element>(
        &self,
        write: impl FnOnce(Side<'_, T>, Side<'_, T>, &mut [MaybeUninit<T>]),
    ) -> Result<()> {
        let [a, b] = self.operands else { return Err(misfit()) };
        self.file.overwrite_between(self.result.clone(), |before, out, behind| {
            let (a, b) = (self.side(a, before, behind), self.side(b, before, behind));
            let (Some(a), Some(b)) = (a, b) else { return Err(misfit()) };
            write(a, b, out);
            Ok(())
        })
    }

    /// An operand, of what lies in front of the result or behind it.
    #[inline(always)]
    fn side<'a, T: Element>(
        &self,
        operand: &Register,
        before: &'a [T],
        behind: &'a [T],
    ) -> Option<Side<'a, T>> {
        let range = match operand {
            Register::Elements(range) => range.clone(),
            Register::Number(number) => return Some(Side::All(number.to())),
        };
        let elements = match range.end <= self.result.start {
            true => before.get(range)?,
            false => {
                let start = range.start.checked_sub(self.result.end)?;
                behind.get(start..start + range.len())?
            }
        };
        match elements {
            [element] if self.result.len() > 1 => Some(Side::All(*element)),
            elements => (elements.len() == self.result.len()).then_some(Side::Each(elements)),
        }
    }
}
