//! What becomes of gradients that arrive at leaves: accumulation into `.grad`, also of tensors that retain theirs.

use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use crate::dispatch::accumulate;
use crate::error::{Error, Result};
use crate::graph::host::host;
use crate::shape::Layout;
use crate::tensor::Tensor;

/// What a run has for `.grad` of all leaves.
pub(super) type Deposits = SmallVec<[Deposit; 4]>;

/// A gradient on its way to `.grad`.
pub(super) struct Deposit {
    tensor: Tensor,
    /// There until it is put.
    gradient: Option<Tensor>,
    retained: bool,
    ready: Ready,
}

/// What a gradient comes to, if `.grad` is then still what it is now.
enum Ready {
    /// Nothing is known of it, or it is added without further memory.
    Unknown,
    /// It is as the first `.grad` has to be.
    First,
    /// A tensor takes the place of the one that is there. Boxed, since it is rare and every deposit has room for it.
    Instead(Box<Replacement>),
}

/// A `.grad`, and what takes its place.
struct Replacement {
    before: Tensor,
    sum: Tensor,
}

/// Puts all of the gradients, or none if there is no memory for what they come to: all that needs some is done before
/// the first is put.
pub(super) fn put(deposits: &mut [Deposit], recording: bool) -> Result<()> {
    if deposits.len() > 1 {
        deposits.iter_mut().try_for_each(|deposit| deposit.make_ready(recording))?;
    }
    deposits.iter_mut().try_for_each(|deposit| deposit.put(recording))
}

impl Deposit {
    /// For a leaf.
    pub(super) fn leaf(tensor: Tensor, gradient: Tensor) -> Self {
        Deposit { tensor, gradient: Some(gradient), retained: false, ready: Ready::Unknown }
    }

    /// For a tensor that retains its gradient.
    pub(super) fn retained(tensor: Tensor, gradient: Tensor) -> Self {
        Deposit { tensor, gradient: Some(gradient), retained: true, ready: Ready::Unknown }
    }

    /// Does what `put` would need memory for.
    fn make_ready(&mut self, recording: bool) -> Result<()> {
        let Some(gradient) = self.gradient.take() else { return Ok(()) };
        let gradient = match self.tensor.grad() {
            None => {
                self.ready = Ready::First;
                first(gradient, &self.tensor.layout(), self.retained, recording)?
            }
            Some(before) if is_replaced(&before, self.retained, recording) => {
                let sum = accumulate::add(&before, &gradient)?;
                self.ready = Ready::Instead(Box::new(Replacement { before, sum }));
                gradient
            }
            Some(before) => accumulate::addable(gradient, &before)?,
        };
        self.gradient = Some(gradient);
        Ok(())
    }

    /// Adds the gradient to `.grad`. A first gradient is taken over if nobody else holds it; a later
    /// one is added in place, unless the run is recorded.
    pub(super) fn put(&mut self, recording: bool) -> Result<()> {
        let Deposit { tensor, gradient, retained, ready } = self;
        let (Some(gradient), ready) = (gradient.take(), std::mem::replace(ready, Ready::Unknown)) else {
            return Ok(());
        };
        let (tensor, retained) = (&*tensor, *retained);
        let layout = tensor.layout();
        let mut astray = None;
        let put = tensor.update_grad(|before| {
            let Some(before) = before else {
                return Ok(Some(match ready {
                    Ready::First => gradient,
                    _ => first(gradient, &layout, retained, recording)?,
                }));
            };
            let sum = match (is_replaced(before, retained, recording), ready) {
                (true, Ready::Instead(ready)) if ready.before.is(before) => Some(ready.sum),
                (true, _) => Some(accumulate::add(before, &gradient)?),
                (false, _) => accumulate::add_in_place(before, &gradient).map(|()| None)?,
            };
            let found = sum.as_ref().unwrap_or(before);
            if !retained && !found.has_no_data() && !lies_alike(&found.read().array().layout, &layout) {
                astray = Some(found.layout());
            }
            Ok(sum)
        });
        if recording {
            tensor.note_recorded_gradient();
        }
        put?;
        astray.map_or(Ok(()), |found| tell_once(&found, &layout, recording))
    }
}

/// The gradient as the first `.grad` of a tensor with this layout.
fn first(gradient: Tensor, layout: &Layout, retained: bool, recording: bool) -> Result<Tensor> {
    match (retained, recording) {
        (true, _) => accumulate::copy(&gradient),
        (false, true) => accumulate::copy_like(&gradient, layout),
        (false, false) => accumulate::take_over(gradient, layout),
    }
}

/// Whether another tensor takes the place of a `.grad` to which a gradient is added: what is added to a tensor without
/// numbers may be of another class than it.
fn is_replaced(before: &Tensor, retained: bool, recording: bool) -> bool {
    recording || retained || before.has_no_data()
}

/// Whether a gradient lies in memory as its leaf does, which is what optimisers are fastest with.
fn lies_alike(gradient: &Layout, leaf: &Layout) -> bool {
    if !leaf.is_dense() || leaf.is_contiguous() && gradient.is_contiguous() {
        return gradient.is_contiguous();
    }
    let dims = gradient.shape().iter().zip(gradient.strides()).zip(leaf.strides());
    dims.into_iter().all(|((&size, gradient), leaf)| size == 1 || gradient == leaf)
}

/// Tells the host of a gradient that lies otherwise: once in place, and once where a sum was recorded.
#[cold]
fn tell_once(gradient: &Layout, leaf: &Layout, recording: bool) -> Result<()> {
    static TOLD: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    let Some(host) = host() else { return Ok(()) };
    if TOLD[usize::from(recording)].swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let described = |layout: &Layout| (layout.shape().to_vec(), layout.strides().to_vec());
    let ((sizes, strides), (leaf_sizes, leaf_strides)) = (described(gradient), described(leaf));
    host.notice(Error::GradLayout { sizes, strides, leaf_sizes, leaf_strides })
}
