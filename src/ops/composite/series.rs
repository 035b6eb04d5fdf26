//! Differences and sums of neighbours, and distances.

use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::ops::composed::{self, Composed};
use crate::ops::kept::Kept;
use crate::ops::operand::Operand;
use crate::ops::select::where_;
use crate::ops::{
    add, cast, compare, create, div, join, mul, norm, part, reduce, reshape, scan, squeeze, sub,
};
use crate::shape;
use crate::tensor::Tensor;

/// The differences of neighbours along a dimension, `times` over.
pub fn diff(
    x: &Tensor,
    times: i64,
    dim: i64,
    before: Option<&Tensor>,
    behind: Option<&Tensor>,
) -> Result<Tensor> {
    if x.ndim() == 0 {
        return Err(Error::DiffScalar {}.into());
    }
    if times < 0 {
        return Err(Error::DiffOrder { order: times }.into());
    }
    let parts: Vec<&Tensor> = before.into_iter().chain([x]).chain(behind).collect();
    let mut y = if parts.len() > 1 { join::cat(&parts, dim)? } else { x.clone() };
    let dim = shape::normalize_dim(dim, y.ndim())? as i64;
    if times == 0 {
        return if parts.len() > 1 { Ok(y) } else { cast::clone(&y) };
    }
    // Once nothing is left, nothing changes any more.
    let times = times.min(y.layout().shape()[dim as usize] as i64);
    for _ in 0..times {
        let length = y.layout().shape()[dim as usize] as i64;
        let few = (length - 1).max(0);
        let (later, earlier) = (part::narrow(&y, dim, length - few, few)?, part::narrow(&y, dim, 0, few)?);
        y = match y.dtype() {
            crate::dtype::DType::Bool => crate::ops::logical::xor(&later, &earlier)?,
            _ => sub(&later, &earlier)?,
        };
    }
    Ok(y)
}

/// The areas of the trapezoids between neighbours; `distance` is a number, or the places of the points.
fn trapezoids(y: &Tensor, distance: Operand<'_>, dim: i64, operation: &'static str) -> Result<Tensor> {
    let dim = shape::normalize_dim(dim, y.ndim())? as i64;
    let length = y.layout().shape().get(dim as usize).copied().unwrap_or(1) as i64;
    let few = (length - 1).max(0);
    let (left, right) = (part::narrow(y, dim, 0, few)?, part::narrow(y, dim, length - few, few)?);
    let sums = add(&left, &right)?;
    match distance {
        Operand::Scalar(width) => mul(&sums, width.to_f64() / 2.0),
        Operand::Tensor(places) => {
            if places.ndim() == 1 && places.numel() as i64 != length {
                return Err(Error::TrapezoidPlaces { operation }.into());
            }
            let widths = if places.ndim() == 1 {
                let mut shape = vec![1; y.ndim()];
                shape[dim as usize] = few;
                reshape::reshape(&diff(places, 1, -1, None, None)?, &shape)?
            } else {
                diff(places, 1, dim, None, None)?
            };
            div(&mul(&sums, &widths)?, 2.0)
        }
    }
}

/// The area under points that are joined by straight lines.
pub fn trapezoid(y: &Tensor, distance: Operand<'_>, dim: i64) -> Result<Tensor> {
    reduce::sum(&trapezoids(y, distance, dim, "trapezoid")?, Some(&[dim]), false, None)
}

/// The areas up to each point.
pub fn cumulative_trapezoid(y: &Tensor, distance: Operand<'_>, dim: i64) -> Result<Tensor> {
    scan::cumsum(&trapezoids(y, distance, dim, "cumulative_trapezoid")?, dim, None)
}

