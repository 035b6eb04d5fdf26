//! Birth, death, survival and collection of tensor objects.
//!
//! An object holds a handle of its tensor, and the tensor points back at its object without
//! counting. When the last Python reference goes while the engine still has the tensor, an object
//! that carries state (attributes, weak references, a hash that was taken, a class of its own)
//! stays: the tensor then *owns* it, which is one counted reference and a mark. When a handle of
//! such a tensor goes, `handle_goes` gives the reference back if only the object's own handle is
//! left. Every other object dies at once, and is made anew when its tensor is next shown to Python.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;

use rushlight::Tensor;
use rushlight::tensor::register_watch;

use super::{Object, TensorBase, kind::tensor_type};
use crate::hooks::PythonHook;

/// How many dead objects of the exact type are kept for reuse.
const SPARE: usize = 64;

/// How deep one object's death may lie inside another's before it waits its turn.
const NESTING: usize = 50;

/// What the functions below share. Guarded by the GIL.
struct Workshop {
    /// Memory of dead objects of the exact type: uninitialised but for the collector's header.
    spare: [*mut Object; SPARE],
    spare_count: usize,
    /// How many deaths are under way, one inside the other.
    nesting: usize,
    /// Objects whose memory is to be taken apart when the outermost death is over.
    waiting: Vec<*mut Object>,
}

struct Guarded(UnsafeCell<Workshop>);
// SAFETY: reached only through `workshop`, whose callers hold the GIL.
unsafe impl Sync for Guarded {}

static WORKSHOP: Guarded = Guarded(UnsafeCell::new(Workshop {
    spare: [ptr::null_mut(); SPARE],
    spare_count: 0,
    nesting: 0,
    waiting: Vec::new(),
}));

/// The shared state, for one statement: nothing that can run Python code may happen before the borrow ends.
///
/// # Safety
/// The caller holds the GIL and has no other borrow.
#[inline]
unsafe fn workshop() -> &'static mut Workshop {
    // SAFETY: by the caller's promise this is the only reference.
    unsafe { &mut *WORKSHOP.0.get() }
}

/// The object of a tensor that had none, of `class`, which is the tensor type or below it: a new
/// reference, or null with an exception set. The caller holds the GIL.
#[inline]
pub(super) fn create(class: *mut ffi::PyTypeObject, tensor: Tensor) -> *mut ffi::PyObject {
    if ARE_WAITING.load(Ordering::Relaxed) {
        look_at_waiting(ptr::null_mut());
    }
    // SAFETY: the GIL is held, and both ways give memory of the class's size with a set-up header.
    unsafe {
        let object = if class == tensor_type() { allocate(class) } else { allocate_derived(class) };
        if object.is_null() {
            return ptr::null_mut();
        }
        if !tensor.foreign().get().is_null() {
            return prefer_existing(object, tensor);
        }
        tensor.foreign().set(object.cast());
        ptr::write(&raw mut (*object).body, TensorBase::new(tensor));
        object.cast()
    }
}

/// Allocating can run the collector, and with it Python code that asked for this very tensor's
/// object before us: then that one counts.
///
/// # Safety
/// The caller holds the GIL; `fresh` is memory without a body, the tensor has an object.
#[cold]
unsafe fn prefer_existing(fresh: *mut Object, tensor: Tensor) -> *mut ffi::PyObject {
    let existing = tensor.foreign().get().cast::<ffi::PyObject>();
    // SAFETY: by the caller's promise. Spare memory has no handle to drop, only its type to let go.
    unsafe {
        ffi::Py_INCREF(existing);
        release_memory(fresh);
    }
    existing
}

/// An object of the exact type, not tracked by the collector: it refers to no Python object yet.
///
/// # Safety
/// The caller holds the GIL; `class` is the tensor type.
#[inline]
unsafe fn allocate(class: *mut ffi::PyTypeObject) -> *mut Object {
    // SAFETY: by the caller's promise; spare memory was allocated for this very type.
    unsafe {
        let shop = workshop();
        if shop.spare_count == 0 {
            return ffi::PyObject_GC_New::<Object>(class);
        }
        shop.spare_count -= 1;
        let object = shop.spare[shop.spare_count];
        ffi::PyObject_Init(object.cast(), class).cast()
    }
}

