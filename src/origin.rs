//! Where in the host's program something happened: which line recorded a node, wrote to a tensor, ran
//! backward. The engine keeps the number that the host gave it and never looks inside.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A place in the host's program, eight bytes small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin(u64);

impl Origin {
    /// A place that nobody knows.
    pub const UNKNOWN: Origin = Origin(0);

    /// The place that the host calls by this number; zero is none.
    pub const fn new(number: u64) -> Origin {
        Origin(number)
    }

    /// What the host calls it.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Where the program is, and where that was called from. What runs in one function shares its callers.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The innermost place.
    pub here: Origin,
    /// The others, innermost first.
    pub callers: Arc<[Origin]>,
}

impl Stack {
    /// All places that are known, innermost first.
    pub fn places(&self) -> impl DoubleEndedIterator<Item = Origin> {
        let here = (self.here != Origin::UNKNOWN).then_some(self.here);
        here.into_iter().chain(self.callers.iter().copied())
    }
}

static LOCATE: OnceLock<fn() -> Origin> = OnceLock::new();

/// Tells the engine how to find out where the program is. Called once, by the host. The function may
/// be called on any thread, with or without the host's lock, and must not wait for it.
pub fn register_locator(locate: fn() -> Origin) {
    // A second registration would come from a second host in the process: the first one stays.
    let _ = LOCATE.set(locate);
}

thread_local!(static INSIDE: Cell<Origin> = const { Cell::new(Origin::UNKNOWN) });

/// On how many threads `here` answers something else than where the program is, each as often as it was told.
static WITHIN: AtomicUsize = AtomicUsize::new(0);

/// Where the program is now; while a rule runs, where its node was recorded.
pub fn here() -> Origin {
    let inside = if WITHIN.load(Ordering::Relaxed) == 0 { Origin::UNKNOWN } else { inside() };
    if inside != Origin::UNKNOWN {
        return inside;
    }
    LOCATE.get().map_or(Origin::UNKNOWN, |locate| locate())
}

// Apart: the compiler takes finding a thread's own data for free, and does it before the question.
#[cold]
#[inline(never)]
fn inside() -> Origin {
    INSIDE.get()
}

/// Makes `here` answer `origin` on this thread until the guard goes: what a rule does belongs to the
/// line that recorded it, and the host need not be asked.
pub fn within(origin: Origin) -> Within {
    WITHIN.fetch_add(1, Ordering::Relaxed);
    Within { before: INSIDE.replace(origin) }
}

/// Puts back what `here` answered before.
#[must_use = "the origin lasts as long as the guard"]
pub struct Within {
    before: Origin,
}

impl Drop for Within {
    fn drop(&mut self) {
        INSIDE.set(self.before);
        WITHIN.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_inside_of_a_rule_belongs_to_the_line_of_its_node() {
        assert_eq!(here(), Origin::UNKNOWN);
        let outer = within(Origin::new(7));
        let inner = within(Origin::new(8));
        assert_eq!(here().number(), 8);
        drop(inner);
        assert_eq!(here().number(), 7);
        drop(outer);
        assert_eq!(here(), Origin::UNKNOWN);
    }
}
