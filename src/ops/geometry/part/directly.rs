//! Parts among zeros, computed into memory that is there.

use std::mem::MaybeUninit;

use super::Part;
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dtype::DType;
use crate::error::Result;
use crate::shape::Layout;

/// Rows of elements with so many zeros before and behind each.
pub(super) struct Among {
    before: usize,
    length: usize,
    behind: usize,
}

impl Among {
    /// Where the part lies in a whole of this shape, if in one piece of each row.
    pub(super) fn new(part: Part, whole: &[usize]) -> Option<Among> {
        let (dim, start, length) = match part {
            Part::Select { dim, index } => (dim, index, 1),
            Part::Slice { dim, start, length, step: 1 } => (dim, start, length),
            _ => return None,
        };
        let inner: usize = whole[dim + 1..].iter().product();
        let behind = whole[dim].checked_sub(start + length)?;
        Some(Among { before: start * inner, length: length * inner, behind: behind * inner })
    }
}

impl Direct for Among {
    fn takes(&self, operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
        let [Lies::Tensor(x, own)] = operands else { return false };
        let row = self.before + self.length + self.behind;
        *own == dtype
            && matches!(dtype, DType::Float32 | DType::Float64)
            && x.is_contiguous()
            && result.is_contiguous()
            && self.length > 0
            && x.numel() / self.length * row == result.numel()
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let x = sources[0].array().ok_or_else(misfit)?;
        let row = self.before + self.length + self.behind;
        dispatch!(float target.array.dtype, T => {
            let x = x.slice::<T>().ok_or_else(misfit)?;
            target.write_of::<T>(sources, |y| {
                for (y, x) in y.chunks_exact_mut(row).zip(x.chunks_exact(self.length)) {
                    let (before, rest) = y.split_at_mut(self.before);
                    let (own, behind) = rest.split_at_mut(self.length);
                    before.fill(MaybeUninit::zeroed());
                    own.write_copy_of_slice(x);
                    behind.fill(MaybeUninit::zeroed());
                }
            });
        }, else { return Err(misfit()) });
        Ok(())
    }
}
