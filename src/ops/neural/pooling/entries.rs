//! The entries of pooling: what is read of a call, and what torch refuses before it calculates.

use super::max_pool::{adaptive_max_pool, max_pool};
use super::mean_pool::{Pool, adaptive_mean_pool, mean_pool};
use crate::error::{Error, Result};
use crate::ops::geometry::squeeze::{Squeezed, squeeze, unsqueeze};
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Types, function, inner};
use crate::tensor::Tensor;

macro_rules! greatest {
    ($count:literal, $result:literal) => {
        &[concat!(
            "(Tensor input, int[",
            $count,
            "] kernel_size, int[",
            $count,
            "] stride=[], int[",
            $count,
            "] padding=0, int[",
            $count,
            "] dilation=1, bool ceil_mode=False) -> ",
            $result
        )]
    };
}

macro_rules! averaged {
    ($count:literal, $rest:literal) => {
        &[concat!(
            "(Tensor input, int[",
            $count,
            "] kernel_size, int[",
            $count,
            "] stride=[], int[",
            $count,
            "] padding=0, bool ceil_mode=False, bool count_include_pad=True",
            $rest
        )]
    };
}

macro_rules! values_of_greatest {
    ($name:literal, $count:literal, $dims:literal) => {
        function($name, greatest!($count, "Tensor"), "The maximum over sliding windows.", |a| {
            greatest(a, $dims).map(|(values, _)| values).reply()
        })
    };
}

macro_rules! greatest_with_places {
    ($name:literal, $count:literal, $dims:literal) => {
        inner(
            $name,
            greatest!($count, "tuple[Tensor, Tensor]"),
            "The maximum over sliding windows, and its indices.",
            |a| greatest(a, $dims).reply(),
        )
    };
}

