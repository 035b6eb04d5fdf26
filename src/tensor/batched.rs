//! Batched tensors (`BatchedTensor`): all samples of a function that `vmap` maps, looking like one of them.
//!
//! Note [Batched tensors]
//! ----
//! Mapping a function over samples opens a level. Within it a tensor stands for each of its samples:
//! it is a tensor of its own whose layout is that of a sample, around a `value` in which the samples
//! lie along one dimension. What it knows of gradients and tangents concerns transforms that were
//! entered above its level; those of the value concern the ones below. Operations find the highest
//! level among their operands, compute with the values, and wrap what comes out (`dispatch::batch`).
//!
//! The array of a batched tensor shows its first sample. Whoever asks for shape, type or version
//! reads what holds for every sample; numbers are read from values only.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use once_cell::race::OnceBox;

use super::history::Cold;
use super::view::{Creation, Refresh};
use super::{Array, Tensor};
use crate::error::Result;
use crate::graph::mode::{self, MappingGuard, SpecialGuard};
use crate::graph::transform_level;
use crate::shape::{Dims, Layout, SharedLayout};

/// What random operations do while a function is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Randomness {
    /// They are refused.
    Error,
    /// Every sample gets numbers of its own.
    Different,
    /// All samples get the same numbers.
    Same,
    /// They are refused, in a mapping that no function asked for: backward maps its rules over gradients.
    Unasked,
}

/// One mapping of a function over samples.
pub struct Mapping {
    id: u64,
    /// How many mappings there are around it, itself included.
    depth: usize,
    /// The depth of the innermost level that counted when it was opened.
    around: usize,
    /// Its number among the transforms and mappings of its thread.
    level: usize,
    size: usize,
    randomness: Randomness,
    open: AtomicBool,
    /// A thread that has seen one of its tensors is special as long as this exists: Note [Special threads].
    _there: MappingGuard,
}

/// A mapping that its thread is inside of.
struct Open {
    mapping: Arc<Mapping>,
    _special: SpecialGuard,
}

/// A mapping ends when its thread forgets it, be it that the thread ends.
impl Drop for Open {
    fn drop(&mut self) {
        self.mapping.open.store(false, Ordering::Relaxed);
        if Arc::strong_count(&self.mapping) > 1 {
            // Tensors of it are left behind.
            mode::note_batched();
        }
    }
}

thread_local! {
    static MAPPINGS: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
    /// The depth of the innermost level that counts at the moment, 0 for none.
    static INNERMOST: Cell<usize> = const { Cell::new(0) };
}

impl Mapping {
    /// Opens a level for `size` samples on this thread.
    pub fn open(size: usize, randomness: Randomness) -> Arc<Mapping> {
        MAPPINGS.with_borrow_mut(|levels| {
            let level = Arc::new(Mapping {
                id: mode::new_level(),
                depth: levels.len() + 1,
                around: INNERMOST.get(),
                level: levels.len() + 1 + transform_level::depth(),
                size,
                randomness,
                open: AtomicBool::new(true),
                _there: MappingGuard::new(),
            });
            levels.push(Open { mapping: level.clone(), _special: SpecialGuard::new() });
            INNERMOST.set(level.depth);
            level
        })
    }

    /// Runs `f` with one that no function is mapped in: the samples of a moment.
    pub(crate) fn for_now<T>(size: usize, f: impl FnOnce(&Arc<Mapping>) -> T) -> T {
        let _special = SpecialGuard::new();
        let mapping = Arc::new(Mapping {
            id: mode::new_level(),
            depth: 0,
            around: 0,
            level: 0,
            size,
            randomness: Randomness::Error,
            open: AtomicBool::new(true),
            _there: MappingGuard::new(),
        });
        f(&mapping)
    }

    /// Closes the innermost level of this thread, if there is one.
    pub fn close() {
        if let Some(open) = MAPPINGS.with_borrow_mut(Vec::pop) {
            INNERMOST.set(open.mapping.around);
        }
    }

    /// The innermost level of this thread.
    #[inline]
    pub fn innermost() -> Option<Arc<Mapping>> {
        // Where there is a mapping there is something unusual.
        if mode::special() { Mapping::at(INNERMOST.get()) } else { None }
    }

    /// The level of this thread that has that many around it, itself included.
    pub fn at(depth: usize) -> Option<Arc<Mapping>> {
        MAPPINGS.with_borrow(|levels| {
            depth.checked_sub(1).and_then(|index| levels.get(index)).map(|open| open.mapping.clone())
        })
    }

