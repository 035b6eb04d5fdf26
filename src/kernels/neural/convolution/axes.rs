//! Where the numbers of convolutions lie along one axis, so that what an element of a window is multiplied with lies at
//! one distance from every result: zeros around them, and those apart that a stride keeps apart.

use super::SHARED;
use crate::kernels::interrupt;
use crate::kernels::neural::windows::Windows;

/// Numbers along an axis.
pub(super) struct Axis {
    /// How many there are of a phase, with zeros before and behind.
    pub len: usize,
    /// Which number of the source each phase begins with, and how far apart the next ones are there.
    pub starts: Vec<isize>,
    pub step: usize,
    /// How many numbers the source has. Before and behind them are zeros.
    pub size: usize,
    /// The results.
    pub turns: Vec<Turn>,
}

/// Results along an axis that are sums over the same elements of windows.
pub(super) struct Turn {
    /// Which of all results is the first of them, and how far apart the next ones are.
    pub first: usize,
    pub step: usize,
    pub count: usize,
    /// An element of a window, the phase in which it meets the first result, and where.
    pub taps: Vec<[usize; 3]>,
}

impl Axis {
    /// What windows meet.
    pub(super) fn forward(windows: &Windows, dim: usize) -> Axis {
        let Windows { size, kernel, stride, padding, dilation, count } = *windows;
        let (stride, count) = (stride[dim], count[dim]);
        let reach = |element: usize| element.saturating_mul(dilation[dim]);
        let mut phases = interrupt::collected((0..kernel[dim]).map(|element| reach(element) % stride));
        phases.sort_unstable();
        phases.dedup();
        let tap = |element: usize| {
            let phase = phases.partition_point(|&phase| phase < reach(element) % stride);
            [element, phase, reach(element) / stride]
        };
        let taps = interrupt::collected((0..kernel[dim]).map(tap));
        let furthest = taps.iter().map(|tap| tap[2]).max().unwrap_or(0);
        Axis {
            len: count.saturating_add(furthest),
            starts: interrupt::collected(phases.iter().map(|&phase| phase as isize - padding[dim] as isize)),
            step: stride,
            size: size[dim],
            turns: vec![Turn { first: 0, step: 1, count, taps }],
        }
    }

    /// What meets elements that windows were over.
    pub(super) fn backward(windows: &Windows, dim: usize) -> Axis {
        let Windows { size, kernel, stride, padding, dilation, count } = *windows;
        let (size, stride, padding) = (size[dim], stride[dim], padding[dim]);
        let reach = |element: usize| element.saturating_mul(dilation[dim]);
        let nearest = |first: usize| ((first + padding) / stride) as isize;
        let turn = |first: usize| {
            let mine =
                (0..kernel[dim]).filter(|&element| reach(element) % stride == (first + padding) % stride);
            let taps = interrupt::gathered(mine.map(|element| [element, 0, reach(element) / stride]));
            Turn { first, step: stride, count: (size - first).div_ceil(stride), taps }
        };
        let mut turns = interrupt::collected((0..size.min(stride)).map(turn));
        // How far before a result an element of a window reaches is where it is until zeros are put in front.
        let all =
            turns.iter().flat_map(|turn| turn.taps.iter().map(|tap| tap[2] as isize - nearest(turn.first)));
        let before = all.max().unwrap_or(0);
        let mut len = 1;
        for turn in &mut turns {
            len = len.max(turn.count);
            for tap in &mut turn.taps {
                tap[2] = (nearest(turn.first) - tap[2] as isize + before) as usize;
                len = len.max(tap[2].saturating_add(turn.count));
            }
        }
        Axis { len, starts: vec![-before], step: 1, size: count[dim], turns }
    }

    /// Leaves zeros behind the numbers out where there are as many before the next ones that lie there. Answers how many.
    pub(super) fn share(&mut self) -> usize {
        let zeros = (0..self.starts.len()).map(|phase| {
            let (inside, _) = self.inside(phase);
            inside.start.min(self.len.saturating_sub(inside.end))
        });
        let results = self.turns.iter().map(|turn| turn.count).max().unwrap_or(0);
        let shared = zeros.min().unwrap_or(0).min(self.len.saturating_sub(results)).min(SHARED);
        self.len -= shared;
        shared
    }

    /// The places of a phase at which there are numbers of the source, and which the first of these is.
    pub(super) fn inside(&self, phase: usize) -> (std::ops::Range<usize>, usize) {
        let (start, step) = (self.starts[phase], self.step);
        let first = if start < 0 { start.unsigned_abs().div_ceil(step) } else { 0 };
        let source = start.saturating_add_unsigned(first.saturating_mul(step)) as usize;
        let count = self.size.saturating_sub(source).div_ceil(step);
        let first = first.min(self.len);
        (first..first.saturating_add(count).min(self.len), source)
    }
}