const SIZES: &[&str] = &["(Tensor input, object output_size, *, Tensor out=None)"];
const PLACES: &[&str] = &["(Tensor input, object output_size) -> tuple[Tensor, Tensor]"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "max_pool1d",
        greatest!("1", "Tensor"),
        "The maximum over sliding windows of one dimension.",
        |a| greatest_of_lines(a, false).map(|(values, _)| values).reply(),
    ),
    function(
        "max_pool1d_with_indices",
        greatest!("1", "tuple[Tensor, Tensor]"),
        "The maximum over sliding windows of one dimension, and its indices.",
        |a| greatest_of_lines(a, true).reply(),
    ),
    values_of_greatest!("max_pool2d", "2", 2),
    greatest_with_places!("max_pool2d_with_indices", "2", 2).operators(&[(
        "MaxPool2DWithIndicesBackward0",
        "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
    )]),
    values_of_greatest!("max_pool3d", "3", 3),
    greatest_with_places!("max_pool3d_with_indices", "3", 3).operators(&[(
        "MaxPool3DWithIndicesBackward0",
        "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
    )]),
    function(
        "avg_pool1d",
        averaged!("1", ")"),
        "The average over sliding windows of one dimension.",
        |a| {
            check_lines(a, "avg_pool1d")?;
            let pool = lifted(Pool { ceil: a.boolean(4), ..windows(a, 1)? });
            as_image(a.tensor(0)?, |x| mean_pool(x, &pool, a.boolean(5), None)).reply()
        },
    ),
    inner(
        "avg_pool2d",
        averaged!("2", ", int? divisor_override=None, *, Tensor out=None)"),
        "The average over sliding windows of two dimensions.",
        |a| averaged(a, 2),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[(
        "AvgPool2DBackward0",
        "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    )]),
    inner(
        "avg_pool3d",
        averaged!("3", ", int? divisor_override=None, *, Tensor out=None)"),
        "The average over sliding windows of three dimensions.",
        |a| averaged(a, 3),
    ),
    function(
        "adaptive_avg_pool1d",
        SIZES,
        "The average over windows, as many as the output size says, of one dimension.",
        |a| {
            check_lines(a, "adaptive_avg_pool1d")?;
            as_image(a.tensor(0)?, |x| {
                check_filled("adaptive_avg_pool2d", x.layout().shape())?;
                adaptive_mean_pool(x, &[vec![Some(1)], sizes(a, 1, length)?].concat())
            })
            .reply()
        },
    ),
    inner(
        "adaptive_avg_pool2d",
        SIZES,
        "The average over windows, as many as the output size says, of two dimensions.",
        |a| {
            let x = spatial(a, "adaptive_avg_pool2d", 2, "")?;
            adaptive_mean_pool(x, &sizes(a, 2, lengths)?).reply()
        },
    ),
    inner(
        "adaptive_avg_pool3d",
        SIZES,
        "The average over windows, as many as the output size says, of three dimensions.",
        |a| {
            let x = spatial(a, "adaptive_avg_pool3d", 3, "")?;
            adaptive_mean_pool(x, &sizes(a, 3, lengths)?).reply()
        },
    ),
    function(
        "adaptive_max_pool1d",
        PLACES,
        "The maximum over windows, as many as the output size says, of one dimension, and its indices.",
        |a| {
            check_lines(a, "adaptive_max_pool1d")?;
            check_filled("adaptive_max_pool1d", a.tensor(0)?.layout().shape())?;
            let counts = [vec![Some(1)], sizes(a, 1, length)?].concat();
            flat(adaptive_max_pool(&unsqueeze(a.tensor(0)?, -2)?, &counts)?).reply()
        },
    ),
    inner(
        "adaptive_max_pool2d",
        PLACES,
        "The maximum over windows, as many as the output size says, of two dimensions, and its indices.",
        |a| {
            let x = spatial(a, "adaptive_max_pool2d", 2, ":")?;
            adaptive_max_pool(x, &sizes(a, 2, lengths_of_greatest)?).reply()
        },
    )
    .operators(&[(
        "AdaptiveMaxPool2DBackward0",
        "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
    )]),
    inner(
        "adaptive_max_pool3d",
        PLACES,
        "The maximum over windows, as many as the output size says, of three dimensions, and its indices.",
        |a| {
            let x = spatial(a, "adaptive_max_pool3d", 3, ":")?;
            adaptive_max_pool(x, &sizes(a, 3, lengths_of_greatest)?).reply()
        },
    )
    .operators(&[(
        "AdaptiveMaxPool3DBackward0",
        "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
    )]),
];

/// One number for each dimension.
fn each(a: &dyn Arguments, index: usize, argument: &'static str, count: usize) -> Result<Vec<i64>> {
    let values = a.ints(index)?;
    match values.as_slice() {
        [one] => Ok(vec![*one; count]),
        all if all.len() == count => Ok(all.to_vec()),
        _ => {
            let words = ["one", "two", "three"][count - 1];
            let operation = a.name().trim_end_matches("_with_indices");
            Err(Error::PoolNumbers { operation, argument, words }.into())
        }
    }
}

/// The windows of a call: `kernel_size`, `stride`, `padding`, at the positions from 1 on.
fn windows(a: &dyn Arguments, count: usize) -> Result<Pool> {
    let kernel = each(a, 1, "kernel_size", count)?;
    let side_by_side = a.ints(2)?.is_empty() || !a.given(2);
    let stride = if side_by_side { kernel.clone() } else { each(a, 2, "stride", count)? };
    let padding = each(a, 3, "padding", count)?;
    Ok(Pool { kernel, stride, padding, dilation: vec![1; count], ceil: false, side_by_side })
}

fn greatest(a: &dyn Arguments, count: usize) -> Result<(Tensor, Tensor)> {
    let pool = Pool { dilation: each(a, 4, "dilation", count)?, ceil: a.boolean(5), ..windows(a, count)? };
    let x = a.tensor(0)?;
    if x.ndim() != count + 1 && x.ndim() != count + 2 {
        return Err(Error::PoolInput { single: count + 1, batched: count + 2 }.into());
    }
    pool.check_numbers()?;
    check_greatest(x, &pool, count)?;
    max_pool(x, &pool)
}

/// Refuses windows that are padded too much, and tensors that are empty beside their samples.
fn check_greatest(x: &Tensor, pool: &Pool, count: usize) -> Result<()> {
    let usable = pool.kernel.iter().chain(&pool.stride).all(|&size| size > 0);
    if let (&[depth, height, width], true) = (pool.dilation.as_slice(), usable)
        && pool.dilation.iter().any(|&size| size <= 0)
    {
        return Err(Error::PoolDilation3 { depth, height, width }.into());
    }
    let (padding, kernel) = (&pool.padding, &pool.kernel);
    let reach = |at: usize| pool.dilation[at] * (kernel[at] - 1) + 1;
    let partly = |at: usize| padding[at] > kernel[at] / 2;
    let valid =
        (0..count).all(|at| padding[at] >= 0 && pool.dilation[at] > 0 && padding[at] <= reach(at) / 2);
    if count == 2 && usable && valid && (0..count).any(partly) {
        return Err(Error::PoolPaddingHalf { padding: padding.clone(), kernel: kernel.clone() }.into());
    }
    let (layout, lead) = (x.layout(), usize::from(x.ndim() == count + 2));
    if usable && valid && layout.shape()[lead..].contains(&0) {
        let shape = layout.shape().to_vec();
        return Err(match count {
            2 => Error::PoolSamples { operation: "", least: 3, most: 4, shape },
            _ => Error::PoolSamples3 { shape },
        }
        .into());
    }
    Ok(())
}

/// The number that an argument of pooling over lines is.
fn only(a: &dyn Arguments, index: usize, argument: &'static str, kinds: &'static str) -> Result<i64> {
    match a.ints(index)?.as_slice() {
        [one] => Ok(*one),
        all => Err(Error::PoolLineNumber { argument, kinds, got: all.len() }.into()),
    }
}

fn check_above_zero(argument: &'static str, value: i64) -> Result<()> {
    if value > 0 { Ok(()) } else { Err(Error::PoolLineSign { argument, value }.into()) }
}

fn greatest_of_lines(a: &dyn Arguments, with_places: bool) -> Result<(Tensor, Tensor)> {
    const NUMBERS: &str = "an int, list of ints or tuple of ints";
    let x = a.tensor(0)?;
    let (layout, lead) = (x.layout(), usize::from(x.ndim() == 3));
    if !matches!(x.ndim(), 2 | 3) || layout.shape()[lead..].contains(&0) {
        let shape = layout.shape().to_vec();
        return Err(Error::PoolSamples { operation: "max_pool1d: ", least: 2, most: 3, shape }.into());
    }
    let kernel = only(a, 1, "kernel_size", NUMBERS)?;
    let stride = match a.ints(2)?.is_empty() || !a.given(2) {
        true => kernel,
        false => only(a, 2, "stride", "None, an int, list of ints, or tuple of ints")?,
    };
    let padding = only(a, 3, "padding", "an int, list of ints, or tuple of ints")?;
    let dilation = only(a, 4, "dilation", NUMBERS)?;
    check_above_zero("kernel_size", kernel)?;
    if !with_places {
        check_above_zero("stride", stride)?;
        if padding < 0 {
            return Err(Error::PoolLineNegative { padding }.into());
        }
        if padding > kernel / 2 {
            return Err(Error::PoolLinePadding { padding, kernel }.into());
        }
        check_above_zero("dilation", dilation)?;
    }
    let pool = Pool {
        kernel: vec![kernel],
        stride: vec![stride],
        padding: vec![padding],
        dilation: vec![dilation],
        ceil: a.boolean(5),
        side_by_side: false,
    };
    pool.check_numbers()?;
    let (lines, pool) = (unsqueeze(x, -2)?, lifted(pool));
    if !with_places {
        let count = pool.count(1, layout.shape().last().map_or(0, |&width| width as i64));
        if count <= 0 {
            return Err(Error::PoolLineCount { count }.into());
        }
        if !x.dtype().is_float() {
            return Err(Error::NotImplementedFor { operation: "max_pool1d_impl", dtype: x.dtype() }.into());
        }
    }
    flat(max_pool(&lines, &pool)?)
}

/// Windows over one dimension as windows over an image of one line.
fn lifted(pool: Pool) -> Pool {
    let before = |first: i64, values: Vec<i64>| [vec![first], values].concat();
    Pool {
        kernel: before(1, pool.kernel),
        stride: before(1, pool.stride),
        padding: before(0, pool.padding),
        dilation: before(1, pool.dilation),
        ceil: pool.ceil,
        side_by_side: false,
    }
}

/// Lines again of images of one line.
fn flat((values, places): (Tensor, Tensor)) -> Result<(Tensor, Tensor)> {
    Ok((squeeze(&values, Squeezed::One(-2))?, squeeze(&places, Squeezed::One(-2))?))
}

/// Runs something on lines as on images of one line.
fn as_image(x: &Tensor, run: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    squeeze(&run(&unsqueeze(x, -2)?)?, Squeezed::One(-2))
}

fn averaged(a: &dyn Arguments, count: usize) -> Result<Reply> {
    let pool = Pool { ceil: a.boolean(4), ..windows(a, count)? };
    let x = a.tensor(0)?;
    if x.ndim() <= count {
        let (dim, low) = (-(count as i64) - 1, -(x.ndim() as i64));
        return Err(Error::DimOutOfRange { dim, low, high: -low - 1 }.into());
    }
    mean_pool(x, &pool, a.boolean(5), a.optional_int(6)?).reply()
}

/// Refuses what is neither lines nor samples of lines.
fn check_lines(a: &dyn Arguments, operation: &'static str) -> Result<()> {
    match a.tensor(0)?.ndim() {
        2 | 3 => Ok(()),
        ndim => Err(Error::PoolLines { ndim, operation }.into()),
    }
}

/// The tensor, if it has that many dimensions behind channels and perhaps samples.
fn spatial<'a>(
    a: &'a dyn Arguments,
    operation: &'static str,
    count: usize,
    colon: &'static str,
) -> Result<&'a Tensor> {
    let x = a.tensor(0)?;
    let layout = x.layout();
    if x.ndim() == count + 1 || x.ndim() == count + 2 {
        return check_filled(operation, layout.shape()).map(|()| x);
    }
    let shape = layout.shape().to_vec();
    Err(Error::AdaptivePoolRank { operation, single: count + 1, batched: count + 2, colon, shape }.into())
}

