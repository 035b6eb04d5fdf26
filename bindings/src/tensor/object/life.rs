//! Birth and death of tensor objects. Which objects stay is in `custody`, what the collector sees in `collect`.

use std::cell::UnsafeCell;
#[cfg(threads_at_once)]
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::Ordering;

use pyo3::ffi;
use rushlight::Tensor;

use super::collect::{is_hosted, track_raw};
use super::custody::{look_at_waiting, survives};
use super::meeting::{introduce, is_plain, part as part_from};
use super::{Object, TensorBase, class::tensor_type};

/// How many dead objects of the exact type are kept for reuse.
const SPARE: usize = if cfg!(threads_at_once) { 0 } else { 64 };

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

const EMPTY: Workshop =
    Workshop { spare: [ptr::null_mut(); SPARE], spare_count: 0, nesting: 0, waiting: Vec::new() };

#[cfg(not(threads_at_once))]
struct Guarded(UnsafeCell<Workshop>);
// SAFETY: reached only through `workshop`, whose callers hold the GIL.
#[cfg(not(threads_at_once))]
unsafe impl Sync for Guarded {}

#[cfg(not(threads_at_once))]
static WORKSHOP: Guarded = Guarded(UnsafeCell::new(EMPTY));

// Never dropped, so that it can be reached by a thread that ends.
#[cfg(threads_at_once)]
thread_local!(static WORKSHOP: ManuallyDrop<UnsafeCell<Workshop>> =
    const { ManuallyDrop::new(UnsafeCell::new(EMPTY)) });

/// The shared state, for one statement: nothing that can run Python code may happen before the borrow
/// ends. Where threads run at once each has its own.
///
/// # Safety
/// The caller holds the GIL and has no other borrow.
#[inline]
unsafe fn workshop() -> &'static mut Workshop {
    // SAFETY: by the caller's promise this is the only reference. It does not leave the thread.
    unsafe {
        #[cfg(not(threads_at_once))]
        return &mut *WORKSHOP.0.get();
        #[cfg(threads_at_once)]
        WORKSHOP.with(|workshop| &mut *workshop.get())
    }
}

/// The object of a tensor that had none, of `class`, which is the tensor type or below it: a new
/// reference, or null with an exception set. The caller holds the GIL.
#[inline]
pub(super) fn create(class: *mut ffi::PyTypeObject, tensor: Tensor) -> *mut ffi::PyObject {
    look_at_waiting();
    // SAFETY: the GIL is held, and both ways give memory of the class's size with a set-up header.
    unsafe {
        let object = if class == tensor_type() { allocate(class) } else { allocate_derived(class) };
        if object.is_null() {
            return ptr::null_mut();
        }
        let hosted = is_hosted(&tensor);
        let handle = if cfg!(threads_at_once) { Some(tensor.clone()) } else { None };
        ptr::write(&raw mut (*object).body, TensorBase::new(tensor));
        let tensor = handle.as_ref().unwrap_or(&(*object).body.tensor);
        let first = introduce(object, tensor);
        if !first.is_null() {
            return prefer(first, object);
        }
        if cfg!(threads_at_once) && ffi::PyObject_GC_IsTracked(object.cast()) == 0 {
            ffi::PyObject_GC_Track(object.cast());
        } else if hosted {
            track_raw(object.cast());
        }
        object.cast()
    }
}

/// Allocating can run the collector, and with it Python code that asked for this very tensor's
/// object before us, as another thread may have: then that one counts.
///
/// # Safety
/// The caller holds the GIL; `fresh` has a body, and nobody else knows of it.
#[cold]
unsafe fn prefer(first: *mut ffi::PyObject, fresh: *mut Object) -> *mut ffi::PyObject {
    // SAFETY: by the caller's promise.
    unsafe {
        let tensor = ptr::read(&raw const (*fresh).body.tensor);
        release_memory(fresh);
        drop(tensor);
    }
    first
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

/// `tp_dealloc` of the tensor type and of every class below it.
pub(super) unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with the GIL held, for an object whose count fell to zero.
    unsafe {
        let object = object.cast::<Object>();
        if let Some(leaves) = (*object).body.tensor.circle_through_gradients() {
            return leave_circle(object, leaves);
        }
        if is_plain(object) {
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

/// Death of an object whose tensor only gradients of `leaves` keep: these go first. That may run
/// code of the program, for which the object has to be a living one; then it dies again.
///
/// # Safety
/// As for `dealloc`.
#[cold]
unsafe fn leave_circle(object: *mut Object, leaves: Vec<Tensor>) {
    // SAFETY: by the caller's promise; the count is zero, and goes back to that unless somebody was given
    // the object meanwhile.
    unsafe {
        ffi::Py_INCREF(object.cast());
        leaves.iter().for_each(|leaf| leaf.replace_grad(None));
        drop(leaves);
        ffi::Py_DECREF(object.cast());
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
        if let Some(place) = shop.spare.get_mut(shop.spare_count) {
            *place = object;
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
                (*object).body.bereft.store(false, Ordering::Relaxed);
                return;
            }
            // The finaliser may have given the tensor to somebody.
            if survives(object) {
                return;
            }
        }
        ffi::PyObject_GC_UnTrack(object.cast());
        disconnect(object);
        if !(*object).body.weak_references.load(Ordering::Relaxed).is_null() {
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
    unsafe { part_from(&(*object).body.tensor, object) }
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
        ffi::Py_XDECREF((*object).body.dict.swap(ptr::null_mut(), Ordering::Relaxed));
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
