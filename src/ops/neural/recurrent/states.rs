//! The numbers of a layer with one state: one product for the inputs of all steps, then one product and one pass a step.

use super::numbers::{at, matrix, two_parts};
use super::places;
use crate::error::Result;
use crate::kernels::interrupt;
use crate::kernels::linalg::gemm;
use crate::kernels::neural::gates::{Cell, StateStep};
use crate::kernels::wide::Wide;
use crate::ops::neural::scratch::{elements, room};
use crate::shape::SharedLayout;
use crate::tensor::Array;

/// What is shown at every step, and the last of that, from the input, the weights of it and of the state, two biases
/// and the state, all in order.
pub(super) fn along<T: Wide>(cell: Cell, arrays: &[Array], reverse: bool) -> Result<[Array; 2]> {
    let [x, to_gates, own, bias, own_bias, start] = arrays else { unreachable!("there are six inputs") };
    let &[steps, samples, width] = x.layout.shape() else { unreachable!("the input is a sequence") };
    let size = start.layout.shape()[1];
    let (state, sums) = (samples * size, samples * size * cell.gates());
    let mut said = room::<T>(steps * sums);
    let rows = matrix(elements::<T>(x), width);
    gemm::matmul_into(rows, matrix(elements(to_gates), width).reversed_axes(), said.owned());
    let own = gemm::Repeated::new(matrix(elements::<T>(own), size).reversed_axes(), samples);
    let mut told = room::<T>(sums);
    let mut all = Array::zeroed(&SharedLayout::contiguous(&[steps, samples, size])?, T::DTYPE)?;
    let mut before: Option<usize> = None;
    for place in places(steps, reverse) {
        interrupt::unwind_if_due();
        let (last, state) = match before {
            None => (elements(start), &mut all.owned::<T>()[place * state..][..state]),
            Some(before) => two_parts(all.owned(), before, place, state),
        };
        own.product(matrix(last, size), told.fresh());
        let step = StateStep {
            cell,
            size,
            said: at(&said, place, sums),
            bias: elements(bias),
            own: told.owned(),
            own_bias: elements(own_bias),
            before: last,
            state,
        };
        step.take();
        before = Some(place);
    }
    let last = Array::from_slice(&[samples, size], at::<T>(&all, before.unwrap_or(0), state))?;
    Ok([all, last])
}
