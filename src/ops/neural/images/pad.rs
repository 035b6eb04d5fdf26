//! Elements added before and behind: a number, or what is there already, mirrored or repeated.

mod inner;

pub use inner::ROWS as INNER_ROWS;
pub(super) use inner::all_called;

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::graph::shown::shown;
use crate::schema::{Entry, IntoReply, function, inner};
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::memory_order;
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::graph::{At, Attributes, Gradients};
use crate::kernels::geometry::framed::{Frame, framed};
use crate::ops::creation::{copy, create};
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Array, Tensor};
pub use inner::{Inner, fill_rings, inner_pad};

/// y = x with `value` around it; negative numbers cut elements off
///
/// dy = dx with zeros around it; x̄ = ȳ with as much cut off
#[derive(Clone)]
struct ConstantPad {
    /// Before and behind, from the last dimension on.
    pad: Arc<[i64]>,
    value: Scalar,
}

/// Shorter rows are copied many at a time, after all has been filled.
const NARROW: usize = 32;

impl ConstantPad {
    /// What of the result and of the input is the same, dimension by dimension.
    fn common(&self, from: &Layout, to: &Layout) -> Result<(Layout, Layout)> {
        let ndim = from.ndim();
        let mut shape: Dims = from.shape().into();
        let (mut source, mut target) = (from.offset(), to.offset());
        for dim in 0..ndim {
            let pair = 2 * (ndim - 1 - dim);
            let (Some(&before), Some(&behind)) = (self.pad.get(pair), self.pad.get(pair + 1)) else {
                continue;
            };
            let [cut_before, cut_behind] = [before, behind].map(|pad| pad.saturating_neg().max(0));
            let cut = cut_before.saturating_add(cut_behind);
            shape[dim] = (from.shape()[dim] as i64).saturating_sub(cut).max(0) as usize;
            // Where nothing is left the offsets may be anything: see below.
            source = source.saturating_add((cut_before as usize).saturating_mul(from.strides()[dim]));
            target = target.saturating_add((before.max(0) as usize).saturating_mul(to.strides()[dim]));
        }
        if shape.contains(&0) {
            (source, target) = (from.offset(), to.offset());
        }
        Ok((
            Layout::strided(shape.clone(), from.strides().into(), source)?,
            Layout::strided(shape, to.strides().into(), target)?,
        ))
    }

    /// Writes elements that lie in order with what is around them, in one pass. Says whether they do.
    fn framed(&self, x: &Array, y: &mut Array) -> Result<bool> {
        let value = Array::from_scalar(self.value, x.dtype.resolved())?;
        let is_narrow = y.layout.shape().last().is_none_or(|&width| width < NARROW);
        if is_narrow || x.dtype.is_pending() || !x.layout.is_contiguous() || y.layout.numel() == 0 {
            return Ok(false);
        }
        // What is in front of the dimensions that are padded is one dimension.
        let count = self.pad.len() / 2;
        let sizes = x.layout.shape().iter().rev().zip(y.layout.shape().iter().rev());
        let mut frames: SmallVec<[Frame; 4]> = sizes
            .zip(self.pad.chunks_exact(2))
            .map(|((&size, &whole), pads)| Frame { size, before: pads[0], whole })
            .collect();
        let lead = x.layout.shape()[..x.layout.ndim() - count].iter().product();
        frames.push(Frame { size: lead, before: 0, whole: lead });
        dispatch!(bits x.dtype, T => {
            let (Some(elements), Some(value)) = (x.slice::<T>(), value.first_element::<T>()) else {
                return Ok(false);
            };
            framed(elements, &frames, value, y.fresh::<T>());
        });
        Ok(true)
    }

    /// The elements with what is around them, in row-major order.
    fn around(&self, x: &Array, sizes: &[usize]) -> Result<Array> {
        let mut y = Array::uninit_shape(sizes, x.dtype)?;
        if !self.framed(x, &mut y)? {
            copy::fill(&y, self.value)?;
            let (source, target) = self.common(&x.layout, &y.layout)?;
            copy::write(&y.with_layout(target), &x.with_layout(source))?;
        }
        Ok(y)
    }

    fn sizes(&self, given: &[usize]) -> Result<Vec<usize>> {
        let mut sizes = given.to_vec();
        for (pair, pads) in self.pad.chunks(2).enumerate() {
            let dim = given.len() - 1 - pair;
            let size = given[dim] as i64;
            let Some(size) = padded(size, pads) else {
                let [before, behind] = [pads[0], pads[1]];
                return Err(Error::PadOverflow { size, before, behind, dim }.into());
            };
            if size < 0 {
                return Err(Error::NarrowNegative {}.into());
            }
            sizes[dim] = size as usize;
        }
        shape::checked_shape(&shape::signed(&sizes))?;
        Ok(sizes)
    }

