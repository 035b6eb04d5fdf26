//! What statistics asks of samples: how they vary together, and what lies below a share of them.

use crate::dispatch::batch;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::ops::creation::{cast, create};
use crate::ops::geometry::squeeze::Squeezed;
use crate::ops::geometry::{part, permute, reshape, squeeze};
use crate::ops::indexing::gather;
use crate::ops::linalg::products;
use crate::ops::pointwise::select::masked_fill;
use crate::ops::pointwise::{blend, clamp, compare, logical};
use crate::ops::reduction::{extremes_over, reduce, truth};
use crate::ops::sorting::picked;
use crate::ops::{Operand, Value, conjugate, div, floor, mul, round, sub};
use crate::schema::warn;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Types, both};
use crate::shape;
use crate::tensor::Tensor;

/// How much observations count.
#[derive(Clone, Copy, Default)]
pub struct Weights<'a> {
    /// How often each was made.
    pub frequencies: Option<&'a Tensor>,
    /// How much each is to be relied on.
    pub importance: Option<&'a Tensor>,
}

impl Weights<'_> {
    /// Both in one, if there are any.
    fn product(&self) -> Result<Option<Tensor>> {
        match (self.frequencies, self.importance) {
            (Some(often), Some(important)) => mul(often, important).map(Some),
            (often, important) => Ok(often.or(important).cloned()),
        }
    }

    fn check(&self, observations: usize) -> Result<()> {
        let whole = |dtype: DType| !dtype.is_differentiable() && dtype != DType::Bool;
        if let Some(often) = self.frequencies {
            check_weights(often, "fweights", "integral", whole(often.dtype()), observations)?;
        }
        match self.importance {
            Some(x) => check_weights(x, "aweights", "floating point", x.dtype().is_float(), observations),
            None => Ok(()),
        }
    }
}

fn check_weights(
    x: &Tensor,
    weights: &'static str,
    expected: &'static str,
    fits: bool,
    observations: usize,
) -> Result<()> {
    if x.ndim() > 1 {
        return Err(Error::CovWeightsRank { weights, ndim: x.ndim() }.into());
    }
    if !fits {
        return Err(Error::CovWeightsDType { weights, expected, dtype: x.dtype() }.into());
    }
    if x.numel() != observations {
        return Err(Error::CovWeightsCount { weights, count: x.numel(), observations }.into());
    }
    if observations > 0 && extremes_over::min(x)?.item()?.to_f64() < 0.0 {
        return Err(Error::CovWeightsNegative { weights }.into());
    }
    Ok(())
}

/// Covariances.
pub struct Covariance {
    /// Those of all pairs of rows.
    pub values: Tensor,
    /// Whether there were more observations than the correction takes away.
    pub is_determined: bool,
}

/// The covariances of the rows of a matrix, whose columns are observations.
pub fn cov(x: &Tensor, correction: i64, weights: Weights<'_>) -> Result<Covariance> {
    if x.ndim() > 2 {
        return Err(Error::StatisticRank { operation: "cov", ndim: x.ndim() }.into());
    }
    if x.dtype() == DType::Bool {
        return Err(Error::CovBool {}.into());
    }
    let rows = if x.ndim() < 2 { reshape::view(x, &[1, -1])? } else { x.clone() };
    let observations = rows.layout().shape()[1];
    weights.check(observations)?;
    let each = weights.product()?;
    let total = match &each {
        Some(each) => Value::Tensor(reduce::sum(each, None, false, None)?),
        None => Value::Scalar(Scalar::Int(observations as i64)),
    };
    if let Value::Tensor(total) = &total
        && observations > 0
        && total.item()?.to_f64() == 0.0
    {
        return Err(Error::CovWeightsZero {}.into());
    }
    let weighed = |x: &Tensor| each.as_ref().map_or_else(|| Ok(x.clone()), |each| mul(x, each));
    let mean = div(&reduce::sum(&weighed(&rows)?, Some(&[1]), false, None)?, &total)?;
    let free = freedom(&total, &each, weights.importance, correction)?;
    let is_determined = match &free {
        Value::Tensor(free) => free.item()?.to_f64() > 0.0,
        Value::Scalar(free) => free.to_f64() > 0.0,
    };
    let free = if is_determined { free } else { Value::Scalar(Scalar::Int(0)) };
    let centred = sub(&rows, &squeeze::unsqueeze(&mean, 1)?)?;
    let turned = conjugate::conj(permute::t(&weighed(&centred)?)?)?;
    let products = products::mm(&centred, &turned)?;
    let values = squeeze::squeeze(&div(&products, &free)?, Squeezed::All)?;
    Ok(Covariance { values, is_determined })
}

