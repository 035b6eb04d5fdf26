//! What views show, in memory of its own, and tensors of which what a view shows is replaced.

use std::sync::Arc;

use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use super::batch::{self, Answer, Call};
use super::composed::{self, Composed};
use super::kept::Kept;
use super::{cast, create, part, strided};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::shape::SharedLayout;
use crate::tensor::Tensor;

/// A view as a function.
type View = Arc<dyn Fn(&Tensor) -> Result<Tensor> + Send + Sync>;

/// torch's names of the nodes.
const COPIES: &[&str] = &[
    "AliasBackward0_copy",
    "AsStridedBackward0_copy",
    "DiagonalBackward0_copy",
    "ExpandBackward0_copy",
    "PermuteBackward0_copy",
    "SelectBackward0_copy",
    "SliceBackward0_copy",
    "SplitBackward0_copy",
    "SplitWithSizesBackward0_copy",
    "SqueezeBackward0_copy",
    "SqueezeBackward1_copy",
    "SqueezeBackward2_copy",
    "TBackward0_copy",
    "TransposeBackward0_copy",
    "UnbindBackward0_copy",
    "UnfoldBackward0_copy",
    "UnsqueezeBackward0_copy",
    "ViewBackward0_copy",
];

/// y = what a view shows of x, copied
///
/// dy is so copied from dx; x̄ is ȳ added to zeros through the view
#[derive(Clone)]
struct Copied {
    view: View,
    name: &'static str,
    shown: Attributes,
    /// Whether the memory is that of x, without anybody knowing.
    shares: bool,
}

impl Op for Copied {
    type Saved = SharedLayout;

    fn name(&self) -> &'static str {
        self.name
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        self.shown.clone()
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let seen = (self.view)(&inputs[0].detach())?;
        Ok(smallvec![if self.shares {
            Tensor::from_array(seen.memory())
        } else {
            cast::clone_contiguous(&seen)?
        }])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, source: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        // The gradient lies in order, whatever the tensor did.
        let ordered = create::empty(&crate::shape::signed(source.shape()), crate::dtype::DType::Bool)?;
        let window = (self.view)(&ordered)?.layout();
        one(strided::write_back(ordered.layout(), window, single(gradients))?)
    }

    fn jvp(&self, _saved: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(cast::clone_contiguous(&(self.view)(tangent(tangents))?)?)
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("of batched tensors views are copied")
    }
}

/// What a view shows, in memory of its own.
pub fn copied(
    x: &Tensor,
    view: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    let seen = view(x)?;
    let node = if x.requires_grad() { seen.gradient_edge()?.map(|edge| edge.node) } else { None };
    let Some(node) = node.filter(|_| batch::highest([x]).is_none()) else {
        return cast::clone_contiguous(&seen);
    };
    let own = node.name();
    let name = COPIES.iter().find(|name| name.strip_suffix("_copy").is_some_and(|name| own == name));
    match name {
        Some(name) => {
            let shown = node.rule().shown();
            apply_one(Copied { view: Arc::new(view), name, shown, shares: false }, &[x])
        }
        None => cast::clone_contiguous(&seen),
    }
}

/// A range of a dimension, in memory of its own.
pub fn narrow_copy(x: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    let view = move |x: &Tensor| part::narrow(x, dim, start, length);
    if batch::highest([x]).is_some() {
        return cast::clone_contiguous(&view(x)?);
    }
    let shown = shown! { dim: dim, length: length, start: start, self_sym_sizes: &*x.layout() };
    apply_one(Copied { view: Arc::new(view), name: "NarrowCopyBackward0", shown, shares: false }, &[x])
}

/// Parts that share memory with the whole, as `cut` finds them, without being views of it.
pub fn unsafe_parts(
    x: &Tensor,
    name: &'static str,
    shown: &Attributes,
    cut: impl Fn(&Tensor) -> Result<Vec<Tensor>> + Clone + Send + Sync + 'static,
) -> Result<Vec<Tensor>> {
    let views = cut(x)?;
    if batch::highest([x]).is_some() {
        return Ok(views);
    }
    let part = |index: usize| {
        let cut = cut.clone();
        let view = move |x: &Tensor| Ok(cut(x)?.swap_remove(index));
        apply_one(Copied { view: Arc::new(view), name, shown: shown.clone(), shares: true }, &[x])
    };
    (0..views.len()).map(part).collect()
}

/// y = x, but what a view shows of it is v
///
/// x̄ is ȳ with zeros there, v̄ is what the view shows of ȳ, and the same of tangents
#[derive(Clone)]
struct Written {
    view: View,
    name: &'static str,
    shown: Attributes,
    /// How large x is.
    sizes: Vec<i64>,
}

impl Written {
    fn into(&self, x: &Tensor, values: &Tensor) -> Result<Tensor> {
        let copy = batch::with_room(cast::clone(x)?, &[values])?;
        cast::copy_(&(self.view)(&copy)?, values)?;
        Ok(copy)
    }

    /// `x` with zeros where the view shows it.
    fn without(&self, x: &Tensor) -> Result<Tensor> {
        let copy = cast::clone(x)?;
        cast::zero_(&(self.view)(&copy)?)?;
        Ok(copy)
    }
}

impl Composed for Written {
    const KEEPS: &'static [&'static str] = &["", ""];

    fn name(&self) -> &'static str {
        self.name
    }

    fn shown(&self) -> Attributes {
        self.shown.clone()
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        self.into(inputs[0], inputs[1])
    }

    fn back(&self, index: usize, _kept: &Kept, gradient: &Tensor) -> Result<Tensor> {
        match index {
            0 => self.without(gradient),
            _ => (self.view)(gradient),
        }
    }

    fn forth(&self, index: usize, _kept: &Kept, tangent: &Tensor) -> Result<Tensor> {
        match index {
            0 => self.without(tangent),
            _ => self.into(&create::zeros(&self.sizes, tangent.dtype())?, tangent),
        }
    }
}

/// The tensor with other values where a view shows it.
pub fn written(
    x: &Tensor,
    values: &Tensor,
    (name, shown): (&'static str, Attributes),
    view: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    let window = view(&x.detach())?.layout();
    if window.shape() != values.layout().shape() {
        let (source, slice) = (values.layout().shape().to_vec(), window.shape().to_vec());
        return Err(Error::ScatterSlice { source, slice }.into());
    }
    let sizes = crate::shape::signed(x.layout().shape());
    composed::apply(Written { view: Arc::new(view), name, shown, sizes }, &[x, values])
}
