//! Writes through `out=` that are recorded although torch has no derivative of them: whoever asks for one is
//! refused.

use crate::dispatch::in_place::Write;
use crate::dispatch::record::trace;
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, Rule};
use crate::tensor::Tensor;

/// The node of what torch's formulas do not know at all.
pub(crate) const UNKNOWN: &str = "torch::autograd::NotImplemented";

/// y depends on x, and there is no dy/dx
struct Underived {
    operation: &'static str,
}

impl Rule for Underived {
    fn name(&self) -> &str {
        UNKNOWN
    }

    fn vjp(&self, _at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        Err(Error::NoDerivative { operation: self.operation }.into())
    }

    fn jvp(&self, _at: &At<'_>, _tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Err(Error::NoTangent { operation: self.operation }.into())
    }
}

/// Records what such an operation has written to `x`, which may be a view.
pub fn written(x: &Tensor, inputs: &[&Tensor], operation: &'static str) -> Result<()> {
    let mut all = vec![x];
    all.extend(inputs);
    match x.is_view() {
        true => Write::begin(&all)?.finish(|_| Underived { operation }),
        false => {
            all.rotate_left(1);
            trace(&all, std::slice::from_ref(x), |_| Underived { operation })
        }
    }
}
