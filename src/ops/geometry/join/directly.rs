//! Joins that are computed into memory that is there.

use super::LONG;
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dispatch::memory_order;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::geometry::join;
use crate::shape::Layout;

/// Rows of so many elements, of which each has a row of every operand.
pub(super) struct SideBySide {
    pub(super) row: usize,
}

impl Direct for SideBySide {
    fn takes(&self, operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
        let lies = |operand: &Lies<'_>| match operand {
            Lies::Tensor(layout, own) => *own == dtype && layout.is_contiguous(),
            Lies::Number(_) => false,
        };
        let is_image = |operand: &Lies<'_>| match operand {
            Lies::Tensor(layout, _) => memory_order::has_channels_last(layout, 2),
            Lies::Number(_) => false,
        };
        matches!(dtype, DType::Float32 | DType::Float64)
            && result.is_contiguous()
            && result.numel() > 0
            && self.row <= LONG
            && operands.iter().all(lies)
            && !operands.iter().all(is_image)
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let lines = target.count / self.row.max(1);
        dispatch!(float target.array.dtype, T => {
            let mut parts: Vec<(&[T], usize)> = Vec::with_capacity(sources.len());
            for source in sources {
                let array = source.array().ok_or_else(misfit)?;
                let elements = array.slice::<T>().ok_or_else(misfit)?;
                parts.push((elements, elements.len() / lines.max(1)));
            }
            target.write_of::<T>(sources, |out| join::side_by_side(&parts, out));
        }, else { return Err(misfit()) });
        Ok(())
    }
}
