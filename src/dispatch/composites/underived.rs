//! Writes through `out=` to tensors that require grad. torch records them as a node without a derivative; backward
//! through it is an error.

use crate::dispatch::in_place::Write;
use crate::dispatch::record::trace;
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, Rule, UNDERIVED};
use crate::tensor::Tensor;

/// A node whose derivative is not defined.
struct Underived {
    operation: &'static str,
}

impl Rule for Underived {
    fn name(&self) -> &str {
        UNDERIVED
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
