//! Convolutions of real numbers without matrices of windows. What windows slide over is laid out with its zeros, and
//! those numbers apart that a stride keeps apart; then each element of a window is multiplied with numbers that lie at
//! one distance from every result, in vectors that hold neighbouring results.
//!
//! At the end of a line of results follow some that are nobody's, since windows there reach into the next line. They
//! are left out when results are put where they belong.

mod axes;
mod lay;
#[cfg(test)]
mod tests;
mod tiles;

use std::mem::MaybeUninit;

use pulp::{Arch, Simd, WithSimd};

use super::windows::Windows;
use crate::kernels::interrupt;
use crate::kernels::parallel::{parallel_items, parallel_parts};
use crate::kernels::wide::Wide;
use axes::{Axis, Turn};
use tiles::{CHANNELS, STRETCH, Stretch, Weights, blocks, together};

/// Multiplications that are worth a turn of a thread.
const TURN: usize = 1 << 19;

/// Numbers behind all planes, into which the last vector of one may reach.
const BEHIND: usize = 16;

/// Zeros at most behind a line that are those before the next one.
const SHARED: usize = 16;

/// So many times as many numbers as there are given and found may be laid out, and so many in any case.
const ROOMY: usize = 4;
const LITTLE: usize = 1 << 16;

/// More kinds of results than these, as large strides make, are not worth a loop each.
const MOST_KINDS: usize = 64;

/// Where of so many numbers that are computed less than this share are results, windows had better be multiplied as
/// matrices, if channels are that many.
const WORTH: (usize, usize) = (2, 5);
const MATRIX: usize = 1 << 10;

/// The sizes of a convolution beside those of windows.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// How many images there are.
    pub batch: usize,
    /// In how many groups channels fall.
    pub groups: usize,
    /// Channels of a group of what is laid out.
    pub from: usize,
    /// Channels of a group of what is not.
    pub to: usize,
}

/// How numbers are laid out, and where from results are what sums.
pub struct Plan {
    axes: [Axis; 3],
    sweeps: Vec<Sweep>,
    /// The sizes of what results are put into.
    results: [usize; 3],
    /// How many numbers a plane takes when it is laid out.
    area: usize,
    /// How many zeros behind a line are those before the next one.
    shared: usize,
}

/// Results that are sums over the same elements of windows.
struct Sweep {
    /// Elements of a window, and how far away from a result lies what they are multiplied with.
    taps: Vec<[usize; 2]>,
    first: [usize; 3],
    step: [usize; 3],
    count: [usize; 3],
}

impl Plan {
    /// What windows make of what they slide over, if this is worth it here.
    pub fn forward(windows: &Windows, sizes: Sizes) -> Option<Plan> {
        let windows = flat(windows);
        Plan::of([0, 1, 2].map(|dim| Axis::forward(&windows, dim)), windows.count, &windows, sizes)
    }

    /// What becomes of elements that windows were over, each of which has a number.
    pub fn backward(windows: &Windows, sizes: Sizes) -> Option<Plan> {
        let windows = flat(windows);
        let kinds = (0..3).map(|dim| windows.size[dim].min(windows.stride[dim]));
        if kinds.fold(1, usize::saturating_mul) > MOST_KINDS {
            return None;
        }
        Plan::of([0, 1, 2].map(|dim| Axis::backward(&windows, dim)), windows.size, &windows, sizes)
    }

    fn of(mut axes: [Axis; 3], results: [usize; 3], windows: &Windows, sizes: Sizes) -> Option<Plan> {
        let shared = axes[2].share();
        let product = |numbers: [usize; 3]| numbers.into_iter().fold(1, usize::saturating_mul);
        let lens = axes.each_ref().map(|axis| axis.len);
        let area = product(lens).saturating_mul(product(axes.each_ref().map(|axis| axis.starts.len())));
        let given = product(axes.each_ref().map(|axis| axis.size));
        let found = product(results);
        let channels = |per_group: usize| product([sizes.batch, sizes.groups, per_group]);
        let laid = area.saturating_mul(channels(sizes.from));
        let [read, written] = [(given, sizes.from), (found, sizes.to)]
            .map(|(plane, per_group)| plane.saturating_mul(channels(per_group)));
        let numbers = read.saturating_add(written);
        let computed = |count: [usize; 3]| {
            let line = (count[1].saturating_sub(1)).saturating_mul(lens[2]).saturating_add(count[2]);
            count[0].saturating_mul(line.next_multiple_of(BEHIND))
        };
        let by_turn = product(axes.each_ref().map(|axis| axis.turns.len()));
        let counts = axes.each_ref().map(|axis| axis.turns.first().map_or(0, |turn| turn.count));
        let is_wasteful = by_turn.saturating_mul(computed(counts)) / WORTH.1 * WORTH.0 > found
            && product([sizes.from, sizes.to, windows.elements()]) > MATRIX;
        let is_empty = read.min(written) == 0 || windows.elements() == 0;
        if is_empty || laid > LITTLE.max(numbers.saturating_mul(ROOMY)) || is_wasteful || together() == 0 {
            return None;
        }
        let mut plan = Plan { axes, sweeps: Vec::new(), results, area, shared };
        let [z, y, x] = &plan.axes;
        let turns = z
            .turns
            .iter()
            .flat_map(|z| y.turns.iter().flat_map(move |y| x.turns.iter().map(move |x| [z, y, x])));
        plan.sweeps = interrupt::gathered(turns.map(|turns| plan.sweep(turns, windows)));
        Some(plan)
    }

