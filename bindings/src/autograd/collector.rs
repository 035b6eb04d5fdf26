//! Reference cycles through the engine's graph, for Python's garbage collector.
//!
//! A reference cycle may lead through the engine: an object holds a tensor, the tensor its history, and the history a
//! hook that holds the object. The collector follows objects only, and it decides by exact counts. So when
//! it begins, a snapshot is made: from the objects that it is about to look at, the graph is walked
//! over, and every node and tensor there that leads to anything of Python gets a stand-in. That is an
//! object whose count is the number of handles that there are of the thing. Objects show the stand-ins
//! of what they hold, and stand-ins those of what their things hold. Then the collector finds out by
//! itself what is held from outside: by an older object, by a run of the engine, by another thread.
//! When it is done the stand-ins go.
//!
//! Programs may run while it is at it (finalisers), and change things. The snapshot holds them, so that
//! none goes; a stand-in whose thing is held by more than before, or holds something else than before,
//! shows nothing at all, which keeps what it holds. The same goes for objects.
//!
//! Where threads run at once, others go on while the snapshot is made, so that it may show a thing as it never
//! was. But they stand still while the collector follows objects, and what is compared then is what is there.
//! A handle that was found comes to be missing from a holder that has changed, and a handle that nobody found
//! keeps its stand-in. Work without the lock does not stand still: while there is any, nothing is shown.

#![allow(unsafe_code)]

mod classes;

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use rushlight::graph::Census;
use rushlight::graph::observe::census;
use rushlight::graph::references::Holding;
use rushlight::tensor::{cycle, register_bareness};

use crate::autograd::context::context_in;
use crate::autograd::hooks::PythonHook;
use crate::autograd::packing::packed_in;
use crate::interpreter::unlocked;
use crate::tensor::object::{TensorBase, Visit, is_hosting, track, visit_deposit, visit_object, withdraw};
use classes::{Classes, address};

pub(crate) use classes::{Class, Holder, Visitor};

/// How many nodes and tensors are walked over for a collection of each of the young generations. Circles in
/// larger graphs are left for a later one. Since Python 3.13 a collection comes after three times as many new
/// objects.
const MOST: [usize; 2] = if cfg!(Py_3_13) { [3_000, 30_000] } else { [1_000, 10_000] };

/// The same for a collection of everything, as all are where threads run at once. No later one looks further,
/// so what was too much for one is left for the next, which goes twice as far.
static REACH: AtomicUsize = AtomicUsize::new(200_000);

/// More is never walked over: a program that has so large a graph waits long enough.
const FARTHEST: usize = 6_400_000;

fn most(generation: usize) -> usize {
    match MOST.get(generation) {
        Some(&most) if !cfg!(threads_at_once) => most,
        _ => REACH.load(Ordering::Relaxed),
    }
}

/// Registers with `gc.callbacks`. The classes are those of all objects that hold tensors or nodes of the engine.
pub(crate) fn install(py: Python<'_>, classes: &'static [Class]) -> PyResult<()> {
    register_bareness(is_bare);
    if cfg!(all(Py_GIL_DISABLED, not(threads_at_once))) {
        return Ok(());
    }
    let gc = py.import("gc")?;
    let callbacks = gc.getattr("callbacks")?.cast_into::<PyList>()?;
    let callback = wrap_pyfunction!(collecting, py)?.into_any();
    callbacks.append(&callback)?;
    let get_objects = gc.getattr("get_objects")?.unbind();
    // The module is initialised once.
    let _ = COLLECTOR.set(
        py,
        Collector { classes, get_objects, callbacks: callbacks.unbind(), callback: callback.unbind() },
    );
    Ok(())
}

/// What belongs to the collector: at the end of the interpreter nothing can be imported any more.
struct Collector {
    classes: &'static [Class],
    get_objects: Py<PyAny>,
    callbacks: Py<PyList>,
    callback: Py<PyAny>,
}

static COLLECTOR: PyOnceLock<Collector> = PyOnceLock::new();

impl Collector {
    /// Whether nobody else is told after us, who could change what was seen; if so, not the next time.
    fn is_last(&self, py: Python<'_>) -> PyResult<bool> {
        let (callbacks, ours) = (self.callbacks.bind(py), self.callback.bind(py));
        if callbacks.iter().next_back().is_some_and(|last| last.is(ours)) {
            return Ok(true);
        }
        if callbacks.contains(ours)? {
            callbacks.call_method1("remove", (ours,))?;
            callbacks.append(ours)?;
        }
        Ok(false)
    }
}

