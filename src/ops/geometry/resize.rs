//! Other sizes for a tensor itself: more or fewer elements of its memory, which grows if it has to, or those
//! of other memory.

use crate::dispatch::forward_mode::tangents::innermost;
use crate::dispatch::record::{form, gradient_edges, records};
use crate::dispatch::{batch, in_place};
use crate::error::{Error, Result};
use crate::graph::{
    At, Edge, Forms, Gradients, Inputs, Node, Rule, UNDERIVED, mode, replace_kept, saved_tensor_hooks,
};
use crate::ops::creation::cast::Order;
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::strided;
use crate::schema::{Entry, Ints, OutPolicy, both, method, receiver_in_own_order};
use crate::shape::{self, Layout};
use crate::tensor::{Array, Tensor};

/// Gives the tensor itself another shape, in order, over the elements of its memory. Those that come
/// into being are zero.
pub fn resize_(x: &Tensor, sizes: &[i64]) -> Result<()> {
    resize_in(x, sizes, Order::Kept)
}

/// `resize_`, with the elements in another order in memory than row-major, if one is named.
fn resize_in(x: &Tensor, sizes: &[i64], order: Order) -> Result<()> {
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
    let shape: shape::Dims = sizes.iter().map(|&size| size as usize).collect();
    let placed = Layout::contiguous(&shape).map_err(|_| Error::CountOverflow {})?;
    let memory = x.memory();
    let placed = order.layout(&shape)?.unwrap_or(placed);
    if matches!(order, Order::Kept) && *memory.layout.shape() == *shape {
        return Ok(());
    }
    grow(x, &memory, Layout::strided(shape, placed.strides().into(), memory.layout.offset())?)
}

/// Gives the tensor another layout of its memory, of which there will be enough: for everybody who is on it. See
/// Note [Memory that changes its size].
fn grow(x: &Tensor, memory: &Array, layout: Layout) -> Result<()> {
    x.bump_version()?;
    let needed = (layout.offset() + layout.numel()).saturating_mul(memory.dtype.size());
    if needed <= memory.storage.bytes() {
        x.set_layout(layout);
        return Ok(());
    }
    memory.storage.resize(needed)?;
    x.set_layout(layout);
    replace_kept(x.gradient_edge()?.as_ref(), memory, &x.memory());
    Ok(())
}

/// Puts other elements, of any shape, in the place of those of a tensor that is given for them: into its
/// memory, from where it begins, or into other memory if there is not enough.
pub fn replace(x: &Tensor, elements: &Tensor) -> Result<()> {
    let is_apart = x.read().array().storage.is_apart();
    let (memory, layout) = (x.memory(), elements.layout());
    let offset = memory.layout.offset();
    let strides = match layout.is_non_overlapping() && layout.end() - layout.offset() == layout.numel() {
        true => layout.strides().into(),
        false => shape::contiguous_strides(layout.shape()),
    };
    let placed = Layout::strided(layout.shape().into(), strides, offset)?;
    let needed = layout.numel().saturating_mul(memory.dtype.size());
    if needed > memory.storage.bytes() && offset == 0 && is_apart && memory.storage.is_resizable() {
        // All of it would be written, and nobody else would see it: what was calculated is taken over.
        x.bump_version()?;
        return x.set_data(&cast::to_dtype(elements, x.dtype())?);
    }
    let values = cast::to_dtype(elements, x.dtype())?.array();
    let values = if memory.overlaps(&values) { copy::dense(&values)? } else { values };
    grow(x, &memory, placed)?;
    copy::write(&x.memory(), &values)
}

/// Gives the tensor itself the shape of another. Samples keep theirs: of each, a view would be resized.
fn resize_as_(x: &Tensor, like: &Tensor, order: Order) -> Result<()> {
    if batch::is_batched(x) {
        return Ok(());
    }
    resize_in(x, &shape::signed(like.layout().shape()), order)
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
        UNDERIVED
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
    reach(source, size, stride, offset)?;
    let window = strided::as_strided(&source.detach(), size, stride, Some(offset))?;
    show(x, &window, &[x, &window])
}

/// Has there be enough memory for a window of it. What no window may be is refused where it is made.
fn reach(source: &Tensor, size: &[i64], stride: &[i64], offset: i64) -> Result<()> {
    if size.len() != stride.len() || offset < 0 || size.iter().chain(stride).any(|&number| number < 0) {
        return Ok(());
    }
    let dims = |numbers: &[i64]| numbers.iter().map(|&number| number as usize).collect();
    let window = Layout::strided(dims(size), dims(stride), offset as usize)?;
    let storage = &source.memory().storage;
    let needed = window.end().saturating_mul(source.dtype().size());
    if window.numel() > 0 && needed > storage.bytes() { storage.resize(needed) } else { Ok(()) }
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
        saved_tensor_hooks::tell(x)?;
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

/// The entries.
pub const ENTRIES: &[Entry] = &[
    method(
        "resize_",
        &["(Tensor input, int[] size, *, memory_format? memory_format=None)"],
        "Resizes the tensor in place, keeping what is in its memory.",
        |a| {
            let order = a.order(2);
            if order == Some(Order::Kept) {
                return Err(Error::ResizeKept {}.into());
            }
            receiver_in_own_order(a, resize_in(a.tensor(0)?, &a.ints(1)?, order.unwrap_or(Order::Kept)))
        },
    )
    .operators(&[("-", "resize_")]),
    both(
        "resize_as_",
        &["(Tensor input, Tensor the_template, *, memory_format? memory_format=None)"],
        "Resizes the tensor in place to the size of another.",
        |a| {
            let template = a.tensor(1)?;
            let order = match a.order(2) {
                None => Order::Kept,
                Some(Order::Kept) if cast::suggests_channels_last(template) => {
                    Order::ChannelsLast(template.ndim())
                }
                Some(Order::Kept) => Order::RowMajor,
                Some(order) => order,
            };
            receiver_in_own_order(a, resize_as_(a.tensor(0)?, template, order))
        },
    ),
    method(
        "set_",
        &[
            "(Tensor input)",
            "(Tensor input, Storage source)",
            "(Tensor input, Storage source, SymInt storage_offset, int[] size, int[]? stride=None)",
            "(Tensor input, Tensor source)",
            "(Tensor input, Tensor source, SymInt storage_offset, int[] size, int[]? stride=None)",
        ],
        "Makes the tensor refer to the memory of a storage or of another tensor.",
        |a| {
            let x = a.tensor(0)?;
            let source = match a.overload() {
                0 => return receiver_in_own_order(a, set_empty_(x)),
                1 | 2 => a.storage(1, x.dtype())?,
                _ => a.tensor(1)?.clone(),
            };
            if !matches!(a.overload(), 2 | 4) {
                return receiver_in_own_order(a, set_(x, &source));
            }
            let (size, stride) = (a.ints(3)?, a.dims(4)?);
            let stride = stride.unwrap_or_else(|| in_order(&size));
            receiver_in_own_order(a, set_window_(x, &source, &size, &stride, a.int(2)?))
        },
    )
    .written(&OutPolicy::PLAIN.in_place_as(|_| ".source_Tensor"))
    .operators(&[("-", "set_.source_Tensor@3")]),
];

/// How far elements are apart that lie in order.
fn in_order(size: &[i64]) -> Ints {
    let mut strides = Ints::from_elem(1, size.len());
    for dim in (1..size.len()).rev() {
        strides[dim - 1] = strides[dim] * size[dim].max(1);
    }
    strides
}
