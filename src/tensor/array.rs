//! Numbers in memory without any history: storage, layout and element type. What kernels work on.
//!
//! Note [Memory of tensors]
//! ----
//! Several arrays may show the same bytes, and in-place operations write to bytes that others show:
//! that is what a view is for. Rust's rules are kept by two ways to write. What nobody else has a handle to is written
//! through `fresh` and `owned`, which take the array as a mutable one and look that its storage is unique: no other
//! slice of it can exist. What others may show is written through `overwrite`, `overwrite_slice` and `overwrite_part`:
//! they hand the elements to a function for as long as that runs, and are told of all arrays that it reads meanwhile,
//! none of which may show the same bytes (operands that do are copied first). No method gives a mutable slice away
//! from a shared array. Slices to read are made where a kernel is called, so within a thread a read and a write never
//! overlap in time. Two threads that write one tensor at once race, as they do in numpy and torch: the numbers are
//! then unspecified, and the program must not do it.

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use ndarray::{ArrayView, ArrayViewD, ArrayViewMutD, Dimension, IxDyn, ShapeBuilder};
use smallvec::SmallVec;

use super::{Tensor, resolve};
use crate::dtype::{Complex, DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::kernels::geometry::strided::Strided;
use crate::kernels::interrupt;
use crate::shape::{self, Layout, SharedLayout};
use crate::storage::{self, Storage};

/// Elements in memory.
#[derive(Clone)]
pub struct Array {
    /// The bytes.
    pub storage: Storage,
    /// Where the elements lie in them.
    pub layout: SharedLayout,
    /// What they are.
    pub dtype: DType,
}

impl Array {
    /// Uninitialised elements in row-major order, with the layout shared if it is that already.
    pub fn uninit(layout: &SharedLayout, dtype: DType) -> Result<Array> {
        let storage = Storage::uninit(bytes(layout, dtype)?)?;
        Ok(Array { storage, layout: plain(layout), dtype })
    }

    /// Whether both show the same memory in the same way.
    pub fn is(&self, other: &Array) -> bool {
        self.storage.is(&other.storage) && self.dtype == other.dtype && self.layout == other.layout
    }

    /// Zeros in row-major order.
    pub fn zeroed(layout: &SharedLayout, dtype: DType) -> Result<Array> {
        let storage = Storage::zeroed(bytes(layout, dtype)?)?;
        Ok(Array { storage, layout: plain(layout), dtype })
    }

    /// Uninitialised elements of a shape.
    pub fn uninit_shape(shape: &[usize], dtype: DType) -> Result<Array> {
        Array::uninit(&SharedLayout::contiguous(shape)?, dtype)
    }

    /// Elements copied from a slice.
    pub fn from_slice<T: Element>(shape: &[usize], elements: &[T]) -> Result<Array> {
        let mut array = Array::uninit_shape(shape, T::DTYPE)?;
        for (place, &element) in array.fresh::<T>().iter_mut().zip(elements) {
            place.write(element);
        }
        Ok(array)
    }

    /// One element without dimensions.
    pub fn from_scalar(value: Scalar, dtype: DType) -> Result<Array> {
        dispatch!(stored dtype, T => Array::from_slice::<T>(&[], &[value.to()]))
    }

    /// Memory, which may be the host's, read as elements of a type: an error if they do not lie in it, or where none
    /// of that type can be read. Memory of the engine's own is aligned for every type.
    pub fn on(storage: Storage, layout: SharedLayout, dtype: DType) -> Result<Array> {
        let array = Array { storage, layout, dtype };
        if array.layout.numel() == 0 {
            return Ok(array);
        }
        let needed = bytes_within(&array.layout, dtype)?;
        if needed > array.storage.room() {
            return Err(Error::MemoryTooSmall { needed, bytes: array.storage.room() }.into());
        }
        match array.storage.data().addr().get().is_multiple_of(alignment(dtype)) {
            true => Ok(array),
            false => Err(Error::MemoryMisaligned { dtype }.into()),
        }
    }

    /// The same bytes in another layout. The caller has derived it from this array's layout, so
    /// that it stays inside of the storage, whatever its size has become: see Note [Memory that changes its size].
    pub fn with_layout(&self, layout: Layout) -> Array {
        let fits = layout.end() * self.dtype.size() <= self.storage.room() || layout.numel() == 0;
        assert!(fits, "a layout stays inside of its storage");
        Array { storage: self.storage.clone(), layout: SharedLayout::new(layout), dtype: self.dtype }
    }

    /// The elements, which lie in row-major order, in another shape.
    pub(crate) fn in_shape(&self, shape: &[usize]) -> Result<Array> {
        assert!(self.layout.is_contiguous(), "elements in order are put in another shape");
        let strides = shape::contiguous_strides(shape);
        Ok(self.with_layout(Layout::strided(shape.into(), strides, self.layout.offset())?))
    }

    /// The elements as another type, which is no stored type, in row-major order.
    pub fn converted(&self, dtype: DType) -> Result<Array> {
        let elements = Tensor::from_array(self.clone()).to_vec::<Complex<f64>>()?;
        dispatch!(all dtype, T => {
            let converted: Vec<T> =
                storage::collected(elements.len(), elements.into_iter().map(Element::convert))?;
            Array::from_slice(self.layout.shape(), &converted)
        })
    }

    /// The elements as a slice, if they lie in row-major order.
    #[inline]
    pub fn slice<T: Element>(&self) -> Option<&[T]> {
        if !self.layout.is_contiguous() {
            return None;
        }
        // SAFETY: `start` points at `numel` elements of this type, or of one of the same size (layouts
        // stay inside of their storage); every bit pattern is a value of every element type; Note
        // [Memory of tensors] for aliasing.
        Some(unsafe { std::slice::from_raw_parts(self.start::<T>(), self.layout.numel()) })
    }

    /// The elements with nothing left to be done: in memory of their own, if something was.
    pub fn resolved(&self) -> Array {
        if !self.dtype.is_pending() {
            return self.clone();
        }
        match resolve::resolve(self) {
            Ok(array) => array,
            // Windows that overlap may show far more than is in memory.
            Err(_) => interrupt::exhausted(self.layout.numel().saturating_mul(self.dtype.size())),
        }
    }

    /// The elements in the type that is calculated in, the dimensions in the same order in memory: see Note
    /// [Stored types].
    pub fn widened(&self) -> Result<Array> {
        if self.dtype.is_stored() { resolve::widen(self) } else { Ok(self.clone()) }
    }

    /// The elements as an ndarray view.
    pub fn view<T: Element>(&self) -> ArrayViewD<'_, T> {
        let shape = IxDyn(self.layout.shape()).strides(IxDyn(self.layout.strides()));
        // SAFETY: as in `slice`.
        unsafe { ArrayViewD::from_shape_ptr(shape, self.start::<T>()) }
    }

    /// The elements along their strides, for work that writes nothing but fresh memory meanwhile: what lies between them
    /// may be shown by others.
    pub(crate) fn strided<T: Element>(&self) -> Strided<'_, T> {
        let reach = match self.layout.numel() {
            0 => 0,
            _ => self.layout.end() - self.layout.offset(),
        };
        // SAFETY: as in `slice`; what lies between elements lies in the storage too, which nobody writes meanwhile.
        let memory = unsafe { std::slice::from_raw_parts(self.start::<T>(), reach) };
        Strided::new(memory, self.layout.shape(), self.layout.strides())
    }

    /// `view` as one of fixed rank, if the array has so many dimensions.
    #[inline]
    pub(crate) fn view_of_rank<T: Element, D: Dimension>(&self) -> Option<ArrayView<'_, T, D>> {
        let rank = D::NDIM.filter(|&rank| rank == self.layout.ndim())?;
        let [mut shape, mut strides] = [D::zeros(rank), D::zeros(rank)];
        shape.slice_mut().copy_from_slice(self.layout.shape());
        strides.slice_mut().copy_from_slice(self.layout.strides());
        // SAFETY: as in `slice`.
        Some(unsafe { ArrayView::from_shape_ptr(shape.strides(strides), self.start::<T>()) })
    }

    /// Rows of so many elements that lie side by side, each so far behind the one before, if it shows nothing else.
    pub(crate) fn rows<T: Element>(&self, length: usize, apart: usize) -> Option<Rows<'_, T>> {
        (self.layout.rows() == Some([length, apart])).then(|| {
            let count = self.layout.numel() / length;
            Rows { start: self.start::<T>(), length, apart, count, array: PhantomData }
        })
    }

    /// The elements of a fresh array, to be written. It must be the only handle to its storage.
    #[inline]
    pub fn fresh<T: Element>(&mut self) -> &mut [MaybeUninit<T>] {
        assert!(self.storage.is_unique() && self.layout.is_plain(), "only a fresh array is written whole");
        // SAFETY: the storage holds `numel` elements and nobody else has a handle to it.
        unsafe { std::slice::from_raw_parts_mut(self.start::<T>().cast(), self.layout.numel()) }
    }

    /// So many elements, from this one on as they lie in memory, of those that lie there without gaps: nobody looks at the
    /// others.
    pub(crate) fn part<T: Element>(&self, first: usize, count: usize) -> Option<&[T]> {
        let is_part = first.checked_add(count).is_some_and(|end| end <= self.layout.numel());
        if !is_part || !self.layout.is_contiguous() && !self.layout.is_dense() {
            return None;
        }
        // SAFETY: as in `slice`, of which this is a part.
        Some(unsafe { std::slice::from_raw_parts(self.start::<T>().add(first), count) })
    }

    /// Has so many elements written, from this one on as they lie in memory: each of them, and none read. The function
    /// reads these arrays, and others that show none of the elements.
    pub(crate) fn overwrite_part<'a, T: Element>(
        &self,
        part: Range<usize>,
        reads: impl IntoIterator<Item = &'a Array>,
        write: impl FnOnce(&mut [MaybeUninit<T>]),
    ) {
        self.check_unread(reads);
        let end = (self.layout.offset() + part.end) * size_of::<T>();
        assert!(end <= self.storage.room(), "what is written lies inside of the storage");
        // SAFETY: `start` points at elements of this type, as in `slice`, and so many of them lie in the storage, as was
        // just looked at; Note [Memory of tensors] for aliasing.
        write(unsafe {
            std::slice::from_raw_parts_mut(self.start::<T>().add(part.start).cast(), part.len())
        });
    }

    /// Has a part of elements that lie in order written, each of them, by what reads those in front of it and those behind.
    #[inline]
    pub(crate) fn overwrite_between<T: Element, R>(
        &self,
        part: Range<usize>,
        write: impl FnOnce(&[T], &mut [MaybeUninit<T>], &[T]) -> R,
    ) -> R {
        let all = self.layout.numel();
        assert!(
            self.layout.is_contiguous() && part.start <= part.end && part.end <= all,
            "a part of what is there"
        );
        let start = self.start::<T>();
        // SAFETY: `start` points at so many elements, as in `slice`, and the three slices have none in common; Note
        // [Memory of tensors] for aliasing.
        unsafe {
            write(
                std::slice::from_raw_parts(start, part.start),
                std::slice::from_raw_parts_mut(start.add(part.start).cast(), part.len()),
                std::slice::from_raw_parts(start.add(part.end), all - part.end),
            )
        }
    }

    /// The first element, if there is one and nothing is left to be done to it.
    pub(crate) fn first_element<T: Element>(&self) -> Option<T> {
        let is_there = self.layout.numel() > 0 && !self.dtype.is_pending();
        // SAFETY: there is an element at `start`, as in `slice`.
        is_there.then(|| unsafe { *self.start::<T>() })
    }

    /// Calls `visit` with the elements in row-major order.
    pub(crate) fn each_number(&self, visit: &mut dyn FnMut(Scalar)) {
        dispatch!(stored self.dtype, T => self.view::<T>().iter().for_each(|x| visit(x.to_scalar())));
    }

    /// The element, if the layout shows nothing but one element again and again.
    pub fn repeated_element(&self) -> Option<Scalar> {
        let repeats = !self.dtype.is_pending()
            && self.layout.numel() > 1
            && self.layout.strides().iter().all(|&stride| stride == 0);
        // SAFETY: there is an element at `start`, as in `slice`.
        repeats.then(|| dispatch!(stored self.dtype, T => unsafe { *self.start::<T>() }.to_scalar()))
    }

    /// Has the elements overwritten in place by what reads these arrays, and others that show none of the elements. The
    /// layout must not show an element twice.
    pub(crate) fn overwrite<'a, T: Element, R>(
        &self,
        reads: impl IntoIterator<Item = &'a Array>,
        write: impl FnOnce(ArrayViewMutD<'_, T>) -> R,
    ) -> R {
        self.check_unread(reads);
        assert!(self.layout.is_non_overlapping(), "an element that is shown twice is not written");
        let strides = match self.layout.numel() {
            // Expanded, without elements: ndarray does not see that nothing is shown twice.
            0 => shape::contiguous_strides(self.layout.shape()),
            _ => self.layout.strides().into(),
        };
        let shape = IxDyn(self.layout.shape()).strides(IxDyn(&strides));
        // SAFETY: as in `slice`; Note [Memory of tensors] for aliasing.
        write(unsafe { ArrayViewMutD::from_shape_ptr(shape, self.start::<T>()) })
    }

    /// `overwrite` of elements that lie in row-major order and that none of the others shows, as a slice. Answers
    /// whether it is so.
    #[inline]
    pub(crate) fn overwrite_slice<'a, T: Element>(
        &self,
        reads: impl IntoIterator<Item = &'a Array>,
        write: impl FnOnce(&mut [T]),
    ) -> bool {
        if !self.layout.is_contiguous() || reads.into_iter().any(|read| self.overlaps(read)) {
            return false;
        }
        // SAFETY: as in `slice`; Note [Memory of tensors] for aliasing.
        write(unsafe { std::slice::from_raw_parts_mut(self.start::<T>(), self.layout.numel()) });
        true
    }

    /// `overwrite_slice` of all elements in whatever order, if they lie without gaps or in rows.
    pub(crate) fn overwrite_stretches<T: Element>(&self, write: &dyn Fn(&mut [T])) -> bool {
        /// Elements of a row that is worth a call.
        const LEAST: usize = 16;
        if self.layout.is_dense() {
            return self.with_layout(self.layout.line()).overwrite_slice([], write);
        }
        let Some([length, apart]) = self.layout.rows().filter(|rows| rows[0] >= LEAST) else { return false };
        (0..self.layout.numel() / length).all(|row| {
            let row = self.with_layout(self.layout.stretch(row * apart, length));
            row.overwrite_slice([], write)
        })
    }

    /// `overwrite_slice` of several arrays at once, which show no element of each other.
    pub(crate) fn overwrite_slices<T: Element>(
        written: &[&Array],
        reads: &[&Array],
        write: impl FnOnce(&mut [&mut [T]]),
    ) -> bool {
        if !written.iter().all(|array| array.layout.is_contiguous()) {
            return false;
        }
        let pairs = written.iter().enumerate();
        pairs.for_each(|(index, array)| {
            array.check_unread(written[index + 1..].iter().copied().chain(reads.iter().copied()));
        });
        let slices = written.iter().map(|array| {
            // SAFETY: as in `slice`; no two of them overlap, as was just looked at; Note [Memory of tensors].
            unsafe { std::slice::from_raw_parts_mut(array.start::<T>(), array.layout.numel()) }
        });
        write(&mut slices.collect::<SmallVec<[&mut [T]; 4]>>());
        true
    }

    /// `owned` as an ndarray view.
    pub(crate) fn owned_view<T: Element>(&mut self) -> ArrayViewMutD<'_, T> {
        let shape = IxDyn(self.layout.shape());
        let view = ArrayViewMutD::from_shape(shape, self.owned());
        view.unwrap_or_else(|_| unreachable!("there are as many elements as the shape says"))
    }

    /// The elements of an array that nobody else has a handle to, in row-major order, to be changed.
    #[inline]
    pub(crate) fn owned<T: Element>(&mut self) -> &mut [T] {
        assert!(
            self.storage.is_unique() && self.layout.is_contiguous(),
            "only an array of one's own is changed"
        );
        // SAFETY: as in `slice`; nobody else has a handle to the storage, and this one is borrowed meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.start::<T>(), self.layout.numel()) }
    }

    /// Copies bytes into an array of bytes, from this one on; answers whether there are so many.
    pub fn write_bytes(&self, first: usize, bytes: &[u8]) -> bool {
        let end = first.checked_add(bytes.len());
        let mut fits = false;
        self.overwrite_slice::<u8>([], |all| {
            let place = end.and_then(|end| all.get_mut(first..end));
            fits = place.map(|place| place.copy_from_slice(bytes)).is_some();
        });
        fits
    }

    /// The first element.
    #[inline]
    pub fn start<T: Element>(&self) -> *mut T {
        let fits = T::DTYPE == self.dtype.resolved() || T::DTYPE == self.dtype.bits();
        assert!(fits, "an array is read as what it is, or as what is moved like it");
        debug_assert!(self.layout.numel() == 0 || self.address().cast::<T>().is_aligned());
        self.address().cast()
    }

    /// Where the first element lies.
    #[inline]
    pub fn address(&self) -> *mut u8 {
        // The offset lies inside of the storage, or the array is empty and nothing is read there.
        let bytes = self.layout.offset().wrapping_mul(self.dtype.size());
        self.storage.data().as_ptr().wrapping_add(bytes)
    }
}

