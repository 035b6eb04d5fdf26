//! Pooling: the greatest elements of windows, and the averages over them.

use crate::calls::callable::Function;
use crate::error::raise;
use crate::functions::entries::{function, inner};
use crate::values::arguments::Arguments;
use crate::values::convert;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::ops::geometry::squeeze::{Squeezed, squeeze, unsqueeze};
use rushlight::ops::neural::pooling::max_pool::{adaptive_max_pool, max_pool};
use rushlight::ops::neural::pooling::mean_pool::{Pool, adaptive_mean_pool, mean_pool};
use rushlight::schema::{OutPolicy, Types};
use rushlight::{Result, Tensor};

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
            greatest(a, $dims)?.map(|(values, _)| values).answer(a.py())
        })
    };
}

macro_rules! greatest_with_places {
    ($name:literal, $count:literal, $dims:literal) => {
        inner(
            $name,
            greatest!($count, "tuple[Tensor, Tensor]"),
            "The maximum over sliding windows, and its indices.",
            |a| greatest(a, $dims)?.answer(a.py()),
        )
    };
}

const SIZES: &[&str] = &["(Tensor input, object output_size, *, Tensor out=None)"];
const PLACES: &[&str] = &["(Tensor input, object output_size) -> tuple[Tensor, Tensor]"];

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    function("max_pool1d", greatest!("1", "Tensor"), "The maximum over sliding windows of one dimension.", |a| {
        greatest_1d(a).map(|(values, _)| values)?.answer(a.py())
    }),
    function(
        "max_pool1d_with_indices",
        greatest!("1", "tuple[Tensor, Tensor]"),
        "The maximum over sliding windows of one dimension, and its indices.",
        |a| greatest_1d(a)?.answer(a.py()),
    ),
    values_of_greatest!("max_pool2d", "2", 2),
    greatest_with_places!("max_pool2d_with_indices", "2", 2)
    .operators(&[("MaxPool2DWithIndicesBackward0", "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)")]),
    values_of_greatest!("max_pool3d", "3", 3),
    greatest_with_places!("max_pool3d_with_indices", "3", 3)
    .operators(&[("MaxPool3DWithIndicesBackward0", "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)")]),
    function("avg_pool1d", averaged!("1", ")"), "The average over sliding windows of one dimension.", averaged_1d),
    inner(
        "avg_pool2d",
        averaged!("2", ", int? divisor_override=None, *, Tensor out=None)"),
        "The average over sliding windows of two dimensions.",
        |a| averaged(a, 2),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("AvgPool2DBackward0", "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor")]),
    inner(
        "avg_pool3d",
        averaged!("3", ", int? divisor_override=None, *, Tensor out=None)"),
        "The average over sliding windows of three dimensions.",
        |a| averaged(a, 3),
    ),
    function("adaptive_avg_pool1d", SIZES, "The average over windows, as many as the output size says, of one dimension.", |a| {
        check_rank(a, "adaptive_avg_pool1d")?;
        as_image(a.tensor(0)?, |x| {
            filled("adaptive_avg_pool2d", x.layout().shape())?;
            adaptive_mean_pool(x, &[vec![Some(1)], sizes(a, 1)?].concat()).map_err(raise)
        })
        .and_then(|y| y.answer(a.py()))
    }),
    inner("adaptive_avg_pool2d", SIZES, "The average over windows, as many as the output size says, of two dimensions.", |a| {
        adaptive_mean_pool(spatial(a, "adaptive_avg_pool2d", 2)?, &sizes(a, 2)?).answer(a.py())
    }),
    inner("adaptive_avg_pool3d", SIZES, "The average over windows, as many as the output size says, of three dimensions.", |a| {
        adaptive_mean_pool(spatial(a, "adaptive_avg_pool3d", 3)?, &sizes(a, 3)?).answer(a.py())
    }),
    function("adaptive_max_pool1d", PLACES, "The maximum over windows, as many as the output size says, of one dimension, and its indices.", |a| {
        check_rank(a, "adaptive_max_pool1d")?;
        filled("adaptive_max_pool1d", a.tensor(0)?.layout().shape())?;
        let counts = [vec![Some(1)], sizes(a, 1)?].concat();
        let (values, index) =
            adaptive_max_pool(&unsqueeze(a.tensor(0)?, -2).map_err(raise)?, &counts).map_err(raise)?;
        let flat = |y: &Tensor| squeeze(y, Squeezed::One(-2));
        flat(&values).and_then(|values| Ok((values, flat(&index)?))).answer(a.py())
    }),
    inner("adaptive_max_pool2d", PLACES, "The maximum over windows, as many as the output size says, of two dimensions, and its indices.", |a| {
        adaptive_max_pool(spatial(a, "adaptive_max_pool2d", 2)?, &sizes(a, 2)?).answer(a.py())
    })
    .operators(&[("AdaptiveMaxPool2DBackward0", "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)")]),
    inner("adaptive_max_pool3d", PLACES, "The maximum over windows, as many as the output size says, of three dimensions, and its indices.", |a| {
        adaptive_max_pool(spatial(a, "adaptive_max_pool3d", 3)?, &sizes(a, 3)?).answer(a.py())
    })
    .operators(&[("AdaptiveMaxPool3DBackward0", "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)")]),
];

