//! The pool of helper threads: how many there are, how they are started, and how they are told of loops.
//!
//! Note [Lingering]
//! ----
//! A sleeping thread takes longer to wake than a million additions take. So a helper that was woken
//! or has worked looks for the next loop for a moment before it goes back to the pool: loops are
//! announced on the pool's board, and only as many jobs are started as helpers are missing there.
//! Loops follow each other quickly or not at all, so after a few microseconds it gives its processor to
//! whoever else wants it meanwhile: sooner, and a program that does nothing but wait there would have it
//! for milliseconds. A job that is not a loop sends it back at once. What is missed costs time only: the
//! caller does every chunk that nobody has claimed. A helper that finds itself on the caller's processor
//! moves to another one: who looks and gives way seems so idle that the system leaves it there, where it
//! never gets to work.

use std::sync::Arc;
use std::time::Duration;

use super::region::Region;
use crate::threads::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::threads::{self, Instant, Mutex, Workers};

/// The number of threads that work is spread over; 0 until it is first asked for.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The pool in use, leaked: it is only ever replaced, by a larger one or after a fork.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

/// More threads than this are not started, whatever is asked for.
const MOST_THREADS: usize = 1024;

/// How long a helper that was woken or has worked looks for the next loop: see Note [Lingering].
const LINGER: Duration = Duration::from_micros(100);

/// How long it looks before it offers its processor to others.
const KEEP: Duration = Duration::from_micros(20);

/// How often it looks before it looks at the clock.
const LOOKS: usize = 64;

/// The helpers of one process.
pub(super) struct Pool {
    /// A forked child has the parent's memory but none of its threads.
    process: u32,
    helpers: usize,
    threads: Workers,
    /// The loop that was announced last; nothing if helpers shall go back to the pool.
    board: Mutex<Option<Arc<Region>>>,
    /// How often the board was written to.
    announced: AtomicUsize,
    /// How many helpers are looking at it.
    lingering: AtomicUsize,
}

impl Pool {
    /// Puts a loop on the board, or takes the last one off. Returns what the count of announcements is now.
    fn announce(&self, region: Option<Arc<Region>>) -> usize {
        let mut board = self.board.lock();
        *board = region;
        self.announced.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Has `helpers` threads join in.
    pub(super) fn call(&'static self, helpers: usize, region: &Arc<Region>) {
        let seen = self.announce(Some(region.clone()));
        for _ in self.lingering.load(Ordering::SeqCst)..helpers {
            let region = region.clone();
            self.threads.spawn(move || self.help(seen, region));
        }
    }

    /// What a helper does: one loop, and those that are announced soon after.
    fn help(&self, mut seen: usize, mut region: Arc<Region>) {
        let mut until = Instant::now() + LINGER;
        loop {
            region.leave_processor();
            if region.drain(false) {
                until = Instant::now() + LINGER;
            }
            match self.linger(&mut seen, until) {
                Some(next) => region = next,
                None => return,
            }
        }
    }

    /// The next loop, if one is announced in time.
    fn linger(&self, seen: &mut usize, until: Instant) -> Option<Arc<Region>> {
        let is_news = |seen: usize| self.announced.load(Ordering::SeqCst) != seen;
        self.lingering.fetch_add(1, Ordering::SeqCst);
        let mut now = Instant::now();
        let kept = now + KEEP;
        while !is_news(*seen) && now < until {
            for _ in 0..LOOKS {
                if is_news(*seen) {
                    break;
                }
                threads::spin_loop();
            }
            if now > kept {
                threads::yield_now();
            }
            now = Instant::now();
        }
        self.lingering.fetch_sub(1, Ordering::SeqCst);
        if !is_news(*seen) {
            return None;
        }
        let board = self.board.lock();
        *seen = self.announced.load(Ordering::SeqCst);
        board.clone()
    }
}

/// How many threads take part in a computation, the calling one included.
///
/// The default is `RUSHLIGHT_NUM_THREADS`, or as many as the affinity mask and the quota of the
/// control group allow.
pub fn num_threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => {
            let wanted =
                std::env::var("RUSHLIGHT_NUM_THREADS").ok().and_then(|text| text.trim().parse().ok());
            let allowed = || std::thread::available_parallelism().map_or(1, usize::from);
            let count = wanted.filter(|&count| count > 0).unwrap_or_else(allowed).min(MOST_THREADS);
            // Another thread may have set a number in the meantime; that one stays.
            match THREADS.compare_exchange(0, count, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => count,
                Err(set) => set,
            }
        }
        count => count,
    }
}

/// Sets how many threads take part in a computation; 1 bypasses the pool.
pub fn set_num_threads(count: usize) {
    THREADS.store(count.clamp(1, MOST_THREADS), Ordering::Relaxed);
}

/// The pool with at least `helpers` threads, started at first use; nothing if threads cannot be
/// started here.
pub(super) fn pool(helpers: usize) -> Option<&'static Pool> {
    let process = std::process::id();
    let current = POOL.load(Ordering::Acquire);
    // SAFETY: the pointer is null or comes from `Box::leak` below and is never freed.
    let usable = unsafe { current.as_ref() };
    if let Some(pool) = usable.filter(|pool| pool.process == process && pool.helpers >= helpers) {
        return Some(pool);
    }
    let threads = Workers::start(helpers)?;
    let fresh: &'static Pool = Box::leak(Box::new(Pool {
        process,
        helpers,
        threads,
        board: Mutex::new(None),
        announced: AtomicUsize::new(0),
        lingering: AtomicUsize::new(0),
    }));
    // When two threads grow the pool at once both pools work; the later one stays.
    POOL.store(std::ptr::from_ref(fresh).cast_mut(), Ordering::Release);
    Some(fresh)
}

/// Starts `job` on a helper thread, or runs it here when there are no helpers. A job that panics on
/// a helper ends there: whoever waits for it has to notice by itself.
pub fn spawn(job: impl FnOnce() + Send + 'static) {
    match num_threads() - 1 {
        0 => job(),
        helpers => match pool(helpers) {
            Some(pool) => {
                pool.threads.spawn(job);
                pool.announce(None);
            }
            None => job(),
        },
    }
}