    /// The level of this thread of that number among transforms and mappings.
    pub fn numbered(level: usize) -> Option<Arc<Mapping>> {
        MAPPINGS.with_borrow(|levels| {
            levels.iter().map(|open| &open.mapping).find(|mapping| mapping.level == level).cloned()
        })
    }

    /// The levels of this thread, the innermost last.
    pub fn all() -> Vec<Arc<Mapping>> {
        MAPPINGS.with_borrow(|levels| levels.iter().map(|open| open.mapping.clone()).collect())
    }

    /// Runs `f` as if the innermost level had not been opened.
    pub fn below<T>(f: impl FnOnce() -> T) -> T {
        let around = Mapping::innermost().map_or(0, |mapping| mapping.around);
        Mapping::within(around, f)
    }

    /// Runs `f` as if this level and those within had not been opened.
    pub fn below_this<T>(&self, f: impl FnOnce() -> T) -> T {
        Mapping::within(self.around.min(INNERMOST.get()), f)
    }

    fn within<T>(innermost: usize, f: impl FnOnce() -> T) -> T {
        struct Restored(usize);
        impl Drop for Restored {
            fn drop(&mut self) {
                INNERMOST.set(self.0);
            }
        }
        let _restored = Restored(INNERMOST.replace(innermost));
        f()
    }

    /// The number of its level, which later ones exceed.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Whether the function is still being mapped.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// How many mappings there are around it, itself included.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Its number among the transforms and mappings of its thread, by which people know it.
    pub fn level(&self) -> usize {
        self.level
    }

    /// How many transforms of derivatives there are around it.
    pub fn transforms(&self) -> usize {
        self.level - self.depth
    }

    /// How many mappings this thread is inside of.
    pub fn count() -> usize {
        MAPPINGS.with_borrow(Vec::len)
    }

    /// How many samples there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What random operations do.
    pub fn randomness(&self) -> Randomness {
        self.randomness
    }

    /// Whether a function of the program is mapped, rather than rules of backward. Refusals of others have
    /// words of their own: torch has another mapping for them.
    pub fn is_asked_for(&self) -> bool {
        self.randomness != Randomness::Unasked
    }

    /// Whether a function of the program is being mapped on this thread.
    pub fn is_any_asked_for() -> bool {
        let around = |mapping: &Arc<Mapping>| Mapping::at(mapping.around);
        std::iter::successors(Mapping::innermost(), around).any(|mapping| mapping.is_asked_for())
    }

    /// Whether both are one level.
    pub fn is(&self, other: &Mapping) -> bool {
        self.id == other.id
    }

    /// Whether this level was opened within the other.
    pub fn is_within(&self, other: &Mapping) -> bool {
        self.id > other.id
    }
}

/// Stands for a batch dimension where there is none: all samples are the same.
const SHARED: usize = usize::MAX;

/// What a batched tensor has beside other tensors.
pub(super) struct Wrapper {
    mapping: Arc<Mapping>,
    value: Tensor,
    /// Where in the value the samples lie. In-place changes of geometry move it.
    dim: AtomicUsize,
}

/// What a batched tensor is around.
#[derive(Clone)]
pub struct Batch {
    /// The mapping that it belongs to.
    pub mapping: Arc<Mapping>,
    /// The samples together.
    pub value: Tensor,
    /// Along which dimension of the value they lie; none if all are the same.
    pub dim: Option<usize>,
}

/// The array of the first sample. Where there is none it is zeros that nobody reads.
fn first_sample(value: &Tensor, dim: Option<usize>) -> Result<Array> {
    let array = value.memory();
    let Some(dim) = dim else { return Ok(array) };
    let (mut shape, mut strides): (Dims, Dims) = (array.layout.shape().into(), array.layout.strides().into());
    let samples = shape.remove(dim);
    strides.remove(dim);
    let layout = Layout::strided(shape, strides, array.layout.offset())?;
    if samples == 0 {
        return Array::zeroed(&SharedLayout::new(layout.fresh()), array.dtype);
    }
    Ok(array.with_layout(layout))
}

impl Tensor {
    /// A tensor that stands for each sample of `value`.
    pub fn batched(value: Tensor, dim: Option<usize>, mapping: &Arc<Mapping>) -> Result<Tensor> {
        let array = first_sample(&value, dim)?;
        let cold = Cold::of_batch(Wrapper::new(value, dim, mapping));
        Ok(Tensor::build(array, None, OnceBox::with_value(Box::new(cold)), false).marked_as_batched())
    }

