//! Tensors out of nothing: filled and counted.
use super::conversion;
use super::entries::{function, method};
use super::factory::{made, made_like, options};
use crate::calls::callable::Function;
use crate::error::raise;
use crate::values::arguments::Arguments;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::dispatch::default_dtype;
use rushlight::dispatch::forward_mode::tangents;
use rushlight::dispatch::operand::{promoted, scalar_type};
use rushlight::dtype::{DType, Scalar};
use rushlight::ops::creation::cast::Order;
use rushlight::ops::creation::{create, ranges};
use rushlight::schema::{OutPolicy, Shape, Types};
use rushlight::{Error, Tensor};

const SIZED: &[&str] = &[options!("(int[] size, *, Tensor out=None, ")];
const NEW: &[&str] = &[options!("(Tensor input, int[] size, *, ")];
const LIKE: &[&str] = &[
    "(Tensor input, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False, memory_format? memory_format=None)",
];
const ZERO: Scalar = Scalar::Int(0);
const ONE: Scalar = Scalar::Int(1);

/// The entries.
pub(super) const TABLE: &[Function] = &[
    function("zeros", SIZED, "A tensor filled with zeros.", |a| {
        let size = a.ints(0)?;
        made(a, 2, default_dtype::get(), |dtype| create::zeros(&size, dtype))
    })
    .written(&OutPolicy::MADE.unknown("zeros"))
    .operators(&[("-", "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function("ones", SIZED, "A tensor filled with ones.", |a| {
        let size = a.ints(0)?;
        made(a, 2, default_dtype::get(), |dtype| create::full(&size, ONE, dtype))
    })
    .written(&OutPolicy::MADE.unknown("ones"))
    .operators(&[("-", "ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function(
        "empty",
        &[options!("(int[] size, *, memory_format? memory_format=None, Tensor out=None, ")],
        "A tensor filled with uninitialized data.",
        |a| {
            let (size, format) = (a.ints(0)?, conversion::format(a, 1));
            if format == Some("preserve_format") {
                return Err(PyRuntimeError::new_err("unsupported memory format Preserve"));
            }
            let order = conversion::order(format);
            made(a, 3, default_dtype::get(), |dtype| create::empty_in(&size, order, dtype))
        },
    )
    .written(&OutPolicy::PLAIN.resizing().typed(Types::Any))
    .operators(&[("-", "empty.memory_format(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    function(
        "empty_strided",
        &[options!("(int[] size, int[] stride, *, ")],
        "A tensor of the given size and stride, filled with uninitialized data.",
        |a| {
            let (size, stride) = (a.ints(0)?, a.ints(1)?);
            made(a, 2, default_dtype::get(), |dtype| create::empty_strided(&size, &stride, dtype))
        },
    ),
    function(
        "empty_permuted",
        &[options!("(int[] size, int[] physical_layout, *, ")],
        "A tensor filled with uninitialized data, whose dimensions lie in memory in the given order.",
        |a| {
            let (size, order) = (a.ints(0)?, a.ints(1)?);
            made(a, 2, default_dtype::get(), |dtype| create::empty_permuted(&size, &order, dtype))
        },
    ),
    function(
        "full",
        &[options!("(int[] size, Number fill_value, *, Tensor out=None, ")],
        "A tensor filled with a value, of its dtype unless `dtype` is given.",
        |a| {
            let (size, value) = (a.ints(0)?, a.number(1)?);
            made(a, 3, scalar_type(value), |dtype| create::full(&size, value, dtype))
        },
    )
    .written(&OutPolicy::MADE.unknown("full"))
    .operators(&[("-", "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function(
        "scalar_tensor",
        &[options!("(Number s, *, ")],
        "A tensor of no dimensions that holds a number.",
        |a| {
            let value = a.number(0)?;
            made(a, 1, default_dtype::get(), |dtype| create::full(&[], value, dtype))
        },
    )
    .operators(&[("-", "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function("zeros_like", LIKE, "A tensor of zeros with the size and dtype of another.", |a| {
        made_like(a, 1, 6, |x, dtype| create::full_like(x, ZERO, dtype))
    })
    .operators(&[("ZerosLike", "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"), ("-", "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    function("ones_like", LIKE, "A tensor of ones with the size and dtype of another.", |a| {
        made_like(a, 1, 6, |x, dtype| create::full_like(x, ONE, dtype))
    })
    .operators(&[("OnesLike", "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"), ("-", "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    function("empty_like", LIKE, "An uninitialized tensor with the size and dtype of another.", |a| {
        made_like(a, 1, 6, create::empty_like)
    })
    .operators(&[("EmptyLike", "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"), ("-", "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    function(
        "full_like",
        &[
            "(Tensor input, Number fill_value, *, memory_format? memory_format=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False)",
        ],
        "A tensor filled with a value, with the size and dtype of another.",
        |a| {
            let value = a.number(1)?;
            made_like(a, 3, 2, |x, dtype| create::full_like(x, value, dtype))
        },
    )
    .operators(&[("FullLike", "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"), ("-", "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    method("new_zeros", NEW, "A tensor of zeros with the dtype of this one.", |a| new(a, 2, ZERO))
    .operators(&[("-", "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    method("new_ones", NEW, "A tensor of ones with the dtype of this one.", |a| new(a, 2, ONE))
    .operators(&[("-", "new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    method("new_empty", NEW, "An uninitialized tensor with the dtype of this one.", |a| {
        let size = a.ints(1)?;
        made(a, 2, a.tensor(0)?.dtype(), |dtype| create::empty_in(&size, Order::RowMajor, dtype))
    })
    .operators(&[("-", "new_empty(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    method(
        "new_full",
        &[options!("(Tensor input, int[] size, Number fill_value, *, ")],
        "A tensor filled with a value, with the dtype of this one.",
        |a| new(a, 3, a.number(2)?),
    )
    .operators(&[("-", "new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    method(
        "new_empty_strided",
        &[options!("(Tensor input, int[] size, int[] stride, *, ")],
        "An uninitialized tensor of the given size and stride, with the dtype of this one.",
        |a| {
            let (size, stride) = (a.ints(1)?, a.ints(2)?);
            made(a, 3, a.tensor(0)?.dtype(), |dtype| create::empty_strided(&size, &stride, dtype))
        },
    ),
    function(
        "eye",
        &[options!("(int n, *, Tensor out=None, "), options!("(int n, int m, *, Tensor out=None, ")],
        "A matrix with ones on the diagonal and zeros elsewhere.",
        |a| {
            let last = a.overload();
            let (rows, columns) = (a.int(0)?, a.int(last)?);
            made(a, last + 2, default_dtype::get(), |dtype| create::eye(rows, columns, dtype))
        },
    )
    .written(&OutPolicy::MADE.unknown("eye"))
    .operators(&[("-", "eye(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"), ("-", "eye.m(int n, int m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function(
        "arange",
        &[
            options!("(Number end, *, Tensor out=None, "),
            options!("(Number start, Number end, *, "),
            options!("(Number start, Number end, Number step=1, *, Tensor out=None, "),
        ],
        "The numbers from `start` up to, but not including, `end`, in steps of `step`.",
        arange,
    )
    .written(&OutPolicy::MADE.unknown("arange").shaped(Shape::Counted).typed(Types::Cast))
    .operators(&[("-", "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"), ("-", "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"), ("-", "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function(
        "linspace",
        &[
            options!("(Tensor start, Tensor end, int steps, *, Tensor out=None, "),
            options!("(Number start, Tensor end, int steps, *, Tensor out=None, "),
            options!("(Tensor start, Number end, int steps, *, Tensor out=None, "),
            options!("(Number start, Number end, int steps, *, Tensor out=None, "),
        ],
        "`steps` evenly spaced numbers from `start` to `end`.",
        |a| {
            if let Some(([start, end], dtype)) = ends_of_samples(a)? {
                let steps = a.int(2)?;
                return made(a, 4, dtype, |dtype| ranges::linspace_between(&start, &end, steps, dtype));
            }
            let ([start, end], steps) = (ends(a)?, a.int(2)?);
            made(a, 4, spaced_type(&[start, end]), |dtype| ranges::linspace(start, end, steps, dtype))
        },
    )
    .written(&OutPolicy::MADE.unknown("linspace").shaped(Shape::InLine))
    .operators(&[("-", "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function(
        "logspace",
        &[
            options!("(Tensor start, Tensor end, int steps, float base=10.0, *, Tensor out=None, "),
            options!("(Number start, Tensor end, int steps, float base=10.0, *, Tensor out=None, "),
            options!("(Tensor start, Number end, int steps, float base=10.0, *, Tensor out=None, "),
            options!("(Number start, Number end, int steps, float base=10.0, *, Tensor out=None, "),
        ],
        "`steps` powers of `base`, with evenly spaced exponents from `start` to `end`.",
        |a| {
            if let Some(([start, end], dtype)) = ends_of_samples(a)? {
                let (steps, base) = (a.int(2)?, a.float(3)?);
                return made(a, 5, dtype, |dtype| {
                    rushlight::ops::pow(base, &ranges::linspace_between(&start, &end, steps, dtype)?)
                });
            }
            let ([start, end], steps, base) = (ends(a)?, a.int(2)?, a.float(3)?);
            made(a, 5, spaced_type(&[start, end]), |dtype| ranges::logspace(start, end, steps, base, dtype))
        },
    )
    .written(&OutPolicy::MADE.unknown("logspace").shaped(Shape::InLine))
    .operators(&[("-", "logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
];

fn new(arguments: &Arguments<'_, '_>, first: usize, value: Scalar) -> PyResult<Py<PyAny>> {
    let size = arguments.ints(1)?;
    made(arguments, first, arguments.tensor(0)?.dtype(), |dtype| create::full(&size, value, dtype))
}

fn arange(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let number = |index| arguments.number(index);
    let (start, end, step, first) = match arguments.overload() {
        0 => (ZERO, number(0)?, ONE, 2),
        1 => (number(0)?, number(1)?, ONE, 2),
        _ => (number(0)?, number(1)?, number(2)?, 4),
    };
    // What is to be written to says in which type is counted.
    let out = if arguments.overload() == 1 { None } else { arguments.optional_tensor(first - 1) };
    let dtype = out.map_or_else(|| ranges::dtype(start, end, step), rushlight::Tensor::dtype);
    made(arguments, first, dtype, |dtype| ranges::arange(start, end, step, dtype))
}

/// The type of numbers at equal distances: the default one, or the complex one of that precision.
fn spaced_type(ends: &[Scalar]) -> DType {
    let complex = ends.iter().any(|end| matches!(end, Scalar::Complex(_)));
    if complex { default_dtype::get().to_complex() } else { default_dtype::get() }
}

/// Where ranges begin and end that differ between samples, and the type of their numbers. A number
/// is taken in the widest type of its kind.
fn ends_of_samples(arguments: &Arguments<'_, '_>) -> PyResult<Option<([Tensor; 2], DType)>> {
    let tensors = [0, 1].map(|index| arguments.optional_tensor(index));
    for tensor in tensors.into_iter().flatten() {
        if tangents::innermost(tensor).map_err(raise)?.is_some() {
            return Err(raise(Error::NoTangent { operation: arguments.name }.into()));
        }
    }
    if tensors.into_iter().flatten().any(|tensor| tensor.ndim() > 0)
        || !tensors.into_iter().flatten().any(Tensor::is_batched)
    {
        return Ok(None);
    }
    let end = |index: usize| match tensors[index] {
        Some(tensor) => Ok(tensor.detach()),
        None => {
            let number = arguments.number(index)?;
            let dtype = if matches!(number, Scalar::Int(_)) { DType::Int64 } else { DType::Float64 };
            create::full(&[], number, dtype).map_err(raise)
        }
    };
    let ends = [end(0)?, end(1)?];
    let common = promoted(ends[0].dtype(), ends[1].dtype()).map_err(raise)?;
    let dtype = if common.is_differentiable() { common } else { default_dtype::get() };
    Ok(Some((ends, dtype)))
}

/// Where a range begins and ends: numbers, or tensors without dimensions.
fn ends(arguments: &Arguments<'_, '_>) -> PyResult<[Scalar; 2]> {
    let ranks = [("start", 0), ("end", 1)]
        .map(|(name, index)| arguments.optional_tensor(index).map(|tensor| (name, tensor.ndim())));
    if ranks.iter().flatten().any(|(_, ndim)| *ndim > 0) {
        let got: Vec<String> =
            ranks.iter().flatten().map(|(name, ndim)| format!("{name} with {ndim} dimension(s)")).collect();
        return Err(PyRuntimeError::new_err(format!(
            "{} only supports 0-dimensional start and end tensors, but got {}.",
            arguments.name,
            got.join(" and ")
        )));
    }
    Ok([arguments.number(0)?, arguments.number(1)?])
}
