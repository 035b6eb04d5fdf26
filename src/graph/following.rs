//! What the recorder (`dispatch::modes::recording`) has to know of besides operations: in-place writes to memory,
//! and values that are handed to the host's program, which may branch on them the next time.

use std::cell::{Cell, RefCell};

use super::mode::{self, SpecialGuard};
use crate::origin;
pub use crate::origin::Origin;
use crate::storage::{self, Storage};
use crate::tensor::Tensor;

/// A block of memory: the one that has the bytes, and the one with the count of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The key of the memory, whatever counts writes to it.
    pub memory: usize,
    /// The key of the block.
    pub block: usize,
}

impl Place {
    /// Where this is.
    pub fn of(storage: &Storage) -> Place {
        Place { memory: storage.holding().0, block: storage.key() }
    }
}

/// Why what happens cannot happen again in the same way.
#[derive(Clone, Copy, Debug)]
pub struct Leak {
    /// What was asked for.
    pub what: &'static str,
    /// Where.
    pub origin: Origin,
}

/// What happens besides operations.
#[derive(Clone, Copy, Debug)]
pub enum Note {
    /// A block came into being.
    Born(usize),
    /// A write was counted.
    Wrote(Place),
}

/// Has the numbers of a tensor looked at each time that what is followed is done again: they have to be the same.
/// Answers whether they are.
pub type Expect = fn(&Tensor) -> bool;

thread_local! {
    static EXPECT: Cell<Option<Expect>> = const { Cell::new(None) };
    static ON: Cell<bool> = const { Cell::new(false) };
    static WRITES: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
    static LEAK: Cell<Option<Leak>> = const { Cell::new(None) };
}

/// This thread is followed until this is dropped.
#[must_use = "it lasts as long as the guard"]
pub struct Following {
    _special: SpecialGuard,
}

impl Following {
    /// From now on. Numbers that leave are shown to `expect`.
    pub fn new(expect: Expect) -> Following {
        storage::watch_births(true);
        EXPECT.set(Some(expect));
        ON.set(true);
        WRITES.take();
        LEAK.take();
        Following { _special: SpecialGuard::new() }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        ON.set(false);
        storage::watch_births(false);
    }
}

/// Whether this thread is followed, and not in the middle of what is known already.
#[inline]
pub fn is_on() -> bool {
    mode::special() && ON.get()
}

/// What happens until this is dropped is part of what is known.
#[must_use = "it lasts as long as the guard"]
pub struct Known {
    before: bool,
}

impl Known {
    /// From now on.
    #[allow(clippy::new_without_default)] // It does something.
    pub fn new() -> Known {
        Known { before: ON.replace(false) }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        ON.set(self.before);
    }
}

/// Shows what happened since this was last asked.
pub fn notes(mut show: impl FnMut(Note)) {
    storage::births(|born| show(Note::Born(born)));
    WRITES.with_borrow_mut(|writes| writes.drain(..).for_each(|place| show(Note::Wrote(place))));
}

/// The first number that has left, if one has.
pub fn leak() -> Option<Leak> {
    LEAK.get()
}

/// Where the host's program is.
pub(crate) fn place() -> Origin {
    origin::here()
}

/// Numbers leave by what is named.
pub fn leaves(what: &'static str) {
    if is_on() && LEAK.get().is_none() {
        LEAK.set(Some(Leak { what, origin: origin::here() }));
    }
}

/// The numbers of a tensor leave by what is named, if they may be others the next time.
pub fn shows(x: &Tensor, what: &'static str) {
    if is_on() && !EXPECT.get().is_some_and(|expect| expect(x)) {
        leaves(what);
    }
}

/// A write that was just counted.
pub(crate) fn wrote(storage: &Storage) {
    if is_on() {
        WRITES.with_borrow_mut(|writes| writes.push(Place::of(storage)));
    }
}