    fn sweep(&self, turns: [&Turn; 3], windows: &Windows) -> Sweep {
        let [_, height, width] = windows.kernel;
        let [depths, lines, line] = self.axes.each_ref().map(|axis| axis.len);
        let phases = self.axes.each_ref().map(|axis| axis.starts.len());
        let mut taps = Vec::new();
        for &[z, z_phase, z_place] in &turns[0].taps {
            for &[y, y_phase, y_place] in &turns[1].taps {
                for &[x, x_phase, x_place] in &turns[2].taps {
                    let phase = (z_phase * phases[1] + y_phase) * phases[2] + x_phase;
                    let place = ((phase * depths + z_place) * lines + y_place) * line + x_place;
                    taps.push([(z * height + y) * width + x, place]);
                }
            }
        }
        Sweep {
            taps,
            first: turns.map(|turn| turn.first),
            step: turns.map(|turn| turn.step),
            count: turns.map(|turn| turn.count),
        }
    }

    /// How many numbers so many planes take when they are laid out; none if they lie so already.
    pub fn room(&self, planes: usize) -> Option<usize> {
        // Windows of single elements: every vector is whole, and none reaches behind the last plane.
        let lies = |axis: &Axis| axis.starts == [0] && axis.step == 1 && axis.len == axis.size;
        let are_single = self.axes.each_ref().map(|axis| axis.len) == self.results;
        let lies = are_single && self.axes.iter().all(lies) && self.area.is_multiple_of(BEHIND);
        (!lies).then_some(planes * self.area + self.behind())
    }

    /// How many zeros there are behind all planes.
    fn behind(&self) -> usize {
        self.shared + BEHIND
    }

    /// How many numbers there are from the first of a depth's results to the last of them.
    fn reach(&self, count: [usize; 3]) -> usize {
        count[1].saturating_sub(1) * self.axes[2].len + count[2]
    }

    /// How far apart depths lie.
    fn depth(&self) -> usize {
        self.axes[1].len * self.axes[2].len
    }

    /// Sums over all channels that are laid out, in the order of results.
    pub fn sum<T: Wide>(
        &self,
        sizes: Sizes,
        data: &[T],
        weights: &[T],
        bias: Option<&[T]>,
        out: &mut [MaybeUninit<T>],
    ) {
        let results: usize = self.results.iter().product();
        let Sizes { groups, from, to, .. } = sizes;
        let elements: usize = self.sweeps.iter().map(|sweep| sweep.taps.len()).sum();
        let reach = interrupt::collected(self.sweeps.iter().map(|sweep| self.distances(sweep, from)));
        let mut tasks = interrupt::room(out.len() / results);
        let mut rest = out;
        let planes = data.chunks(from * self.area).zip((0..groups).cycle()).take(sizes.batch * groups);
        for (sample, (_, group)) in planes.enumerate() {
            let mut channel = group * to;
            for width in blocks(to, together()) {
                tasks.push(Task {
                    plan: self,
                    reach: &reach,
                    data: &data[sample * from * self.area..],
                    weights: &weights[channel * from * elements..][..width * from * elements],
                    width,
                    bias: bias.map(|bias| &bias[channel..][..width]),
                    out: rest.split_off_mut(..width * results).unwrap_or_default(),
                });
                channel += width;
            }
        }
        let work = together().min(to) * from * elements * results;
        parallel_parts(&mut tasks, (TURN / work.max(1)).max(1), |_, tasks| {
            let mut sums = interrupt::filled(STRETCH * tiles::MANY, T::ZERO);
            for task in tasks {
                Arch::new().dispatch(task.with(&mut sums));
            }
        });
    }

    /// How far away from a result lies what it is a sum of, over so many channels.
    fn distances(&self, sweep: &Sweep, channels: usize) -> Vec<usize> {
        let mut all = interrupt::room(channels * sweep.taps.len());
        for channel in 0..channels {
            all.extend(sweep.taps.iter().map(|tap| channel * self.area + tap[1]));
        }
        all
    }