    fn again(&self, x: &Tensor, sign: i64) -> Result<Tensor> {
        let pad = self.pad.iter().map(|pad| pad.saturating_mul(sign)).collect();
        apply_one(ConstantPad { pad, value: Scalar::Int(0) }, &[x])
    }
}

impl Op for ConstantPad {
    type Saved = ();
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        "ConstantPadNdBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { pad: &*self.pad }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let (spatial, sizes) = (memory_order::spatial(&x.layout), self.sizes(x.layout.shape())?);
        if self.pad.iter().all(|&pad| pad == 0) {
            return Ok(smallvec![memory_order::like(self.around(x, &sizes)?, &x.layout)?]);
        }
        match memory_order::by_channels(x, spatial) {
            // Channels that come last are another dimension, around which there is nothing.
            Some(x) if self.pad.len() <= 2 * spatial => {
                let pad = [0, 0].into_iter().chain(self.pad.iter().copied()).collect();
                let deeper = ConstantPad { pad, value: self.value };
                let y = deeper.around(&x, &deeper.sizes(x.layout.shape())?)?;
                Ok(smallvec![memory_order::from_channels(y)?])
            }
            _ => Ok(smallvec![memory_order::as_images(self.around(x, &sizes)?, &x.layout, spatial)?]),
        }
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(self.again(single(gradients), -1)?)
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(self.again(tangent(tangents), 1)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The size with what is added before and behind, if there is such a number.
fn padded(size: i64, pads: &[i64]) -> Option<i64> {
    let sum = pads.iter().map(|&pad| i128::from(pad)).sum::<i128>() + i128::from(size);
    i64::try_from(sum).ok()
}

fn check(x: &Tensor, pad: &[i64]) -> Result<()> {
    if !pad.len().is_multiple_of(2) {
        return Err(Error::PadOdd {}.into());
    }
    if pad.len() > 2 * x.ndim() {
        return Err(Error::PadLong { length: pad.len(), ndim: x.ndim() }.into());
    }
    Ok(())
}

/// The tensor with `value` around it: before and behind the last dimension, the one before it, …
pub fn constant_pad(x: &Tensor, pad: &[i64], value: Scalar) -> Result<Tensor> {
    check(x, pad)?;
    create::check_value(value, x.dtype())?;
    apply_one(ConstantPad { pad: pad.into(), value }, &[x])
}

const INNER: &[&str] = &["(Tensor self, int[] padding, *, Tensor out=None)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "constant_pad_nd",
        &["(Tensor input, int[] pad, Number value=0)"],
        "Pads the last dimensions with a constant.",
        |a| constant_pad(a.tensor(0)?, &a.ints(1)?, a.number(2)?).reply(),
    )
    .operators(&[("ConstantPadNdBackward0", "constant_pad_nd")]),
    inner(
        "pad",
        &["(Tensor input, int[] pad, str mode=\"constant\", float? value=None)"],
        "Pads the last dimensions with a constant; there is no other mode in which they may be so many.",
        |a| {
            let mode = a.text(2)?;
            if mode != "constant" {
                return Err(Error::PadMode { mode }.into());
            }
            let value = Scalar::Float(a.optional_float(3)?.unwrap_or(0.0));
            constant_pad(a.tensor(0)?, &a.ints(1)?, value).reply()
        },
    ),
    inner("reflection_pad", INNER, "Pads the last dimensions with a reflection of the input.", |a| {
        inner_pad(a.tensor(0)?, &a.ints(1)?, Inner::Reflection).reply()
    })
    .operators(&[
        ("ReflectionPad1DBackward0", "reflection_pad1d(Tensor self, int[2] padding) -> Tensor"),
        ("ReflectionPad2DBackward0", "reflection_pad2d(Tensor self, int[4] padding) -> Tensor"),
        ("ReflectionPad3DBackward0", "reflection_pad3d(Tensor self, int[6] padding) -> Tensor"),
    ]),
    inner(
        "fill_rings",
        &["(Tensor self, Tensor input, int[] padding)"],
        "Fills a tensor with another one and, around it, what comes next in dimensions that are rings.",
        |a| fill_rings(a.tensor(0)?, a.tensor(1)?, &a.ints(2)?).reply(),
    ),
    inner("replication_pad", INNER, "Pads the last dimensions with a replication of the border.", |a| {
        inner_pad(a.tensor(0)?, &a.ints(1)?, Inner::Replication).reply()
    })
    .operators(&[
        ("ReplicationPad1DBackward0", "replication_pad1d(Tensor self, int[2] padding) -> Tensor"),
        ("ReplicationPad2DBackward0", "replication_pad2d(Tensor self, int[4] padding) -> Tensor"),
        ("ReplicationPad3DBackward0", "replication_pad3d(Tensor self, int[6] padding) -> Tensor"),
    ]),
];

plain! {
    struct ConstantPad { pad, value }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<ConstantPad>("constant pad")];
