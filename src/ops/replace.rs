//! Tensors that come to show the memory of others.

use smallvec::smallvec;

use super::in_place::check_history;
use super::record::{form, gradient_edges, records};
use crate::error::{Error, Result};
use crate::graph::{At, Edge, Forms, Gradients, Node, Rule, mode, packing};
use crate::tensor::Tensor;

/// What a tensor was before has no derivatives.
struct Replaced;

impl Rule for Replaced {
    fn name(&self) -> &str {
        "torch::autograd::NotImplemented"
    }

    fn vjp(&self, _at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        Err(Error::SetDerivative {}.into())
    }
}

/// Has `x` show the memory of `source`, as `source` does. Whoever kept what `x` showed notices.
pub fn set_(x: &Tensor, source: &Tensor) -> Result<()> {
    let (target, dtype) = (x.dtype(), source.dtype());
    if target != dtype {
        return Err(Error::SetDType { source: dtype, target }.into());
    }
    let recording = records(&[x, source]);
    if recording {
        check_history(x)?;
    }
    if mode::special() {
        packing::tell(x)?;
    }
    let edges = if recording { gradient_edges(&[x, source])? } else { smallvec![] };
    x.bump_version()?;
    x.set_data(source)?;
    if recording {
        let node = Node::record(Replaced, edges, Forms::one(form(x)));
        x.set_edge(Some(Edge { node, output: 0 }));
    }
    Ok(())
}
