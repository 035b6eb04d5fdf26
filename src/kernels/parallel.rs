//! Splitting work over threads: the façade over rayon that every kernel and the backward engine
//! go through. What is computed in the pieces lives elsewhere.
//!
//! Work is cut into chunks of a fixed size. The caller takes chunks like every helper does, and at
//! the end it waits only for chunks that a helper has claimed: a helper that is busy, asleep or
//! descheduled costs nothing, and one that comes late finds nothing left to do. Between chunks the
//! work may be given up: see Note [Giving up].
//!
//! Note [Lingering]
//! ----
//! A sleeping thread takes longer to wake than a million additions take. So a helper that was woken
//! or has worked looks for the next loop for a moment before it goes back to the pool: loops are
//! announced on the pool's board, and only as many jobs are started as helpers are missing there.
//! It gives its processor to whoever else wants it meanwhile, and a job that is not a loop sends it
//! back at once. What is missed costs time only: the caller does every chunk that nobody has claimed.
//!
//! What is below the public functions takes bodies as `dyn`, so that each is compiled once: there is
//! a body for every operation and element type, and an indirect call a chunk costs nothing.

#![allow(unsafe_code)]

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::interrupt::{self, Asking, Interrupted};
use crate::sharing::ConcurrencyGuard;

/// The number of threads that work is spread over; 0 until it is first asked for.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The pool in use, leaked: it is only ever replaced, by a larger one or after a fork.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

/// More threads than this are not started, whatever is asked for.
const MOST_THREADS: usize = 1024;

/// How often the caller looks again before it goes to sleep.
const SPINS: usize = 2_000;

/// How long a helper that was woken or has worked looks for the next loop: see Note [Lingering].
const LINGER: Duration = Duration::from_micros(100);

/// How often it looks before it offers its processor to others.
const LOOKS: usize = 64;

/// The helpers of one process.
struct Pool {
    /// A forked child has the parent's memory but none of its threads.
    process: u32,
    helpers: usize,
    threads: rayon::ThreadPool,
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
    fn call(&'static self, helpers: usize, region: &Arc<Region>) {
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
        while !is_news(*seen) && Instant::now() < until {
            for _ in 0..LOOKS {
                if is_news(*seen) {
                    break;
                }
                std::hint::spin_loop();
            }
            thread::yield_now();
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
            let allowed = || thread::available_parallelism().map_or(1, usize::from);
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
fn pool(helpers: usize) -> Option<&'static Pool> {
    let process = std::process::id();
    let current = POOL.load(Ordering::Acquire);
    // SAFETY: the pointer is null or comes from `Box::leak` below and is never freed.
    let usable = unsafe { current.as_ref() };
    if let Some(pool) = usable.filter(|pool| pool.process == process && pool.helpers >= helpers) {
        return Some(pool);
    }
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(helpers)
        .thread_name(|index| format!("rushlight-{index}"))
        // Without a handler a panicking job would abort the process; the panic hook has reported it.
        .panic_handler(|_| {})
        .build()
        .ok()?;
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

/// The body of a loop: `Fn(A) + Sync`, but with a table of functions that holds it once. That of a closure
/// holds it a second time as an `FnOnce`, which nobody calls.
pub(super) trait Body<A>: Sync {
    /// Does its part.
    fn run(&self, part: A);
}

impl<A, F: Fn(A) + Sync> Body<A> for F {
    fn run(&self, part: A) {
        self(part);
    }
}

/// One parallel loop, shared between its caller and the helpers.
struct Region {
    /// The body with its lifetime erased. It is called only for claimed chunks, and the caller does
    /// not return before every claimed chunk has finished.
    body: *const dyn Body<usize>,
    chunks: usize,
    next: AtomicUsize,
    finished: AtomicUsize,
    failed: AtomicBool,
    /// Whether the caller may want to give up.
    may_end: bool,
    payload: Mutex<Option<Box<dyn Any + Send>>>,
    caller: Thread,
}

// SAFETY: the pointee is `Sync`, and `drain` upholds that it is alive whenever it is called.
unsafe impl Send for Region {}
// SAFETY: as above; every other field is `Sync` by itself.
unsafe impl Sync for Region {}

impl Region {
    /// Gives the chunks up that nobody has begun, if the caller no longer wants them.
    fn look_out(&self) {
        if interrupt::is_due() && !self.failed.swap(true, Ordering::Relaxed) {
            self.payload.lock().get_or_insert(Box::new(Interrupted));
        }
    }

    /// Claims and runs chunks until none is left, and says whether there was one.
    fn drain(self: &Arc<Self>, is_caller: bool) -> bool {
        // A helper gives up in the middle of a chunk when the caller has.
        let _asking = (!is_caller && self.may_end).then(|| {
            let region = self.clone();
            Asking::new(Arc::new(move || region.failed.load(Ordering::Relaxed)))
        });
        let mut has_worked = false;
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= self.chunks {
                return has_worked;
            }
            has_worked = true;
            if is_caller {
                self.look_out();
            }
            if !self.failed.load(Ordering::Relaxed) {
                // SAFETY: this chunk is claimed and not finished, so the caller is still inside
                // `run_chunks` and what the body borrows is alive.
                let body = unsafe { &*self.body };
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body.run(chunk))) {
                    self.failed.store(true, Ordering::Relaxed);
                    self.payload.lock().get_or_insert(payload);
                }
            }
            if self.finished.fetch_add(1, Ordering::AcqRel) + 1 == self.chunks {
                self.caller.unpark();
            }
        }
    }

