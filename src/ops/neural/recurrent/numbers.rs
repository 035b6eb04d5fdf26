//! The numbers of a layer of an LSTM: one product for the inputs of all steps, then one product and one pass a step.

use ndarray::ArrayView2;

use super::places;
use crate::dtype::Real;
use crate::error::Result;
use crate::kernels::interrupt;
use crate::kernels::linalg::gemm;
use crate::kernels::neural::gates::{Back, Step};
use crate::kernels::wide::Wide;
use crate::ops::neural::scratch::{elements, room};
use crate::shape::SharedLayout;
use crate::storage;
use crate::tensor::Array;

/// A layer with its input and its states, all in order.
pub(super) struct Layer<'a, T> {
    x: &'a [T],
    to_gates: &'a [T],
    own: &'a [T],
    biases: [&'a [T]; 2],
    shown: &'a [T],
    memory: &'a [T],
    steps: usize,
    samples: usize,
    width: usize,
    size: usize,
    reverse: bool,
}

impl<'a, T: Wide> Layer<'a, T> {
    /// The layer of these arrays, which go together.
    pub(super) fn new(arrays: &'a [Array], reverse: bool) -> Layer<'a, T> {
        let [x, to_gates, own, bias, own_bias, shown, memory] = arrays else {
            unreachable!("there are seven inputs")
        };
        let &[steps, samples, width] = x.layout.shape() else { unreachable!("the input is a sequence") };
        Layer {
            x: elements(x),
            to_gates: elements(to_gates),
            own: elements(own),
            biases: [elements(bias), elements(own_bias)],
            shown: elements(shown),
            memory: elements(memory),
            steps,
            samples,
            width,
            size: shown.layout.shape()[1],
            reverse,
        }
    }

    fn array(&self, shape: &[usize]) -> Result<Array> {
        Array::zeroed(&SharedLayout::contiguous(shape)?, T::DTYPE)
    }

    /// What is shown at every step, the last of that and of the memories, and the gates and memories of all steps.
    pub(super) fn forward(&self) -> Result<[Array; 5]> {
        let (state, sums) = (self.samples * self.size, self.samples * 4 * self.size);
        let mut gates = Array::uninit_shape(&[self.steps, self.samples, 4 * self.size], T::DTYPE)?;
        let rows = matrix(self.x, self.width);
        gemm::matmul(rows, matrix(self.to_gates, self.width).reversed_axes(), gates.fresh());
        let [all, memories] = [(); 2].map(|()| self.array(&[self.steps, self.samples, self.size]));
        let (mut all, mut memories) = (all?, memories?);
        let bias = self.biases[0].iter().zip(self.biases[1]).map(|(&a, &b)| a + b);
        let bias: Vec<T> = storage::collected(4 * self.size, bias)?;
        let own = gemm::Repeated::new(matrix(self.own, self.size).reversed_axes(), self.samples);
        let mut said = room::<T>(sums);
        let mut before: Option<usize> = None;
        for place in places(self.steps, self.reverse) {
            interrupt::unwind_if_due();
            let shown = before.map_or(self.shown, |before| at(&all, before, state));
            own.product(matrix(shown, self.size), said.fresh());
            let (last, memory) = match before {
                None => (self.memory, &mut memories.owned()[place * state..][..state]),
                Some(before) => two_parts(memories.owned(), before, place, state),
            };
            let step = Step {
                size: self.size,
                gates: &mut gates.owned()[place * sums..][..sums],
                own: elements(&said),
                bias: &bias,
                before: last,
                memory,
                shown: &mut all.owned()[place * state..][..state],
            };
            step.take();
            before = Some(place);
        }
        let last = |of: &Array| {
            Array::from_slice(&[self.samples, self.size], at::<T>(of, before.unwrap_or(0), state))
        };
        let (shown, memory) = (last(&all)?, last(&memories)?);
        Ok([all, shown, memory, gates, memories])
    }

    /// The gradients of all inputs from those of what is shown at every step, of the last of that, and of the last
    /// memory; `found` is all that is shown, and the gates and memories.
    pub(super) fn backward(&self, found: &[Array], given: &[Option<Array>]) -> Result<[Array; 7]> {
        let [all, gates, memories] = found else { unreachable!("three outputs were kept") };
        let (state, sums) = (self.samples * self.size, self.samples * 4 * self.size);
        let given = |index: usize| given[index].as_ref().map(elements::<T>);
        let mut said = self.array(&[self.steps, self.samples, 4 * self.size])?;
        let [to_shown, to_memory] = [given(1), given(2)].map(|given| {
            let mut array = self.array(&[self.samples, self.size]);
            if let (Ok(array), Some(given)) = (&mut array, given) {
                array.owned::<T>().copy_from_slice(given);
            }
            array
        });
        let (mut to_shown, mut to_memory) = (to_shown?, to_memory?);
        let own = gemm::Repeated::new(matrix(self.own, self.size), self.samples);
        let order: Vec<usize> = storage::collected(self.steps, places(self.steps, self.reverse))?;
        for (step, &place) in order.iter().enumerate().rev() {
            interrupt::unwind_if_due();
            if let Some(given) = given(0) {
                let here = to_shown.owned::<T>().iter_mut().zip(&given[place * state..][..state]);
                here.for_each(|(sum, &given)| *sum = *sum + given);
            }
            let before = step.checked_sub(1).map(|before| at::<T>(memories, order[before], state));
            let back = Back {
                size: self.size,
                gates: at(gates, place, sums),
                before: before.unwrap_or(self.memory),
                memory: at(memories, place, state),
                shown: elements(&to_shown),
                remembered: to_memory.owned(),
                said: &mut said.owned()[place * sums..][..sums],
            };
            back.take();
            let said = matrix(at::<T>(&said, place, sums), 4 * self.size);
            own.product(said, to_shown.fresh());
        }
        let said_all = matrix(elements::<T>(&said), 4 * self.size);
        let mut to_x = Array::uninit_shape(&[self.steps, self.samples, self.width], T::DTYPE)?;
        gemm::matmul(said_all, matrix(self.to_gates, self.width), to_x.fresh());
        let mut to_gates = Array::uninit_shape(&[4 * self.size, self.width], T::DTYPE)?;
        gemm::matmul(said_all.t(), matrix(self.x, self.width), to_gates.fresh());
        let mut shown_before = Array::uninit_shape(&[self.steps, self.samples, self.size], T::DTYPE)?;
        let parts = shown_before.fresh::<T>().chunks_exact_mut(state).enumerate();
        for (place, part) in parts {
            let before = if self.reverse { place + 1 } else { place.wrapping_sub(1) };
            let shown = if before < self.steps { at(all, before, state) } else { self.shown };
            part.write_copy_of_slice(shown);
        }
        let mut to_own = Array::uninit_shape(&[4 * self.size, self.size], T::DTYPE)?;
        gemm::matmul(said_all.t(), matrix(elements::<T>(&shown_before), self.size), to_own.fresh());
        let mut bias = storage::filled(4 * self.size, T::ZERO)?;
        for row in elements::<T>(&said).chunks_exact(4 * self.size) {
            bias.iter_mut().zip(row).for_each(|(sum, &x)| *sum = *sum + x);
        }
        let [bias, own_bias] = [(); 2].map(|()| Array::from_slice(&[4 * self.size], &bias));
        Ok([to_x, to_gates, to_own, bias?, own_bias?, to_shown, to_memory])
    }
}

/// What an array has for the step at this place, which are so many elements.
pub(super) fn at<T: Real>(array: &Array, place: usize, elements_of_step: usize) -> &[T] {
    &elements::<T>(array)[place * elements_of_step..][..elements_of_step]
}

/// A matrix of rows of that many elements, which lie one after the other.
pub(super) fn matrix<T: Real>(elements: &[T], columns: usize) -> ArrayView2<'_, T> {
    let rows = elements.len() / columns.max(1);
    ArrayView2::from_shape((rows, columns), &elements[..rows * columns])
        .unwrap_or_else(|_| unreachable!("the matrix has as many elements"))
}

/// Of parts of one length, one to read and another to write.
pub(super) fn two_parts<T>(all: &mut [T], read: usize, write: usize, length: usize) -> (&[T], &mut [T]) {
    let (before, from) = all.split_at_mut(read.max(write) * length);
    let (before, from) = (&mut before[read.min(write) * length..][..length], &mut from[..length]);
    if read < write { (before, from) } else { (from, before) }
}