/// Whether an object has no reference but the one of the tensor that owns it.
fn is_bare(object: *mut c_void) -> bool {
    // SAFETY: an owned object is alive; its count is looked at only with the GIL held.
    unsafe { ffi::PyGILState_Check() != 0 && ffi::Py_REFCNT(object.cast()) == 1 }
}

/// Tell of a collection that begins or ends.
#[pyfunction]
#[pyo3(name = "_collecting")]
fn collecting(phase: &str, info: &Bound<'_, PyDict>) -> PyResult<()> {
    let py = info.py();
    let generation: usize = info.get_item("generation")?.map_or(Ok(0), |found| found.extract())?;
    let generation = generation.min(MOST.len());
    if let Some(before) = exchange(None) {
        before.end(py);
    }
    let Some(collector) = COLLECTOR.get(py).filter(|_| !unlocked::is_anyone()) else { return Ok(()) };
    if phase == "stop" {
        // Handles that move from one to another while they are counted would be missed: see `is_source`.
        if !cfg!(threads_at_once) {
            cycle::open_circles(most(generation));
        }
    } else if is_hosting()
        && collector.is_last(py)?
        && let Some(snapshot) = Snapshot::new(py, collector, generation)?
    {
        // There was none.
        let _ = exchange(Some(snapshot));
    }
    Ok(())
}

/// What was seen when the collection that goes on began. Nothing of Python happens while it is exchanged, so
/// that no thread stands still with the lock taken.
static SNAPSHOT: RwLock<Option<Box<Snapshot>>> = RwLock::new(None);

/// Whether there is a snapshot.
static PRESENT: AtomicBool = AtomicBool::new(false);

fn exchange(snapshot: Option<Box<Snapshot>>) -> Option<Box<Snapshot>> {
    PRESENT.store(snapshot.is_some(), Ordering::Release);
    std::mem::replace(&mut *SNAPSHOT.write().unwrap_or_else(PoisonError::into_inner), snapshot)
}

/// Looks at the snapshot, if there is one and nobody may be changing what it shows.
#[inline]
fn with_snapshot<R>(look: impl FnOnce(&Snapshot) -> R) -> Option<R> {
    if !PRESENT.load(Ordering::Acquire) || unlocked::is_anyone() {
        return None;
    }
    SNAPSHOT.try_read().ok()?.as_deref().map(look)
}

struct Snapshot {
    census: Census,
    /// How many handles there were, by member.
    handles: Vec<u32>,
    /// By member, where it leads to anything of Python.
    stand_ins: Vec<Option<Py<StandIn>>>,
    /// What objects held, by where their Rust part lies.
    holders: HashMap<usize, Vec<u32>>,
}