    /// Waits until the chunks that helpers have claimed are finished.
    fn wait(&self) {
        let mut spins = 0;
        while self.finished.load(Ordering::Acquire) < self.chunks {
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { thread::park() }
        }
    }
}

/// Runs `body` for every chunk number below `chunks`, each exactly once, and returns when all have
/// finished. A panic in a chunk is passed on after that.
fn run_chunks(chunks: usize, body: &dyn Body<usize>) {
    let helpers = (num_threads() - 1).min(chunks.saturating_sub(1));
    let Some(pool) = (if helpers == 0 { None } else { pool(num_threads() - 1) }) else {
        (0..chunks).for_each(|chunk| {
            interrupt::unwind_if_due();
            body.run(chunk);
        });
        return;
    };
    let _threads = ConcurrencyGuard::new();
    // SAFETY: only the lifetime changes. The body is called for claimed chunks only, and this
    // function waits for every one of them below, also when a chunk panics.
    let body: &'static dyn Body<usize> = unsafe { std::mem::transmute(body) };
    let region = Arc::new(Region {
        body,
        chunks,
        next: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        may_end: interrupt::is_asking(),
        payload: Mutex::new(None),
        caller: thread::current(),
    });
    pool.call(helpers, &region);
    region.drain(true);
    region.wait();
    if let Some(payload) = region.payload.lock().take() {
        resume_unwind(payload);
    }
}

/// Calls `body` with consecutive ranges of `grain` numbers (the last may be shorter) that together
/// are `0..len`, in any order and on any thread.
#[inline]
pub fn parallel_for(len: usize, grain: usize, body: impl Fn(Range<usize>) + Sync) {
    each_range(len, grain, &body);
}

fn each_range(len: usize, grain: usize, body: &dyn Body<Range<usize>>) {
    let grain = grain.max(1);
    if len <= grain {
        if len > 0 {
            body.run(0..len);
        }
        return;
    }
    run_chunks(len.div_ceil(grain), &|chunk| {
        let start = chunk * grain;
        body.run(start..len.min(start + grain));
    });
}

/// The start of a slice whose disjoint parts are handed to different threads.
struct SharedStart<T>(*mut T);

// SAFETY: the pointer is only used to make disjoint `&mut [T]`, which may be sent when `T` may.
unsafe impl<T: Send> Sync for SharedStart<T> {}

impl<T> SharedStart<T> {
    /// A method, so that closures capture the whole wrapper and not the bare pointer.
    fn get(&self) -> *mut T {
        self.0
    }
}

/// Cuts `output` into parts of `grain` elements and calls `body` with each part and the position
/// of its first element.
#[inline]
pub fn parallel_parts<T: Send>(output: &mut [T], grain: usize, body: impl Fn(usize, &mut [T]) + Sync) {
    each_part(output, grain, &|(start, part): (usize, &mut [T])| body(start, part));
}

