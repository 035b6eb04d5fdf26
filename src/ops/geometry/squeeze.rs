//! Dimensions of size one, given and taken.

use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, both, method, receiver};
use smallvec::smallvec;

use crate::dispatch::record::records;
use crate::dispatch::view::{apply, apply_in_place};
use crate::error::Result;
use crate::ops::geometry::reshape::{Along, Reshape, reshape_to};
use crate::shape::{self, Dims, Layout};
use crate::tensor::Array;
use crate::tensor::Tensor;

/// Which dimensions `squeeze` takes away, as far as they have size one.
#[derive(Clone, Copy, Debug)]
pub enum Squeezed<'a> {
    /// All.
    All,
    /// This one.
    One(i64),
    /// These.
    Several(&'a [i64]),
}

/// The dimensions that stay.
fn kept(layout: &Layout, dims: Squeezed<'_>) -> Result<Dims> {
    let ndim = layout.ndim();
    let dims: Dims = match dims {
        Squeezed::All => (0..ndim).collect(),
        Squeezed::One(dim) => smallvec![shape::normalize_dim(dim, ndim)?],
        Squeezed::Several([]) => Dims::new(),
        Squeezed::Several(dims) => shape::normalize_dims(dims, ndim)?,
    };
    let stays = |dim: &usize| layout.shape()[*dim] != 1 || !dims.contains(dim);
    Ok((0..ndim).filter(stays).collect())
}

/// A gradient with the dimensions again that were taken away: one by one as in torch, where that shows in the
/// graph or in the strides.
pub(crate) fn returned(gradient: &Tensor, source: &Layout, dims: Squeezed<'_>) -> Result<Tensor> {
    if !records(&[gradient]) && gradient.layout().is_plain() {
        return reshape_to(gradient, source.shape());
    }
    let (kept, mut gradient) = (kept(source, dims)?, gradient.clone());
    for dim in (0..source.ndim()).filter(|dim| !kept.contains(dim)) {
        gradient = unsqueeze(&gradient, dim as i64)?;
    }
    Ok(gradient)
}

fn squeezed(layout: &Layout, dims: Squeezed<'_>) -> Result<Layout> {
    let kept = kept(layout, dims)?;
    let shape = kept.iter().map(|&dim| layout.shape()[dim]).collect();
    let strides = kept.iter().map(|&dim| layout.strides()[dim]).collect();
    Layout::strided(shape, strides, layout.offset())
}

impl Squeezed<'_> {
    fn along(&self) -> Along {
        match *self {
            Squeezed::All => Along::Nothing,
            Squeezed::One(dim) => Along::Away(dim),
            Squeezed::Several(dims) => Along::AllAway(dims.into()),
        }
    }
}

/// The tensor without dimensions of size one.
pub fn squeeze(x: &Tensor, dims: Squeezed<'_>) -> Result<Tensor> {
    let name = match dims {
        Squeezed::All => "SqueezeBackward0",
        Squeezed::One(_) => "SqueezeBackward1",
        Squeezed::Several(_) => "SqueezeBackward2",
    };
    apply(Reshape { name, along: dims.along() }, x, squeezed(&x.layout(), dims)?)
}

/// Takes dimensions of size one away from the tensor itself.
pub fn squeeze_(x: &Tensor, dims: Squeezed<'_>) -> Result<()> {
    let name = match dims {
        Squeezed::All => "SqueezeBackward3",
        Squeezed::One(_) => "SqueezeBackward4",
        Squeezed::Several(_) => "SqueezeBackward5",
    };
    apply_in_place(Reshape { name, along: dims.along() }, x, squeezed(&x.layout(), dims)?)
}

fn unsqueezed(layout: &Layout, dim: i64) -> Result<Layout> {
    let dim = shape::normalize_dim(dim, layout.ndim() + 1)?;
    let (mut shape, mut strides): (Dims, Dims) = (layout.shape().into(), layout.strides().into());
    let stride = match (layout.shape().get(dim), layout.strides().get(dim)) {
        (Some(size), Some(stride)) => size * stride,
        _ => 1,
    };
    shape.insert(dim, 1);
    strides.insert(dim, stride);
    Layout::strided(shape, strides, layout.offset())
}

/// Numbers with a new dimension of size one.
pub(crate) fn with_one(x: &Array, dim: usize) -> Result<Array> {
    Ok(x.with_layout(unsqueezed(&x.layout, dim as i64)?))
}

/// The tensor with a new dimension of size one.
pub fn unsqueeze(x: &Tensor, dim: i64) -> Result<Tensor> {
    apply(Reshape { name: "UnsqueezeBackward0", along: Along::New(dim) }, x, unsqueezed(&x.layout(), dim)?)
}

/// Gives the tensor itself a new dimension of size one.
pub fn unsqueeze_(x: &Tensor, dim: i64) -> Result<()> {
    apply_in_place(
        Reshape { name: "UnsqueezeBackward1", along: Along::New(dim) },
        x,
        unsqueezed(&x.layout(), dim)?,
    )
}

const SQUEEZE: &[&str] = &["(Tensor input)", "(Tensor input, int dim)", "(Tensor input, int[] dim)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("squeeze", SQUEEZE, "A view without the dimensions of size one.", |a| {
        with_squeezed(a, |dims| squeeze(a.tensor(0)?, dims).reply())
    })
    .operators(&[
        ("SqueezeBackward0", "squeeze(Tensor(a) self) -> Tensor(a)"),
        ("SqueezeBackward1", "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)"),
        ("SqueezeBackward2", "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)"),
    ]),
    method("squeeze_", SQUEEZE, "Removes dimensions of size one in place.", |a| {
        with_squeezed(a, |dims| receiver(a, squeeze_(a.tensor(0)?, dims)))
    })
    .written(&OutPolicy::PLAIN.in_place_as(|given| match given.count {
        0 => "",
        _ if given.number => ".dim",
        _ => ".dims",
    }))
    .operators(&[("-", "squeeze_"), ("-", "squeeze_.dim@1")]),
    both("unsqueeze", &["(Tensor input, int dim)"], "A view with a new dimension of size one.", |a| {
        unsqueeze(a.tensor(0)?, a.int(1)?).reply()
    })
    .operators(&[("UnsqueezeBackward0", "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)")]),
    method("unsqueeze_", &["(Tensor input, int dim)"], "Adds a dimension of size one in place.", |a| {
        receiver(a, unsqueeze_(a.tensor(0)?, a.int(1)?))
    })
    .operators(&[("-", "unsqueeze_")]),
];

/// Calls with the dimensions that the overload names.
fn with_squeezed(
    arguments: &dyn Arguments,
    call: impl FnOnce(Squeezed<'_>) -> Result<Reply>,
) -> Result<Reply> {
    match arguments.overload() {
        0 => call(Squeezed::All),
        1 => call(Squeezed::One(arguments.int(1)?)),
        _ => call(Squeezed::Several(&arguments.ints(1)?)),
    }
}
