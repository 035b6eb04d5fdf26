//! Distances: norms of differences, of all elements or of every pair of rows.

use crate::schema::{Entry, IntoReply, both, inner};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::composite;
use crate::dispatch::composites::composite::Composite;
use crate::dispatch::composites::saved_inputs::LoadedInputs;
use crate::dispatch::modes::recording;
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::linalg::distance::Norm;
use crate::ops::complex::real_product;
use crate::ops::composite::pairs::{Pairs, have_loops, of_differences};
use crate::ops::creation::{cast, create};
use crate::ops::geometry::{expand, join, part, permute, reshape, squeeze};
use crate::ops::linalg::matmul::matmul;
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select::masked_fill;
use crate::ops::reduction::{norm, reduce};
use crate::ops::{add, conjugate, div, mul, neg, sub};
use crate::shape::{self, Dims};
use crate::tensor::{Array, Tensor};

/// Of more rows than so many torch calculates distances by products of matrices.
const MANY: usize = 25;

/// Elements of the differences that are there at once.
const FEW: usize = 1 << 20;

/// What `of` makes of some rows of these tensors at a time, one below the other, where a row is compared with so
/// many elements: so the differences of all pairs are never there together.
fn by_rows(
    tensors: &[&Tensor],
    elements: usize,
    of: impl Fn(&[&Tensor]) -> Result<Tensor>,
) -> Result<Tensor> {
    let layout = tensors[0].layout();
    let (rows, few) = (layout.shape()[layout.ndim() - 2], (FEW / elements.max(1)).max(1));
    if rows <= few {
        return of(tensors);
    }
    let parts = (0..rows).step_by(few).map(|start| {
        let part = |x: &&Tensor| part::narrow(x, -2, start as i64, few.min(rows - start) as i64);
        let parts: Vec<Tensor> = tensors.iter().map(part).collect::<Result<_>>()?;
        of(&parts.iter().collect::<Vec<_>>())
    });
    let parts: Vec<Tensor> = parts.collect::<Result<_>>()?;
    join::cat(&parts.iter().collect::<Vec<_>>(), -2)
}

/// How many elements of `b`, as often as it is repeated beside `a`, a row of that is compared with.
fn compared(a: &Tensor, b: &Tensor) -> Result<usize> {
    let lead = |x: &Tensor| -> Dims { x.layout().shape()[..x.ndim() - 2].into() };
    let (own, batch) = (lead(b), shape::broadcast(&lead(a), &lead(b))?);
    let times = batch.iter().product::<usize>().checked_div(own.iter().product());
    Ok(b.numel().saturating_mul(times.unwrap_or(0)))
}

/// The norms of the differences of all pairs of rows.
fn norms(a: &Tensor, b: &Tensor, order: Scalar) -> Result<Tensor> {
    if let Some(norm) = Norm::of_order(order.to_f64()).filter(|_| have_loops(&[a, b])) {
        return Ok(Tensor::from_array(Pairs::new(&[a, b])?.norms(norm)?));
    }
    let others = squeeze::unsqueeze(b, -3)?;
    by_rows(&[a], compared(a, b)?, |rows| {
        of_differences(&sub(&squeeze::unsqueeze(rows[0], -2)?, &others)?, order)
    })
}

/// Whether distances are those that torch calculates by products of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByProducts {
    /// If there are many rows.
    OfMany,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The norms of the differences of every row of one matrix and every row of another.
pub fn cdist(a: &Tensor, b: &Tensor, order: f64, products: ByProducts) -> Result<Tensor> {
    for (name, x) in [("X1", a), ("X2", b)] {
        if x.ndim() < 2 {
            return Err(Error::CdistRank { name, ndim: x.ndim() }.into());
        }
    }
    let columns = |x: &Tensor| x.layout().shape()[x.ndim() - 1];
    if columns(a) != columns(b) {
        return Err(Error::CdistColumns { first: columns(a), second: columns(b) }.into());
    }
    for (name, x) in [("X1", a), ("X2", b)] {
        if !x.dtype().is_float() {
            return Err(Error::CdistDType { name, dtype: x.dtype() }.into());
        }
    }
    if order < 0.0 {
        return Err(Error::CdistOrder {}.into());
    }
    if a.dtype() != b.dtype() {
        return Err(Error::CdistDTypes { first: a.dtype(), second: b.dtype() }.into());
    }
    let rows = |x: &Tensor| x.layout().shape()[x.ndim() - 2];
    let many = match products {
        ByProducts::OfMany => rows(a) > MANY || rows(b) > MANY,
        always => always == ByProducts::Always,
    };
    if many && order == 2.0 && rows(a) > 0 && rows(b) > 0 && columns(a) > 0 {
        return euclidean(a, b);
    }
    composite::apply(Distance { order: order.into(), pairs: true }, &[a, b])
}