/// How many observations vary freely.
fn freedom(
    total: &Value,
    each: &Option<Tensor>,
    importance: Option<&Tensor>,
    correction: i64,
) -> Result<Value> {
    let less = match (each, importance) {
        (Some(each), Some(importance)) if correction != 0 => {
            let sum = reduce::sum(&mul(each, importance)?, None, false, None)?;
            Value::Tensor(div(&mul(&sum, correction)?, total)?)
        }
        (Some(_), _) if correction == 0 => return Ok(total.clone()),
        _ => Value::Scalar(Scalar::Int(correction)),
    };
    match (total, &less) {
        (Value::Scalar(total), Value::Scalar(less)) => {
            Ok(Value::Scalar(Scalar::Int((total.to_f64() - less.to_f64()) as i64)))
        }
        _ => sub(Operand::from(total), Operand::from(&less)).map(Value::Tensor),
    }
}

/// The correlations of the rows of a matrix.
pub fn corrcoef(x: &Tensor) -> Result<Covariance> {
    if x.ndim() > 2 {
        return Err(Error::StatisticRank { operation: "corrcoef", ndim: x.ndim() }.into());
    }
    let Covariance { values: covariances, is_determined } = cov(x, 1, Weights::default())?;
    correlations(&covariances).map(|values| Covariance { values, is_determined })
}

fn correlations(covariances: &Tensor) -> Result<Tensor> {
    if covariances.ndim() == 0 {
        return div(covariances, covariances);
    }
    let deviations = crate::ops::sqrt(&conjugate::real(&part::diagonal(covariances, 0, 0, 1)?)?)?;
    let scaled = div(covariances, &reshape::view(&deviations, &[-1, 1])?)?;
    let scaled = div(&scaled, &reshape::view(&deviations, &[1, -1])?)?;
    if scaled.dtype().is_complex() {
        let part = |x: Result<Tensor>| clamp::clamp(&x?, Some((-1).into()), Some(1.into()));
        let (real, imaginary) = (part(conjugate::real(&scaled))?, part(conjugate::imag(&scaled))?);
        return crate::ops::complex::complex(&real, &imaginary);
    }
    clamp::clamp(&scaled, Some((-1).into()), Some(1.into()))
}

/// What a quantile is that lies between two elements.
#[derive(Clone, Copy, PartialEq)]
pub enum Between {
    /// On the line through both.
    Linear,
    /// The one below.
    Lower,
    /// The one above.
    Higher,
    /// In their middle.
    Midpoint,
    /// The one that is nearer.
    Nearest,
}

impl Between {
    /// By its name in torch.
    pub fn named(name: &str) -> Result<Between> {
        Ok(match name {
            "linear" => Between::Linear,
            "lower" => Between::Lower,
            "higher" => Between::Higher,
            "midpoint" => Between::Midpoint,
            "nearest" => Between::Nearest,
            _ => return Err(Error::QuantileInterpolation { name: name.to_owned() }.into()),
        })
    }
}

/// How quantiles are found.
#[derive(Clone, Copy)]
pub struct Quantile {
    /// The dimension, or all elements.
    pub dim: Option<i64>,
    /// Whether it stays, with size one.
    pub keepdim: bool,
    /// What lies between elements.
    pub between: Between,
    /// Whether what is not a number is passed over. Otherwise there is no quantile if there is one.
    pub numbers_only: bool,
}

/// The elements below which a share of all lies, for one share or several.
pub fn quantile(x: &Tensor, q: &Tensor, how: Quantile) -> Result<Tensor> {
    check_quantile(x, q)?;
    let dim = how.dim.map(|dim| shape::normalize_dim(dim, x.ndim())).transpose()?;
    let layout = x.layout();
    let mut sizes = match dim {
        _ if how.keepdim => vec![1; layout.ndim()],
        Some(_) => shape::signed(layout.shape()),
        None => Vec::new(),
    };
    if let Some(dim) = dim.filter(|_| layout.ndim() > 0) {
        sizes = shape::signed(layout.shape());
        match how.keepdim {
            true => sizes[dim] = 1,
            false => drop(sizes.remove(dim)),
        }
    }
    let sorted = sorted_behind(x, dim)?;
    let count = sorted.layout().shape()[sorted.ndim() - 1] as i64;
    sizes.push(count);
    let (sorted, last) = (reshape::view(&sorted, &sizes)?, count - 1);
    let ranks = ranks(&sorted, &flat(q)?, last, how.numbers_only)?;
    let values = between(&sorted, &ranks, how.between)?;
    if q.ndim() > 0 {
        squeeze::unsqueeze_(&values, 0)?;
        permute::transpose_(&values, 0, -1)?;
    }
    squeeze::squeeze_(&values, Squeezed::One(-1))?;
    Ok(values)
}

