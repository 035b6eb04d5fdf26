//! What the interpreter's collector sees of the engine's graph.
//!
//! Note [Stand-ins]
//! ----
//! A circle may lead through the engine: an object holds a tensor, this its history, and that a hook
//! that holds the object. The collector follows objects only, and it decides by exact counts. So when
//! it begins, a snapshot is made: from the objects that it is about to look at, the graph is walked
//! over, and every node and tensor there that leads to anything of Python gets a stand-in. That is an
//! object whose count is the number of handles that there are of the thing. Objects show the stand-ins
//! of what they hold, and stand-ins those of what their things hold. Then the collector finds out by
//! itself what is held from outside: by an older object, by a run of the engine, by another thread.
//! When it is done the stand-ins go.
//!
//! Programs may run while it is at it (finalisers), and change things. The snapshot holds them, so that
//! none goes; a stand-in whose thing is held by more than before, or holds something else than before,
//! shows nothing at all, which keeps what it holds.

mod classes;

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use rushlight::graph::holding::Holding;
use rushlight::graph::{Census, census};
use rushlight::tensor::{circle, register_bareness};

use crate::function::context_in;
use crate::hooks::PythonHook;
use crate::saved::packed_in;
use crate::tensor::object::{TensorBase, track, visit_deposit, visit_object};
use crate::unlocked;
use classes::{Classes, address};

/// How many nodes and tensors are walked over for a collection of each generation. Circles in larger
/// graphs are left for a later one.
const MOST: [usize; 3] = [1_000, 10_000, 200_000];

/// Whether anything of the engine may hold anything of Python.
static HOSTED: AtomicBool = AtomicBool::new(false);

/// To be called when something of the engine begins to hold something of Python.
#[inline]
pub(crate) fn host() {
    HOSTED.store(true, Ordering::Relaxed);
}

/// Whether anything of the engine may hold anything of Python, so that new objects of tensors that
/// have a history are to be under the collector's eyes.
#[inline]
pub(crate) fn is_hosting() -> bool {
    HOSTED.load(Ordering::Relaxed)
}

/// Has the collector tell when it begins and ends. What has no lock that stops all threads cannot be
/// looked through: there circles that lead through the engine stay.
pub(crate) fn install(py: Python<'_>) -> PyResult<()> {
    register_bareness(is_bare);
    if cfg!(Py_GIL_DISABLED) {
        return Ok(());
    }
    let gc = py.import("gc")?;
    let callbacks = gc.getattr("callbacks")?.cast_into::<PyList>()?;
    let callback = wrap_pyfunction!(collecting, py)?.into_any();
    callbacks.append(&callback)?;
    let get_objects = gc.getattr("get_objects")?.unbind();
    // The module is initialised once.
    let _ = COLLECTOR
        .set(py, Collector { get_objects, callbacks: callbacks.unbind(), callback: callback.unbind() });
    Ok(())
}

/// What belongs to the collector: at the end of the interpreter nothing can be imported any more.
struct Collector {
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
    let generation = generation.min(MOST.len() - 1);
    let before = SNAPSHOT.swap(ptr::null_mut(), Ordering::AcqRel);
    if !before.is_null() {
        // SAFETY: it comes from `into_raw` below, and was just taken out.
        unsafe { Box::from_raw(before) }.end(py);
    }
    let Some(collector) = COLLECTOR.get(py).filter(|_| !unlocked::is_anyone()) else { return Ok(()) };
    if phase == "stop" {
        circle::open_circles(MOST[generation]);
    } else if is_hosting()
        && collector.is_last(py)?
        && let Some(snapshot) = Snapshot::new(collector.get_objects.bind(py), generation)?
    {
        SNAPSHOT.store(Box::into_raw(snapshot), Ordering::Release);
    }
    Ok(())
}

/// What was seen when the collection that goes on began; null when there is none.
static SNAPSHOT: AtomicPtr<Snapshot> = AtomicPtr::new(ptr::null_mut());

#[inline]
fn snapshot<'a>() -> Option<&'a Snapshot> {
    // SAFETY: null, or what `collecting` put there. It is taken away with the GIL held, which whoever
    // asks holds too, and not while the collector follows objects.
    unsafe { SNAPSHOT.load(Ordering::Acquire).as_ref() }
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
    fn new(get_objects: &Bound<'_, PyAny>, generation: usize) -> PyResult<Option<Box<Snapshot>>> {
        let py = get_objects.py();
        if generation == MOST.len() - 1 && !TRACKED_EARLIER.swap(true, Ordering::Relaxed) {
            let objects = get_objects.call0()?;
            objects.cast::<PyList>()?.iter().for_each(|object| track_inside(&object));
        }
        for leaf in circle::leaves_with_recorded_gradients() {
            // SAFETY: an object that a tensor knows is alive, as long as the GIL is held.
            let object = unsafe { Bound::from_borrowed_ptr_or_opt(py, leaf.foreign().get().cast()) };
            object.iter().filter_map(|object| object.cast::<TensorBase>().ok()).for_each(track);
        }
        let (mut census, mut holders) = (Census::default(), HashMap::new());
        let mut classes = Classes::default();
        for young in 0..=generation {
            for object in get_objects.call1((young,))?.cast::<PyList>()?.iter() {
                let Some(class) = classes.of(&object) else { continue };
                let mut members = Vec::new();
                let address = class.visit(&object, &mut |holding| match holding {
                    Holding::Node(node) => members.push(census.add_node(node, 1)),
                    Holding::Tensor(tensor) => members.push(census.add_tensor(tensor, 1)),
                    _ => {}
                });
                holders.insert(address, members);
            }
        }
        if !census.walk(MOST[generation], |_| false) {
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

/// The members that lead to anything of Python.
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
    let mut pending: Vec<u32> = places.clone().filter(|&place| census.has_hosts(place)).collect();
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
    let Some((snapshot, members)) = members_of(part) else { return Ok(()) };
    let (mut known, mut same) = (members.iter(), true);
    now(part, &mut |holding| {
        if matches!(holding, Holding::Node(_) | Holding::Tensor(_)) {
            same &= known.next().copied() == snapshot.census.place(&holding);
        }
    });
    if !same || known.next().is_some() {
        return Ok(());
    }
    members.iter().try_for_each(|&member| visit.call(&snapshot.stand_ins[member as usize]))
}

/// The stand-in of the tensor of an object, for a slot.
#[inline]
pub(crate) fn stand_in_of(body: &TensorBase) -> Option<*mut ffi::PyObject> {
    let (snapshot, members) = members_of(body)?;
    let stand_in = snapshot.stand_ins[*members.first()? as usize].as_ref();
    stand_in.map(Py::as_ptr)
}

fn members_of<T>(part: &T) -> Option<(&'static Snapshot, &'static [u32])> {
    let snapshot = snapshot()?;
    Some((snapshot, snapshot.holders.get(&address(part))?))
}

/// Stands for a node or a tensor during a collection.
#[pyclass(module = "rushlight._rushlight", frozen)]
struct StandIn {
    place: u32,
}

#[pymethods]
impl StandIn {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        snapshot().map_or(Ok(()), |snapshot| snapshot.visit(self.place, &visit))
    }

    fn __clear__(&self, py: Python<'_>) {
        if let Some(snapshot) = snapshot().filter(|snapshot| snapshot.is_unchanged(self.place)) {
            let thing = snapshot.census.thing(self.place);
            thing.let_go();
            if let census::Thing::Node(node) = thing {
                crate::node::forget_metadata(py, node);
            }
        }
    }
}
