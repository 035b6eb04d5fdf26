//! The tensor: a cheap handle to an array with a history. What an array is stands in `array`, how
//! it takes part in autograd in `history`, what a view knows of its base in `view`.

mod array;
mod batched;
pub mod cycle;
mod history;
mod hooks;
mod host_object;
mod overlap;
pub mod print;
pub(crate) mod repeated;
mod resolve;
mod state;
mod tangent;
mod transform;
mod view;

use once_cell::race::OnceBox;
use smallvec::SmallVec;

use crate::dtype::{DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::graph::observe::detach_site::{Cut, Reason, Standing};
use crate::graph::observe::writes;
use crate::graph::{Edge, FormRef, NodeRef, following, mode, replace_kept, saved};
use crate::kernels::interrupt::{self, Steps};
use crate::shape::{Layout, SharedLayout};
use crate::sharing::{self, RwLock, Shared, Spare, WeakShared};
use crate::storage;

pub use array::Array;
pub(crate) use array::Rows;
pub use batched::{Batch, Mapping, Randomness};
use history::Cold;
pub use hooks::HookHandle;
pub use host_object::{
    Foreign, Subclass, any_subclassed, register_bareness, register_release, register_watch,
};
pub(crate) use state::Reading;
use state::{Birth, Core};
pub use view::{Creation, Refresh};

/// A tensor. Clones are the same tensor.
#[derive(Clone)]
pub struct Tensor(Shared<TensorImpl>);

/// Names a tensor without keeping it.
#[derive(Clone)]
pub struct WeakTensor(WeakShared<TensorImpl>);

/// Several tensors, such as the outputs of an operation; nearly always one.
pub type Outputs = SmallVec<[Tensor; 1]>;

/// Several arrays; nearly always one.
pub type Arrays = SmallVec<[Array; 1]>;

struct TensorImpl {
    core: RwLock<Core>,
    /// What few tensors have: a gradient, hooks, a base.
    cold: OnceBox<Cold>,
    foreign: Foreign,
}

impl sharing::Home for TensorImpl {
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new(256);
        &SPARE
    }
}

impl Tensor {
    /// A leaf that does not require grad.
    pub fn from_array(array: Array) -> Tensor {
        Tensor::with_history(array, None)
    }

    /// What an operation that was not recorded made of inputs with this standing.
    pub(crate) fn unrecorded(array: Array, standing: Standing) -> Tensor {
        let reason = if array.dtype.is_differentiable() { Reason::NoGrad } else { Reason::Integer };
        Tensor::with_cut(array, standing.cut(reason))
    }

    fn with_cut(array: Array, cut: Cut) -> Tensor {
        Tensor::make(array, None, OnceBox::new(), Birth::now(false), cut)
    }

    /// Made where it stays, field by field: a copy of what was just made in pieces waits for these.
    #[inline(always)]
    fn make(array: Array, edge: Option<Edge>, cold: OnceBox<Cold>, birth: Birth, cut: Cut) -> Tensor {
        let Array { storage, layout, dtype } = array;
        Tensor(Shared::new_with(|| {
            let array = Array { storage, layout, dtype };
            let core = Core { array, edge, accumulator: None, requires_grad: false, birth, cut };
            TensorImpl { core: RwLock::new(core), cold, foreign: Foreign::default() }
        }))
    }

    /// The only output of a node.
    #[inline(always)]
    pub(crate) fn output_of(node: NodeRef, array: Array) -> Tensor {
        let edge = Some(Edge { node, output: 0 });
        Tensor::make(array, edge, OnceBox::new(), Birth::now(false), Cut::NONE)
    }

    /// A tensor that came from `edge`.
    pub fn with_history(array: Array, edge: Option<Edge>) -> Tensor {
        Tensor::build(array, edge, OnceBox::new(), false)
    }

    #[inline]
    fn build(array: Array, edge: Option<Edge>, cold: OnceBox<Cold>, is_view: bool) -> Tensor {
        Tensor::make(array, edge, cold, Birth::now(is_view), Cut::NONE)
    }