/// What torch calls that many numbers.
fn counted(count: usize) -> &'static str {
    match count {
        1 => "one",
        2 => "two",
        _ => "three",
    }
}

/// One number for each dimension.
fn each(a: &Arguments<'_, '_>, index: usize, argument: &str, count: usize) -> PyResult<Vec<i64>> {
    let values = a.ints(index)?;
    match values.as_slice() {
        [one] => Ok(vec![*one; count]),
        all if all.len() == count => Ok(all.to_vec()),
        _ => {
            let (name, word) = (a.name, counted(count));
            let text = format!("{name}: {argument} must either be a single int, or a tuple of {word} ints");
            Err(PyRuntimeError::new_err(text.replace("_with_indices", "")))
        }
    }
}

/// The windows of a call: `kernel_size`, `stride`, `padding`, at the positions from 1 on.
fn windows(a: &Arguments<'_, '_>, count: usize) -> PyResult<Pool> {
    let kernel = each(a, 1, "kernel_size", count)?;
    let side_by_side = a.ints(2)?.is_empty() || !a.given(2);
    let stride = if side_by_side { kernel.clone() } else { each(a, 2, "stride", count)? };
    let padding = each(a, 3, "padding", count)?;
    Ok(Pool { kernel, stride, padding, dilation: vec![1; count], ceil: false, side_by_side })
}

fn greatest(a: &Arguments<'_, '_>, count: usize) -> PyResult<Result<(Tensor, Tensor)>> {
    let pool = Pool { dilation: each(a, 4, "dilation", count)?, ceil: a.boolean(5), ..windows(a, count)? };
    let x = a.tensor(0)?;
    if x.ndim() != count + 1 && x.ndim() != count + 2 {
        let text =
            format!("non-empty {}D or {}D (batch mode) tensor expected for input", count + 1, count + 2);
        return Err(PyRuntimeError::new_err(text));
    }
    pool.check_numbers().map_err(raise)?;
    check_greatest(x, &pool, count)?;
    Ok(max_pool(x, &pool))
}

/// Refuses windows that are padded too much, and tensors that are empty beside their samples.
fn check_greatest(x: &Tensor, pool: &Pool, count: usize) -> PyResult<()> {
    let shape = x.layout().shape().to_vec();
    let refused = |text: String| Err(PyRuntimeError::new_err(text));
    let usable = pool.kernel.iter().chain(&pool.stride).all(|&size| size > 0);
    if let (&[depth, height, width], true) = (pool.dilation.as_slice(), usable)
        && pool.dilation.iter().any(|&size| size <= 0)
    {
        return refused(format!(
            "dilation should be greater than zero, but got dilationT: {depth} dilationH: {height} dilationW: {width}"
        ));
    }
    let (padding, kernel) = (&pool.padding, &pool.kernel);
    let reach = |at: usize| pool.dilation[at] * (kernel[at] - 1) + 1;
    let partly = |at: usize| padding[at] > kernel[at] / 2;
    let valid =
        (0..count).all(|at| padding[at] >= 0 && pool.dilation[at] > 0 && padding[at] <= reach(at) / 2);
    if count == 2 && usable && valid && (0..count).any(partly) {
        return refused(format!(
            "pad should be smaller than or equal to half of kernel size, but got padW = {}, padH = {}, kW = {}, kH = {}",
            padding[1], padding[0], kernel[1], kernel[0]
        ));
    }
    let lead = if x.ndim() == count + 2 { 1 } else { 0 };
    if usable && valid && shape[lead..].contains(&0) {
        return refused(if count == 2 {
            format!(
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{shape:?}"
            )
        } else {
            format!(
                "max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions to have positive length, but input has a shape of {shape:?} and non-batch dimension 0 has length zero!"
            )
        });
    }
    Ok(())
}