/// Rows of an array.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a, T> {
    start: *const T,
    /// How many elements each has.
    pub(crate) length: usize,
    apart: usize,
    count: usize,
    array: PhantomData<&'a [T]>,
}

impl<'a, T: Element> Rows<'a, T> {
    /// The elements of a row.
    #[inline]
    pub(crate) fn row(&self, index: usize) -> &'a [T] {
        assert!(index < self.count, "there is such a row");
        // SAFETY: as in `slice`, for a row that the layout has.
        unsafe { std::slice::from_raw_parts(self.start.add(index * self.apart), self.length) }
    }
}

fn plain(layout: &SharedLayout) -> SharedLayout {
    if layout.is_plain() { layout.clone() } else { SharedLayout::new(layout.fresh()) }
}

/// By what the addresses of elements can be divided: also where they are moved as others of their size.
fn alignment(dtype: DType) -> usize {
    let own = dispatch!(stored dtype.resolved(), T => align_of::<T>());
    own.max(dispatch!(bits dtype, T => align_of::<T>()))
}

/// How many bytes lie before the end of the last element.
fn bytes_within(layout: &Layout, dtype: DType) -> Result<usize> {
    let within = layout.end().checked_mul(dtype.size());
    within.ok_or_else(|| Error::TooManyElements { shape: shape::signed(layout.shape()) }.into())
}

/// How many bytes fresh elements take.
fn bytes(layout: &Layout, dtype: DType) -> Result<usize> {
    match layout.numel().checked_mul(dtype.size()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(bytes),
        _ => Err(Error::TooManyElements { shape: shape::signed(layout.shape()) }.into()),
    }
}

#[cfg(test)]
mod tests;
mod windows;