/// The Euclidean distances, of all matrices as one batch of them.
fn euclidean(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (left, right) = (a.layout(), b.layout());
    let split = |shape: &[usize]| -> (Dims, Dims) {
        (shape[..shape.len() - 2].into(), shape[shape.len() - 2..].into())
    };
    let ((a_lead, a_end), (b_lead, b_end)) = (split(left.shape()), split(right.shape()));
    let lead = shape::broadcast(&a_lead, &b_lead)?;
    let count: usize = lead.iter().product();
    let batch = |x: &Tensor, end: &Dims| {
        let wide = expand::expand(x, &shape::signed(&[&lead[..], end].concat()))?;
        reshape::reshape_to(&wide, &[count, end[0], end[1]])
    };
    let distances = match count {
        1 => apply_one(EuclideanDistance, &[a, b])?,
        _ => apply_one(EuclideanDistance, &[&batch(a, &a_end)?, &batch(b, &b_end)?])?,
    };
    reshape::reshape_to(&distances, &[&lead[..], &[a_end[0], b_end[0]]].concat())
}

/// The norm of a difference.
pub fn dist(a: &Tensor, b: &Tensor, order: Scalar) -> Result<Tensor> {
    let dtype = a.dtype().promote(b.dtype());
    if !dtype.is_differentiable() {
        return Err(Error::DistanceDType { dtype }.into());
    }
    composite::apply(Distance { order, pairs: false }, &[a, b])
}

/// y = |a - b|, of all elements or of every `pair` of rows
///
/// ∂y/∂a is the slope of the norm at the difference, ∂y/∂b its negative
#[derive(Clone)]
struct Distance {
    order: Scalar,
    pairs: bool,
}

impl Distance {
    /// The difference, and along which dimensions its norm is taken.
    fn apart(&self, a: &Tensor, b: &Tensor) -> Result<(Tensor, Option<&'static [i64]>)> {
        match self.pairs {
            true => Ok((sub(&squeeze::unsqueeze(a, -2)?, &squeeze::unsqueeze(b, -3)?)?, Some(&[-1]))),
            false => Ok((sub(a, b)?, None)),
        }
    }

    /// The gradient of `a`, of which the rows come first, from that of their distances `y` to `b`.
    fn of_rows(&self, g: &Tensor, a: &Tensor, b: &Tensor, y: &Tensor) -> Result<Tensor> {
        let order = self.order.to_f64();
        if order == 0.0 {
            return create::zeros_like(a);
        }
        let norm = Norm::of_order(order).filter(|&norm| norm != Norm::Greatest);
        if let Some(norm) = norm.filter(|_| have_loops(&[a, b, y, g])) {
            let mut found = recording::as_one("CdistBackward0", &[a, b, y, g], 1, move |given| {
                Ok(smallvec![Tensor::from_array(Pairs::new(given)?.gradients(norm)?)])
            })?;
            return found.pop().map_or_else(|| unreachable!("there is one"), Ok);
        }
        by_rows(&[a, y, g], compared(a, b)?, |rows| {
            let (apart, dims) = self.apart(rows[0], b)?;
            let (y, g) = (squeeze::unsqueeze(rows[1], -1)?, squeeze::unsqueeze(rows[2], -1)?);
            reduce::sum(&norm::back(&apart, &y, &g, order, dims)?, Some(&[-2]), false, None)
        })
    }

    /// The tensor, or its negative if the input is what is subtracted.
    fn signed(x: Tensor, index: usize) -> Result<Tensor> {
        if index == 0 { Ok(x) } else { neg(&x) }
    }
}

