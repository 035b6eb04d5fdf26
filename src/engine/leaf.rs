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
    gradient: Tensor,
    retained: bool,
}

impl Deposit {
    /// For a leaf.
    pub(super) fn leaf(tensor: Tensor, gradient: Tensor) -> Self {
        Deposit { tensor, gradient, retained: false }
    }

    /// For a tensor that retains its gradient.
    pub(super) fn retained(tensor: Tensor, gradient: Tensor) -> Self {
        Deposit { tensor, gradient, retained: true }
    }

    /// Adds the gradient to `.grad`. A first gradient is taken over if nobody else holds it; a later
    /// one is added in place, unless the run is recorded.
    pub(super) fn put(self, recording: bool) -> Result<()> {
        let Deposit { tensor, gradient, retained } = self;
        let layout = tensor.layout();
        let mut astray = None;
        let put = tensor.update_grad(|before| {
            let Some(before) = before else {
                let first = match (retained, recording) {
                    (true, _) => accumulate::copy(&gradient)?,
                    (false, true) => accumulate::copy_like(&gradient, &layout)?,
                    (false, false) => accumulate::take_over(gradient, &layout)?,
                };
                return Ok(Some(first));
            };
            // What is added to a tensor without numbers may be of another class than it.
            let sum = match recording || retained || before.has_no_data() {
                true => Some(accumulate::add(before, &gradient)?),
                false => accumulate::add_in_place(before, &gradient).map(|()| None)?,
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
