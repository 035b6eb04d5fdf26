//! What every product shares: it is linear in both factors, and that is all that a rule has to know.
//! The products themselves stand in `products`; `add_products` adds them to something.

use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, apply_one, single};
use super::batch::{Answer, Call, Samples};
use super::conjugate::conj;
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

/// y = a · b for some product that is linear in a and in b
///
/// dy = da · b + a · db
pub(super) trait Product: Copy + Send + Sync + 'static {
    /// torch's name of the node.
    fn name(&self) -> &'static str;
    /// torch's names of the factors.
    const FACTORS: &'static [&'static str];

    /// `FACTORS`, where they depend on the parameters.
    fn factors(&self) -> &'static [&'static str] {
        Self::FACTORS
    }

    /// The numbers. The factors have fitting shapes and one type, which is not `bool`.
    fn compute(&self, a: &Array, b: &Array) -> Result<Array>;

    /// The product, recorded.
    fn call(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        apply_one(Times(*self), &[a, b])
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

/// The factors that backward needs, and its estimated nanoseconds.
pub(super) type Factors = ([Option<SavedTensor>; 2], Nanoseconds);

#[derive(Clone, Copy)]
pub(super) struct Nanoseconds(pub(super) u64);

/// Multiplications and additions that a processor core does in a nanosecond.
const SPEED: u64 = 50;

/// Estimated nanoseconds of a product.
pub(super) fn effort<P: Product>(product: &P, a: &Tensor, b: &Tensor) -> u64 {
    product.multiplications(&a.layout(), &b.layout()) / SPEED
}

/// Keeps the factors at inputs `first` and `first + 1`.
pub(super) fn keep_factors<P: Product>(product: &P, keep: &Keep<'_>, first: usize) -> Factors {
    let (left, right) = (keep.needs(first), keep.needs(first + 1));
    let once = product.multiplications(&keep.layout(first), &keep.layout(first + 1)) / SPEED;
    let work = 200 + once.saturating_mul(u64::from(left) + u64::from(right));
    ([keep.input_if(right, first), keep.input_if(left, first + 1)], Nanoseconds(work))
}

/// The gradients with respect to the factors at edges `first` and `first + 1`.
pub(super) fn gradients_of_factors<P: Product>(
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
pub(super) fn tangent_of_product<P: Product>(
    product: &P,
    kept: &Factors,
    at: &At<'_>,
    [da, db]: [Option<&Tensor>; 2],
) -> Result<Option<Tensor>> {
    let left = da.map(|da| product.call(da, &load(&kept.0[1], at)?)).transpose()?;
    let right = db.map(|db| product.call(&load(&kept.0[0], at)?, db)).transpose()?;
    Ok(match (left, right) {
        (Some(left), Some(right)) => Some(super::add(&left, &right)?),
        (left, right) => left.or(right),
    })
}

fn load(saved: &Option<SavedTensor>, at: &At<'_>) -> Result<Tensor> {
    match saved {
        Some(saved) => at.load(saved),
        None => unreachable!("a factor is kept for the gradient of the other"),
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
        const FORMS: [[&str; 2]; 2] =
            [["self_sym_sizes", "self_sym_strides"], ["mat2_sym_sizes", "mat2_sym_strides"]];
        if self.0.name() != "MmBackward0" {
            return Attributes::new();
        }
        let forms =
            FORMS.iter().zip(&kept.0).filter_map(|(names, kept)| Some((names, kept.as_ref()?.layout())));
        let forms = forms.flat_map(|(names, layout)| {
            [(names[0], layout.shape().into()), (names[1], layout.strides().into())]
        });
        forms.collect()
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        Ok(smallvec![Tensor::from_array(self.0.compute(&inputs[0].array(), &inputs[1].array())?)])
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

    fn effort(&self, inputs: &[&Tensor]) -> u64 {
        effort(&self.0, inputs[0], inputs[1])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let [a, b] = [call.inputs[0].moved(0)?, call.inputs[1].moved(0)?];
        Ok(smallvec![Samples::first(self.0.batch(&a, &b)?)])
    }
}