/// The number that an argument of `max_pool1d` is.
fn only(a: &Arguments<'_, '_>, index: usize, argument: &str, kinds: &str) -> PyResult<i64> {
    match a.ints(index)?.as_slice() {
        [one] => Ok(*one),
        all => Err(PyRuntimeError::new_err(format!(
            "max_pool1d() {argument} must be {kinds} of size 1 but got size {}",
            all.len()
        ))),
    }
}

fn refused_1d(text: String) -> PyErr {
    PyRuntimeError::new_err(format!("max_pool1d() {text}"))
}

fn above_zero(name: &str, value: i64) -> PyResult<()> {
    match value > 0 {
        true => Ok(()),
        false => Err(refused_1d(format!("{name} must be greater than zero, but got {value}"))),
    }
}

fn greatest_1d(a: &Arguments<'_, '_>) -> PyResult<(Tensor, Tensor)> {
    let x = a.tensor(0)?;
    let shape = x.layout().shape().to_vec();
    let lead = if x.ndim() == 3 { 1 } else { 0 };
    if !matches!(x.ndim(), 2 | 3) || shape[lead..].contains(&0) {
        let text = format!(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{shape:?}"
        );
        return Err(PyRuntimeError::new_err(text));
    }
    const KINDS: &str = "an int, list of ints, or tuple of ints";
    let kernel = only(a, 1, "kernel_size", "an int, list of ints or tuple of ints")?;
    let own = a.ints(2)?.is_empty() || !a.given(2);
    let stride =
        if own { kernel } else { only(a, 2, "stride", "None, an int, list of ints, or tuple of ints")? };
    let padding = only(a, 3, "padding", KINDS)?;
    let dilation = only(a, 4, "dilation", "an int, list of ints or tuple of ints")?;
    above_zero("kernel_size", kernel)?;
    let with_places = a.name.ends_with("with_indices");
    if !with_places {
        above_zero("stride", stride)?;
        if padding < 0 {
            return Err(refused_1d(format!("padding must be non-negative, but got {padding}")));
        }
        if padding > kernel / 2 {
            return Err(refused_1d(format!(
                "padding should be at most half of kernel size, but got padding={padding} and kernel_size={kernel}"
            )));
        }
        above_zero("dilation", dilation)?;
    }
    let one = |value: i64| vec![value];
    let pool = Pool {
        kernel: one(kernel),
        stride: one(stride),
        padding: one(padding),
        dilation: one(dilation),
        ceil: a.boolean(5),
        side_by_side: false,
    };
    pool.check_numbers().map_err(raise)?;
    let lines = unsqueeze(x, -2).map_err(raise)?;
    if !with_places && let Some(count) = too_few(&lines, &lifted(pool.clone())) {
        return Err(refused_1d(format!("Invalid computed output size: {count}")));
    }
    let (values, index) = max_pool(&lines, &lifted(pool)).map_err(raise)?;
    let flat = |y: &Tensor| squeeze(y, Squeezed::One(-2)).map_err(raise);
    Ok((flat(&values)?, flat(&index)?))
}

