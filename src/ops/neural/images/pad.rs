//! Elements added before and behind: a number, or what is there already, mirrored or repeated.

use crate::graph::shown::shown;
use crate::schema::{Entry, IntoReply, function, inner};
use std::sync::Arc;

use smallvec::smallvec;

use super::resample::{Axis, Resample};
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::memory_order;
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::graph::{At, Attributes, Gradients};
use crate::kernels::neural::taps::Taps;
use crate::ops::creation::{copy, create};
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Array, Tensor};

/// y = x with `value` around it; negative numbers cut elements off
///
/// dy = dx with zeros around it; x̄ = ȳ with as much cut off
#[derive(Clone)]
struct ConstantPad {
    /// Before and behind, from the last dimension on.
    pad: Arc<[i64]>,
    value: Scalar,
}

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
        let y = Array::uninit_shape(&self.sizes(x.layout.shape())?, x.dtype)?;
        copy::fill(&y, self.value)?;
        let (source, target) = self.common(&x.layout, &y.layout)?;
        copy::write(&y.with_layout(target), &x.with_layout(source))?;
        let y = match self.pad.iter().all(|&pad| pad == 0) {
            true => memory_order::like(y, &x.layout)?,
            false => memory_order::as_images(y, &x.layout, memory_order::spatial(&x.layout))?,
        };
        Ok(smallvec![y])
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

/// With what a tensor is padded that is padded with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// With what is there, seen in a mirror at the edge.
    Reflection,
    /// With the element at the edge.
    Replication,
}

/// The tensor with its own elements around it, in its last dimensions.
pub fn inner_pad(x: &Tensor, pad: &[i64], kind: Inner) -> Result<Tensor> {
    check(x, pad)?;
    let layout = x.layout();
    let spatial = pad.len() / 2;
    // The first dimension may be that of samples, of which there may be none.
    let sizes = &layout.shape()[usize::from(layout.ndim() == spatial + 2)..];
    if sizes.contains(&0) {
        let (least, most, shape) = (spatial + 1, spatial + 2, layout.shape().to_vec());
        return Err(Error::PadNothing { least, most, shape }.into());
    }
    let axis = |pair: usize| -> Result<Axis> {
        let dim = layout.ndim() - 1 - pair;
        let (size, before, behind) = (layout.shape()[dim] as i64, pad[2 * pair], pad[2 * pair + 1]);
        if kind == Inner::Reflection && (before >= size || behind >= size) {
            let (padding, shape) = (vec![before, behind], layout.shape().to_vec());
            return Err(Error::PadReflection { argument: 2 * pair + 4, padding, dim, shape }.into());
        }
        let output = padded(size, &[before, behind]).unwrap_or(i64::MIN);
        if output < 1 {
            return Err(Error::PadTooSmall { size, output, dim }.into());
        }
        let source = |place: i64| match place.saturating_sub(before) {
            at if kind == Inner::Replication => at.clamp(0, size - 1),
            at if at < 0 => -at,
            at if at >= size => 2 * (size - 1) - at,
            at => at,
        };
        let tap = |place: usize| std::iter::once((source(place as i64) as usize, 1.0));
        let taps = Taps::new(output as usize, tap)?;
        Ok(Axis { behind: pair, size: size as usize, taps })
    };
    let axes = (0..spatial).map(axis).collect::<Result<Vec<_>>>()?;
    let names = match (kind, spatial) {
        (Inner::Reflection, 1) => ["ReflectionPad1DBackward0", "ReflectionPad1DBackwardBackward0"],
        (Inner::Reflection, 2) => ["ReflectionPad2DBackward0", "ReflectionPad2DBackwardBackward0"],
        (Inner::Reflection, _) => ["ReflectionPad3DBackward0", "ReflectionPad3DBackwardBackward0"],
        (Inner::Replication, 1) => ["ReplicationPad1DBackward0", "ReplicationPad1DBackwardBackward0"],
        (Inner::Replication, 2) => ["ReplicationPad2DBackward0", "ReplicationPad2DBackwardBackward0"],
        (Inner::Replication, _) => ["ReplicationPad3DBackward0", "ReplicationPad3DBackwardBackward0"],
    };
    let operation = match (kind, spatial) {
        (Inner::Reflection, 1) => "reflection_pad1d",
        (Inner::Reflection, 2) => "reflection_pad2d",
        (Inner::Reflection, _) => "reflection_pad3d",
        (Inner::Replication, 1) => "replication_pad1d",
        (Inner::Replication, 2) => "replication_pad2d",
        (Inner::Replication, _) => "replication_pad3d",
    };
    Resample { names, axes: axes.into(), transposed: false, operation, takes_complex: true, keeps: true }
        .of_given(x, shown! { padding: pad })
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
    inner("replication_pad", INNER, "Pads the last dimensions with a replication of the border.", |a| {
        inner_pad(a.tensor(0)?, &a.ints(1)?, Inner::Replication).reply()
    })
    .operators(&[
        ("ReplicationPad1DBackward0", "replication_pad1d(Tensor self, int[2] padding) -> Tensor"),
        ("ReplicationPad2DBackward0", "replication_pad2d(Tensor self, int[4] padding) -> Tensor"),
        ("ReplicationPad3DBackward0", "replication_pad3d(Tensor self, int[6] padding) -> Tensor"),
    ]),
];
