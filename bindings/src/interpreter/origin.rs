//! Where the Python program is, as a number that costs next to nothing to take: the code object and
//! the instruction of the running frame. The line is looked up when somebody asks for it.
//!
//! Code objects are numbered as they are met, and kept, since a graph may outlive the code that
//! recorded it: a cell of a notebook is gone when its last line has run. A program that makes code in
//! a loop must not grow by that, so when there are many the oldest that nobody else has are dropped;
//! numbers are not used again, and the line of a dropped one is unknown. Some of the codes that were met
//! last are remembered by address; when codes are dropped that is forgotten, because another code may come
//! to lie at the same address.

#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::MAIN_SEPARATOR;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use rushlight::origin::{Origin, Stack, register_locator};

use crate::interpreter::frame::{self, Running};

/// A code object that was met.
#[derive(Clone, Copy)]
struct Code {
    address: usize,
    /// Zero if nothing can be told of it.
    number: u32,
    /// The value of `DROPS` for which the rest holds, behind a bit that says whether it is part of
    /// rushlight's own Python package, or of the interpreter itself, whose lines tell users nothing.
    drops_and_own: u32,
}

impl Code {
    fn new(address: usize, number: u32, own: bool, drops: u32) -> Code {
        Code { address, number, drops_and_own: drops << 1 | u32::from(own) }
    }

    fn is_own(self) -> bool {
        self.drops_and_own & 1 != 0
    }

    fn holds(self, address: usize, drops: u32) -> bool {
        self.address == address && self.drops_and_own & !1 == drops << 1
    }
}

const NO_CODE: Code = Code { address: 0, number: 0, drops_and_own: 0 };

/// The two last codes of so many kinds are remembered.
const KINDS: usize = 32;
struct Last([[Cell<Code>; 2]; KINDS]);

impl Last {
    const fn new() -> Last {
        Last([const { [const { Cell::new(NO_CODE) }; 2] }; KINDS])
    }

    /// Runs `look` on what is remembered: by all threads, where the interpreter's lock lets one at a time look, or
    /// by each.
    #[inline]
    fn with<R>(look: impl FnOnce(&Last) -> R) -> R {
        #[cfg(not(Py_GIL_DISABLED))]
        {
            static LAST: Last = Last::new();
            look(&LAST)
        }
        #[cfg(Py_GIL_DISABLED)]
        {
            thread_local!(static LAST: Last = const { Last::new() });
            LAST.with(look)
        }
    }
}

#[cfg(not(Py_GIL_DISABLED))]
// SAFETY: codes are looked for where frames are shown, which is with the interpreter's lock. Nothing that is run
// while one looks gives it back.
unsafe impl Sync for Last {}

thread_local! {
    static CALLERS: RefCell<Arc<[Origin]>> = RefCell::new(Arc::new([]));
}

/// The kind of a code at an address: numbers that are spread whatever the distance of objects is.
fn kind(address: usize) -> usize {
    let spread = (address as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> 32) as usize % KINDS
}

/// How often codes were dropped.
static DROPS: AtomicU32 = AtomicU32::new(0);

/// From this many on codes that nobody else has are dropped.
const MANY: usize = 1024;

/// The count of an object that has one reference, as far as references are counted, and that threads share
/// that run at once: the interpreter adds so much to it, and leaves out those from running functions.
const SHARED_ALONE: isize = isize::MAX / 8 + 1;

#[derive(Default)]
struct Codes {
    numbers: HashMap<usize, (u32, bool)>,
    /// By number, which is by age.
    kept: BTreeMap<u32, Py<PyAny>>,
    last: u32,
    /// The number of codes at which the next search for droppable ones is worth its while.
    limit: usize,
}

static CODES: Mutex<Option<Codes>> = Mutex::new(None);

fn codes() -> MutexGuard<'static, Option<Codes>> {
    CODES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the engine how to find out where the program is.
pub(crate) fn listen() {
    frame::learn();
    register_locator(locate);
}

/// What is known of a running code object.
fn code(running: &Running) -> Code {
    let drops = DROPS.load(Ordering::Acquire);
    let address = running.code.addr();
    let remembered = Last::with(|last| {
        let [latest, former] = &last.0[kind(address)];
        let latest = latest.get();
        if latest.holds(address, drops) { latest } else { former.get() }
    });
    if remembered.holds(address, drops) { remembered } else { meet(running) }
}

/// Makes the acquaintance of a code object, or renews it.
#[cold]
fn meet(running: &Running) -> Code {
    // SAFETY: frames are shown with the interpreter's lock held, and the code of one is alive.
    let code = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), running.code) };
    let (number, own) = number_of(&code);
    let known = Code::new(code.as_ptr().addr(), number, own, DROPS.load(Ordering::Acquire));
    Last::with(|last| {
        let [latest, former] = &last.0[kind(known.address)];
        former.set(latest.replace(known));
    });
    known
}

fn origin(code: Code, running: &Running) -> Origin {
    match code.number {
        0 => Origin::UNKNOWN,
        number => Origin::new(u64::from(number) << 32 | u64::from(running.position)),
    }
}

/// How far out the user's own frame is looked for.
const OUTWARD: usize = 64;