/// An object of a derived class, zeroed and tracked, as its slots need it.
///
/// # Safety
/// The caller holds the GIL; `class` derives from the tensor type.
#[cold]
unsafe fn allocate_derived(class: *mut ffi::PyTypeObject) -> *mut Object {
    // SAFETY: every ready type has an allocator; the generic one is the fallback of the interpreter itself.
    unsafe { (*class).tp_alloc.unwrap_or(ffi::PyType_GenericAlloc)(class, 0).cast() }
}

/// Puts an object under the collector's eyes. To be called when it begins to refer to Python
/// objects, be it through its dictionary or through the tensor's hooks.
pub(crate) fn track(object: &pyo3::Bound<'_, TensorBase>) {
    // SAFETY: the object is live, and its token stands for the GIL.
    unsafe { track_raw(object.as_ptr()) }
}

/// # Safety
/// `object` is a live tensor object; the caller holds the GIL.
unsafe fn track_raw(object: *mut ffi::PyObject) {
    // SAFETY: the tensor types have collector headers.
    unsafe {
        if ffi::PyObject_GC_IsTracked(object) == 0 {
            ffi::PyObject_GC_Track(object.cast());
        }
    }
}

/// `tp_dealloc` of the tensor type and of every class below it.
pub(super) unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with the GIL held, for an object whose count fell to zero.
    unsafe {
        let object = object.cast::<Object>();
        if ffi::Py_TYPE(object.cast()) == tensor_type() && !(*object).body.has_state() {
            ffi::PyObject_GC_UnTrack(object.cast());
            disconnect(object);
            let tensor = ptr::read(&raw const (*object).body.tensor);
            recycle(object);
            drop(tensor);
        } else {
            part(object);
        }
    }
}

/// Gives back the memory of an object of the exact type whose fields are gone.
///
/// # Safety
/// The caller holds the GIL and does not touch the object again.
#[inline]
unsafe fn recycle(object: *mut Object) {
    // SAFETY: by the caller's promise; every instance holds one reference to its heap type.
    unsafe {
        let shop = workshop();
        if shop.spare_count < SPARE {
            shop.spare[shop.spare_count] = object;
            shop.spare_count += 1;
        } else {
            ffi::PyObject_GC_Del(object.cast());
        }
        ffi::Py_DECREF(tensor_type().cast());
    }
}

/// Death of an object with state: it stays if the engine still has the tensor, else finaliser,
/// weak references and fields go in the interpreter's order.
///
/// # Safety
/// As for `dealloc`.
#[cold]
unsafe fn part(object: *mut Object) {
    // SAFETY: by the caller's promise; the count is zero between the steps, as each of them requires.
    unsafe {
        if survives(object) {
            return;
        }
        let class = ffi::Py_TYPE(object.cast());
        if (*class).tp_finalize.is_some() {
            track_raw(object.cast());
            if ffi::PyObject_CallFinalizerFromDealloc(object.cast()) < 0 {
                (*object).body.bereft.set(false);
                return;
            }
            // The finaliser may have given the tensor to somebody.
            if survives(object) {
                return;
            }
        }
        ffi::PyObject_GC_UnTrack(object.cast());
        disconnect(object);
        if !(*object).body.weak_references.get().is_null() {
            ffi::PyObject_ClearWeakRefs(object.cast());
        }
        take_apart(object);
    }
}

/// Makes the tensor forget its dying object.
///
/// # Safety
/// The caller holds the GIL, and the object's body is whole.
#[inline]
unsafe fn disconnect(object: *mut Object) {
    // SAFETY: by the caller's promise.
    unsafe { (*object).body.tensor.foreign().set(ptr::null_mut()) }
}

/// Hands an object without references over to its tensor, if somebody else holds that.
///
/// # Safety
/// The caller holds the GIL; the object is whole and its count is zero.
unsafe fn survives(object: *mut Object) -> bool {
    // SAFETY: by the caller's promise. The new reference is the one that the mark stands for.
    unsafe {
        let body = &(*object).body;
        if body.tensor.handles() == 1 + usize::from(body.bereft.get()) {
            return false;
        }
        ffi::Py_INCREF(object.cast());
        track_raw(object.cast());
        body.bereft.set(false);
        body.tensor.foreign().set_owned(true);
        true
    }
}