/// The norms of the differences of every row of one matrix and every row of another.
pub fn cdist(a: &Tensor, b: &Tensor, order: f64) -> Result<Tensor> {
    for (name, x) in [("X1", a), ("X2", b)] {
        if x.ndim() < 2 {
            return Err(Error::CdistRank { name, ndim: x.ndim() }.into());
        }
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
    let columns = |x: &Tensor| x.layout().shape()[x.ndim() - 1];
    if columns(a) != columns(b) {
        return Err(Error::CdistColumns { first: columns(a), second: columns(b) }.into());
    }
    let apart = sub(&squeeze::unsqueeze(a, -2)?, &squeeze::unsqueeze(b, -3)?)?;
    norm::vector_norm(&apart, order, Some(&[-1]), false, None)
}

/// The norm of a difference.
pub fn dist(a: &Tensor, b: &Tensor, order: f64) -> Result<Tensor> {
    norm::vector_norm(&sub(a, b)?, order, None, false, None)
}

/// The parts along a dimension, those scaled down whose norm is above a bound.
pub fn renorm(x: &Tensor, order: f64, dim: i64, most: f64) -> Result<Tensor> {
    if order <= 0.0 {
        return Err(Error::RenormOrder {}.into());
    }
    if most < 0.0 {
        return Err(Error::RenormBound { bound: most }.into());
    }
    if x.ndim() < 2 {
        return Err(Error::RenormRank { ndim: x.ndim() }.into());
    }
    let dim = shape::normalize_dim(dim, x.ndim())?;
    let others: Vec<i64> = (0..x.ndim()).filter(|&other| other != dim).map(|other| other as i64).collect();
    let lengths = norm::vector_norm(x, order, Some(&others), true, None)?;
    let factor = div(most, &add(&lengths, 1e-7)?)?;
    mul(x, &where_(&compare::gt(&lengths, most)?, &factor, 1.0)?)
}

/// The vectors of a dimension crossed with those of another tensor.
pub fn cross(a: &Tensor, b: &Tensor, dim: i64) -> Result<Tensor> {
    if a.ndim() != b.ndim() {
        return Err(Error::CrossRank {}.into());
    }
    let place = shape::normalize_dim(dim, a.ndim())?;
    let (left, right) = (a.layout(), b.layout());
    let size = |layout: &shape::Layout| layout.shape().get(place).copied().unwrap_or(1);
    if size(&left) != 3 || size(&right) != 3 {
        return Err(Error::CrossSize { dim, left: size(&left), right: size(&right) }.into());
    }
    composed::apply(Cross { given: dim, dim: place as i64 }, &[a, b])
}

/// y = a × b along a dimension
///
/// dy = da × b + a × db,  ā = b × ȳ,  b̄ = ȳ × a
#[derive(Clone)]
struct Cross {
    /// The dimension as the caller named it.
    given: i64,
    dim: i64,
}

impl Composed for Cross {
    const KEEPS: &'static [&'static str] = &["self", "other"];

    fn name(&self) -> &'static str {
        "LinalgCrossBackward0"
    }

    fn shown(&self) -> Attributes {
        shown! { dim: self.given }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let turned = |x: &Tensor, by: i64| crate::ops::rearrange::roll(x, &[by], &[self.dim]);
        let (a, b) = (inputs[0], inputs[1]);
        sub(&mul(&turned(a, -1)?, &turned(b, -2)?)?, &mul(&turned(a, -2)?, &turned(b, -1)?)?)
    }

    fn back(&self, index: usize, kept: &Kept, gradient: &Tensor) -> Result<Tensor> {
        match index {
            0 => cross(kept.input(1), gradient, self.dim),
            _ => cross(gradient, kept.input(0), self.dim),
        }
    }

    fn forth(&self, index: usize, kept: &Kept, tangent: &Tensor) -> Result<Tensor> {
        match index {
            0 => cross(tangent, kept.input(1), self.dim),
            _ => cross(kept.input(0), tangent, self.dim),
        }
    }
}

/// How often every number from zero on is there, or the sum of its weights.
pub fn bincount(x: &Tensor, weights: Option<&Tensor>, least: i64) -> Result<Tensor> {
    if x.dtype().is_float() || x.dtype() == crate::dtype::DType::Bool {
        return Err(Error::NotImplementedFor { operation: "bincount_cpu", dtype: x.dtype() }.into());
    }
    let values = x.to_vec::<i64>();
    if x.ndim() != 1 || values.iter().any(|&value| value < 0) {
        return Err(Error::BincountInput {}.into());
    }
    if least < 0 {
        return Err(Error::BincountLeast {}.into());
    }
    if weights.is_some_and(|weights| weights.ndim() != 1 || weights.numel() != values.len()) {
        return Err(Error::BincountWeights {}.into());
    }
    let count = values.iter().max().map_or(0, |&most| most + 1).max(least).max(0);
    let index = cast::to_dtype(x, crate::dtype::DType::Int64)?;
    match weights {
        Some(weights) => {
            let wide =
                if weights.dtype().is_float() { weights.dtype() } else { crate::dtype::DType::Float64 };
            let zeros = create::zeros(&[count], wide)?;
            crate::ops::gather::scatter_add(&zeros, 0, &index, &cast::to_dtype(weights, wide)?)
        }
        None => {
            let zeros = create::zeros(&[count], crate::dtype::DType::Int64)?;
            crate::ops::gather::scatter_add(&zeros, 0, &index, &create::ones_like(&index)?)
        }
    }
}

/// Whether every element is one of those of another tensor.
pub fn isin(x: &Tensor, among: &Tensor, invert: bool) -> Result<Tensor> {
    let flat = reshape::reshape(among, &[-1])?;
    let hits = compare::eq(&squeeze::unsqueeze(x, -1)?, &flat)?;
    let found = crate::ops::truth::any(&hits, Some(&[-1]), false)?;
    if invert { crate::ops::logical::not(&found) } else { Ok(found) }
}