impl Composite for Distance {
    const KEEPS: &'static [&'static str] = &["self", "other"];
    const CURVED: bool = true;
    const KEEPS_RESULT: bool = true;

    fn name(&self) -> &'static str {
        if self.pairs { "CdistBackward0" } else { "DistBackward0" }
    }

    fn names(&self) -> &'static [&'static str] {
        if self.pairs { &["x1", "x2", "result"] } else { &["self", "other", "result"] }
    }

    fn shown(&self) -> Attributes {
        shown! { p: self.order }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        match self.pairs {
            true => norms(inputs[0], inputs[1], self.order),
            false => norm::vector_norm(&sub(inputs[0], inputs[1])?, self.order, None, false, None),
        }
    }

    fn vjp(&self, index: usize, kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        let (a, b, y) = (kept.input(0), kept.input(1), kept.result());
        if !self.pairs {
            let apart = sub(a, b)?;
            if self.order.to_f64() == 0.0 {
                return create::zeros_like(kept.input(index));
            }
            let toward = norm::back(&apart, y, gradient, self.order.to_f64(), None)?;
            return Distance::signed(conjugate::conj(toward)?, index);
        }
        let columns = |x: &Tensor| cast::contiguous(&permute::transpose(x, -2, -1)?);
        match index {
            0 => self.of_rows(gradient, a, b, y),
            _ => self.of_rows(&columns(gradient)?, b, a, &columns(y)?),
        }
    }

    fn jvp(&self, index: usize, kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        let (apart, dims) = self.apart(kept.input(0), kept.input(1))?;
        let (y, moved) = match self.pairs {
            true => {
                let others = if index == 0 { -2 } else { -3 };
                (squeeze::unsqueeze(kept.result(), -1)?, squeeze::unsqueeze(tangent, others)?)
            }
            false => (kept.result().clone(), tangent.clone()),
        };
        let slope = norm::slope(&apart, &y, self.order.to_f64(), dims)?;
        let along = real_product(&slope, &moved)?;
        let sum = reduce::sum(&along, dims, false, None)?;
        match self.order.to_f64() == 0.0 {
            true => create::zeros_like(&sum),
            false => Distance::signed(sum, index),
        }
    }
}

/// y = |a - b| of every pair of rows
///
/// With q = ȳ/y, and 0 where y is 0: ā = a Σ q - q b, b̄ = b Σ qᵀ - qᵀ a, and
/// dy = (Σ a da - da bᵀ + Σ b db - a dbᵀ)/y
#[derive(Clone)]
struct EuclideanDistance;

/// The transposed matrices.
fn turned(x: &Tensor) -> Result<Tensor> {
    permute::transpose(x, -2, -1)
}

/// A quotient, and 0 where the distance is 0.
fn over(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    masked_fill(&div(x, y)?, &compare::eq(y, 0)?, 0.0)
}

impl Op for EuclideanDistance {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["x1", "x2", "result"];

    fn name(&self) -> &'static str {
        "EuclideanDistBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![Pairs::alike(inputs)?.norms(Norm::Root)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1), keep.output(0)]
    }

    fn vjp(&self, [a, b, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, b, y) = (at.load(a)?, at.load(b)?, at.load(y)?);
        let q = over(single(gradients), &y)?;
        let to_a = || sub(&mul(&a, &reduce::sum(&q, Some(&[-1]), true, None)?)?, &matmul(&q, &b)?);
        let to_b = || {
            let sums = squeeze::unsqueeze(&reduce::sum(&q, Some(&[-2]), false, None)?, -1)?;
            sub(&mul(&b, &sums)?, &matmul(&turned(&q)?, &a)?)
        };
        let (to_a, to_b) = (at.needs(0).then(to_a), at.needs(1).then(to_b));
        Ok(smallvec![to_a.transpose()?, to_b.transpose()?])
    }

    fn jvp(&self, [a, b, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, b, y) = (at.load(a)?, at.load(b)?, at.load(y)?);
        let along = |x: &Tensor, t: &Tensor| reduce::sum(&mul(x, t)?, Some(&[-1]), true, None);
        let of_a = tangents[0].as_ref().map(|t| sub(&along(&a, t)?, &matmul(t, &turned(&b)?)?));
        let of_b = tangents[1].as_ref().map(|t| sub(&turned(&along(&b, t)?)?, &matmul(&a, &turned(t)?)?));
        let moved = match (of_a.transpose()?, of_b.transpose()?) {
            (Some(a), Some(b)) => add(&a, &b)?,
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => unreachable!("rules run with a tangent"),
        };
        one(over(&moved, &y)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "cdist",
        &["(Tensor x1, Tensor x2, float p=2, int compute_mode=0)"],
        "The p-norm distance between every pair of rows of two batches of vectors.",
        |a| {
            let products = match a.int(3)? {
                0 => ByProducts::OfMany,
                1 => ByProducts::Always,
                _ => ByProducts::Never,
            };
            cdist(a.tensor(0)?, a.tensor(1)?, a.float(2)?, products).reply()
        },
    ),
    both("dist", &["(Tensor input, Tensor other, Number p=2)"], "The p-norm of `input - other`.", |a| {
        dist(a.tensor(0)?, a.tensor(1)?, a.number(2)?).reply()
    })
    .operators(&[("=", "dist")]),
];