/// `parallel_parts` of a body that is compiled elsewhere.
pub(super) fn each_part<T: Send>(
    output: &mut [T],
    grain: usize,
    body: &dyn for<'a> Body<(usize, &'a mut [T])>,
) {
    let start = SharedStart(output.as_mut_ptr());
    each_range(output.len(), grain, &|range: Range<usize>| {
        // SAFETY: the ranges are inside the slice and disjoint, each is visited once, and `output`
        // stays borrowed until all are done.
        let part = unsafe { std::slice::from_raw_parts_mut(start.get().add(range.start), range.len()) };
        body.run((range.start, part));
    });
}

/// Calls `body` once with each item, `grain` items a chunk. Unwinds if there is no memory for a list of them.
#[inline]
pub fn parallel_items<I: Send>(items: impl IntoIterator<Item = I>, grain: usize, body: impl Fn(I) + Sync) {
    each_item(items, grain, &body);
}

/// `parallel_items` of a body that is compiled elsewhere.
pub(super) fn each_item<I: Send>(items: impl IntoIterator<Item = I>, grain: usize, body: &dyn Body<I>) {
    let mut items = interrupt::gathered(items.into_iter().map(Some));
    parallel_parts(&mut items, grain, |_, part| {
        part.iter_mut().filter_map(Option::take).for_each(|item| body.run(item));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::at_thread_counts;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn every_index_is_visited_exactly_once() {
        at_thread_counts(|| {
            let seen: Vec<AtomicU32> = (0..10_001).map(|_| AtomicU32::new(0)).collect();
            parallel_for(seen.len(), 7, |range| {
                for index in range {
                    seen[index].fetch_add(1, Ordering::Relaxed);
                }
            });
            assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        });
    }

    #[test]
    fn the_split_does_not_depend_on_the_number_of_threads() {
        let splits = at_thread_counts(|| {
            let ranges = Mutex::new(Vec::new());
            parallel_for(1000, 64, |range| ranges.lock().push((range.start, range.end)));
            let mut ranges = ranges.into_inner();
            ranges.sort_unstable();
            ranges
        });
        assert_eq!(splits[0].len(), 16);
        assert!(splits.iter().all(|split| *split == splits[0]));
    }

    #[test]
    fn loops_inside_loops_finish() {
        at_thread_counts(|| {
            let total = AtomicUsize::new(0);
            parallel_for(50, 1, |_| {
                parallel_for(50, 1, |range| {
                    total.fetch_add(range.len(), Ordering::Relaxed);
                });
            });
            assert_eq!(total.into_inner(), 2500);
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_after_all_chunks_are_done() {
        at_thread_counts(|| {
            let running = AtomicUsize::new(0);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                parallel_for(100, 1, |range| {
                    running.fetch_add(1, Ordering::SeqCst);
                    thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                    assert!(range.start != 13, "the unlucky chunk");
                });
            }));
            assert!(outcome.is_err());
            assert_eq!(running.load(Ordering::SeqCst), 0);
        });
    }

    #[test]
    fn spawned_jobs_run_and_may_split_their_own_work() {
        at_thread_counts(|| {
            let (sender, receiver) = std::sync::mpsc::channel();
            for _ in 0..8 {
                let sender = sender.clone();
                spawn(move || {
                    let total = AtomicUsize::new(0);
                    parallel_for(100, 3, |range| {
                        total.fetch_add(range.len(), Ordering::Relaxed);
                    });
                    let _ = sender.send(total.into_inner());
                });
            }
            drop(sender);
            assert_eq!(receiver.iter().collect::<Vec<_>>(), vec![100; 8]);
        });
    }

    #[test]
    fn parts_and_items_cover_the_whole_output() {
        at_thread_counts(|| {
            let mut output = vec![0; 1000];
            parallel_parts(&mut output, 33, |start, part| {
                part.iter_mut().enumerate().for_each(|(index, slot)| *slot = start + index);
            });
            assert!(output.iter().enumerate().all(|(index, &value)| index == value));
            let total = AtomicUsize::new(0);
            parallel_items(0..100, 8, |item| {
                total.fetch_add(item, Ordering::Relaxed);
            });
            assert_eq!(total.into_inner(), 4950);
        });
    }
}
