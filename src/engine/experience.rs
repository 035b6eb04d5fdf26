//! Whether threads pay for a plan: what runs of plans like it took, alone and together.
//!
//! An estimate of the work cannot tell. Waking a helper takes long on one machine and not on another, two
//! processors may be halves of one, and other processes come and go. So a plan that is neither too small for
//! threads nor so large that they pay anyway is timed both ways, is run the faster way, and the other way is
//! tried again now and then. The bits are the same either way: see Note [Same bits].

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Estimated nanoseconds from which on the price of waking helpers does not matter.
const PAYS_ANYWAY: u64 = 10_000_000;

/// How many kinds of plans are remembered. Two that share a place forget each other, which costs a few trials.
const PLACES: usize = 64;

/// After how many runs the slower way is tried again: at first, and when it has long been the slower one.
const TRIALS: [u32; 2] = [16, 256];

static REMEMBERED: Mutex<[Option<(Kind, Times)>; PLACES]> = Mutex::new([None; PLACES]);

/// What plans have in common that take the same time: runs of one loop of training do.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub(super) tasks: usize,
    pub(super) work: u64,
    pub(super) threads: usize,
}

/// How a plan is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Alone,
    Together,
}

/// What runs of one kind took, in nanoseconds, by way.
#[derive(Clone, Copy)]
struct Times {
    alone: Option<u64>,
    together: Option<u64>,
    /// Runs until the slower way is tried again, and how many there were the last time.
    left: u32,
    pause: u32,
}

impl Kind {
    /// Runs a plan of this kind the way that has been the faster one. Runs that fail teach nothing.
    pub(super) fn run<T, E>(self, run: impl FnOnce(Way) -> Result<T, E>) -> Result<T, E> {
        if self.work >= PAYS_ANYWAY {
            return run(Way::Together);
        }
        let way = self.with_times(Times::choose).unwrap_or(Way::Together);
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
    fn new() -> Self {
        Times { alone: None, together: None, left: TRIALS[0], pause: TRIALS[0] }
    }

    /// Together first, then alone, and from then on as was the faster.
    fn choose(&mut self) -> Way {
        let (Some(alone), Some(together)) = (self.alone, self.together) else {
            return if self.together.is_none() { Way::Together } else { Way::Alone };
        };
        let (faster, slower) = match together < alone {
            true => (Way::Together, Way::Alone),
            false => (Way::Alone, Way::Together),
        };
        self.left -= 1;
        if self.left > 0 {
            return faster;
        }
        self.pause = (self.pause * 2).min(TRIALS[1]);
        self.left = self.pause;
        slower
    }

    /// Follows what runs take: down quickly and up slowly, since whatever disturbs a run makes it longer.
    fn learn(&mut self, way: Way, took: Duration) {
        let took = took.as_nanos() as u64;
        let was_together = self.together < self.alone;
        let time = match way {
            Way::Alone => &mut self.alone,
            Way::Together => &mut self.together,
        };
        *time = Some(match *time {
            None => took,
            Some(known) if took < known => known.midpoint(took),
            Some(known) => known + (took - known).min(known) / 8,
        });
        if was_together != (self.together < self.alone) {
            (self.left, self.pause) = (TRIALS[0], TRIALS[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `runs` went together when a run takes so long either way.
    fn together(times: &mut Times, runs: usize, alone: u64, together: u64) -> usize {
        (0..runs)
            .filter(|_| {
                let way = times.choose();
                let took = if way == Way::Together { together } else { alone };
                times.learn(way, Duration::from_nanos(took));
                way == Way::Together
            })
            .count()
    }

    #[test]
    fn a_kind_is_run_the_faster_way_and_the_other_one_is_tried_ever_less_often() {
        let mut times = Times::new();
        assert_eq!(together(&mut times, 1, 300, 400), 1, "the first run has threads");
        let tried = together(&mut times, 1000, 300, 400);
        assert!((3..=8).contains(&tried), "{tried}");
        let tried = 1000 - together(&mut Times::new(), 1000, 400, 300);
        assert!((3..=8).contains(&tried), "{tried}");
    }

    #[test]
    fn what_has_become_slow_is_left_and_what_has_become_fast_is_found() {
        let mut times = Times::new();
        together(&mut times, 1000, 300, 200);
        assert!(together(&mut times, 100, 300, 900) < 10, "the second processor has gone");
        together(&mut times, 600, 300, 200);
        assert!(together(&mut times, 100, 300, 200) > 90, "it is back");
    }

    #[test]
    fn one_run_that_was_disturbed_decides_nothing() {
        let mut times = Times::new();
        together(&mut times, 100, 300, 200);
        times.learn(Way::Together, Duration::from_secs(1));
        assert!(together(&mut times, 10, 300, 200) >= 9);
    }

    #[test]
    fn large_plans_and_those_that_fail_are_not_timed() {
        let large = Kind { tasks: 3, work: PAYS_ANYWAY, threads: 7 };
        let failing = Kind { tasks: 3, work: 1, threads: 7 };
        for _ in 0..3 {
            assert_eq!(large.run(Ok::<_, ()>), Ok(Way::Together));
            assert_eq!(failing.run(Err::<(), _>), Err(Way::Together));
        }
        assert_eq!(failing.run(Ok::<_, ()>), Ok(Way::Together));
        assert_eq!(failing.run(Ok::<_, ()>), Ok(Way::Alone));
    }
}
