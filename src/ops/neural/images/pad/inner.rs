//! Elements added before and behind that are there already: mirrored, repeated, or those of the other end.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::{check, padded};
use crate::dispatch::apply::portable;
use crate::dispatch::apply::{Arrays, Keep, Op, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::attribute_override::apply_one_with_attributes;
use crate::dispatch::memory_order;
use crate::dispatch::modes::plain::{Row, plain};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::geometry::picked::{Sources, picked};
use crate::kernels::neural::taps::Taps;
use crate::ops::creation::{cast, copy};
use crate::ops::geometry::part;
use crate::ops::neural::images::resample::{Axis, Called, Resample};
use crate::tensor::{Array, Tensor};

/// With what a tensor is padded that is padded with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// With what is there, seen in a mirror at the edge.
    Reflection,
    /// With the element at the edge.
    Replication,
}

/// A dimension that is padded.
#[derive(Clone, Copy)]
struct Side {
    size: usize,
    before: i64,
    /// The size with what is added.
    output: usize,
}

/// y = x with its own elements around it
///
/// dy = dx likewise; x̄ = ȳ with what was added where it came from
#[derive(Clone)]
struct InnerPad {
    kind: Inner,
    /// The dimensions that are padded, the last one first.
    sides: Arc<[Side]>,
}

impl InnerPad {
    /// torch's names of the operation, its node, and the node of its gradient.
    fn names(&self) -> Called {
        called(self.kind, self.sides.len())
    }
}

/// torch's names of the operation over so many dimensions, its node, and the node of its gradient.
fn called(kind: Inner, dimensions: usize) -> Called {
    match (kind, dimensions) {
        (Inner::Reflection, 1) => {
            ["reflection_pad1d", "ReflectionPad1DBackward0", "ReflectionPad1DBackwardBackward0"]
        }
        (Inner::Reflection, 2) => {
            ["reflection_pad2d", "ReflectionPad2DBackward0", "ReflectionPad2DBackwardBackward0"]
        }
        (Inner::Reflection, _) => {
            ["reflection_pad3d", "ReflectionPad3DBackward0", "ReflectionPad3DBackwardBackward0"]
        }
        (Inner::Replication, 1) => {
            ["replication_pad1d", "ReplicationPad1DBackward0", "ReplicationPad1DBackwardBackward0"]
        }
        (Inner::Replication, 2) => {
            ["replication_pad2d", "ReplicationPad2DBackward0", "ReplicationPad2DBackwardBackward0"]
        }
        (Inner::Replication, _) => {
            ["replication_pad3d", "ReplicationPad3DBackward0", "ReplicationPad3DBackwardBackward0"]
        }
    }
}

/// All that padding is called.
pub(in crate::ops::neural) fn all_called() -> impl Iterator<Item = Called> {
    let kinds = [Inner::Reflection, Inner::Replication];
    kinds.into_iter().flat_map(|kind| (1..=3).map(move |count| called(kind, count)))
}

impl InnerPad {
    /// How many of the last dimensions are those of images that may lie channel by channel.
    fn spatial(&self) -> usize {
        if self.sides.len() == 3 { 3 } else { 2 }
    }

    /// Where what is at a place comes from.
    fn source(&self, side: Side, place: usize) -> usize {
        let (at, size) = ((place as i64).saturating_sub(side.before), side.size as i64);
        let source = match self.kind {
            Inner::Replication => at.clamp(0, size - 1),
            Inner::Reflection if at < 0 => -at,
            Inner::Reflection if at >= size => 2 * (size - 1) - at,
            Inner::Reflection => at,
        };
        source as usize
    }

    /// The gradient that comes back, as a map that can be differentiated.
    fn back(&self) -> Result<Resample> {
        let axis = |(behind, &side): (usize, &Side)| {
            let taps = Taps::new(side.output, |place| std::iter::once((self.source(side, place), 1.0)))?;
            Ok(Axis { behind, size: side.size, taps })
        };
        let axes = self.sides.iter().enumerate().map(axis).collect::<Result<Vec<_>>>()?;
        Ok(Resample {
            called: self.names(),
            axes: axes.into(),
            transposed: true,
            takes_complex: true,
            keeps: false,
        })
    }
}

