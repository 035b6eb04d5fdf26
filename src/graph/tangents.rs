//! Forward mode's bookkeeping: the levels that are entered, and the tangents that a tensor carries.
//!
//! Note [Levels]
//! ----
//! Every derivative in forward direction has a level of its own, and tangents are told apart by it.
//! A tangent of level l is itself a tensor that may carry tangents of lower levels, but never of l or
//! above: while it is computed, only the levels below l count on that thread. A level that is left
//! takes its tangents off everything that carries them, since a tangent with a history and the
//! operation that kept the tensor that carries it hold each other.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use smallvec::SmallVec;

use super::mode::{self, EverywhereGuard};
use crate::tensor::Tensor;

/// The number of a level.
pub type Level = u64;

/// The tangents of one tensor, by level in ascending order.
#[derive(Default)]
pub struct Tangents(Mutex<SmallVec<[(Level, Tensor); 1]>>);

impl Tangents {
    /// The tangent at a level.
    pub fn at(&self, level: Level) -> Option<Tensor> {
        self.0.lock().iter().find(|(known, _)| *known == level).map(|(_, tangent)| tangent.clone())
    }

    /// Sets or takes away the tangent at a level. Nothing can be set at a level that was left.
    pub fn set(self: &Arc<Self>, level: Level, tangent: Option<Tensor>) {
        let live = LIVE.read();
        let Some(entered) = live.iter().find(|entered| entered.level == level) else { return };
        let mut tangents = self.0.lock();
        let place = tangents.iter().position(|(known, _)| *known >= level).unwrap_or(tangents.len());
        let there = tangents.get(place).is_some_and(|(known, _)| *known == level);
        let old = match tangent {
            Some(tangent) if there => Some(std::mem::replace(&mut tangents[place], (level, tangent))),
            Some(tangent) => {
                tangents.insert(place, (level, tangent));
                entered.carriers.lock().add(self);
                None
            }
            None if there => Some(tangents.remove(place)),
            None => None,
        };
        // Dropped outside of the locks: a whole graph may go with it.
        drop(tangents);
        drop(live);
        drop(old);
    }

    /// The tangents that count on this thread, for another tensor to carry.
    pub fn counting(&self) -> Option<Arc<Tangents>> {
        let levels = live();
        let tangents: SmallVec<[(Level, Tensor); 1]> =
            self.0.lock().iter().filter(|(level, _)| levels.contains(level)).cloned().collect();
        if tangents.is_empty() {
            return None;
        }
        let copy = Arc::new(Tangents::default());
        for (level, tangent) in tangents {
            copy.set(level, Some(tangent));
        }
        Some(copy)
    }
}

/// Everything that may carry tangents of a level.
#[derive(Default)]
struct Carriers {
    list: Vec<Weak<Tangents>>,
    /// The length at which those are sorted out that are no more.
    limit: usize,
}

impl Carriers {
    fn add(&mut self, carrier: &Arc<Tangents>) {
        if self.list.len() >= self.limit {
            self.list.retain(|carrier| carrier.strong_count() > 0);
            self.limit = (2 * self.list.len()).max(64);
        }
        self.list.push(Arc::downgrade(carrier));
    }
}

struct Entered {
    level: Level,
    carriers: Mutex<Carriers>,
    _special: EverywhereGuard,
}

/// The levels that are entered, on whatever thread, in ascending order.
static LIVE: RwLock<Vec<Entered>> = RwLock::new(Vec::new());

thread_local! {
    /// Only levels below count on this thread.
    static CEILING: Cell<Level> = const { Cell::new(Level::MAX) };
    static ENABLED: Cell<bool> = const { Cell::new(true) };
    /// The levels of transforms that this thread is in, and whether it passed tangents on outside.
    static INSIDE: RefCell<Vec<(Level, bool)>> = const { RefCell::new(Vec::new()) };
}

/// Enters a new level.
pub fn enter() -> Level {
    let mut live = LIVE.write();
    let level = mode::new_level();
    live.push(Entered { level, carriers: Mutex::default(), _special: EverywhereGuard::new() });
    level
}

/// Enters a new level for a transform that runs on this thread. Whether tangents are passed on is
/// then a matter of what happens inside: outside it stays as it was.
pub fn enter_transform() -> Level {
    let level = enter();
    INSIDE.with_borrow_mut(|inside| inside.push((level, set_enabled(true))));
    level
}

/// Leaves a level: its tangents go.
pub fn exit(level: Level) {
    INSIDE.with_borrow_mut(|inside| {
        if let Some(place) = inside.iter().position(|(known, _)| *known == level) {
            ENABLED.set(inside[place].1);
            inside.truncate(place);
        }
    });
    let entered = {
        let mut live = LIVE.write();
        let Some(place) = live.iter().position(|entered| entered.level == level) else { return };
        live.remove(place)
    };
    for carrier in entered.carriers.into_inner().list {
        let Some(carrier) = carrier.upgrade() else { continue };
        let mut tangents = carrier.0.lock();
        let place = tangents.iter().position(|(known, _)| *known == level);
        let old = place.map(|place| tangents.remove(place));
        drop(tangents);
        drop(old);
    }
}

/// The levels that count on this thread, in ascending order.
pub fn live() -> SmallVec<[Level; 2]> {
    let ceiling = CEILING.get();
    let live = LIVE.read();
    live.iter().map(|entered| entered.level).filter(|&level| level < ceiling && passes(level)).collect()
}

/// Whether tangents of a level are passed on: now, and when each transform inside was entered.
fn passes(level: Level) -> bool {
    is_enabled()
        && INSIDE.with_borrow(|inside| {
            inside.iter().filter(|(inner, _)| *inner > level).all(|(_, outside)| *outside)
        })
}

/// Whether a level counts on this thread.
pub fn is_live(level: Level) -> bool {
    live().contains(&level)
}

/// Whether operations on this thread pass tangents on.
pub fn is_enabled() -> bool {
    ENABLED.get() && !mode::is_inference()
}

/// Has operations on this thread pass tangents on, or not; answers what it was.
pub fn set_enabled(enabled: bool) -> bool {
    ENABLED.replace(enabled)
}

/// Only levels below count on this thread until it is dropped.
#[must_use = "the ceiling lasts as long as the guard"]
pub struct Ceiling {
    before: Level,
}

impl Ceiling {
    /// Only levels below `level` count, and below what was the ceiling before.
    pub fn below(level: Level) -> Self {
        let before = CEILING.get();
        CEILING.set(before.min(level));
        Ceiling { before }
    }
}

impl Drop for Ceiling {
    fn drop(&mut self) {
        CEILING.set(self.before);
    }
}
