//! What happens to gradients that stay: accumulation into leaves, and `.grad` of tensors that asked
//! to retain it.

use crate::error::Result;
use crate::ops::accumulate;
use crate::tensor::Tensor;

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
        let put = tensor.update_grad(|before| match before {
            None if recording || retained => accumulate::copy_like(&gradient, &layout),
            None => accumulate::take_over(gradient, &layout),
            Some(sum) if recording || retained => accumulate::add(&sum, &gradient),
            Some(sum) => accumulate::add_in_place(&sum, &gradient).map(|()| sum),
        });
        if recording {
            tensor.note_recorded_gradient();
        }
        put
    }
}