    /// A tensor that shows the first sample, around all of them.
    pub(crate) fn around(batch: &Batch, first: Tensor) -> Tensor {
        let cold = Cold::of_batch(Wrapper::new(batch.value.clone(), batch.dim, &batch.mapping));
        let edge = first.0.core.read().edge.clone();
        Tensor::build(first.memory(), edge, OnceBox::with_value(Box::new(cold)), false).marked_as_batched()
    }

    /// A view of a batched tensor, around a view of its value.
    pub(crate) fn batched_view(
        source: &Tensor,
        batch: Batch,
        creation: Creation,
        refresh: Refresh,
    ) -> Result<Tensor> {
        let array = first_sample(&batch.value, batch.dim)?;
        let wrapper = Wrapper::new(batch.value, batch.dim, &batch.mapping);
        Ok(Tensor::view_with(source, array, creation, refresh, wrapper))
    }

    pub(super) fn wrapper(&self) -> Option<&Wrapper> {
        self.0.cold.get().and_then(|cold| cold.batch.as_ref())
    }

    /// Whether this stands for many samples.
    pub fn is_batched(&self) -> bool {
        self.wrapper().is_some()
    }

    /// Whether this stands for samples that may differ from each other.
    pub fn differs(&self) -> bool {
        self.batch().is_some_and(|batch| batch.dim.is_some() || batch.value.differs())
    }

    /// The level that this tensor belongs to.
    pub fn mapping(&self) -> Option<&Arc<Mapping>> {
        self.wrapper().map(|wrapper| &wrapper.mapping)
    }

    /// What a batched tensor is around.
    pub fn batch(&self) -> Option<Batch> {
        let wrapper = self.wrapper()?;
        let dim = wrapper.dim.load(Ordering::Relaxed);
        let dim = (dim != SHARED).then_some(dim);
        Some(Batch { mapping: wrapper.mapping.clone(), value: wrapper.value.clone(), dim })
    }

    /// What the tensor is around at a level: itself, the same for all samples, if it is not of it.
    pub fn batch_at(&self, mapping: &Arc<Mapping>) -> Batch {
        match self.batch() {
            Some(batch) if batch.mapping.is(mapping) => batch,
            _ => Batch { mapping: mapping.clone(), value: self.clone(), dim: None },
        }
    }

    /// The tensor without history at its depth: what it is around keeps its own.
    pub fn without_history(&self) -> Tensor {
        let first = Tensor::from_array(self.memory());
        match self.batch() {
            Some(batch) => Tensor::around(&batch, first),
            None => first,
        }
    }

    /// A tensor on `array`, which is this one's, without history on any level.
    pub(super) fn aside(&self, array: Array) -> Tensor {
        let Some(batch) = self.batch() else { return Tensor::from_array(array) };
        let cold = Cold::of_batch(Wrapper::new(batch.value.detach(), batch.dim, &batch.mapping));
        Tensor::build(array, None, OnceBox::with_value(Box::new(cold)), false).marked_as_batched()
    }

    /// Shows the first sample of a value whose own shape has changed.
    pub(crate) fn show_value(&self) -> Result<()> {
        if let Some(batch) = self.batch() {
            self.0.core.write().array = first_sample(&batch.value, batch.dim)?;
        }
        Ok(())
    }

    /// The samples lie along the first dimension from now on, unless there is but one for all.
    pub(crate) fn set_batch_first(&self) {
        if let Some(wrapper) = self.wrapper()
            && wrapper.dim.load(Ordering::Relaxed) != SHARED
        {
            wrapper.dim.store(0, Ordering::Relaxed);
        }
    }
}

impl Wrapper {
    /// One more around the same value.
    pub(super) fn again(&self) -> Wrapper {
        let dim = AtomicUsize::new(self.dim.load(Ordering::Relaxed));
        Wrapper { mapping: self.mapping.clone(), value: self.value.clone(), dim }
    }

    /// The samples together.
    pub(super) fn value(&self) -> &Tensor {
        &self.value
    }

    fn new(value: Tensor, dim: Option<usize>, mapping: &Arc<Mapping>) -> Wrapper {
        Wrapper { mapping: mapping.clone(), value, dim: AtomicUsize::new(dim.unwrap_or(SHARED)) }
    }
}
