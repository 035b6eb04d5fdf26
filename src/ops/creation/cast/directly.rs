//! Copies that are computed into memory that is there.

use crate::dispatch::direct::{Direct, Lies, Side, Source, Target, is_one_like, lie_alike, misfit};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::geometry::moves;
use crate::kernels::pointwise::map;
use crate::shape::Layout;

/// The elements of an array, copied into memory that is there: as they lie, or into rows.
pub(super) struct Copied;

impl Direct for Copied {
    fn is_elementwise(&self) -> bool {
        true
    }

    fn is_copy(&self) -> bool {
        true
    }

    fn takes(&self, operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
        let goes_into_rows = || match operands {
            [Lies::Tensor(layout, own)] => {
                *own == dtype && result.is_contiguous() && layout.shape() == result.shape()
            }
            _ => false,
        };
        let is_float = matches!(dtype, DType::Float32 | DType::Float64);
        is_float && (is_one_like(operands, (result, dtype)) || goes_into_rows())
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let Some(&Source::Array(from, ..)) = sources.first() else { return Err(misfit()) };
        let lies_alike = lie_alike(&from.layout, &target.array.layout);
        dispatch!(float target.array.dtype, T => match lies_alike {
            true => {
                let Side::Each(x) = Side::<T>::of(&sources[0], target.count)? else { return Err(misfit()) };
                target.write_of::<T>(sources, |y| map::map_slice(x, y, |x| x));
            }
            false if from.layout.numel() == target.count => {
                target.write_of::<T>(sources, |y| moves::gather(from.view::<T>(), y));
            }
            false => return Err(misfit()),
        }, else { return Err(misfit()) });
        Ok(())
    }
}