    /// The sums over all places and images of what is laid out and a gradient of results, whose lines `lay_results` has
    /// put as far apart.
    pub fn weigh<T: Wide>(&self, sizes: Sizes, data: &[T], gradient: &[T], out: &mut [MaybeUninit<T>]) {
        let Sizes { batch, groups, from, to } = sizes;
        let Some(sweep) = self.sweeps.first() else { unreachable!("forward there is one") };
        let reach = self.distances(sweep, from);
        let len = self.stretch();
        let channel = self.results[0] * len;
        let places = (0..batch).flat_map(|sample| (0..self.results[0]).map(move |depth| (sample, depth)));
        let runs = interrupt::gathered(places.map(|(sample, depth)| {
            let (data, gradient) = (sample * groups * from * self.area, sample * groups * to * channel);
            [data + depth * self.depth(), gradient + depth * len]
        }));
        let mut items = interrupt::room(groups * to);
        let mut rest = out;
        for group in 0..groups {
            let mut first = group * to;
            for width in blocks(to, CHANNELS) {
                let out = rest.split_off_mut(..width * reach.len()).unwrap_or_default();
                items.push((group, first, out));
                first += width;
            }
        }
        let work = CHANNELS.min(to) * reach.len() * len * runs.len();
        parallel_items(items, (TURN / work.max(1)).max(1), |(group, first, out)| {
            Arch::new().dispatch(Weights {
                data: &data[group * from * self.area..],
                gradient: &gradient[first * channel..],
                runs: &runs,
                len,
                reach: &reach,
                apart: channel,
                out,
            });
        });
    }
}

/// Windows of one element each as windows over a line, if they are over everything.
fn flat(windows: &Windows) -> Windows {
    if windows.elements() != 1 || windows.padding != [0; 3] || windows.count != windows.size {
        return *windows;
    }
    let line = [1, 1, windows.area()];
    Windows { size: line, count: line, stride: [1; 3], ..*windows }
}

/// Some channels of an image.
struct Task<'a, 'o, T> {
    plan: &'a Plan,
    reach: &'a [Vec<usize>],
    data: &'a [T],
    weights: &'a [T],
    width: usize,
    bias: Option<&'a [T]>,
    out: &'o mut [MaybeUninit<T>],
}

impl<'a, 'o, T: Wide> Task<'a, 'o, T> {
    /// The task and room for sums.
    fn with<'t>(&'t mut self, sums: &'t mut [T]) -> Sum<'a, 'o, 't, T> {
        Sum { task: self, sums }
    }

    /// Puts sums of a sweep that begin with a place of a depth where they belong.
    fn put(&mut self, sweep: &Sweep, [depth, start, len]: [usize; 3], sums: &[T]) {
        let [first, step, count] = [sweep.first, sweep.step, sweep.count];
        let [depths, lines, columns] = self.plan.results;
        let line = self.plan.axes[2].len;
        let plane = depths * lines * columns;
        for (channel, (sums, out)) in
            sums.chunks_exact(STRETCH).zip(self.out.chunks_exact_mut(plane)).enumerate()
        {
            let bias = self.bias.map_or(T::ZERO, |bias| bias[channel]);
            for y in start / line..(start + len).div_ceil(line) {
                let (left, right) = ((y * line).max(start), (y * line + count[2]).min(start + len));
                if left >= right {
                    continue;
                }
                let sums = &sums[left - start..right - start];
                let at = (first[0] + depth * step[0]) * lines + first[1] + y * step[1];
                let at = at * columns + first[2] + (left - y * line) * step[2];
                match step[2] {
                    1 => put(sums, out[at..].iter_mut(), self.bias.map(|_| bias)),
                    step => put(sums, out[at..].iter_mut().step_by(step), self.bias.map(|_| bias)),
                }
            }
        }
    }
}

/// Writes numbers, with something added if there is anything.
#[inline(always)]
fn put<'o, T: Wide>(sums: &[T], out: impl Iterator<Item = &'o mut MaybeUninit<T>>, bias: Option<T>) {
    match bias {
        Some(bias) => out.zip(sums).for_each(|(out, &sum)| {
            out.write(sum + bias);
        }),
        None => out.zip(sums).for_each(|(out, &sum)| {
            out.write(sum);
        }),
    }
}

struct Sum<'a, 'o, 't, T> {
    task: &'t mut Task<'a, 'o, T>,
    sums: &'t mut [T],
}

impl<T: Wide> WithSimd for Sum<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sum { task, sums } = self;
        let (plan, mut weights) = (task.plan, task.weights);
        for (sweep, reach) in plan.sweeps.iter().zip(task.reach) {
            let (own, others) = weights.split_at(task.width * reach.len());
            weights = others;
            let len = plan.reach(sweep.count);
            for depth in 0..sweep.count[0] {
                for start in (0..len).step_by(STRETCH) {
                    interrupt::unwind_if_due();
                    let len = STRETCH.min(len - start);
                    let data = &task.data[depth * plan.depth() + start..];
                    let stretch = Stretch { data, reach, weights: own, width: task.width, len };
                    stretch.sum(simd, sums);
                    task.put(sweep, [depth, start, len], sums);
                }
            }
        }
    }
}