/// Drops the fields of a dead object and frees it. A chain of objects, each the last holder of the
/// next, is worked off by a loop once it is `NESTING` deep.
///
/// # Safety
/// The caller holds the GIL; the object is unreachable, and not tracked.
unsafe fn take_apart(object: *mut Object) {
    // SAFETY: by the caller's promise. Every borrow of the workshop ends before Python code can run.
    unsafe {
        if workshop().nesting >= NESTING {
            workshop().waiting.push(object);
            return;
        }
        workshop().nesting += 1;
        drop_fields(object);
        while workshop().nesting == 1 {
            let Some(next) = workshop().waiting.pop() else { break };
            drop_fields(next);
        }
        workshop().nesting -= 1;
    }
}

/// # Safety
/// As for `take_apart`.
unsafe fn drop_fields(object: *mut Object) {
    // SAFETY: nobody else can reach the object; each field is taken out before it is dropped.
    unsafe {
        clear_slots(object, ffi::Py_TYPE(object.cast()));
        ffi::Py_XDECREF((*object).body.dict.replace(ptr::null_mut()));
        let tensor = ptr::read(&raw const (*object).body.tensor);
        release_memory(object);
        drop(tensor);
    }
}

/// Gives back the memory of an object whose fields are gone.
///
/// # Safety
/// The caller holds the GIL and does not touch the object again.
unsafe fn release_memory(object: *mut Object) {
    // SAFETY: by the caller's promise; every instance holds one reference to its heap type.
    unsafe {
        let class = ffi::Py_TYPE(object.cast());
        if class == tensor_type() {
            recycle(object);
        } else {
            ffi::PyObject_GC_UnTrack(object.cast());
            (*class).tp_free.unwrap_or(ffi::PyObject_GC_Del)(object.cast());
            ffi::Py_DECREF(class.cast());
        }
    }
}

/// Drops what the `__slots__` of derived classes hold.
///
/// # Safety
/// As for `take_apart`; `class` is the object's type.
unsafe fn clear_slots(object: *mut Object, class: *mut ffi::PyTypeObject) {
    // SAFETY: the member table of a class made in Python ends with a null name and describes
    // offsets within its instances; the chain of bases ends at the tensor type.
    unsafe {
        let mut level = class;
        while level != tensor_type() && !level.is_null() {
            let mut member = (*level).tp_members;
            while !member.is_null() && !(*member).name.is_null() {
                if (*member).type_code == ffi::Py_T_OBJECT_EX && (*member).flags & ffi::Py_READONLY == 0 {
                    let field = object.cast::<u8>().offset((*member).offset).cast::<*mut ffi::PyObject>();
                    ffi::Py_XDECREF(ptr::replace(field, ptr::null_mut()));
                }
                member = member.add(1);
            }
            level = (*level).tp_base;
        }
    }
}

/// `tp_traverse`: what the collector may follow from the object.
pub(super) unsafe extern "C" fn traverse(
    object: *mut ffi::PyObject,
    visit: ffi::visitproc,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the collector passes a live object and its own function, and stops the world meanwhile.
    unsafe {
        let body = &(*object.cast::<Object>()).body;
        let stop = visit(ffi::Py_TYPE(object).cast(), context);
        if stop != 0 {
            return stop;
        }
        let dict = body.dict.get();
        if !dict.is_null() {
            let stop = visit(dict, context);
            if stop != 0 {
                return stop;
            }
        }
        for hook in body.tensor.own_hooks() {
            if let Some(function) = PythonHook::function(&*hook) {
                let stop = visit(function.as_ptr(), context);
                if stop != 0 {
                    return stop;
                }
            }
        }
        // A tensor that nobody else has and that owns its object is a circle of two.
        if is_circle(body) { visit(object, context) } else { 0 }
    }
}

