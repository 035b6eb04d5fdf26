//! Losses that are computed into memory that is there: of few elements, of which no memory is made in between.

use super::{Reduction, Scaled, Shared, Single};
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dtype::{DType, Element, Real, Ring};
use crate::error::Result;
use crate::kernels::reduction::reduce as kernels;
use crate::kernels::vector::{self, Function};
use crate::shape::Layout;
use crate::tensor::Array;

/// The losses of so many elements at most are near while they are added up.
const FEW: usize = 256;

/// What becomes of the losses of single elements, which are a function of these and of others beside them.
pub(super) struct Together<F> {
    pub(super) each: F,
    pub(super) reduction: Reduction,
}

/// Whether two operands are of this floating-point type and of one shape, and lie in rows.
fn are_alike(x: &Lies<'_>, target: &Lies<'_>, dtype: DType) -> bool {
    let (&Lies::Tensor(x, x_type), &Lies::Tensor(target, target_type)) = (x, target) else { return false };
    let is_float = matches!(dtype, DType::Float32 | DType::Float64);
    let is_plain = x.is_row_major() && target.is_row_major() && x.shape() == target.shape();
    is_float && is_plain && x_type == dtype && target_type == dtype && x.ndim() > 0 && x.numel() > 0
}

/// All elements of two arrays.
fn both<'a, T: Real>(x: &'a Array, target: &'a Array) -> Result<[&'a [T]; 2]> {
    let all = |array: &'a Array| array.part::<T>(0, array.layout.numel()).ok_or_else(misfit);
    Ok([all(x)?, all(target)?])
}

impl<F: Function<1> + 'static> Direct for Together<F> {
    fn takes(&self, operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
        let [x, target] = operands else { return false };
        let is_few = matches!(x, Lies::Tensor(layout, _) if layout.numel() <= FEW);
        is_few && are_alike(x, target, dtype) && result.ndim() == 0 && self.reduction != Reduction::None
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let &[Source::Array(x, ..), Source::Array(aim, ..)] = sources else { return Err(misfit()) };
        dispatch!(float x.dtype, T => {
            let [x, aim] = both::<T>(x, aim)?;
            let mut near = [T::ZERO; FEW];
            let losses = near.get_mut(..x.len()).ok_or_else(misfit)?;
            losses.copy_from_slice(x);
            vector::map_in_place(losses, [aim], self.each);
            let sum = kernels::total(losses);
            let loss = match self.reduction {
                Reduction::Mean => sum / T::from_f64(losses.len() as f64),
                _ => sum,
            };
            target.write_of::<T>(sources, |place| place.iter_mut().for_each(|place| _ = place.write(loss)));
        }, else { return Err(misfit()) });
        Ok(())
    }
}

impl<S: Single> Direct for Shared<S> {
    fn takes(&self, operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
        let [Lies::Tensor(gradient, own), x, target] = operands else { return false };
        gradient.ndim() == 0 && *own == dtype && are_alike(x, target, dtype) && result.is_row_major()
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let &[Source::Array(gradient, ..), Source::Array(x, ..), Source::Array(aim, ..)] = sources else {
            return Err(misfit());
        };
        dispatch!(float x.dtype, T => {
            let gradient: T = gradient.first_element().ok_or_else(misfit)?;
            let [x, aim] = both::<T>(x, aim)?;
            let share = match self.reduction {
                Reduction::Mean => gradient / T::from_f64(x.len() as f64),
                _ => gradient,
            };
            let each = Scaled(self.loss, share.to_f64());
            target.write_of(sources, |place| vector::map(x, [aim], place, each));
        }, else { return Err(misfit()) });
        Ok(())
    }
}
