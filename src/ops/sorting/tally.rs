//! How often numbers are there, and how many lie between others.

use crate::schema::{Entry, IntoReply, both, inner};
use smallvec::SmallVec;

use crate::dispatch::modes::recording;
use crate::dispatch::{batch, long_work};
use crate::dtype::{DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::kernels::sorting::tally;
use crate::ops::creation::{cast, copy, create, ranges};
use crate::ops::geometry::reshape;
use crate::ops::reduction::extremes_over;
use crate::shape::{self, Dims};
use crate::storage;
use crate::tensor::{Array, Tensor};

/// The elements in row-major order as those of a type.
fn in_order(x: &Tensor, dtype: DType) -> Result<Array> {
    let array = x.array();
    let array = copy::as_type(&array, dtype)?;
    Ok(copy::in_order(&array)?.into_owned())
}

fn elements<T: Element>(array: &Array) -> Result<&[T]> {
    array.slice().ok_or_else(|| Error::ScalarTypeExpected { expected: T::DTYPE, got: array.dtype }.into())
}

/// How often every number from zero on is there, or the sum of its weights.
pub fn bincount(x: &Tensor, weights: Option<&Tensor>, least: i64) -> Result<Tensor> {
    let given: SmallVec<[&Tensor; 2]> = std::iter::once(x).chain(weights).collect();
    recording::whole("bincount", &given, move |given| {
        counts_of_each(given[0], given.get(1).copied(), least, 0)
    })
}

/// `bincount` of samples along `lead` first dimensions.
fn counts_of_each(x: &Tensor, weights: Option<&Tensor>, least: i64, lead: usize) -> Result<Tensor> {
    let tensors: SmallVec<[&Tensor; 2]> = std::iter::once(x).chain(weights).collect();
    let each = |tensors: &[Tensor]| counts_of_each(&tensors[0], tensors.get(1), least, lead + 1);
    if let Some(counts) = batch::together(&tensors, "bincount", &each) {
        return counts;
    }
    if x.dtype().is_differentiable() || x.dtype() == DType::Bool {
        return Err(Error::NotImplementedFor { operation: "bincount_cpu", dtype: x.dtype() }.into());
    }
    let index = in_order(x, DType::Int64)?;
    let values = elements::<i64>(&index)?;
    let found = long_work::patiently(x.numel() as u64, || Ok(tally::bounds(values)))?;
    if x.ndim() != lead + 1 || found.is_some_and(|(least, _)| least < 0) {
        return Err(Error::BincountInput {}.into());
    }
    if least < 0 {
        return Err(Error::BincountLeast {}.into());
    }
    if weights.is_some_and(|weights| weights.layout().shape() != x.layout().shape()) {
        return Err(Error::BincountWeights {}.into());
    }
    let mut shape: Dims = x.layout().shape().into();
    let size = shape.pop().unwrap_or_default();
    let most = |values: &[i64]| {
        tally::bounds(values).map_or(0, |(_, most)| most.saturating_add(1)).max(least) as usize
    };
    let rows = shape.iter().product();
    let lengths = match size {
        0 => storage::filled(rows, most(&[]))?,
        size => storage::collected(rows, values.chunks(size).map(most))?,
    };
    shape.push(batch::alike_or(&lengths, |&length| vec![length])?);
    if let ([length], None) = (shape.as_slice(), weights) {
        let mut counts = storage::filled(*length, 0i64)?;
        long_work::patiently(x.numel() as u64, || {
            tally::count(values, &mut counts);
            Ok(())
        })?;
        return Tensor::from_slice(&shape, &counts);
    }
    let index = cast::to_dtype(x, DType::Int64)?;
    let (dtype, source) = match weights {
        Some(weights) => {
            let wide = if weights.dtype().is_float() { weights.dtype() } else { DType::Float64 };
            (wide, cast::to_dtype(weights, wide)?)
        }
        None => (DType::Int64, create::ones_like(&index)?),
    };
    let zeros = create::zeros(&shape::signed(&shape), dtype)?;
    crate::ops::indexing::gather::scatter_add(&zeros, -1, &index, &source)
}

/// How many elements of each row of a matrix lie between neighbouring edges of its own: what lies on an edge, above it;
/// on the last one, below. The edges of a row are at equal distances.
pub fn histograms(rows: &Tensor, edges: &Tensor) -> Result<Tensor> {
    recording::whole("histc", &[rows, edges], |given| counts_between(given[0], given[1]))
}

/// How many elements lie in each of `bins` ranges of one width: between bounds, or if those are equal, between the least
/// and the greatest element.
pub fn tallies(x: &Tensor, bins: i64, bounds: [Scalar; 2]) -> Result<Tensor> {
    recording::whole("histc", &[x], move |given| counts_in_ranges(given[0], bins, bounds, 0))
}

/// `tallies` of samples along `lead` first dimensions.
fn counts_in_ranges(x: &Tensor, bins: i64, bounds: [Scalar; 2], lead: usize) -> Result<Tensor> {
    let each = |tensors: &[Tensor]| counts_in_ranges(&tensors[0], bins, bounds, lead + 1);
    if let Some(counts) = batch::together(&[x], "histc", &each) {
        return counts;
    }
    let dtype = if x.dtype().is_half() { x.dtype().wide() } else { x.dtype() };
    let mut shape: Dims = x.layout().shape()[..lead].into();
    let count: usize = shape.iter().product();
    let rows = reshape::reshape_to(&cast::to_dtype(x, dtype)?, &[count, x.numel() / count])?;
    let [low, high] = bounds.map(Scalar::to_f64);
    let (mut lows, mut highs) = match low == high && x.numel() > 0 {
        true => (of_rows(&rows, extremes_over::amin)?, of_rows(&rows, extremes_over::amax)?),
        false => {
            for bound in bounds {
                create::check_value(bound, dtype)?;
            }
            (storage::filled(count, dtype.rounded(low))?, storage::filled(count, dtype.rounded(high))?)
        }
    };
    let mut ranges = lows.iter().zip(&highs);
    if let Some((&low, &high)) = ranges.find(|(low, high)| !low.is_finite() || !high.is_finite()) {
        return Err(Error::HistogramInfinite { low, high }.into());
    }
    if low > high {
        return Err(Error::HistogramBackwards {}.into());
    }
    if !matches!(dtype, DType::Float32 | DType::Float64) {
        let operation = if dtype == DType::Bool { "linspace_cpu" } else { "histogram_cpu" };
        return Err(Error::NotImplementedFor { operation, dtype }.into());
    }
    // Around a single number there is one on each side.
    for (low, high) in lows.iter_mut().zip(&mut highs).filter(|(low, high)| low == high) {
        (*low, *high) = (dtype.rounded(*low - 1.0), dtype.rounded(*high + 1.0));
    }
    let edges = ranges::spaced_rows(&lows, &highs, bins.saturating_add(1), dtype)?;
    shape.push(bins as usize);
    cast::to_dtype(&reshape::reshape_to(&counts_between(&rows, &edges)?, &shape)?, x.dtype())
}

/// What is left of each row of a matrix.
fn of_rows(rows: &Tensor, extreme: fn(&Tensor, &[i64], bool) -> Result<Tensor>) -> Result<Vec<f64>> {
    if rows.dtype().is_complex() || rows.dtype().is_float8() {
        return Err(Error::NotImplementedFor { operation: "aminmax_cpu", dtype: rows.dtype() }.into());
    }
    extreme(rows, &[1], false)?.to_vec::<f64>()
}

fn counts_between(rows: &Tensor, edges: &Tensor) -> Result<Tensor> {
    let dtype = rows.dtype();
    let (count, width) = (rows.layout().shape().first().copied().unwrap_or(1).max(1), edges.numel());
    let (size, width) = (rows.numel() / count, width / count);
    let shape = [count, width.saturating_sub(1)];
    let mut counts = storage::filled(shape[0] * shape[1], 0i64)?;
    let (rows, edges) = (in_order(rows, dtype)?, in_order(edges, dtype)?);
    dispatch!(float dtype, T => {
        let (rows, edges) = (elements::<T>(&rows)?, elements::<T>(&edges)?);
        long_work::patiently(rows.len() as u64, || {
            let of_rows = rows.chunks(size.max(1)).zip(edges.chunks(width.max(1)));
            for (counts, (row, edges)) in counts.chunks_mut(shape[1].max(1)).zip(of_rows) {
                tally::count_between(row, edges, counts);
            }
            Ok(())
        })?;
    }, else {
        return Err(Error::NotImplementedFor { operation: "histogram_cpu", dtype }.into());
    });
    cast::to_dtype(&Tensor::from_slice(&shape, &counts)?, dtype)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "bincount",
        &["(Tensor input, Tensor? weights=None, SymInt minlength=0)"],
        "The frequency of each value in a tensor of integers that are not negative.",
        |a| bincount(a.tensor(0)?, a.optional_tensor(1), a.int(2)?).reply(),
    )
    .operators(&[("-", "bincount | dynamic_output_shape")]),
    inner(
        "tallies",
        &["(Tensor input, int bins, Number min, Number max)"],
        "How many elements lie in each of so many ranges of one width.",
        |a| tallies(a.tensor(0)?, a.int(1)?, [a.number(2)?, a.number(3)?]).reply(),
    ),
    inner(
        "histograms",
        &["(Tensor input, Tensor edges)"],
        "The histogram of every row between edges of its own.",
        |a| histograms(a.tensor(0)?, a.tensor(1)?).reply(),
    ),
];
