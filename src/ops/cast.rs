//! Copies and conversions with a history: `clone`, `to` another type, `copy_`, `fill_`, `zero_`.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::apply::{Keep, Op, Outputs, apply_one, gradient_edges, one, records, single, tangent};
use super::{binary, copy, in_place};
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::graph::{At, Gradients, Rule};
use crate::kernels::map;
use crate::shape::{self, Layout};
use crate::storage::Storage;
use crate::tensor::{Array, Tensor};

/// y = x, in memory of its own
///
/// dy = dx, x̄ = ȳ
pub struct Clone;

impl Op for Clone {
    type Saved = ();

    fn name(&self) -> &'static str {
        "CloneBackward0"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        Ok(smallvec![Tensor::from_array(copy::dense(&inputs[0].array())?)])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(single(gradients).clone())
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(clone(tangent(tangents))?)
    }
}

/// A copy in memory of its own.
pub fn clone(x: &Tensor) -> Result<Tensor> {
    apply_one(Clone, &[x])
}

/// y = x, in memory of its own laid out like another tensor's without its gaps being shared
///
/// dy = dx, x̄ = ȳ
struct CloneAs {
    layout: Arc<Layout>,
}

impl Op for CloneAs {
    type Saved = ();

    fn name(&self) -> &'static str {
        "CloneBackward0"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let x = inputs[0].array();
        let storage = Storage::uninit(self.layout.end().saturating_mul(x.dtype.size()))?;
        let y = Array { storage, layout: self.layout.clone(), dtype: x.dtype };
        copy::write(&y, &x)?;
        Ok(smallvec![Tensor::from_array(y)])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(single(gradients).clone())
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(clone(tangent(tangents))?)
    }
}

/// A copy in memory of its own with the strides of `like`, whose elements do not overlap.
pub(super) fn clone_as(x: &Tensor, like: &Layout) -> Result<Tensor> {
    let layout = Arc::new(Layout::strided(like.shape().into(), like.strides().into(), 0));
    apply_one(CloneAs { layout }, &[x])
}

/// The tensor itself if its elements lie in row-major order, else a copy.
pub fn contiguous(x: &Tensor) -> Result<Tensor> {
    if x.is_contiguous() { Ok(x.clone()) } else { clone(x) }
}

/// y = x as another type
///
/// dy is dx converted, x̄ is ȳ converted back
pub struct ToCopy {
    dtype: DType,
}

impl Op for ToCopy {
    type Saved = ToCopy;

    fn name(&self) -> &'static str {
        "ToCopyBackward0"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        Ok(smallvec![Tensor::from_array(copy::converted(&inputs[0].array(), self.dtype)?)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        ToCopy { dtype: keep.dtype(0) }
    }

    fn vjp(&self, input: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(to_dtype(single(gradients), input.dtype)?)
    }

    fn jvp(&self, _input: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(to_dtype(tangent(tangents), self.dtype)?)
    }
}

impl super::apply::Keepsake for ToCopy {}

/// The tensor as another type; itself if it has it.
pub fn to_dtype(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype { Ok(x.clone()) } else { apply_one(ToCopy { dtype }, &[x]) }
}

/// x ← y, broadcast and converted
///
/// x̄ = 0, ȳ is the gradient of the new x
struct CopyInto;

impl Rule for CopyInto {
    fn name(&self) -> &str {
        "CopyBackwards"
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let g = single(gradients);
        let zeros = at.needs(0).then(|| super::create::zeros_like(g)).transpose()?;
        Ok(smallvec![zeros, Some(g.clone())])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let shape = at.node.form(0).layout.clone();
        let source = tangents.get(1).cloned().flatten();
        Ok(smallvec![source.map(|source| super::view::expand_to(&source, shape.shape())).transpose()?])
    }
}

/// Overwrites `x` with the elements of `source`, broadcast and converted.
pub fn copy_(x: &Tensor, source: &Tensor) -> Result<()> {
    let recording = records(&[x, source]);
    in_place::check(x, recording)?;
    let target = x.array();
    let values = source.array();
    if !shape::is_expandable(values.layout.shape(), target.layout.shape()) {
        shape::broadcast(target.layout.shape(), values.layout.shape())?;
        let (output, broadcast) = (target.layout.shape().to_vec(), values.layout.shape().to_vec());
        return Err(crate::Error::OutputShape { output, broadcast }.into());
    }
    let edges = if recording { gradient_edges(&[x, source])? } else { SmallVec::new() };
    copy::write(&target, &binary::expanded(&values, target.layout.shape()))?;
    x.bump_version();
    if recording { in_place::record(x, CopyInto, edges) } else { Ok(()) }
}

/// x ← a number, or anything else that does not depend on x
///
/// x̄ = 0
pub(super) struct Fill {
    /// torch's name of the node.
    pub(super) name: &'static str,
}

impl Rule for Fill {
    fn name(&self) -> &str {
        self.name
    }

    fn vjp(&self, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(super::create::zeros_like(single(gradients))?)
    }

    fn jvp(&self, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(super::create::zeros_like(tangent(tangents))?)
    }
}

fn overwrite(x: &Tensor, value: Scalar, name: &'static str) -> Result<()> {
    let recording = records(&[x]);
    in_place::check(x, recording)?;
    let target = x.array();
    let edges = if recording { gradient_edges(&[x])? } else { SmallVec::new() };
    dispatch!(all target.dtype, T => map::fill(target.writable::<T>(), value.to::<T>()));
    x.bump_version();
    if recording { in_place::record(x, Fill { name }, edges) } else { Ok(()) }
}

/// Overwrites every element with a number.
pub fn fill_(x: &Tensor, value: Scalar) -> Result<()> {
    overwrite(x, value, "FillBackward0")
}

/// Overwrites every element with zero.
pub fn zero_(x: &Tensor) -> Result<()> {
    overwrite(x, Scalar::Int(0), "ZeroBackward0")
}
