//! Elements repeated without being copied.

use crate::dispatch::accumulate;
use crate::ops::reduction::reduce;
use crate::schema::signatures::TENSORS_IN_PLACE;
use crate::schema::{Entry, IntoReply, both, function, joined, method};
use smallvec::SmallVec;

use crate::dispatch::batch;
use crate::dispatch::view::{ViewKind, apply};
use crate::error::{Error, Result};
use crate::graph::mode;
use crate::shape::{self, Dims, Layout};
use crate::tensor::Tensor;

/// y = x repeated along new dimensions and those of size one
///
/// dy is dx repeated; x̄ is ȳ summed over the repetitions
struct Expand;

impl ViewKind for Expand {
    fn name(&self) -> &'static str {
        "ExpandBackward0"
    }

    fn vjp(&self, source: &Layout, gradient: &Tensor) -> Result<Tensor> {
        match source.ndim() {
            0 => reduce::sum(gradient, None, false, None),
            _ => accumulate::sum_to(gradient, source.shape()),
        }
    }

    fn jvp(&self, tangent: &Tensor, shape: &[usize]) -> Result<Tensor> {
        expand_to(tangent, shape)
    }
}

/// `expand` to a shape that is known to fit.
pub(crate) fn expanded(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let layout = x.layout();
    let strides = shape::expanded_strides(layout.shape(), layout.strides(), shape);
    apply(Expand, x, Layout::strided(shape.into(), strides, layout.offset())?)
}

/// The tensor in a larger shape; `-1` leaves a size as it is.
pub fn expand(x: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let layout = x.layout();
    let Some(lead) = shape.len().checked_sub(layout.ndim()) else {
        let (expand, ndim, dtype) = (shape.to_vec(), layout.ndim(), x.dtype());
        let (wanted, shape) = (shape.len(), layout.shape().to_vec());
        return Err(batch::told_of_all(Error::ExpandRank { dtype, expand, shape, wanted, ndim }, &[x]));
    };
    // A number has no size that could stay, of many samples each has.
    let least = if layout.ndim() > 0 || mode::special() && batch::is_batched(x) { -1 } else { 0 };
    let stretched = |dim: usize| dim < lead || layout.shape()[dim - lead] == 1;
    if shape.iter().enumerate().any(|(dim, &wanted)| wanted < least && stretched(dim)) {
        return Err(Error::TooManyNegative {}.into());
    }
    let mut sizes: Dims = SmallVec::from_elem(0, shape.len());
    // Of several mismatches the innermost is told of.
    for (dim, &wanted) in shape.iter().enumerate().rev() {
        let size = dim.checked_sub(lead).map(|dim| layout.shape()[dim]);
        sizes[dim] = match (wanted, size) {
            (-1, Some(size)) => size,
            (wanted, Some(size)) if wanted >= 0 && (size == 1 || wanted as usize == size) => wanted as usize,
            (wanted, None) if wanted >= 0 => wanted as usize,
            // Of many samples it is there, with size one.
            (-1, None) if mode::special() && batch::is_batched(x) => 1,
            (wanted, None) => return Err(Error::ExpandLeading { wanted, dim }.into()),
            (wanted, Some(size)) => {
                let (target, shape) = (shape.to_vec(), layout.shape().to_vec());
                let error = Error::ExpandSize { wanted, size, dim, target, shape };
                return Err(batch::told_of_all(error, &[x]));
            }
        };
    }
    expanded(x, &sizes)
}

/// `expand` to a shape that is known to fit; the tensor itself when it has it.
pub(crate) fn expand_to(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    if x.layout().shape() == shape { Ok(x.clone()) } else { expanded(x, shape) }
}

/// Whether x can be shown in another shape.
pub(crate) fn check(x: &Tensor, shape: &[usize]) -> Result<()> {
    if shape::is_expandable(x.layout().shape(), shape) {
        return Ok(());
    }
    expand(&x.detach(), &shape::signed(shape)).map(drop)
}

/// The tensor in the shape of another.
pub fn expand_as(x: &Tensor, other: &Tensor) -> Result<Tensor> {
    expand(x, &shape::signed(other.layout().shape()))
}

/// Tensors in the shape that they broadcast to together; those that have it are themselves.
pub fn broadcast_tensors(tensors: &[&Tensor]) -> Result<Vec<Tensor>> {
    let mut shape = Dims::new();
    for tensor in tensors {
        shape = shape::broadcast(&shape, tensor.layout().shape())?;
    }
    tensors.iter().map(|tensor| expand_to(tensor, &shape)).collect()
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "broadcast_tensors",
        &["(Tensor[] tensors) -> tuple[Tensor, ...]"],
        "Views of tensors in the shape that they broadcast to.",
        |a| joined(a, broadcast_tensors),
    ),
    method(
        "expand",
        &["(Tensor input, int[] size, *, bool implicit=False)"],
        "A view with dimensions of size one expanded to a larger size.",
        |a| expand(a.tensor(0)?, &a.ints(1)?).reply(),
    )
    .operators(&[(
        "ExpandBackward0",
        "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
    )]),
    method("expand_as", TENSORS_IN_PLACE, "A view expanded to the shape of another tensor.", |a| {
        expand_as(a.tensor(0)?, a.tensor(1)?).reply()
    }),
    both("broadcast_to", &["(Tensor input, int[] size)"], "A view broadcast to a shape.", |a| {
        expand(a.tensor(0)?, &a.ints(1)?).reply()
    }),
];