/// Where the program is: in the innermost frame that is not rushlight's own, or else in the innermost.
fn locate() -> Origin {
    let mut place = Origin::UNKNOWN;
    let mut depth = 0;
    frame::walk(|running| {
        let code = code(&running);
        if !code.is_own() || depth == 0 {
            place = origin(code, &running);
        }
        depth += 1;
        if code.is_own() && depth <= OUTWARD { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    place
}

/// Where the program is and was called from. The callers are shared with the answer before if they are the
/// same.
pub(crate) fn stack() -> Stack {
    let mut places: smallvec::SmallVec<[Origin; 64]> = smallvec::SmallVec::new();
    frame::walk(|running| {
        let place = origin(code(&running), &running);
        if place != Origin::UNKNOWN {
            places.push(place);
        }
        ControlFlow::Continue(())
    });
    let (here, callers) = places.split_first().unwrap_or((&Origin::UNKNOWN, &[]));
    CALLERS.with_borrow_mut(|last| {
        if **last != *callers {
            *last = Arc::from(callers);
        }
        Stack { here: *here, callers: last.clone() }
    })
}

/// The number of a code object, and whether it is rushlight's own or the interpreter's, which has no lines.
/// Zero for the latter, and if there are no more numbers.
#[cold]
fn number_of(code: &Bound<'_, PyAny>) -> (u32, bool) {
    let address = code.as_ptr().addr();
    if let Some(&known) = codes().as_ref().and_then(|codes| codes.numbers.get(&address)) {
        return known;
    }
    let has_lines = has_lines(code).unwrap_or(true);
    let own = !has_lines || is_own(code).unwrap_or(false);
    let mut dropped = Vec::new();
    let known = {
        let mut codes = codes();
        let codes = codes.get_or_insert_with(|| Codes { limit: MANY, ..Codes::default() });
        let Some(number) = codes.last.checked_add(1) else { return (0, own) };
        codes.last = number;
        if codes.kept.len() >= codes.limit {
            dropped = codes.drop_oldest(code.py());
        }
        let known = (if has_lines { number } else { 0 }, own);
        codes.numbers.insert(address, known);
        codes.kept.insert(number, code.clone().unbind());
        known
    };
    // Outside of the lock: constants of a code may be anything.
    drop(dropped);
    known
}

impl Codes {
    /// Takes out the codes that nobody else has, but for the youngest.
    fn drop_oldest(&mut self, _: Python<'_>) -> Vec<Py<PyAny>> {
        // SAFETY: the objects are alive. Where threads run at once the answer may be out of date, which costs
        // no more than a place.
        let count = |code: &Py<PyAny>| unsafe { ffi::Py_REFCNT(code.as_ptr()) };
        let is_alone = |code: &Py<PyAny>| matches!(count(code), 1 | SHARED_ALONE);
        let alone: Vec<u32> =
            self.kept.iter().filter(|(_, code)| is_alone(code)).map(|(number, _)| *number).collect();
        let oldest = &alone[..alone.len().saturating_sub(MANY / 2)];
        let dropped: Vec<_> = oldest.iter().filter_map(|number| self.kept.remove(number)).collect();
        for code in &dropped {
            self.numbers.remove(&code.as_ptr().addr());
        }
        self.limit = self.kept.len() + MANY / 2;
        DROPS.fetch_add(1, Ordering::Release);
        dropped
    }
}

/// Whether a code object comes from rushlight's own package.
fn is_own(code: &Bound<'_, PyAny>) -> PyResult<bool> {
    static DIRECTORY: PyOnceLock<String> = PyOnceLock::new();
    let py = code.py();
    let directory = DIRECTORY.get_or_try_init(py, || {
        let package = py.import("rushlight")?;
        let directory: String = package.getattr("__path__")?.get_item(0)?.extract()?;
        Ok::<_, PyErr>(format!("{directory}{MAIN_SEPARATOR}"))
    })?;
    let file: String = code.getattr("co_filename")?.extract()?;
    Ok(file.starts_with(directory.as_str()))
}

/// The place as `rushlight._messages.origins.Origin(file, line, function)`, or `None` if it is unknown.
pub(crate) fn describe(py: Python<'_>, origin: Origin) -> PyResult<Bound<'_, PyAny>> {
    let number = (origin.number() >> 32) as u32;
    let code = codes().as_ref().and_then(|codes| codes.kept.get(&number)).map(|code| code.clone_ref(py));
    let Some(code) = code else { return Ok(py.None().into_bound(py)) };
    let code = code.bind(py);
    let arguments = PyDict::new(py);
    arguments.set_item("file", code.getattr("co_filename")?)?;
    arguments.set_item("line", line(code, origin.number() as u32)?)?;
    let name = code.getattr("co_qualname").or_else(|_| code.getattr("co_name"))?;
    arguments.set_item("function", name)?;
    py.import("rushlight._messages.origins")?.getattr("Origin")?.call((), Some(&arguments))
}

/// The instructions of a code object from where to where, and their line.
type Range = (u32, u32, Option<u32>);

/// Whether anything in a code object has a line. What the interpreter runs for its own ends has none: the entry
/// into its loop, and the end of a class's call.
fn has_lines(code: &Bound<'_, PyAny>) -> PyResult<bool> {
    for range in code.call_method0("co_lines")?.try_iter()? {
        if let (_, _, Some(_)) = range?.extract::<Range>()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The line of an instruction.
fn line(code: &Bound<'_, PyAny>, position: u32) -> PyResult<u32> {
    for range in code.call_method0("co_lines")?.try_iter()? {
        let (start, end, line): Range = range?.extract()?;
        if let Some(line) = line
            && (start..end).contains(&position)
        {
            return Ok(line);
        }
    }
    code.getattr("co_firstlineno")?.extract()
}
