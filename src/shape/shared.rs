//! Handles to layouts. Every tensor and every node has one. Most programs use few shapes again and again: the layouts of
//! these are never freed, so that their handles need no reference count, which saves two updates for each tensor.

#![allow(unsafe_code)]

use std::fmt;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};

use super::Layout;
use crate::error::Result;
use crate::sharing::Count;
use crate::threads::atomic::{AtomicPtr, Ordering};

/// How many layouts are never freed, at most.
const PLACES: usize = 512;
/// The count of a layout that is never freed.
const FOREVER: u32 = u32::MAX;

/// A handle to a layout that is shared.
pub struct SharedLayout(NonNull<Counted>);

struct Counted {
    handles: Count,
    layout: Layout,
}

/// The layouts that are never freed, by a hash of the shape. The first layout with a hash keeps the place.
static COMMON: [AtomicPtr<Counted>; PLACES] = [const { AtomicPtr::new(null_mut()) }; PLACES];

// SAFETY: a layout does not change, and the handles are counted as Note [One at a time] says.
unsafe impl Send for SharedLayout {}
// SAFETY: as above.
unsafe impl Sync for SharedLayout {}

/// The hash of a layout that may be kept for ever: a contiguous one, or one element expanded. Collisions cost speed
/// only.
fn place(layout: &Layout) -> Option<&'static AtomicPtr<Counted>> {
    let kind = match (layout.is_plain(), layout.is_repeated()) {
        (true, _) => 0,
        (false, true) => PLACES / 2,
        (false, false) => return None,
    };
    Some(&COMMON[(spread(layout.shape()) + kind) % PLACES])
}

fn spread(shape: &[usize]) -> usize {
    let mix = |hash: usize, &size: &usize| (hash ^ size).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    shape.iter().fold(shape.len(), mix) >> 32
}

impl SharedLayout {
    /// A handle to this layout.
    pub fn new(layout: Layout) -> SharedLayout {
        if let Some(place) = place(&layout) {
            // SAFETY: what a place points to is never freed.
            match unsafe { place.load(Ordering::Acquire).as_ref() } {
                Some(common) if common.layout == layout => return SharedLayout(common.into()),
                Some(_) => {}
                None => return SharedLayout::common(place, layout),
            }
        }
        SharedLayout::counted(layout, 1)
    }

    /// A handle to the contiguous layout of a shape, from the start of the storage; usually it exists already.
    pub fn contiguous(shape: &[usize]) -> Result<SharedLayout> {
        // SAFETY: what a place points to is never freed.
        match unsafe { COMMON[spread(shape) % PLACES].load(Ordering::Acquire).as_ref() } {
            Some(common) if common.layout.shape() == shape && common.layout.is_plain() => {
                Ok(SharedLayout(common.into()))
            }
            _ => Layout::contiguous(shape).map(SharedLayout::new),
        }
    }

    fn counted(layout: Layout, handles: u32) -> SharedLayout {
        let counted = Box::new(Counted { handles: Count::new(handles), layout });
        SharedLayout(NonNull::from(Box::leak(counted)))
    }

    /// Keeps a layout for ever, unless another thread has taken the place.
    #[cold]
    fn common(place: &AtomicPtr<Counted>, layout: Layout) -> SharedLayout {
        let new = SharedLayout::counted(layout, FOREVER);
        let published =
            place.compare_exchange(null_mut(), new.0.as_ptr(), Ordering::Release, Ordering::Relaxed);
        if published.is_err() {
            // It is this handle's alone, and counts from now on.
            new.target().handles.set(1);
        }
        new
    }

    fn target(&self) -> &Counted {
        // SAFETY: the target is never freed, or not while this handle is counted.
        unsafe { self.0.as_ref() }
    }

    /// Whether both have the same shape: at once, if they are handles to one layout.
    #[inline]
    pub fn is_alike(&self, other: &SharedLayout) -> bool {
        self.is(other) || self.shape() == other.shape()
    }

    /// Whether both are handles to one layout. Equal layouts need not be one.
    #[inline]
    pub fn is(&self, other: &SharedLayout) -> bool {
        self.0 == other.0
    }
}

impl Clone for SharedLayout {
    #[inline]
    fn clone(&self) -> SharedLayout {
        let handles = &self.target().handles;
        if handles.get() != FOREVER {
            handles.add();
        }
        SharedLayout(self.0)
    }
}

impl Drop for SharedLayout {
    #[inline]
    fn drop(&mut self) {
        let handles = &self.target().handles;
        if handles.get() != FOREVER && handles.is_last_gone() {
            // SAFETY: this was the last handle, and the box is the one that `counted` leaked.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl Deref for SharedLayout {
    type Target = Layout;

    #[inline]
    fn deref(&self) -> &Layout {
        &self.target().layout
    }
}

impl From<Layout> for SharedLayout {
    fn from(layout: Layout) -> SharedLayout {
        SharedLayout::new(layout)
    }
}

impl PartialEq for SharedLayout {
    fn eq(&self, other: &SharedLayout) -> bool {
        self.is(other) || **self == **other
    }
}

impl fmt::Debug for SharedLayout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize) -> SharedLayout {
        SharedLayout::new(Layout::contiguous(&[size, 7]).unwrap())
    }

    #[test]
    fn plain_layouts_of_common_shapes_are_one() {
        let common: Vec<_> = (0..PLACES).filter(|&size| layout(size).is(&layout(size))).collect();
        assert!(common.len() > PLACES / 4);
        for &size in &common {
            assert!(SharedLayout::contiguous(&[size, 7]).unwrap().is(&layout(size)));
            assert!(layout(size).clone().is(&layout(size)));
            let offset = SharedLayout::new(
                Layout::strided([size, 7].as_slice().into(), [7, 1].as_slice().into(), 2).unwrap(),
            );
            assert!(!offset.is(&layout(size)) && offset != layout(size));
        }
    }

    #[test]
    fn one_element_repeated_has_a_place_beside_that_of_the_plain_layout() {
        for size in 2..40 {
            let strided = |strides: [usize; 2], offset| {
                Layout::strided([size, 5].as_slice().into(), strides.as_slice().into(), offset).unwrap()
            };
            let (plain, repeated) = (Layout::contiguous(&[size, 5]).unwrap(), strided([0, 0], 0));
            let (first, second) = (place(&plain).unwrap(), place(&repeated).unwrap());
            assert!(!std::ptr::eq(first, second));
            assert!(place(&strided([0, 0], 1)).is_none() && place(&strided([1, 0], 0)).is_none());
            assert_eq!(SharedLayout::new(repeated).strides(), [0, 0]);
            assert_eq!(SharedLayout::new(plain).strides(), [5, 1]);
        }
    }

    #[test]
    fn layouts_beyond_the_common_ones_come_and_go() {
        let handles: Vec<_> = (0..4 * PLACES).map(layout).collect();
        let again = handles.clone();
        drop(handles);
        let counted = again.iter().filter(|it| it.target().handles.get() == 1).count();
        assert!(counted >= 3 * PLACES);
        assert!(again.iter().zip(0..).all(|(layout, size)| layout.shape() == [size, 7]));
        for (layout, size) in again.iter().zip(0..) {
            assert_eq!(SharedLayout::contiguous(&[size, 7]).unwrap(), *layout);
        }
        assert!(SharedLayout::contiguous(&[usize::MAX, 2]).is_err());
    }

    #[test]
    fn threads_that_come_at_once_get_the_same_sizes() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for size in 0..2000 {
                        assert_eq!(layout(size).clone().shape(), [size, 7]);
                    }
                });
            }
        });
    }
}
