//! The entries of ranges.

use super::*;
use crate::dispatch::forward_mode::tangents;
use crate::dispatch::operand::promoted;
use crate::schema::{
    Arguments, Entry, IntoReply, OutPolicy, Reply, Shape, Types, function, inner, made, options,
};

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "linspaces",
        &["(Tensor start, Tensor end, int steps)"],
        "`linspace` of every pair of elements, a row each.",
        |a| linspaces(a.tensor(0)?, a.tensor(1)?, a.int(2)?).reply(),
    ),
    function(
        "arange",
        &[
            options!("(Number end, *, Tensor out=None, "),
            options!("(Number start, Number end, *, "),
            options!("(Number start, Number end, Number step=1, *, Tensor out=None, "),
        ],
        "The numbers from `start` up to, but not including, `end`, in steps of `step`.",
        counted,
    )
    .written(&OutPolicy::MADE.unknown("arange").shaped(Shape::Counted).typed(Types::Cast))
    .operators(&[("-", "arange"), ("-", "arange.start@1"), ("-", "arange.start_step@2")]),
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
                return made(a, 4, dtype, |dtype| linspace_between(&start, &end, steps, dtype));
            }
            let ([start, end], steps) = (ends(a)?, a.int(2)?);
            let inferred = spaced_type(&[start, end]);
            made(a, 4, inferred, |dtype| {
                check_spaced("torch.linspace", inferred, dtype)?;
                linspace(start, end, steps, dtype)
            })
        },
    )
    .written(&OutPolicy::MADE.unknown("linspace").shaped(Shape::InLine))
    .operators(&[("-", "linspace@3")]),
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
                    ops::pow(base, &linspace_between(&start, &end, steps, dtype)?)
                });
            }
            let ([start, end], steps, base) = (ends(a)?, a.int(2)?, a.float(3)?);
            let inferred = spaced_type(&[start, end]);
            made(a, 5, inferred, |dtype| {
                check_spaced("torch.logspace", inferred, dtype)?;
                logspace(start, end, steps, base, dtype)
            })
        },
    )
    .written(&OutPolicy::MADE.unknown("logspace").shaped(Shape::InLine))
    .operators(&[("-", "logspace@3")]),
];

fn counted(arguments: &dyn Arguments) -> Result<Reply> {
    let number = |index| arguments.number(index);
    let (start, end, step, first) = match arguments.overload() {
        0 => (Scalar::Int(0), number(0)?, Scalar::Int(1), 2),
        1 => (number(0)?, number(1)?, Scalar::Int(1), 2),
        _ => (number(0)?, number(1)?, number(2)?, 4),
    };
    made(arguments, first, super::dtype(start, end, step), |dtype| arange(start, end, step, dtype))
}

/// The type of numbers at equal distances: the default one, or the complex one of that precision.
fn spaced_type(ends: &[Scalar]) -> DType {
    let complex = ends.iter().any(|end| matches!(end, Scalar::Complex(_)));
    if complex { default_dtype::get().to_complex() } else { default_dtype::get() }
}

/// Refuses complex numbers where real ones are asked for.
fn check_spaced(operation: &'static str, inferred: DType, dtype: DType) -> Result<()> {
    match inferred.is_complex() && !dtype.is_complex() {
        true => Err(Error::RangeNarrowing { operation, inferred, dtype }.into()),
        false => Ok(()),
    }
}

/// Where ranges begin and end that differ between samples, and the type of their numbers. A number
/// is taken in the widest type of its kind.
fn ends_of_samples(arguments: &dyn Arguments) -> Result<Option<([Tensor; 2], DType)>> {
    let tensors = [0, 1].map(|index| arguments.optional_tensor(index));
    for tensor in tensors.into_iter().flatten() {
        if tangents::innermost(tensor)?.is_some() {
            return Err(Error::NoTangent { operation: arguments.name() }.into());
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
            create::full(&[], number, dtype)
        }
    };
    let ends = [end(0)?, end(1)?];
    let common = promoted(ends[0].dtype(), ends[1].dtype())?;
    let dtype = if common.is_differentiable() { common } else { default_dtype::get() };
    Ok(Some((ends, dtype)))
}

/// Where a range begins and ends: numbers, or tensors without dimensions.
fn ends(arguments: &dyn Arguments) -> Result<[Scalar; 2]> {
    let ndim = |index| arguments.optional_tensor(index).map(Tensor::ndim);
    let ends = [("start", ndim(0)), ("end", ndim(1))];
    if ends.iter().any(|(_, ndim)| ndim.is_some_and(|ndim| ndim > 0)) {
        let got =
            ends.iter().filter_map(|(end, ndim)| ndim.map(|ndim| format!("{end} with {ndim} dimension(s)")));
        let got = got.collect::<Vec<_>>().join(" and ");
        return Err(Error::RangeEnds { operation: arguments.name(), got }.into());
    }
    Ok([arguments.number(0)?, arguments.number(1)?])
}
