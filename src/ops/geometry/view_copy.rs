//! What views show, in memory of its own, and tensors of which what a view shows is replaced.

mod entries;

use crate::ops::conjugate;
use crate::ops::geometry::squeeze::Squeezed;
use crate::ops::geometry::{expand, permute, reinterpret, reshape, squeeze, strided};
use crate::ops::sampling::random;
use crate::schema::signatures::ONE_OUT;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Shape, Types, both, function};
pub use entries::ENTRIES;
use std::sync::Arc;

use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, Outputs, apply, apply_one, one, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::composite::Composite;
use crate::dispatch::composites::recomputed::Subgraph;
use crate::dispatch::composites::saved_inputs::LoadedInputs;
use crate::dispatch::composites::{composite, on_tensors};
use crate::dispatch::modes::intercept;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, mode};
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::{join, part, split};
use crate::shape::{self, SharedLayout};
use crate::tensor::{Array, Tensor};

/// A view as a function.
type View = Arc<dyn Fn(&Tensor) -> Result<Tensor> + Send + Sync>;

/// Several views as a function.
type Views = Arc<dyn Fn(&Tensor) -> Result<Vec<Tensor>> + Send + Sync>;

/// yᵢ = what a view shows of x, copied
///
/// dyᵢ is so copied from dx; x̄ is the sum of ȳᵢ put into zeros through the views, or the ȳᵢ joined again
#[derive(Clone)]
struct Copied {
    views: Views,
    name: &'static str,
    shown: Attributes,
    /// If the memory is that of x, without anybody knowing: the dimension along which the parts are x.
    joined: Option<i64>,
}

impl Op for Copied {
    type Saved = SharedLayout;
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        self.name
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        self.shown.clone()
    }

    fn outputs(&self, inputs: &[Array]) -> usize {
        let _unseen = intercept::suspend();
        (self.views)(&Tensor::from_array(inputs[0].clone())).map_or(1, |views| views.len())
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        on_tensors(inputs, |inputs| {
            let copy = |seen: Tensor| match self.joined {
                Some(_) => Ok(Tensor::from_array(seen.memory())),
                None => cast::clone_contiguous(&seen),
            };
            (self.views)(&inputs[0].detach())?.into_iter().map(copy).collect()
        })
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, source: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        if let Some(dim) = self.joined {
            let parts = split::all_parts(at, gradients)?;
            return one(join::cat(&parts.iter().collect::<Vec<_>>(), dim)?);
        }
        // The gradient passes the views of what lies as the tensor did, since some of them go by that. Nothing is read.
        let [Some(edge)] = at.node.edges() else { return Ok(smallvec![None]) };
        let memory = create::empty(&[source.end() as i64], edge.node.form(edge.output).dtype)?.array();
        let alike = Tensor::from_array(memory.with_layout((**source).clone()));
        let views = |inputs: &[&Tensor]| (self.views)(inputs[0]).map(Outputs::from_vec);
        Subgraph::record(&views, &[alike], &|_| true, at.tracking)?.vjp(gradients)
    }

    fn jvp(&self, _saved: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let copy = |seen: Tensor| cast::clone_contiguous(&seen).map(Some);
        (self.views)(tangent(tangents))?.into_iter().map(copy).collect()
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("of batched tensors views are copied")
    }
}

/// What a view shows, in memory of its own. `name` is that of the node.
pub fn copied(
    x: &Tensor,
    name: &'static str,
    view: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    let mut copies = all_copied(x, name, Arc::new(move |x: &Tensor| Ok(vec![view(x)?])))?;
    copies.pop().ok_or_else(|| unreachable!("there is a view"))
}

/// What several views show, each in memory of its own.
pub fn all_copied(x: &Tensor, name: &'static str, views: Views) -> Result<Vec<Tensor>> {
    let seen = views(x)?;
    let first = seen.first().filter(|_| x.requires_grad() && batch::highest([x]).is_none());
    let node = first.map(Tensor::gradient_edge).transpose()?.flatten().map(|edge| edge.node);
    match node.filter(|_| !seen[0].is(x)) {
        Some(node) => {
            let shown = node.rule().shown();
            apply(Copied { views, name, shown, joined: None }, &[x]).map(Outputs::into_vec)
        }
        None => seen.iter().map(cast::clone_contiguous).collect(),
    }
}

/// The tensor itself, in memory of its own.
pub fn alias_copy(x: &Tensor) -> Result<Tensor> {
    if batch::highest([x]).is_some() {
        return cast::clone_contiguous(x);
    }
    let views: Views = Arc::new(|x: &Tensor| Ok(vec![x.clone()]));
    let shown = Attributes::new();
    apply_one(Copied { views, name: "AliasBackward0_copy", shown, joined: None }, &[x])
}

/// A range of a dimension, in memory of its own.
pub fn narrow_copy(x: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    if batch::highest([x]).is_some() {
        return cast::clone_contiguous(&part::narrow(x, dim, start, length)?);
    }
    let views: Views = Arc::new(move |x: &Tensor| Ok(vec![part::narrow(x, dim, start, length)?]));
    let shown = shown! { dim: dim, length: length, start: start, self_sym_sizes: &*x.layout() };
    apply_one(Copied { views, name: "NarrowCopyBackward0", shown, joined: None }, &[x])
}

/// Parts along a dimension that share memory with the whole, as `cut` finds them, without being views of it.
pub fn unsafe_parts(
    x: &Tensor,
    name: &'static str,
    dim: i64,
    shown: Attributes,
    cut: Views,
) -> Result<Vec<Tensor>> {
    if batch::highest([x]).is_some() {
        return cut(x);
    }
    apply(Copied { views: cut, name, shown, joined: Some(dim) }, &[x]).map(Outputs::into_vec)
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
        if batch::highest([x, values]).is_some() {
            let copy = batch::with_room(cast::clone(x)?, &[values])?;
            cast::copy_(&(self.view)(&copy)?, values)?;
            return Ok(copy);
        }
        // Nobody has seen the copy, so that this is no write that counts.
        let (array, _off) = (x.array(), mode::GradModeGuard::off());
        let repeats = array
            .layout
            .shape()
            .iter()
            .zip(array.layout.strides())
            .any(|(&size, &stride)| size > 1 && stride == 0);
        let copy = match repeats {
            true => copy::laid_out(&array, &SharedLayout::new(array.layout.packed()))?,
            false => copy::whole(&array)?,
        };
        let copy = Tensor::from_array(copy);
        let window = (self.view)(&copy)?.memory();
        copy::write(&window, &values.array().expanded(window.layout.shape())?)?;
        Ok(copy)
    }

    /// `x` with zeros where the view shows it.
    fn without(&self, x: &Tensor) -> Result<Tensor> {
        let window = (self.view)(&x.detach())?.layout();
        composite::apply(self.clone(), &[x, &create::zeros(&shape::signed(window.shape()), x.dtype())?])
    }
}

impl Composite for Written {
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

    fn vjp(&self, index: usize, _kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        match index {
            0 => self.without(gradient),
            _ => (self.view)(gradient),
        }
    }

    fn jvp(&self, index: usize, _kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
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
    let sizes = shape::signed(x.layout().shape());
    composite::apply(Written { view: Arc::new(view), name, shown, sizes }, &[x, values])
}

const DIAGONAL: &[&str] = &["(Tensor input, int offset=0, int dim1=0, int dim2=1, *, Tensor out=None)"];

const SQUEEZE: &[&str] = &[
    "(Tensor input, *, Tensor out=None)",
    "(Tensor input, int dim, *, Tensor out=None)",
    "(Tensor input, int[] dim, *, Tensor out=None)",
];
