//! The same elements in the same order in another shape.

use crate::schema::signatures::TENSORS_IN_PLACE;
use crate::schema::{Entry, IntoReply, Operator, both, method};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply_one, one, single, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::view::{ViewKind, apply};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::ops::creation::cast;
use crate::ops::geometry::squeeze::{Squeezed, returned, squeeze};
use crate::shape::{self, Dims, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// y = x in another shape
///
/// dy is dx in that shape; x̄ is ȳ in the shape of x
pub(crate) struct Reshape {
    /// torch's name of the node.
    pub(crate) name: &'static str,
    /// The dimensions that went or came.
    pub(crate) along: Along,
}

/// The dimensions that an operation was asked for, as it was asked.
pub(crate) enum Along {
    /// None.
    Nothing,
    /// One that went.
    Away(i64),
    /// Several that went.
    AllAway(Box<[i64]>),
    /// One that came.
    New(i64),
}

/// The node of a tensor of its own on the same memory.
const ALIAS: &str = "AliasBackward0";

impl ViewKind for Reshape {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shown(&self, source: &Layout) -> Attributes {
        match &self.along {
            Along::Nothing if self.name == ALIAS => Attributes::new(),
            Along::Nothing => shown! { self_sym_sizes: source },
            Along::Away(dim) => shown! { dim: *dim, self_sym_sizes: source },
            Along::AllAway(dims) => shown! { dim: &**dims, self_sym_sizes: source },
            Along::New(dim) => shown! { dim: *dim },
        }
    }

    fn vjp(&self, source: &Layout, gradient: &Tensor) -> Result<Tensor> {
        match self.along {
            Along::New(dim) => squeeze(gradient, Squeezed::One(dim)),
            Along::Away(dim) => returned(gradient, source, Squeezed::One(dim)),
            Along::AllAway(ref dims) => returned(gradient, source, Squeezed::Several(dims)),
            Along::Nothing if self.name.starts_with("Squeeze") => returned(gradient, source, Squeezed::All),
            Along::Nothing if self.name == ALIAS => Ok(gradient.clone()),
            _ => reshape_to(gradient, source.shape()),
        }
    }

    fn jvp(&self, tangent: &Tensor, shape: &[usize]) -> Result<Tensor> {
        reshape_to(tangent, shape)
    }
}

/// `Reshape` of a copy that nobody else sees, which is therefore no view.
#[derive(Clone)]
struct UnsafeView {
    shape: Dims,
}

impl Op for UnsafeView {
    type Saved = SharedLayout;
    const UNSIGNED: Unsigned = Unsigned::Wrapped;

    fn name(&self) -> &'static str {
        "UnsafeViewBackward0"
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        shown! { self_sym_sizes: saved }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        Ok(smallvec![x.with_layout(viewed(&x.layout, &self.shape)?.ok_or(Error::ViewStride {})?)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, source: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(reshape_to(single(gradients), source.shape())?)
    }

    fn jvp(&self, _source: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(reshape_to(tangent(tangents), &self.shape)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let mut shape = self.shape.clone();
        shape.insert(0, call.size);
        let y = reshape_to(&call.inputs[0].front(call.size)?, &shape)?;
        Ok(smallvec![Samples::first(y)])
    }
}

/// The sizes of a shape with as many elements, one of which may have been left open.
fn inferred(x: &Tensor, shape: &[i64]) -> Result<Dims> {
    shape::infer_shape(shape, x.numel()).map_err(|error| batch::told_of_all(error, &[x]))
}

/// How the elements lie in a shape with as many, if they need not move for it.
fn viewed(layout: &Layout, shape: &[usize]) -> Result<Option<Layout>> {
    if let Some(reshaped) = layout.reshaped(shape) {
        return Ok(Some(reshaped));
    }
    let strides = shape::view_strides(layout.shape(), layout.strides(), shape);
    strides.map(|strides| Layout::strided(shape.into(), strides, layout.offset())).transpose()
}

/// The elements in a shape with as many, without moving them.
pub fn view(x: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let layout = viewed(&x.layout(), &inferred(x, shape)?)?.ok_or(Error::ViewStride {})?;
    apply(Reshape { name: "ViewBackward0", along: Along::Nothing }, x, layout)
}

/// `view` in the shape of another tensor.
pub fn view_as(x: &Tensor, other: &Tensor) -> Result<Tensor> {
    view(x, &shape::signed(other.layout().shape()))
}

/// The elements in a shape with as many: a view where there is one, else a copy.
pub fn reshape(x: &Tensor, shape: &[i64]) -> Result<Tensor> {
    reshape_to(x, &inferred(x, shape)?)
}

/// `reshape` to the shape of another tensor.
pub fn reshape_as(x: &Tensor, other: &Tensor) -> Result<Tensor> {
    reshape(x, &shape::signed(other.layout().shape()))
}

/// `reshape` to a shape that is known to have as many elements.
pub(crate) fn reshape_to(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    match viewed(&x.layout(), shape)? {
        Some(layout) => {
            let name = if x.is_contiguous() { "ViewBackward0" } else { "ReshapeAliasBackward0" };
            apply(Reshape { name, along: Along::Nothing }, x, layout)
        }
        None => unsafe_view(&cast::clone_contiguous(x)?, shape),
    }
}

/// The elements of a fresh contiguous tensor, which the caller gives away, in a shape with as many.
pub(crate) fn unsafe_view(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    apply_one(UnsafeView { shape: shape.into() }, &[x])
}

/// The dimensions from `start` to `end` as one.
pub fn flatten(x: &Tensor, start: i64, end: i64) -> Result<Tensor> {
    let layout = x.layout();
    let ndim = layout.ndim();
    let (start, end) = (shape::normalize_dim(start, ndim)?, shape::normalize_dim(end, ndim)?);
    if start > end {
        return Err(Error::FlattenOrder {}.into());
    }
    if ndim == 0 {
        return reshape_to(x, &[1]);
    }
    if start == end {
        return Ok(x.clone());
    }
    let shape = layout.shape();
    let mut flat: Dims = shape[..start].into();
    flat.push(shape[start..=end].iter().product());
    flat.extend_from_slice(&shape[end + 1..]);
    reshape_to(x, &flat)
}

/// One dimension as several; one of the sizes may be `-1`.
pub fn unflatten(x: &Tensor, dim: i64, parts: &[i64]) -> Result<Tensor> {
    let layout = x.layout();
    if layout.ndim() == 0 {
        return Err(Error::UnflattenScalar { dim }.into());
    }
    let dim = shape::normalize_dim(dim, layout.ndim())?;
    if parts.is_empty() {
        return Err(Error::UnflattenEmpty {}.into());
    }
    let size = layout.size(dim);
    let inferred = shape::infer_shape(parts, size).map_err(|error| match *error {
        Error::ViewSize { .. } => Error::UnflattenSizes { sizes: parts.to_vec(), dim, size }.into(),
        Error::ViewInferTwice {} => Error::UnflattenInferTwice {}.into(),
        Error::ViewAmbiguous { .. } => Error::UnflattenAmbiguous { shape: parts.to_vec() }.into(),
        _ => error,
    })?;
    let mut shape: Dims = layout.shape().iter().take(dim).copied().collect();
    shape.extend(inferred);
    shape.extend(layout.shape().iter().skip(dim + 1).copied());
    view(x, &shape::signed(&shape))
}

/// All elements in one dimension, in row-major order.
pub fn ravel(x: &Tensor) -> Result<Tensor> {
    view(&cast::contiguous(x)?, &[-1])
}

/// The tensor as a tensor of its own on the same memory.
pub fn alias(x: &Tensor) -> Result<Tensor> {
    apply(Reshape { name: ALIAS, along: Along::Nothing }, x, (*x.layout()).clone())
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("AliasBackward0", "alias(Tensor(a) self) -> Tensor(a)"),
    ("ReshapeAliasBackward0", "_reshape_alias(Tensor(a) self, int[] size, int[] stride) -> Tensor(a)"),
    ("UnsafeViewBackward0", "_unsafe_view(Tensor self, int[] size) -> Tensor"),
    ("ViewBackward0", "view(Tensor(a) self, int[] size) -> Tensor(a)"),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    method("view_as", TENSORS_IN_PLACE, "A view in the shape of another tensor.", |a| {
        view_as(a.tensor(0)?, a.tensor(1)?).reply()
    }),
    both(
        "reshape",
        &["(Tensor input, int[] shape)"],
        "The tensor in another shape: a view if its strides allow it, else a copy.",
        |a| reshape(a.tensor(0)?, &a.ints(1)?).reply(),
    ),
    method("reshape_as", TENSORS_IN_PLACE, "The tensor in the shape of another tensor.", |a| {
        reshape_as(a.tensor(0)?, a.tensor(1)?).reply()
    }),
    both(
        "flatten",
        &["(Tensor input, int start_dim=0, int end_dim=-1)"],
        "Flattens the dimensions from `start_dim` to `end_dim` into one.",
        |a| flatten(a.tensor(0)?, a.int(1)?, a.int(2)?).reply(),
    ),
    both(
        "unflatten",
        &["(Tensor input, int dim, int[] sizes)"],
        "Expands one dimension into several.",
        |a| unflatten(a.tensor(0)?, a.int(1)?, &a.ints(2)?).reply(),
    ),
    both("ravel", &["(Tensor input)"], "The tensor flattened to one dimension.", |a| {
        ravel(a.tensor(0)?).reply()
    }),
];
