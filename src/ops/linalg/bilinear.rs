//! What every product shares: it is linear in both factors, and that is all that a rule has to know.
//! The products themselves stand in `products`; `add_products` adds them to something.

use std::sync::Arc;

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row};
use crate::ops;
use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Keepsake, Op, apply_one, single};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::direct::Direct;
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients, SavedTensor, Shown};
use crate::ops::conjugate::conj;
use crate::shape::{Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// y = a · b for some product that is linear in a and in b
///
/// dy = da · b + a · db
pub(crate) trait Product: Clone + Send + Sync + 'static {
    /// torch's name of the node.
    fn name(&self) -> &'static str;
    /// torch's names of the factors.
    const FACTORS: &'static [&'static str];

    /// `FACTORS`, where they depend on the parameters.
    fn factors(&self) -> &'static [&'static str] {
        Self::FACTORS
    }

    /// torch's names of the sizes and strides of each factor, if the node shows them.
    fn forms(&self) -> Option<[[&'static str; 2]; 2]> {
        None
    }

    /// The numbers. The factors have fitting shapes and one type, which is not `bool`.
    fn compute(&self, a: &Array, b: &Array) -> Result<Array>;

    /// Computes them into memory that is there, where that can be.
    fn direct(&self) -> Option<Arc<dyn Direct>> {
        None
    }

    /// The product, recorded.
    fn call(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        apply_one(Times(self.clone()), &[a, b])
    }

    /// ā from b and ȳ, if possible laid out like a.
    fn left(&self, b: &Tensor, g: &Tensor, like: &Layout) -> Result<Tensor>;

    /// b̄ from a and ȳ, if possible laid out like b.
    fn right(&self, a: &Tensor, g: &Tensor, like: &Layout) -> Result<Tensor>;

    /// The product for many samples at once, which lie along the first dimension of one or both.
    fn batch(&self, a: &Tensor, b: &Tensor) -> Result<Tensor>;

    /// Number of multiplications.
    fn multiplications(&self, a: &Layout, b: &Layout) -> u64;
}

/// The factors, and the estimated nanoseconds of backward.
pub(crate) type Factors = ([Factor; 2], Nanoseconds);

/// A factor as backward needs it.
pub(crate) enum Factor {
    /// The numbers, for the gradient of the other one.
    Kept(SavedTensor),
    /// How it lay: the other one has no gradient.
    Form(SharedLayout),
}

/// Two factors that are kept have to fit into the record of a node.
const _: () = assert!(size_of::<Factor>() == 24);

impl Factor {
    fn kept(&self) -> Option<&SavedTensor> {
        match self {
            Factor::Kept(saved) => Some(saved),
            Factor::Form(_) => None,
        }
    }

    fn kept_mut(&mut self) -> Option<&mut SavedTensor> {
        match self {
            Factor::Kept(saved) => Some(saved),
            Factor::Form(_) => None,
        }
    }

    fn layout(&self) -> &SharedLayout {
        match self {
            Factor::Kept(saved) => saved.layout(),
            Factor::Form(layout) => layout,
        }
    }
}

impl Keepsake for [Factor; 2] {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.iter().map(Factor::kept).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.iter_mut().filter_map(Factor::kept_mut).collect()
    }
}