/// `tp_clear`: lets go of what `traverse` follows. The tensor stays: the object is usable to the end.
pub(super) unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: the collector passes a live object.
    unsafe {
        let body = &(*object.cast::<Object>()).body;
        ffi::Py_XDECREF(body.dict.replace(ptr::null_mut()));
        body.tensor.clear_own_hooks();
        if is_circle(body) {
            body.tensor.foreign().set_owned(false);
            // Not the last reference: the collector has one.
            ffi::Py_DECREF(object);
        }
    }
    0
}

/// Whether the object is owned by a tensor that only the object has. It lasts only where a handle
/// went on another thread in the very moment in which ownership turned round.
fn is_circle(body: &TensorBase) -> bool {
    body.tensor.handles() == 1 && body.tensor.foreign().is_owned()
}

/// `tp_setattro`: the usual one; an object with attributes is one that the collector must know.
pub(super) unsafe extern "C" fn set_attribute(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: the interpreter passes live objects and holds the GIL.
    unsafe {
        let status = ffi::PyObject_GenericSetAttr(object, name, value);
        if !(*object.cast::<Object>()).body.dict.get().is_null() {
            track_raw(object);
        }
        status
    }
}

/// The getter of `__dict__`.
pub(super) unsafe extern "C" fn get_dict(object: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: as for `set_attribute`.
    unsafe {
        track_raw(object);
        ffi::PyObject_GenericGetDict(object, ptr::null_mut())
    }
}

/// The setter of `__dict__`.
pub(super) unsafe extern "C" fn set_dict(
    object: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
    _: *mut c_void,
) -> c_int {
    // SAFETY: as for `set_attribute`.
    unsafe {
        track_raw(object);
        ffi::PyObject_GenericSetDict(object, value, ptr::null_mut())
    }
}

/// `tp_hash`: the identity, which from now on must last as long as the tensor.
pub(super) unsafe extern "C" fn hash(object: *mut ffi::PyObject) -> ffi::Py_hash_t {
    // SAFETY: as for `set_attribute`.
    unsafe { (*object.cast::<Object>()).body.hashed.set(true) };
    object as ffi::Py_hash_t
}

/// Handles of owned tensors that went on threads without the GIL: for one with it to look at.
static WAITING: Mutex<Vec<Tensor>> = Mutex::new(Vec::new());

/// Whether there are any: asked whenever an object is made, since the interpreter may take its
/// time with pending calls that another thread than the main one has added.
static ARE_WAITING: AtomicBool = AtomicBool::new(false);

/// Asks the engine to tell of handles of owned tensors that go.
pub(super) fn listen() {
    register_watch(handle_goes);
}

/// A handle of a tensor that owns its object is about to go. Never waits for the GIL.
fn handle_goes(tensor: &Tensor) {
    // SAFETY: both may be asked from any thread, at any time.
    let (running, attached) = unsafe { (ffi::Py_IsInitialized() != 0, ffi::PyGILState_Check() != 0) };
    if !running {
        // The interpreter is gone, and its objects with it.
    } else if attached {
        give_back(tensor);
    } else {
        WAITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(tensor.clone());
        ARE_WAITING.store(true, Ordering::Release);
        // SAFETY: may be called from any thread. If its queue is full, the next new object sees to it.
        unsafe { ffi::Py_AddPendingCall(Some(look_at_waiting), ptr::null_mut()) };
    }
}

/// Drops the handles that came without the GIL, now with it: `handle_goes` is asked again.
extern "C" fn look_at_waiting(_: *mut c_void) -> c_int {
    ARE_WAITING.store(false, Ordering::Relaxed);
    drop(std::mem::take(&mut *WAITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner())));
    0
}

/// Ends the ownership if the handle that goes leaves only the object's own. The caller holds the GIL.
fn give_back(tensor: &Tensor) {
    if tensor.handles() != 2 || !tensor.foreign().set_owned(false) {
        return;
    }
    let object = tensor.foreign().get().cast::<ffi::PyObject>();
    // SAFETY: the mark stood for a reference, so that the object is alive until this one goes.
    unsafe {
        if ffi::Py_REFCNT(object) == 1 {
            (*object.cast::<Object>()).body.bereft.set(true);
        }
        ffi::Py_DECREF(object);
    }
}
