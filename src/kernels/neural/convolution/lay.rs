//! Laying out what is multiplied: planes with their zeros, gradients with lines as far apart, weights side by side.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::axes::Axis;
use super::tiles::{blocks, together};
use super::{BEHIND, Plan, Sizes};
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::{parallel_items, parallel_parts};
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::wide::Wide;

/// Numbers of a plane that lie in the nearest memory.
const NEAR: usize = 1 << 12;

impl Plan {
    /// Lays planes out, in so much room as `room` says.
    pub fn lay<T: Wide>(&self, planes: &[T], out: &mut [MaybeUninit<T>]) {
        let size: usize = self.axes.iter().map(|axis| axis.size).product();
        let (all, behind) = out.split_at_mut(out.len() - self.behind());
        behind.fill(MaybeUninit::new(T::ZERO));
        let grain = (GRAIN / self.area).max(1) * self.area;
        parallel_parts(all, grain, |start, part| {
            let mut steps = Steps::default();
            for (place, out) in part.chunks_exact_mut(self.area).enumerate() {
                steps.take(self.area);
                self.lay_plane(&planes[(start / self.area + place) * size..][..size], out);
            }
        });
    }

    fn lay_plane<T: Wide>(&self, plane: &[T], out: &mut [MaybeUninit<T>]) {
        let [z, y, x] = &self.axes;
        let [y_inside, x_inside] = [y, x].map(all_inside);
        // What is near is written twice sooner than in many short pieces.
        let is_near = self.area <= NEAR;
        if is_near {
            out.fill(MaybeUninit::new(T::ZERO));
        }
        let mut lines = out.chunks_exact_mut(x.len);
        for z_phase in 0..z.starts.len() {
            let z_inside = z.inside(z_phase);
            for y_inside in &y_inside {
                for x_inside in &x_inside {
                    for (depth, line) in
                        (0..z.len).flat_map(|depth| (0..y.len).map(move |line| (depth, line)))
                    {
                        let Some(out) = lines.next() else { unreachable!("there is room for all phases") };
                        match (at(z, &z_inside, depth), at(y, y_inside, line)) {
                            (Some(depth), Some(line)) => {
                                let from = &plane[(depth * y.size + line) * x.size..][..x.size];
                                if !is_near {
                                    lay_zeros(x_inside, out);
                                }
                                lay_line(from, x.step, x_inside, out);
                            }
                            _ if is_near => {}
                            _ => out.fill(MaybeUninit::new(T::ZERO)),
                        }
                    }
                }
            }
        }
    }

    /// How many numbers a depth of gradients takes.
    pub(super) fn stretch(&self) -> usize {
        self.reach(self.results).next_multiple_of(BEHIND)
    }

    /// How many numbers gradients of so many planes of results take when they are laid out; none if they lie so already.
    pub fn room_of_results(&self, planes: usize) -> Option<usize> {
        let len = self.stretch();
        let lies = self.results[0] == 1 && len == self.results[1] * self.results[2];
        (!lies).then_some(planes * self.results[0] * len)
    }

    /// Lays a gradient of results out, line beside line with what they meet.
    pub fn lay_results<T: Wide>(&self, gradient: &[T], out: &mut [MaybeUninit<T>]) {
        let (len, [_, lines, columns]) = (self.stretch(), self.results);
        let line = self.axes[2].len;
        parallel_parts(out, (GRAIN / len).max(1) * len, |start, part| {
            for (place, out) in part.chunks_exact_mut(len).enumerate() {
                let depth = start / len + place;
                let gradient = &gradient[depth * lines * columns..][..lines * columns];
                for (gradient, out) in gradient.chunks_exact(columns).zip(out.chunks_mut(line)) {
                    let (numbers, zeros) = out.split_at_mut(columns);
                    numbers.write_copy_of_slice(gradient);
                    zeros.fill(MaybeUninit::new(T::ZERO));
                }
                let end = (lines * line).min(len);
                out[end..].fill(MaybeUninit::new(T::ZERO));
            }
        });
    }

    /// How many numbers weights take when they are laid out.
    pub fn room_of_weights(&self, sizes: Sizes) -> usize {
        let elements: usize = self.sweeps.iter().map(|sweep| sweep.taps.len()).sum();
        sizes.groups * sizes.to * sizes.from * elements
    }

    /// Lays weights out, those side by side that are multiplied with one number. `turned` are the weights of
    /// convolutions from what is found to what is given.
    pub fn lay_weights<T: Wide>(
        &self,
        sizes: Sizes,
        (weights, turned): (&[T], bool),
        elements: usize,
        out: &mut [MaybeUninit<T>],
    ) {
        let Sizes { groups, from, to, .. } = sizes;
        let used = out.len() / (groups * to).max(1);
        let mut items = interrupt::room(groups * to);
        let mut rest = out;
        for group in 0..groups {
            let mut channel = 0;
            for width in blocks(to, together()) {
                items.push((group, channel, width, rest.split_off_mut(..width * used).unwrap_or_default()));
                channel += width;
            }
        }
        parallel_items(items, (GRAIN / used.max(1)).max(1), |(group, channel, width, mut out)| {
            for sweep in &self.sweeps {
                for source in 0..from {
                    for &[tap, _] in &sweep.taps {
                        let Some(places) = out.split_off_mut(..width) else { unreachable!("there is room") };
                        for (place, channel) in places.iter_mut().zip(channel..) {
                            let pair = match turned {
                                true => (group * from + source) * to + channel,
                                false => (group * to + channel) * from + source,
                            };
                            place.write(weights[pair * elements + tap]);
                        }
                    }
                }
            }
        });
    }
}

/// The places of each phase that are not before or behind the source, and which number is the first of them.
fn all_inside(axis: &Axis) -> Vec<(Range<usize>, usize)> {
    interrupt::collected((0..axis.starts.len()).map(|phase| axis.inside(phase)))
}

/// Which number of the source is at a place.
fn at(axis: &Axis, (inside, first): &(Range<usize>, usize), place: usize) -> Option<usize> {
    inside.contains(&place).then(|| first + (place - inside.start) * axis.step)
}

/// The zeros before and behind a line of a phase.
fn lay_zeros<T: Wide>((inside, _): &(Range<usize>, usize), out: &mut [MaybeUninit<T>]) {
    let (before, behind) = (inside.start, inside.end);
    out[..before].fill(MaybeUninit::new(T::ZERO));
    out[behind..].fill(MaybeUninit::new(T::ZERO));
}

/// The numbers of a line of a phase.
fn lay_line<T: Wide>(
    from: &[T],
    step: usize,
    (inside, first): &(Range<usize>, usize),
    out: &mut [MaybeUninit<T>],
) {
    let numbers = &mut out[inside.clone()];
    if numbers.is_empty() {
        return;
    }
    match step {
        1 => {
            numbers.write_copy_of_slice(&from[*first..][..inside.len()]);
        }
        step => numbers.iter_mut().zip(from[*first..].iter().step_by(step)).for_each(|(to, &x)| {
            to.write(x);
        }),
    }
}