/// Refuses a tensor that is empty in other dimensions than that of its samples.
fn check_filled(operation: &'static str, shape: &[usize]) -> Result<()> {
    match shape.iter().skip(1).position(|&size| size == 0) {
        None => Ok(()),
        Some(place) => {
            Err(Error::AdaptivePoolEmpty { operation, shape: shape.to_vec(), dim: place + 1 }.into())
        }
    }
}

/// The refusal of another number of sizes: who is called, how many there are, and how many there should be.
type WrongCount = fn(&'static str, usize, usize) -> Error;

fn length(operation: &'static str, got: usize, _: usize) -> Error {
    Error::AdaptivePoolLength { operation, got }
}

fn lengths(operation: &'static str, _: usize, count: usize) -> Error {
    Error::AdaptivePoolLengths { operation, count }
}

fn lengths_of_greatest(operation: &'static str, _: usize, count: usize) -> Error {
    Error::AdaptivePoolInternal { operation, count }
}

/// The sizes that are wanted; `None` leaves a dimension as it is.
fn sizes(a: &dyn Arguments, count: usize, refusal: WrongCount) -> Result<Vec<Option<i64>>> {
    let Some(all) = a.open_ints(1)? else { return Ok(vec![None; count]) };
    match all.len() {
        1 => Ok(vec![all[0]; count]),
        length if length == count => Ok(all),
        length => Err(refusal(a.name(), length, count).into()),
    }
}