fn check_quantile(x: &Tensor, q: &Tensor) -> Result<()> {
    if x.numel() == 0 {
        return Err(Error::QuantileEmpty {}.into());
    }
    if q.ndim() > 1 {
        return Err(Error::QuantileRank {}.into());
    }
    if !x.dtype().is_float() || x.dtype().is_stored() {
        return Err(Error::QuantileDType {}.into());
    }
    if q.dtype() != x.dtype() {
        return Err(Error::QuantileDTypes {}.into());
    }
    // What is not a number is no share either.
    let inside = logical::and(&compare::ge(q, 0)?, &compare::le(q, 1)?)?;
    if q.numel() > 0 && truth::all(&batch::all_of(&inside), None, false)?.item()?.to_f64() == 0.0 {
        return Err(Error::QuantileShares {}.into());
    }
    Ok(())
}

/// The elements in order, those of the dimension last.
fn sorted_behind(x: &Tensor, dim: Option<usize>) -> Result<Tensor> {
    let lines = match dim {
        None => flat(x)?,
        Some(dim) if dim + 1 == x.ndim() => x.clone(),
        Some(dim) => permute::transpose(&squeeze::unsqueeze(x, -1)?, dim as i64, -1)?,
    };
    Ok(picked::sort(&lines, -1, false)?.0)
}

/// The elements in one dimension.
fn flat(x: &Tensor) -> Result<Tensor> {
    if x.ndim() == 1 { Ok(x.clone()) } else { reshape::reshape(x, &[-1]) }
}

/// Which elements those are in order that the shares name, with fractions.
fn ranks(sorted: &Tensor, q: &Tensor, last: i64, numbers_only: bool) -> Result<Tensor> {
    let missing = compare::isnan(sorted)?;
    if numbers_only {
        let counts = reduce::sum(&logical::not(&missing)?, Some(&[-1]), true, None)?;
        let ranks = mul(q, &sub(&counts, 1)?)?;
        return masked_fill(&ranks, &compare::lt(&ranks, 0)?, 0);
    }
    let missing = truth::any(&missing, Some(&[-1]), true)?;
    masked_fill(&mul(q, last)?, &missing, last)
}

fn between(sorted: &Tensor, ranks: &Tensor, between: Between) -> Result<Tensor> {
    let at = |ranks: &Tensor| {
        let index = cast::to_dtype(&ranks.detach(), DType::Int64)?;
        gather::gather(sorted, -1, &index)
    };
    let above = || crate::ops::ceil(ranks);
    match between {
        Between::Lower => at(&floor(ranks)?),
        Between::Higher => at(&above()?),
        Between::Nearest => at(&round(ranks)?),
        Between::Linear => {
            let whole = cast::to_dtype(&ranks.detach(), DType::Int64)?;
            let weights = sub(ranks, &whole)?;
            blend::lerp(&at(ranks)?, &at(&above()?)?, Operand::Tensor(&weights))
        }
        Between::Midpoint => {
            let half = create::full_like(ranks, Scalar::Float(0.5), ranks.dtype())?;
            blend::lerp(&at(ranks)?, &at(&above()?)?, Operand::Tensor(&half))
        }
    }
}

const QUANTILE: &[&str] = &[
    "(Tensor input, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\", Tensor out=None)",
    "(Tensor input, float q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\", Tensor out=None)",
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("quantile", QUANTILE, "The q-th quantiles of the elements along a dimension.", |a| shares(a, false))
        .written(&OutPolicy::PLAIN.copied().typed(Types::Quantile)),
    both("nanquantile", QUANTILE, "The q-th quantiles along a dimension, ignoring NaN.", |a| shares(a, true))
        .written(&OutPolicy::PLAIN.copied().typed(Types::Quantile)),
    both(
        "cov",
        &["(Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None)"],
        "The covariance matrix of variables, a row each.",
        |a| {
            let weights = Weights { frequencies: a.optional_tensor(2), importance: a.optional_tensor(3) };
            determined(cov(a.tensor(0)?, a.int(1)?, weights))
        },
    ),
    both(
        "corrcoef",
        &["(Tensor input)"],
        "The matrix of Pearson's correlation coefficients of variables, a row each.",
        |a| determined(corrcoef(a.tensor(0)?)),
    ),
];

fn shares(a: &dyn Arguments, numbers_only: bool) -> Result<Reply> {
    let x = a.tensor(0)?;
    let q = match a.overload() {
        0 => a.tensor(1)?.clone(),
        _ => {
            let q = a.float(1)?;
            if !(0.0..=1.0).contains(&q) {
                return Err(Error::QuantileShare { q }.into());
            }
            let dtype = if x.dtype().is_float() { x.dtype() } else { DType::Float64 };
            create::full(&[], Scalar::Float(q), dtype)?
        }
    };
    let between = Between::named(&a.text(4)?)?;
    let how = Quantile { dim: a.optional_int(2)?, keepdim: a.boolean(3), between, numbers_only };
    quantile(x, &q, how).reply()
}

/// Covariances, with a warning if nothing determines them.
fn determined(found: Result<Covariance>) -> Result<Reply> {
    let found = found?;
    if !found.is_determined {
        warn(Error::CovarianceUndetermined {})?;
    }
    Ok(found.values.into())
}