/// What the node of a product of matrices shows of how they lay: the sizes, and of those that have a gradient
/// the strides.
pub(crate) fn show_forms([left, right]: &[Factor; 2], names: [[&'static str; 2]; 2]) -> Attributes {
    let strides = |factor: &Factor, other: &Factor| match other {
        Factor::Kept(_) => factor.layout().strides().into(),
        Factor::Form(_) => Shown::Ints(Vec::new()),
    };
    let form = |[sizes, lie]: [&'static str; 2], factor: &Factor, other: &Factor| {
        [(sizes, factor.layout().into()), (lie, strides(factor, other))]
    };
    [form(names[0], left, right), form(names[1], right, left)].concat()
}

#[derive(Clone, Copy)]
pub(crate) struct Nanoseconds(pub(crate) u64);

/// Multiplications and additions that a processor core does in a nanosecond.
const SPEED: u64 = 50;

/// Estimated nanoseconds of a product.
pub(crate) fn effort<P: Product>(product: &P, a: &Array, b: &Array) -> u64 {
    product.multiplications(&a.layout, &b.layout) / SPEED
}

/// Keeps the factors at inputs `first` and `first + 1`.
pub(crate) fn keep_factors<P: Product>(product: &P, keep: &Keep<'_>, first: usize) -> Factors {
    let (left, right) = (keep.needs(first), keep.needs(first + 1));
    let [a, b] = [keep.layout(first), keep.layout(first + 1)];
    let once = product.multiplications(&a, &b) / SPEED;
    let work = 200 + once.saturating_mul(u64::from(left) + u64::from(right));
    let factor = |needed: bool, index: usize, layout: SharedLayout| match needed {
        true => Factor::Kept(keep.input(index)),
        false => Factor::Form(layout),
    };
    ([factor(right, first, a), factor(left, first + 1, b)], Nanoseconds(work))
}

/// The gradients with respect to the factors at edges `first` and `first + 1`.
pub(crate) fn gradients_of_factors<P: Product>(
    product: &P,
    kept: &Factors,
    at: &At<'_>,
    g: &Tensor,
    first: usize,
) -> Result<[Option<Tensor>; 2]> {
    let like = |index: usize| {
        let edge = at.node.edges().get(index).and_then(Option::as_ref);
        edge.map_or_else(|| g.layout(), |edge| edge.node.form(edge.output).layout.clone())
    };
    let load = |index: usize| conj(load(&kept.0[index], at)?);
    let left = at.needs(first).then(|| product.left(&load(1)?, g, &like(first))).transpose()?;
    let right = at.needs(first + 1).then(|| product.right(&load(0)?, g, &like(first + 1))).transpose()?;
    Ok([left, right])
}

/// `da · b + a · db`
pub(crate) fn tangent_of_product<P: Product>(
    product: &P,
    kept: &Factors,
    at: &At<'_>,
    [da, db]: [Option<&Tensor>; 2],
) -> Result<Option<Tensor>> {
    let left = da.map(|da| product.call(da, &load(&kept.0[1], at)?)).transpose()?;
    let right = db.map(|db| product.call(&load(&kept.0[0], at)?, db)).transpose()?;
    Ok(match (left, right) {
        (Some(left), Some(right)) => Some(ops::add(&left, &right)?),
        (left, right) => left.or(right),
    })
}

fn load(factor: &Factor, at: &At<'_>) -> Result<Tensor> {
    match factor {
        Factor::Kept(saved) => at.load(saved),
        Factor::Form(_) => unreachable!("a factor is kept for the gradient of the other"),
    }
}

/// A product as an operation.
#[derive(Clone)]
struct Times<P>(P);

impl<P: Product> Op for Times<P> {
    type Saved = Factors;
    const SAVED: &'static [&'static str] = P::FACTORS;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn saved_names(&self) -> &'static [&'static str] {
        self.0.factors()
    }

    fn shown(&self, kept: &Self::Saved) -> Attributes {
        self.0.forms().map_or_else(Attributes::new, |names| show_forms(&kept.0, names))
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![self.0.compute(&inputs[0], &inputs[1])?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        self.0.direct()
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep_factors(&self.0, keep, 0)
    }

    fn vjp(&self, kept: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let [left, right] = gradients_of_factors(&self.0, kept, at, single(gradients), 0)?;
        Ok(smallvec![left, right])
    }

    fn jvp(&self, kept: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let tangent = |index: usize| tangents.get(index).and_then(Option::as_ref);
        Ok(smallvec![tangent_of_product(&self.0, kept, at, [tangent(0), tangent(1)])?])
    }

    fn work(&self, kept: &Self::Saved) -> Option<u64> {
        Some(kept.1.0)
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        effort(&self.0, &inputs[0], &inputs[1])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let [a, b] = [call.inputs[0].moved(0)?, call.inputs[1].moved(0)?];
        Ok(smallvec![Samples::first(self.0.batch(&a, &b)?)])
    }
}

impl<P: Plain> Plain for Times<P> {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        P::read(from).map(Times)
    }
}

/// How a product is written as plain data.
pub(crate) const fn row<P: Product + Plain>(name: &'static str) -> Row {
    portable::row::<Times<P>>(name)
}