impl Snapshot {
    /// What the objects of a generation and of younger ones lead to, unless that is too much.
    fn new(py: Python<'_>, collector: &Collector, generation: usize) -> PyResult<Option<Box<Snapshot>>> {
        let get_objects = collector.get_objects.bind(py);
        if !cfg!(threads_at_once)
            && generation == MOST.len()
            && !TRACKED_EARLIER.swap(true, Ordering::Relaxed)
        {
            let objects = get_objects.call0()?;
            objects.cast::<PyList>()?.iter().for_each(|object| track_inside(&object));
        }
        for leaf in cycle::leaves_with_recorded_gradients() {
            // SAFETY: an object that a tensor knows is alive, as long as the GIL is held.
            let object = unsafe { Bound::from_borrowed_ptr_or_opt(py, leaf.foreign().get().cast()) };
            object.iter().filter_map(|object| object.cast::<TensorBase>().ok()).for_each(track);
        }
        let (mut census, mut holders) = (Census::default(), HashMap::new());
        let (mut classes, most) = (Classes::new(collector.classes), most(generation));
        // Where threads run at once there are no generations.
        let generations = if cfg!(threads_at_once) { 0..=0 } else { 0..=generation };
        'objects: for young in generations {
            for object in get_objects.call1((young,))?.cast::<PyList>()?.iter() {
                let Some(class) = classes.of(&object) else { continue };
                let mut members = Vec::new();
                let address = class.visit(&object, &mut |holding| match holding {
                    Holding::Node(node) => members.push(census.add_node(node, 1)),
                    Holding::Tensor(tensor) => members.push(census.add_tensor(tensor, 1)),
                    _ => {}
                });
                holders.insert(address, members);
                if census.len() > most {
                    break 'objects;
                }
            }
        }
        if !census.walk(most, |_| false) {
            if cfg!(threads_at_once) || generation == MOST.len() {
                REACH.store((2 * most).min(FARTHEST), Ordering::Relaxed);
            }
            return Ok(None);
        }
        let places = 0..census.len() as u32;
        let handles: Vec<u32> = places.clone().map(|place| census.handles(place)).collect();
        if places.clone().any(|place| census.found(place) > handles[place as usize]) {
            return Ok(None);
        }
        let leading = leading(&census);
        let mut snapshot = Box::new(Snapshot { census, handles, stand_ins: Vec::new(), holders });
        for place in places {
            let stand_in = leading[place as usize].then(|| Py::new(py, StandIn { place })).transpose()?;
            if let Some(stand_in) = &stand_in {
                for _ in 1..snapshot.handles[place as usize] {
                    // SAFETY: the object is alive. `end` gives these references back.
                    unsafe { ffi::Py_INCREF(stand_in.as_ptr()) };
                }
            }
            snapshot.stand_ins.push(stand_in);
        }
        Ok(Some(snapshot))
    }

    /// Lets go of everything. What the collector has taken apart goes with it.
    fn end(self, _: Python<'_>) {
        for (stand_in, &handles) in self.stand_ins.iter().zip(&self.handles) {
            let Some(stand_in) = stand_in else { continue };
            for _ in 1..handles {
                // SAFETY: these are the references that `new` made up; one more is the vector's.
                unsafe { ffi::Py_DECREF(stand_in.as_ptr()) };
            }
        }
    }

    /// Whether a member is held by no more than before, and holds what it held.
    fn is_unchanged(&self, place: u32) -> bool {
        let mut known = self.census.held(place).iter();
        let mut same = self.census.handles(place) <= self.handles[place as usize];
        self.census.thing(place).visit_holdings(&mut |holding| {
            if matches!(holding, Holding::Node(_) | Holding::Tensor(_)) {
                same &= known.next().copied() == self.census.place(&holding);
            }
        });
        same && known.next().is_none()
    }

    /// A member that is taken apart, unless it is held by more than before, or holds what it did not.
    /// Others that were taken apart before it may have taken from it.
    fn going(&self, place: u32) -> Option<census::Thing> {
        let (thing, before) = (self.census.thing(place), self.census.held(place));
        let mut known = self.census.handles(place) <= self.handles[place as usize];
        thing.visit_holdings(&mut |holding| {
            if matches!(holding, Holding::Node(_) | Holding::Tensor(_)) {
                known &= self.census.place(&holding).is_some_and(|held| before.contains(&held));
            }
        });
        known.then(|| thing.clone())
    }

    /// What an object held, by member, if it holds the same now.
    fn stand_ins_of<T>(&self, part: &T, now: impl FnOnce(&T, &mut dyn FnMut(Holding<'_>))) -> Option<&[u32]> {
        let members = self.holders.get(&address(part))?;
        let (mut known, mut same) = (members.iter(), true);
        now(part, &mut |holding| {
            if matches!(holding, Holding::Node(_) | Holding::Tensor(_)) {
                same &= known.next().copied() == self.census.place(&holding);
            }
        });
        (same && known.next().is_none()).then_some(members)
    }

    fn visit(&self, place: u32, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.is_unchanged(place) {
            return Ok(());
        }
        for &held in self.census.held(place) {
            visit.call(&self.stand_ins[held as usize])?;
        }
        let mut outcome = Ok(());
        self.census.thing(place).visit_holdings(&mut |holding| {
            if outcome.is_ok() {
                outcome = visit_host(&holding, visit);
            }
        });
        outcome
    }
}

/// Whether the objects were put under the collector's eyes that are older than the first thing of
/// Python that the engine held.
static TRACKED_EARLIER: AtomicBool = AtomicBool::new(false);

/// Puts the objects of tensors under the collector's eyes that an object refers to.
fn track_inside(object: &Bound<'_, PyAny>) {
    unsafe extern "C" fn look(object: *mut ffi::PyObject, _: *mut c_void) -> c_int {
        // SAFETY: objects show live ones, and `track_inside` is called with the GIL held.
        let object = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), object) };
        object.cast::<TensorBase>().into_iter().for_each(track);
        0
    }
    // SAFETY: the object is alive, and what the collector knows can be traversed.
    unsafe {
        if let Some(traverse) = (*object.get_type_ptr()).tp_traverse {
            traverse(object.as_ptr(), look, ptr::null_mut());
        }
    }
}