    /// A leaf of the elements of a slice.
    pub fn from_slice<T: Element>(shape: &[usize], elements: &[T]) -> Result<Tensor> {
        Ok(Tensor::from_array(Array::from_slice(shape, elements)?))
    }

    /// A leaf without dimensions.
    pub fn from_scalar(value: Scalar, dtype: DType) -> Result<Tensor> {
        Array::from_scalar(value, dtype).map(Tensor::from_array)
    }

    /// The numbers, without history.
    pub fn array(&self) -> Array {
        let array = self.memory();
        if array.dtype.is_pending() { array.resolved() } else { array }
    }

    /// The memory as the tensor shows it, which may be as an element type with something still to be
    /// done: what views, writes and saved tensors are made of.
    pub fn memory(&self) -> Array {
        self.0.core.read().array.clone()
    }

    /// Whether something is still to be done with the memory before its numbers are read.
    pub fn is_pending(&self) -> bool {
        self.0.core.read().array.dtype.is_pending()
    }

    /// Reads the tensor; the shorter the better.
    #[inline]
    pub(crate) fn read(&self) -> Reading<'_> {
        Reading(self.0.core.read())
    }

    /// The numbers, and whether operations on the tensor are recorded: what every operation asks.
    pub(crate) fn observe(&self) -> (Array, bool) {
        let (array, known) = {
            let core = self.0.core.read();
            (core.array.clone(), core.records())
        };
        let array = if array.dtype.is_pending() { array.resolved() } else { array };
        (array, known.unwrap_or_else(|| self.looks_recorded()))
    }

    /// The geometry.
    pub fn layout(&self) -> SharedLayout {
        self.0.core.read().array.layout.clone()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.0.core.read().array.dtype.resolved()
    }

    /// Whether the tensor looks like this output of a node.
    pub(crate) fn is_of_form(&self, form: FormRef<'_>) -> bool {
        let core = self.0.core.read();
        core.array.dtype.resolved() == form.dtype && core.array.layout.is_alike(form.layout)
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.0.core.read().array.layout.numel()
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.0.core.read().array.layout.ndim()
    }

    /// Whether the elements lie in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.0.core.read().array.layout.is_contiguous()
    }

    /// How often the memory was written to in place.
    pub fn version(&self) -> u32 {
        self.0.core.read().array.storage.version()
    }

    /// Counts one more write in place, unless this is an inference tensor: see `is_inference`.
    pub fn bump_version(&self) -> Result<()> {
        self.read().bump_version()
    }

    /// Whether the tensor was made in inference mode: writes to its memory are not counted, or have not always been,
    /// so that nothing that is recorded may keep it.
    pub fn is_inference(&self) -> bool {
        !self.0.core.read().array.storage.is_counted_throughout()
    }

    /// Whether writes to the memory are counted.
    pub fn is_counted(&self) -> bool {
        self.0.core.read().array.storage.is_counted()
    }

    /// Sets how often the memory was written to.
    pub fn set_version(&self, version: u32) {
        self.0.core.read().array.storage.set_version(version);
    }

    /// Where the first element lies.
    pub fn data_ptr(&self) -> *mut u8 {
        let core = self.0.core.read();
        let is_nowhere = core.array.layout.numel() == 0 || core.array.storage.bytes() == 0;
        if is_nowhere { std::ptr::null_mut() } else { core.array.address() }
    }

    /// Whether both handles are one tensor.
    pub fn is(&self, other: &Tensor) -> bool {
        self.0.is(&other.0)
    }

    /// Whether this is the only handle to the tensor.
    pub(crate) fn is_only_handle(&self) -> bool {
        self.0.is_only()
    }

    /// Whether this is the only handle to the only tensor on its memory, which then may be reused.
    pub fn is_sole(&self) -> bool {
        self.is_only_handle() && self.0.core.read().array.storage.is_unique()
    }

    /// Number of handles.
    pub fn handles(&self) -> usize {
        self.0.handles()
    }

    /// A name for the tensor that does not keep it.
    pub fn downgrade(&self) -> WeakTensor {
        WeakTensor(self.0.downgrade())
    }

    /// The slot for the host's object.
    pub fn foreign(&self) -> &Foreign {
        &self.0.foreign
    }

    /// The only element.
    pub fn item(&self) -> Result<Scalar> {
        if self.differs() {
            return Err(match self.mapping() {
                Some(mapping) if !mapping.is_asked_for() => {
                    Error::MappedDecision { operation: "item".to_owned() }
                }
                _ if self.is_followed() => Error::MappedValue {},
                _ => Error::MappedItem {},
            }
            .into());
        }
        following::shows(self, "item");
        let array = self.array();
        match array.layout.numel() {
            1 => {
                Ok(dispatch!(stored array.dtype, T => array.view::<T>().iter().next().map(|x| x.to_scalar()))
                    .unwrap_or_else(|| unreachable!("there is one element")))
            }
            numel => Err(Error::ItemOfMany { numel }.into()),
        }
    }

    /// The elements in row-major order, converted.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        following::leaves("the elements of a tensor");
        let array = self.array();
        let mut all = storage::room(array.layout.numel())?;
        if array.dtype == T::DTYPE {
            match array.slice::<T>() {
                Some(elements) => interrupt::extend(&mut all, elements.len(), elements.iter().copied()),
                None => {
                    let view = array.view::<T>();
                    interrupt::extend(&mut all, view.len(), view.iter().copied());
                }
            }
            return Ok(all);
        }
        // One loop for all pairs of types.
        let mut steps = Steps::default();
        array.each_number(&mut |number| {
            steps.take(0);
            all.push(number.to());
        });
        Ok(all)
    }

    /// Replaces memory, geometry and type, as `x.data = y` does. The count of writes goes on, for views as well.
    pub fn set_data(&self, data: &Tensor) -> Result<()> {
        let array = data.memory();
        if self.requires_grad() && !array.dtype.resolved().is_differentiable() {
            return Err(Error::DataDType {}.into());
        }
        let alias = array.storage.alias()?;
        if !alias.is_counted() && self.requires_grad() {
            mode::expect_frozen_leaves();
        }
        let is_kept = {
            let before = &self.0.core.read().array.storage;
            if before.is_counted() && !alias.is_counted() && !alias.is_lent() {
                // Writes to this tensor are counted, also if it now shows what inference mode has made.
                saved::expect_uncounted();
                alias.set_version(0);
            }
            if alias.is_counted() && before.is_counted() {
                alias.go_on_from(before);
            }
            // Nobody else has the memory: then no graph keeps it.
            !before.is_unique()
        };
        let new = Array { storage: alias, ..array };
        let edge = if is_kept { self.gradient_edge()? } else { None };
        let old = std::mem::replace(&mut self.0.core.write().array, new.clone());
        if is_kept {
            writes::moved(&old.storage, &new.storage);
            replace_kept(edge.as_ref(), &old, &new);
        }
        self.renew_accumulator();
        Ok(())
    }

    /// Replaces the geometry, as `t_` or `squeeze_` do. The caller derived it from the present one.
    pub(crate) fn set_layout(&self, layout: Layout) {
        self.0.core.write().array.layout = SharedLayout::new(layout);
        self.renew_accumulator();
    }
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        if self.0.foreign.is_owned() {
            host_object::handle_goes(self);
        }
    }
}

impl WeakTensor {
    /// Whether this names `tensor`.
    pub(crate) fn is(&self, tensor: &Tensor) -> bool {
        self.0.is(&tensor.0)
    }

    /// The tensor, if anybody still has it.
    pub fn upgrade(&self) -> Option<Tensor> {
        self.0.upgrade().map(Tensor)
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let array = self.array();
        write!(f, "Tensor({:?}, {:?})", array.layout.shape(), array.dtype)
    }
}
