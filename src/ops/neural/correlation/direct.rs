//! The numbers of a convolution where no matrices of windows are needed.

use std::mem::MaybeUninit;

use num_traits::Float;

use super::{Geometry, Role};
use crate::dtype::Ring;
use crate::error::Result;
use crate::kernels::neural::convolution::{Plan, Sizes};
use crate::kernels::wide::Wide;
use crate::ops::neural::scratch::elements;
use crate::tensor::Array;

/// The array in this role from those in the two others, and a number for each channel that is added; nothing where
/// matrices are better.
pub(super) fn calculate<T: Wide>(
    gives: Role,
    geometry: &Geometry,
    [left, right]: [&Array; 2],
    bias: Option<&Array>,
) -> Result<Option<Array>> {
    let (input, output) = geometry.channels();
    let (from, to) = if gives == Role::Input { (output, input) } else { (input, output) };
    let sizes = Sizes { batch: geometry.batch(), groups: geometry.groups, from, to };
    let plan = match gives {
        Role::Input => Plan::backward(&geometry.windows, sizes),
        Role::Output | Role::Weight => Plan::forward(&geometry.windows, sizes),
    };
    let Some(plan) = plan else { return Ok(None) };
    let (left, right) = (elements::<T>(left), elements::<T>(right));
    // Zeros beside a gradient would meet what is infinite.
    if gives == Role::Input && !right.iter().all(|x| Float::is_finite(*x)) {
        return Ok(None);
    }
    let planes = sizes.batch * sizes.groups;
    let held = laid(plan.room(planes * from), |room| plan.lay(left, room))?;
    let data = held.as_ref().map_or(left, elements);
    let mut y = Array::uninit_shape(geometry.shape(gives), T::DTYPE)?;
    if gives == Role::Weight {
        let held = laid(plan.room_of_results(planes * to), |room| plan.lay_results(right, room))?;
        plan.weigh(sizes, data, held.as_ref().map_or(right, elements), y.fresh::<T>());
        // So they would where lines end.
        return Ok(elements::<T>(&y).iter().all(|&x| !Ring::is_nan(x)).then_some(y));
    }
    let (turned, count) = (gives == Role::Input, geometry.windows.elements());
    let weights = laid(Some(plan.room_of_weights(sizes)), |room| {
        plan.lay_weights(sizes, (right, turned), count, room);
    })?;
    let weights = weights.as_ref().map_or(right, elements);
    plan.sum(sizes, data, weights, bias.map(elements), y.fresh::<T>());
    Ok(Some(y))
}

/// An array of so many numbers, if there is to be one, with what `lay` writes into it.
fn laid<T: Wide>(room: Option<usize>, lay: impl FnOnce(&mut [MaybeUninit<T>])) -> Result<Option<Array>> {
    let Some(room) = room else { return Ok(None) };
    let mut array = Array::uninit_shape(&[room], T::DTYPE)?;
    lay(array.fresh());
    Ok(Some(array))
}
