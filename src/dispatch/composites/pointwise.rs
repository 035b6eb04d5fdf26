//! Elementwise operations of three tensors or more, said in other operations: what they are, and
//! what a gradient or tangent of one input becomes. Those of one and two have kernels of their own
//! (`unary`, `binary`).

use smallvec::SmallVec;

use crate::dispatch::apply::{Keep, Op, Outputs, apply_one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::kept;
use crate::dispatch::kept::{Kept, Saved};
use crate::dispatch::memory_order;
use crate::dtype::Real;
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients, mode};
use crate::kernels::pointwise::zip;
use crate::shape::{Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// An elementwise operation of several tensors.
pub trait Pointwise: Clone + Send + Sync + 'static {
    /// torch's names of the inputs that are kept, an empty one for an input that is not.
    const KEEPS: &'static [&'static str];

    /// torch's name of the node.
    fn name(&self) -> &'static str;

    /// The parameters, under torch's names.
    fn shown(&self) -> Attributes {
        Attributes::new()
    }

    /// The function, in operations that are not recorded.
    fn value(&self, inputs: &[Tensor]) -> Result<Tensor>;

    /// The operation with the conjugates of its parameters: see Note [Gradients of complex numbers].
    fn conjugated(&self) -> Self {
        self.clone()
    }

    /// Whether the gradient of input `of` needs input `index`.
    fn needs(&self, of: usize, index: usize) -> bool;

    /// `t · ∂y/∂xᵢ`; of the inputs only those that it needs are there.
    fn toward(&self, index: usize, kept: &Kept, t: &Tensor) -> Result<Tensor>;
}

/// A function of three numbers, for what several operations say: those that lie alike are gone through once.
pub(crate) trait Triple: Copy {
    /// The function as loops take it.
    fn loops<T: Real>(self) -> impl Fn(T, T, T) -> T + Copy + Sync;
}

/// The function of every three elements, if they are of one floating-point type and shape and lie in order.
pub(crate) fn at_once(function: impl Triple, inputs: [&Tensor; 3]) -> Option<Result<Tensor>> {
    if !mode::is_plain() {
        return None;
    }
    let [x, a, b] = inputs.map(Tensor::array);
    let alike = |other: &Array| {
        other.dtype == x.dtype && other.layout.is_contiguous() && other.layout.shape() == x.layout.shape()
    };
    if ![&x, &a, &b].into_iter().all(alike) {
        return None;
    }
    dispatch!(float x.dtype, T => {
        let (Some(p), Some(q), Some(r)) = (x.slice::<T>(), a.slice::<T>(), b.slice::<T>()) else { return None };
        Some(Array::uninit(&x.layout, x.dtype).map(|mut y| {
            zip::zip3_slice(p, q, r, y.fresh(), function.loops());
            Tensor::from_array(y)
        }))
    }, else { None })
}

#[derive(Clone)]
struct Recordable<P>(P);

impl<P: Pointwise> Op for Recordable<P> {
    type Saved = Saved;
    const SAVED: &'static [&'static str] = P::KEEPS;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn shown(&self, _saved: &Saved) -> Attributes {
        self.0.shown()
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let _off = mode::GradModeGuard::off();
        let plain: Vec<Tensor> = inputs.iter().map(|input| input.detach()).collect();
        let y = self.0.value(&plain)?.array();
        let layouts: SmallVec<[SharedLayout; 4]> = inputs.iter().map(|input| input.layout()).collect();
        let layouts: SmallVec<[&Layout; 4]> = layouts.iter().map(|layout| &**layout).collect();
        Ok(SmallVec::from_elem(Tensor::from_array(memory_order::settled(y, &layouts)?), 1))
    }

    fn save(&self, keep: &Keep<'_>) -> Saved {
        let wanted = |index: usize| (0..keep.count()).any(|of| keep.needs(of) && self.0.needs(of, index));
        Saved((0..P::KEEPS.len()).map(|index| keep.input_if(wanted(index), index)).collect())
    }

    fn vjp(&self, saved: &Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (operation, kept) = (self.0.conjugated(), saved.load(at)?.conj()?);
        kept::gradients(at, &|index| operation.toward(index, &kept, single(gradients)))
    }

    fn jvp(&self, saved: &Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let kept = saved.load(at)?;
        kept::tangent(at, tangents, &|index, tangent| self.0.toward(index, &kept, tangent))
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(self.clone())
    }
}

/// The operation on these tensors.
pub fn apply(operation: impl Pointwise, inputs: &[&Tensor]) -> Result<Tensor> {
    apply_one(Recordable(operation), inputs)
}
