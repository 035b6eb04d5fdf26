//! Other sizes for a tensor itself: more or fewer elements of its memory, which grows if it has to, or those
//! of other memory.

use smallvec::smallvec;

use super::record::{form, gradient_edges, records};
use super::tangents::innermost;
use super::{batch, cast, copy, create, in_place, strided};
use crate::error::{Error, Result};
use crate::graph::{At, Edge, Forms, Gradients, Inputs, Node, Rule, mode, packing};
use crate::shape::{self, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// Gives the tensor itself another shape, in order, over the elements of its memory. Those that come
/// into being are zero.
pub fn resize_(x: &Tensor, sizes: &[i64]) -> Result<()> {
    if x.requires_grad() && !mode::is_inference() {
        return Err(Error::ResizeRecorded {}.into());
    }
    if mode::special() && innermost(x)?.is_some() {
        return Err(Error::ResizeForward {}.into());
    }
    if sizes.iter().any(|&size| size < 0) {
        return Err(Error::ResizeNegative {}.into());
    }
    if batch::is_batched(x) {
        return batch::resize(x, sizes);
    }
    let shape = shape::checked_shape(sizes)?;
    let memory = x.memory();
    if *memory.layout.shape() == *shape {
        return Ok(());
    }
    let strides = shape::contiguous_strides(&shape);
    grow(x, &memory, Layout::strided(shape, strides, memory.layout.offset())?)
}

/// Gives the tensor another layout of its memory, of which there will be enough.
fn grow(x: &Tensor, memory: &Array, layout: Layout) -> Result<()> {
    x.bump_version()?;
    let (count, had) = (layout.offset() + layout.numel(), memory.storage.bytes() / memory.dtype.size());
    if count <= had {
        x.set_layout(layout);
        return Ok(());
    }
    check_growth(memory, count)?;
    let line = |count: usize| Layout::strided(smallvec![count], smallvec![1], 0);
    // The elements are moved as they lie in memory, whatever is still to be done when they are read.
    let stored = Array { dtype: memory.dtype.resolved(), ..memory.with_layout(line(had)?) };
    let larger = Array::zeroed(&SharedLayout::new(line(count)?), stored.dtype)?;
    copy::write(&larger.with_layout(line(had)?), &stored)?;
    x.set_data(&Tensor::from_array(Array { dtype: memory.dtype, ..larger.with_layout(layout) }))
}

/// Refuses to make room for `count` elements where the memory belongs to the host and has less.
fn check_growth(memory: &Array, count: usize) -> Result<()> {
    let needed = count.saturating_mul(memory.dtype.size());
    if memory.storage.is_lent() && needed > memory.storage.bytes() {
        return Err(Error::ResizeLent {}.into());
    }
    Ok(())
}

/// Puts other elements, of any shape, in the place of those of a tensor that is given for them: into its
/// memory, from where it begins, or into other memory if there is not enough.
pub fn replace(x: &Tensor, elements: &Tensor) -> Result<()> {
    let (memory, layout) = (x.memory(), elements.layout());
    let (offset, had) = (memory.layout.offset(), memory.storage.bytes() / memory.dtype.size());
    let strides = match layout.is_non_overlapping() && layout.end() - layout.offset() == layout.numel() {
        true => layout.strides().into(),
        false => shape::contiguous_strides(layout.shape()),
    };
    let placed = Layout::strided(layout.shape().into(), strides, offset)?;
    let count = offset + layout.numel();
    if count > had && offset == 0 {
        // All of it would be written: what was calculated is taken over.
        check_growth(&memory, count)?;
        x.bump_version()?;
        return x.set_data(&cast::to_dtype(elements, x.dtype())?);
    }
    let values = cast::to_dtype(elements, x.dtype())?.array();
    let values = if memory.overlaps(&values) { copy::dense(&values)? } else { values };
    grow(x, &memory, placed)?;
    copy::write(&x.memory(), &values)
}

/// Gives the tensor itself the shape of another. Samples keep theirs: of each, a view would be resized.
pub fn resize_as_(x: &Tensor, like: &Tensor) -> Result<()> {
    if batch::is_batched(x) {
        return Ok(());
    }
    resize_(x, &shape::signed(like.layout().shape()))
}

/// x ← what another tensor shows, in the same memory
///
/// There is no derivative: what x was does not matter any more, and the other tensor stays what it is.
struct Shown {
    /// How many tensors it was given, itself included.
    inputs: usize,
}

impl Rule for Shown {
    fn name(&self) -> &str {
        "torch::autograd::NotImplemented"
    }

    fn inputs(&self) -> Option<Inputs> {
        Some((0..self.inputs).map(Some).collect())
    }

    fn vjp(&self, _at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        Err(Error::DerivativeMissing { operation: "set_" }.into())
    }
}

/// Refuses to show elements of another type.
fn check_source(x: &Tensor, source: &Tensor) -> Result<()> {
    let (got, expected) = (source.dtype(), x.dtype());
    if got == expected { Ok(()) } else { Err(Error::SetDType { got, expected }.into()) }
}

/// Has the tensor itself show what `source` shows, in the same memory.
pub fn set_(x: &Tensor, source: &Tensor) -> Result<()> {
    show(x, source, &[x, source])
}

/// `set_` to a window of the memory of `source`.
pub fn set_window_(x: &Tensor, source: &Tensor, size: &[i64], stride: &[i64], offset: i64) -> Result<()> {
    in_place::check_filled(x, records(&[x, source]))?;
    check_source(x, source)?;
    let window = strided::as_strided(&source.detach(), size, stride, Some(offset))?;
    show(x, &window, &[x, &window])
}

/// Has the tensor itself show nothing, in memory of its own.
pub fn set_empty_(x: &Tensor) -> Result<()> {
    show(x, &create::empty(&[0], x.dtype())?, &[x])
}

/// `set_`, recorded as an operation on these inputs.
fn show(x: &Tensor, source: &Tensor, inputs: &[&Tensor]) -> Result<()> {
    let recording = records(inputs);
    check_source(x, source)?;
    in_place::check_filled(x, recording)?;
    if mode::special() {
        if innermost(x)?.is_some() || innermost(source)?.is_some() {
            return Err(Error::NoForward { operation: "set", in_place: true }.into());
        }
        packing::tell(x)?;
    }
    let edges = if recording { Some(gradient_edges(inputs)?) } else { None };
    // Who kept the elements that were shown is told that they are gone.
    x.bump_version()?;
    x.set_data(source)?;
    if let Some(edges) = edges {
        let node = Node::record(Shown { inputs: edges.len() }, edges, Forms::one(form(x)));
        x.set_edge(Some(Edge { node, output: 0 }));
    }
    Ok(())
}