/// How many windows there would be on lines, if that is not one at least.
fn too_few(lines: &Tensor, pool: &Pool) -> Option<i64> {
    let width = lines.layout().shape().last().copied().unwrap_or(0) as i64;
    let (kernel, stride) = (pool.kernel[1], pool.stride[1]);
    let reach = pool.dilation[1] * (kernel - 1) + 1;
    let room = width + 2 * pool.padding[1] - reach;
    let rounding = if pool.ceil { stride - 1 } else { 0 };
    let mut count = (room + rounding).div_euclid(stride) + 1;
    if pool.ceil && (count - 1) * stride >= width + pool.padding[1] {
        count -= 1;
    }
    (count <= 0).then_some(count)
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

fn averaged(a: &Arguments<'_, '_>, count: usize) -> PyResult<Py<PyAny>> {
    let pool = Pool { ceil: a.boolean(4), ..windows(a, count)? };
    let x = a.tensor(0)?;
    if x.ndim() <= count {
        let (dim, low) = (-(count as i64) - 1, -(x.ndim() as i64));
        return Err(raise(rushlight::Error::DimOutOfRange { dim, low, high: -low - 1 }.into()));
    }
    mean_pool(x, &pool, a.boolean(5), a.optional_int(6)?).answer(a.py())
}

fn averaged_1d(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    check_rank(a, "avg_pool1d")?;
    let pool = lifted(Pool { ceil: a.boolean(4), ..windows(a, 1)? });
    as_image(a.tensor(0)?, |x| mean_pool(x, &pool, a.boolean(5), None).map_err(raise))?.answer(a.py())
}

fn check_rank(a: &Arguments<'_, '_>, name: &str) -> PyResult<()> {
    match a.tensor(0)?.ndim() {
        2 | 3 => Ok(()),
        ndim => Err(PyRuntimeError::new_err(format!(
            "Expected 2 to 3 dimensions, but got {ndim}-dimensional tensor for argument #1 'self' (while checking arguments for {name})"
        ))),
    }
}

/// Runs something on lines as on images of one line.
fn as_image(x: &Tensor, run: impl FnOnce(&Tensor) -> PyResult<Tensor>) -> PyResult<Tensor> {
    let y = run(&unsqueeze(x, -2).map_err(raise)?)?;
    squeeze(&y, Squeezed::One(-2)).map_err(raise)
}

/// The tensor, if it has that many dimensions behind channels and perhaps samples.
fn spatial<'a>(a: &Arguments<'a, '_>, name: &str, count: usize) -> PyResult<&'a Tensor> {
    let x = a.tensor(0)?;
    let shape = x.layout().shape().to_vec();
    if x.ndim() == count + 1 || x.ndim() == count + 2 {
        filled(name, &shape)?;
        return Ok(x);
    }
    let colon = if name.contains("max") { ":" } else { "" };
    let text =
        format!("{name}(): Expected {}D or {}D tensor, but got{colon} {shape:?}", count + 1, count + 2);
    Err(PyRuntimeError::new_err(text))
}

/// Refuses a tensor that is empty in other dimensions than that of its samples.
fn filled(name: &str, shape: &[usize]) -> PyResult<()> {
    match shape.iter().skip(1).position(|&size| size == 0) {
        None => Ok(()),
        Some(place) => Err(PyRuntimeError::new_err(format!(
            "{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {shape:?} with dimension {} being empty",
            place + 1
        ))),
    }
}

/// The sizes that are wanted; `None` leaves a dimension as it is.
fn sizes(a: &Arguments<'_, '_>, count: usize) -> PyResult<Vec<Option<i64>>> {
    let Some(object) = a.object(1) else { return Ok(vec![None; count]) };
    let one = |object: &Bound<'_, PyAny>| match object.is_none() {
        true => Ok(None),
        false => convert::int(object).map(Some),
    };
    if object.is_none() || object.len().is_err() {
        return Ok(vec![one(object)?; count]);
    }
    let all: Vec<Option<i64>> = object.try_iter()?.map(|item| one(&item?)).collect::<PyResult<_>>()?;
    match all.len() {
        1 => Ok(vec![all[0]; count]),
        length if length == count => Ok(all),
        length => Err(PyRuntimeError::new_err(match (a.name, count) {
            (name, 1) => format!("{name}() argument 'output_size' should contain one int (got {length})"),
            (name, _) if name.contains("max") => {
                format!("{name}(): internal error: output_size.size() must be {count}")
            }
            (name, _) => format!("{name}: output_size must be {count}"),
        })),
    }
}