impl Op for InnerPad {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["self"];
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        self.names()[1]
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let by_channels = memory_order::by_channels(&inputs[0], self.spatial())
            .filter(|x| x.layout.ndim() == self.sides.len() + 2);
        let is_by_channels = by_channels.is_some();
        let x = copy::in_order(by_channels.as_ref().unwrap_or(&inputs[0]))?;
        let takes = |dtype| dispatch!(number dtype, _T => true, else { false });
        if !takes(x.dtype) && !x.dtype.is_half() && !x.dtype.is_complex() {
            return Err(Error::NotImplementedFor { operation: self.names()[0], dtype: x.dtype }.into());
        }
        let x = x.resolved();
        let mut shape = x.layout.shape().to_vec();
        let mut sources: SmallVec<[Sources; 4]> = SmallVec::new();
        if let Some(&channels) = shape.last().filter(|_| is_by_channels) {
            sources.push(Sources::new(channels, channels, |place| place)?);
        }
        let behind = sources.len();
        for (size, &side) in shape.iter_mut().rev().skip(behind).zip(&*self.sides) {
            *size = side.output;
            sources.push(Sources::new(side.size, side.output, |place| self.source(side, place))?);
        }
        let mut y = Array::uninit_shape(&shape, x.dtype)?;
        dispatch!(bits x.dtype, T => {
            let Some(elements) = x.slice::<T>() else { unreachable!("the operand was laid out in order") };
            picked(elements, &sources, y.fresh::<T>());
        });
        Ok(smallvec![match is_by_channels {
            true => memory_order::from_channels(y)?,
            false => memory_order::as_images(y, &inputs[0].layout, self.spatial())?,
        }])
    }

    fn is_together(&self) -> bool {
        true
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.input(0)
    }

    fn vjp(&self, x: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let x = at.load(x)?;
        let back = self.back()?.of(single(gradients))?;
        Ok(smallvec![Some(memory_order::gradient_as_images(back, &x.layout(), self.spatial())?)])
    }

    fn jvp(&self, _x: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let forth = self.back()?.turned();
        Ok(smallvec![tangents[0].as_ref().map(|tangent| forth.of(tangent)).transpose()?])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
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
    let side = |pair: usize| -> Result<Side> {
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
        Ok(Side { size: size as usize, before, output: output as usize })
    };
    let sides = (0..spatial).map(side).collect::<Result<Vec<_>>>()?;
    apply_one_with_attributes(InnerPad { kind, sides: sides.into() }, shown! { padding: pad }, &[x])
}

/// Pads the last dimensions with what comes next when they are rings, in `into`, which has the sizes that come of that.
pub fn fill_rings(into: &Tensor, x: &Tensor, pad: &[i64]) -> Result<()> {
    let ndim = x.ndim() as i64;
    let sides = || (1..).zip(pad.as_chunks().0).map(|(behind, sides)| (ndim - behind, *sides));
    let size = |x: &Tensor, dim: i64| x.layout().shape()[dim as usize] as i64;
    let (mut middle, mut from) = (into.clone(), x.clone());
    for (dim, [before, behind]) in sides() {
        let (start, end) = ((-before).max(0), size(x, dim) - (-behind).max(0));
        middle = part::narrow(&middle, dim, before.max(0), end - start)?;
        from = part::narrow(&from, dim, start, end - start)?;
    }
    cast::copy_(&middle, &from)?;
    for (dim, [before, behind]) in sides() {
        let whole = size(into, dim);
        if before > 0 {
            let last = part::narrow(into, dim, whole - before - behind.max(0), before)?;
            cast::copy_(&part::narrow(into, dim, 0, before)?, &last)?;
        }
        if behind > 0 {
            let first = part::narrow(into, dim, before.max(0), behind)?;
            cast::copy_(&part::narrow(into, dim, whole - behind, behind)?, &first)?;
        }
    }
    Ok(())
}

plain! {
    struct Side { size, before, output }
    struct InnerPad { kind, sides }
}

plain! {
    enum Inner { Reflection, Replication }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<InnerPad>("inner pad")];