/// Shows the collector what is held of Python.
pub(crate) fn visit_host(holding: &Holding<'_>, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
    match holding {
        // Somebody else may have the hook too.
        Holding::Hook(hook) if Arc::strong_count(hook) == 1 => visit.call(PythonHook::function(&***hook)),
        Holding::Host(host) => {
            packed_in(*host).into_iter().flatten().try_for_each(|object| visit.call(object))?;
            visit.call(context_in(*host))
        }
        Holding::Deposit(slot) => visit_deposit(slot, visit),
        Holding::Object(slot) => visit_object(slot, visit),
        _ => Ok(()),
    }
}

/// Whether what leads to a member is to be shown: it holds something of Python, or is a leaf that circles
/// through recorded gradients may lead through, where these are not looked for afterwards.
fn is_source(census: &Census, place: u32) -> bool {
    let is_leaf = |thing: &census::Thing| match thing {
        census::Thing::Tensor(tensor) => tensor.has_recorded_gradient(),
        census::Thing::Node(_) => false,
    };
    census.has_hosts(place) || cfg!(threads_at_once) && is_leaf(census.thing(place))
}

/// The members that lead to anything that is to be shown.
fn leading(census: &Census) -> Vec<bool> {
    let count = census.len();
    // By member, who holds it: the numbers of all holders one after another, and where each's begin.
    let mut begins = vec![0_usize; count + 1];
    let places = 0..count as u32;
    let pairs = || places.clone().flat_map(|place| census.held(place).iter().map(move |&held| (place, held)));
    pairs().for_each(|(_, held)| begins[held as usize + 1] += 1);
    (0..count).for_each(|index| begins[index + 1] += begins[index]);
    let (mut free, mut holders) = (begins.clone(), vec![0; begins[count]]);
    for (place, held) in pairs() {
        holders[free[held as usize]] = place;
        free[held as usize] += 1;
    }
    let mut leading = vec![false; count];
    let mut pending: Vec<u32> = places.clone().filter(|&place| is_source(census, place)).collect();
    while let Some(place) = pending.pop() {
        if !std::mem::replace(&mut leading[place as usize], true) {
            pending.extend(&holders[begins[place as usize]..begins[place as usize + 1]]);
        }
    }
    leading
}

/// Shows the collector the stand-ins of what an object holds. `part` is its Rust part, which shows what
/// it holds now: if that is not what it held before, nothing is known.
pub(crate) fn visit_held<T>(
    part: &T,
    now: impl FnOnce(&T, &mut dyn FnMut(Holding<'_>)),
    visit: &PyVisit<'_>,
) -> Result<(), PyTraverseError> {
    let show = |snapshot: &Snapshot| {
        let mut stand_ins = snapshot.stand_ins_of(part, now)?.iter();
        Some(stand_ins.try_for_each(|&member| visit.call(&snapshot.stand_ins[member as usize])))
    };
    with_snapshot(show).flatten().unwrap_or(Ok(()))
}

/// Shows the stand-in of the tensor of an object, for a slot: what `visit` answers, and zero without one.
#[inline]
pub(crate) fn visit_tensor(body: &TensorBase, visit: &mut Visit<'_>) -> c_int {
    let show = |snapshot: &Snapshot| {
        let member =
            *snapshot.stand_ins_of(body, |body, show| show(Holding::Tensor(body.tensor())))?.first()?;
        Some(visit(snapshot.stand_ins[member as usize].as_ref()?.as_ptr()))
    };
    with_snapshot(show).flatten().unwrap_or(0)
}

/// Stands for a node or a tensor during a collection.
#[pyclass(module = "rushlight._rushlight", frozen)]
struct StandIn {
    place: u32,
}

#[pymethods]
impl StandIn {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        with_snapshot(|snapshot| snapshot.visit(self.place, &visit)).unwrap_or(Ok(()))
    }

    fn __clear__(&self, py: Python<'_>) {
        if let Some(thing) = with_snapshot(|snapshot| snapshot.going(self.place)).flatten() {
            thing.let_go();
            // So does the dictionary that belongs to a node.
            if let census::Thing::Node(node) = &thing
                && let Some(extras) = node.extras()
            {
                withdraw(&extras.foreign, py);
            }
        }
    }
}
