//! Whether several threads pay for a plan, learnt from how long runs of plans like it took on one and on several.
//!
//! An estimate of the work cannot tell. Waking a helper takes long on one machine and not on another (Note [Lingering]), two
//! processors may be halves of one, and other processes come and go. So a plan that is neither too small for
//! threads nor so large that they pay anyway is timed both ways, is run the faster way, and the other way is
//! tried again now and then. The bits are the same either way: see Note [Same bits].

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Estimated nanoseconds from which on the price of waking helpers, two hundredths at the most, does not matter.
const PAYS_ANYWAY: u64 = 3_000_000;

/// How many kinds of plans are remembered. Two that share a place forget each other, which costs a few trials.
const PLACES: usize = 64;

/// How many runs a trial of the other way takes. The middle one counts: a single run may be disturbed.
const TRIAL: usize = 3;

/// After how many runs the other way is tried, for the first time and at the most; four times as many each time.
const PAUSES: [u32; 2] = [4, 256];

static REMEMBERED: Mutex<[Option<(PlanKind, Times)>; PLACES]> = Mutex::new([None; PLACES]);

/// What plans have in common that take the same time: runs of one loop of training do.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PlanKind {
    pub(super) tasks: usize,
    pub(super) work: u64,
    pub(super) threads: usize,
}

/// How a plan is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Threads {
    One,
    Several,
}

/// What runs of one kind took, in nanoseconds.
#[derive(Clone, Copy)]
struct Times {
    /// The way that has been the faster one, and what it takes.
    way: Threads,
    time: u64,
    /// What the other way took when it was last tried, and what the runs of the present trial took.
    other: u64,
    trial: [u64; TRIAL],
    tried: usize,
    /// Runs until the next trial, and how many there were before the last one.
    left: u32,
    pause: u32,
}

impl PlanKind {
    /// Runs a plan of this kind the way that has been the faster one. Runs that fail teach nothing.
    pub(super) fn run<T, E>(self, run: impl FnOnce(Threads) -> Result<T, E>) -> Result<T, E> {
        if self.work >= PAYS_ANYWAY {
            return run(Threads::Several);
        }
        let way = self.with_times(|times| times.choose()).unwrap_or(Threads::Several);
        let start = Instant::now();
        let outcome = run(way)?;
        self.with_times(|times| times.learn(way, start.elapsed()));
        Ok(outcome)
    }

    /// What is remembered of this kind; nothing while another thread looks, which may be one that a fork left behind.
    fn with_times<T>(self, use_them: impl FnOnce(&mut Times) -> T) -> Option<T> {
        let place = BuildHasherDefault::<DefaultHasher>::default().hash_one(self) as usize % PLACES;
        let mut remembered = REMEMBERED.try_lock()?;
        let known = remembered[place].take().filter(|(kind, _)| *kind == self);
        let (_, times) = remembered[place].insert(known.unwrap_or((self, Times::new())));
        Some(use_them(times))
    }
}

impl Times {
    /// Knows nothing yet, and begins with a trial of threads.
    fn new() -> Self {
        let (time, pause) = (u64::MAX, PAUSES[0]);
        Times { way: Threads::One, time, other: time, trial: [0; TRIAL], tried: 0, left: 0, pause }
    }

    fn choose(&self) -> Threads {
        match (self.left, self.way) {
            (0, Threads::One) | (1.., Threads::Several) => Threads::Several,
            (0, Threads::Several) | (1.., Threads::One) => Threads::One,
        }
    }

    /// Takes note of what a run took.
    fn learn(&mut self, way: Threads, took: Duration) {
        let took = took.as_nanos() as u64;
        if way != self.way {
            self.trial[self.tried] = took;
            self.tried += 1;
            if self.tried == TRIAL {
                self.judge();
            }
            return;
        }
        // Half as much again is as much as one run says.
        let most = self.time / 2;
        let time = took.clamp(self.time - most, self.time.saturating_add(most));
        self.time = (self.time / 8 * 7).saturating_add(time / 8);
        // What has become slower than the other way was is at once compared with what that takes now.
        self.left = if self.time > self.other { 0 } else { self.left.saturating_sub(1) };
    }

    /// Ends a trial: the other way is taken from now on if it was the faster one.
    fn judge(&mut self) {
        self.trial.sort_unstable();
        self.other = self.trial[TRIAL / 2];
        if self.other < self.time {
            self.way = self.choose();
            std::mem::swap(&mut self.time, &mut self.other);
            self.pause = PAUSES[0];
        }
        (self.tried, self.left) = (0, self.pause);
        self.pause = (self.pause * 4).min(PAUSES[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `runs` went together when a run takes so many microseconds either way.
    fn together(times: &mut Times, runs: usize, alone: u64, together: u64) -> usize {
        (0..runs)
            .filter(|_| {
                let way = times.choose();
                let took = if way == Threads::Several { together } else { alone };
                times.learn(way, Duration::from_micros(took));
                way == Threads::Several
            })
            .count()
    }

    #[test]
    fn a_kind_is_run_the_faster_way_and_the_other_one_is_tried_ever_less_often() {
        let mut times = Times::new();
        assert_eq!(together(&mut times, TRIAL, 300, 400), TRIAL, "it begins with threads");
        together(&mut times, 1000, 300, 400);
        assert!((1..=4 * TRIAL).contains(&together(&mut times, 1000, 300, 400)));
        let mut times = Times::new();
        together(&mut times, 1000, 400, 300);
        assert!((1..=4 * TRIAL).contains(&(1000 - together(&mut times, 1000, 400, 300))));
    }

    #[test]
    fn what_has_become_slow_is_left_and_what_has_become_fast_is_found() {
        let mut times = Times::new();
        together(&mut times, 1000, 300, 200);
        assert!(together(&mut times, 100, 300, 900) < 20, "the second processor has gone");
        together(&mut times, 600, 300, 200);
        assert!(together(&mut times, 100, 300, 200) > 80, "it is back");
    }

    #[test]
    fn one_run_that_was_disturbed_decides_nothing() {
        let mut times = Times::new();
        together(&mut times, 100, 300, 200);
        times.learn(Threads::Several, Duration::from_secs(1));
        assert_eq!(together(&mut times, 10, 300, 200), 10);
        together(&mut times, 1000, 300, 200);
        while times.choose() == Threads::Several {
            together(&mut times, 1, 300, 200);
        }
        times.learn(Threads::One, Duration::from_micros(10));
        together(&mut times, TRIAL, 300, 200);
        assert_eq!(together(&mut times, 10, 300, 200), 10);
    }

    #[test]
    fn large_plans_and_those_that_fail_are_not_timed() {
        let large = PlanKind { tasks: 3, work: PAYS_ANYWAY, threads: 7 };
        let failing = PlanKind { tasks: 3, work: 1, threads: 7 };
        for _ in 0..100 {
            assert_eq!(large.run(Ok::<_, ()>), Ok(Threads::Several));
            assert_eq!(failing.run(Err::<(), _>), Err(Threads::Several));
        }
        let ways: Vec<_> = (0..100).map(|_| failing.run(Ok::<_, ()>).unwrap()).collect();
        assert!(ways.contains(&Threads::One));
    }
}
