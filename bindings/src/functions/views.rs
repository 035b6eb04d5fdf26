//! Views and copies: shapes, the order of dimensions, `clone`, `copy_`, `fill_`.
use super::conversion::{cloned, format, warn_of_lost_part};
use super::entries::{both, in_own_order, in_place, method};
use crate::autograd::node::alone;
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, UnbatchedTarget};
use crate::error::raise;
use crate::interpreter::warnings::Once;
use crate::values::arguments::Arguments;
use crate::values::memory::elements_of;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::squeeze::Squeezed;
use rushlight::ops::geometry::{expand, permute, reinterpret, reshape, resize, squeeze, strided};
use rushlight::ops::{Operand, conjugate};

const SQUEEZE: &[&str] = &["(Tensor input)", "(Tensor input, int dim)", "(Tensor input, int[] dim)"];
const EXCHANGE: &[&str] = &["(Tensor input, int dim0, int dim1)"];
const EXCHANGE_AXES: &[&str] = &["(Tensor input, int axis0, int axis1)"];
const MOVE: &[&str] =
    &["(Tensor input, int source, int destination)", "(Tensor input, int[] source, int[] destination)"];
const LIKE: &[&str] = &["(Tensor input, Tensor other)"];

/// How far elements are apart that lie in order.
fn in_order(size: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; size.len()];
    for dim in (1..size.len()).rev() {
        strides[dim - 1] = strides[dim] * size[dim].max(1);
    }
    strides
}

/// The entries.
pub(super) const TABLE: &[Function] = &[
    method(
        "view",
        &["(Tensor input, dtype dtype)", "(Tensor input, int[] size)"],
        "The elements in another shape or read as another type, on the same memory.",
        |a| match a.overload() {
            0 => reinterpret::view_dtype(a.tensor(0)?, a.element_type(1)?).answer(a.py()),
            _ => reshape::view(a.tensor(0)?, &a.ints(1)?).answer(a.py()),
        },
    ),
    method("view_as", LIKE, "The elements in the shape of another tensor, on the same memory.", |a| {
        reshape::view_as(a.tensor(0)?, a.tensor(1)?).answer(a.py())
    }),
    both("reshape", &["(Tensor input, int[] shape)"], "The elements in another shape.", |a| {
        reshape::reshape(a.tensor(0)?, &a.ints(1)?).answer(a.py())
    }),
    method("reshape_as", LIKE, "The elements in the shape of another tensor.", |a| {
        reshape::reshape_as(a.tensor(0)?, a.tensor(1)?).answer(a.py())
    }),
    both(
        "flatten",
        &["(Tensor input, int start_dim=0, int end_dim=-1)"],
        "The dimensions from one to another as one.",
        |a| reshape::flatten(a.tensor(0)?, a.int(1)?, a.int(2)?).answer(a.py()),
    ),
    both("unflatten", &["(Tensor input, int dim, int[] sizes)"], "One dimension as several.", |a| {
        reshape::unflatten(a.tensor(0)?, a.int(1)?, &a.ints(2)?).answer(a.py())
    }),
    both("ravel", &["(Tensor input)"], "All elements in one dimension.", |a| {
        reshape::ravel(a.tensor(0)?).answer(a.py())
    }),
    both("t", &["(Tensor input)"], "A matrix transposed.", |a| permute::t(a.tensor(0)?).answer(a.py())),
    method("t_", &["(Tensor input)"], "Transposes the matrix in place.", |a| {
        in_place(a, permute::t_(a.tensor(0)?))
    }),
    both("transpose", EXCHANGE, "The tensor with two dimensions exchanged.", transpose),
    both("swapaxes", EXCHANGE_AXES, "The tensor with two dimensions exchanged.", transpose),
    both("swapdims", EXCHANGE, "The tensor with two dimensions exchanged.", transpose),
    method("transpose_", EXCHANGE, "Exchanges two dimensions in place.", transpose_),
    method("swapaxes_", EXCHANGE_AXES, "Exchanges two dimensions in place.", transpose_),
    method("swapdims_", EXCHANGE, "Exchanges two dimensions in place.", transpose_),
    both("permute", &["(Tensor input, int[] dims)"], "The dimensions in another order.", |a| {
        permute::permute(a.tensor(0)?, &a.ints(1)?).answer(a.py())
    }),
    both("movedim", MOVE, "Some dimensions at other places.", movedim),
    both("moveaxis", MOVE, "Some dimensions at other places.", movedim),
    both("adjoint", &["(Tensor input)"], "The last two dimensions exchanged, with conjugates.", |a| {
        match a.tensor(0)?.ndim() {
            0 => {
                static TOLD: Once = Once::new();
                TOLD.warn(a.py(), c"adjoint() is deprecated on 0-D tensors. Consider using x.conj().")?;
                return conjugate::conj(a.tensor(0)?.clone()).answer(a.py());
            }
            1 => {
                let text =
                    "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.";
                return Err(PyRuntimeError::new_err(text));
            }
            _ => {}
        }
        permute::transpose(a.tensor(0)?, -2, -1).and_then(conjugate::conj).answer(a.py())
    }),
    method(
        "expand",
        &["(Tensor input, int[] size, *, bool implicit=False)"],
        "The tensor repeated along dimensions of size one, without a copy.",
        |a| expand::expand(a.tensor(0)?, &a.ints(1)?).answer(a.py()),
    ),
    method("expand_as", LIKE, "The tensor expanded to the shape of another.", |a| {
        expand::expand_as(a.tensor(0)?, a.tensor(1)?).answer(a.py())
    }),
    both("broadcast_to", &["(Tensor input, int[] size)"], "The tensor expanded to a shape.", |a| {
        expand::expand(a.tensor(0)?, &a.ints(1)?).answer(a.py())
    }),
    both("squeeze", SQUEEZE, "The tensor without dimensions of size one.", |a| {
        with_squeezed(a, |dims| squeeze::squeeze(a.tensor(0)?, dims).answer(a.py()))
    }),
    method("squeeze_", SQUEEZE, "Takes dimensions of size one away in place.", |a| {
        with_squeezed(a, |dims| in_place(a, squeeze::squeeze_(a.tensor(0)?, dims)))
    })
    .written(&OutPolicy::PLAIN.in_place_as(|given| match given.count {
        0 => "",
        _ if given.number => ".dim",
        _ => ".dims",
    })),
    both("unsqueeze", &["(Tensor input, int dim)"], "The tensor with a new dimension of size one.", |a| {
        squeeze::unsqueeze(a.tensor(0)?, a.int(1)?).answer(a.py())
    }),
    method("unsqueeze_", &["(Tensor input, int dim)"], "Adds a dimension of size one in place.", |a| {
        in_place(a, squeeze::unsqueeze_(a.tensor(0)?, a.int(1)?))
    }),
    both(
        "as_strided",
        &["(Tensor input, int[] size, int[] stride, int? storage_offset=None)"],
        "The elements of the memory at these sizes, strides and offset.",
        |a| {
            let (size, stride) = (a.ints(1)?, a.ints(2)?);
            strided::as_strided(a.tensor(0)?, &size, &stride, a.optional_int(3)?).answer(a.py())
        },
    ),
    both(
        "as_strided_",
        &["(Tensor input, int[] size, int[] stride, int? storage_offset=None)"],
        "Shows the elements of the memory at these sizes, strides and offset from now on.",
        |a| {
            let (size, stride) = (a.ints(1)?, a.ints(2)?);
            in_place(a, strided::as_strided_(a.tensor(0)?, &size, &stride, a.optional_int(3)?))
        },
    ),
    method(
        "set_",
        &[
            "(Tensor input)",
            "(Tensor input, Storage source)",
            "(Tensor input, Storage source, int storage_offset, int[] size, int[]? stride=None)",
            "(Tensor input, Tensor source)",
            "(Tensor input, Tensor source, int storage_offset, int[] size, int[]? stride=None)",
        ],
        "Has the tensor show what another shows, in the same memory, or memory, or nothing.",
        |a| {
            let x = a.tensor(0)?;
            let source = match a.overload() {
                0 => return in_own_order(a, resize::set_empty_(x)),
                1 | 2 => elements_of(a.needed(1)?, x.dtype())?,
                _ => a.tensor(1)?.clone(),
            };
            if !matches!(a.overload(), 2 | 4) {
                return in_own_order(a, resize::set_(x, &source));
            }
            let (size, stride) = (a.ints(3)?, a.dims(4)?);
            let stride = stride.map_or_else(|| in_order(&size), |stride| stride.to_vec());
            in_own_order(a, resize::set_window_(x, &source, &size, &stride, a.int(2)?))
        },
    )
    .written(&OutPolicy::PLAIN.in_place_as(|_| ".source_Tensor")),
    method(
        "resize_",
        &["(Tensor input, int[] size, *, memory_format? memory_format=None)"],
        "Gives the tensor another size, with what is in its memory.",
        |a| in_own_order(a, resize::resize_(a.tensor(0)?, &a.ints(1)?)),
    ),
    both(
        "resize_as_",
        &["(Tensor input, Tensor the_template, *, memory_format? memory_format=None)"],
        "Gives the tensor the size of another, with what is in its memory.",
        |a| in_own_order(a, resize::resize_as_(a.tensor(0)?, a.tensor(1)?)),
    ),
    both(
        "clone",
        &["(Tensor input, *, memory_format? memory_format=None)"],
        "A copy in memory of its own.",
        |a| cloned(a.tensor(0)?, format(a, 1)).answer(a.py()),
    ),
    method(
        "contiguous",
        &["(Tensor input, *, memory_format memory_format=contiguous_format)"],
        "The tensor itself if its elements lie in row-major order, else a copy that does.",
        |a| match format(a, 1) {
            Some("channels_last") if !cast::is_channels_last(a.tensor(0)?, 4).map_err(raise)? => {
                cast::clone_channels_last(a.tensor(0)?, 4).answer(a.py())
            }
            Some("channels_last_3d") if !cast::is_channels_last(a.tensor(0)?, 5).map_err(raise)? => {
                cast::clone_channels_last(a.tensor(0)?, 5).answer(a.py())
            }
            Some("channels_last" | "channels_last_3d") => a.object(0).answer(a.py()),
            _ => cast::contiguous(a.tensor(0)?).answer(a.py()),
        },
    ),
    method(
        "copy_",
        &[
            "(Tensor input, Tensor|Number other, bool non_blocking=False)",
            "(Tensor input, Tensor|Number other, bool async=False)|deprecated",
        ],
        "Overwrites the elements with those of another tensor.",
        |a| {
            let number;
            let (target, source) = match (a.tensor(0)?, a.operand(1)?) {
                (target, Operand::Tensor(source)) => (target, source),
                (target, Operand::Scalar(value)) => {
                    number = alone(value).map_err(raise)?;
                    (target, &number)
                }
            };
            warn_of_lost_part(a.py(), source.dtype(), target.dtype())?;
            in_place(a, cast::copy_(target, source))
        },
    )
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Arithmetic)),
    both(
        "fill_",
        &["(Tensor input, Tensor value)", "(Tensor input, Number value)"],
        "Overwrites every element.",
        |a| in_place(a, cast::fill_(a.tensor(0)?, a.operand(1)?)),
    )
    .written(&OutPolicy::PLAIN.overloaded().unbatched_target(|_| UnbatchedTarget::Rule("fill_"))),
    both("zero_", &["(Tensor input)"], "Overwrites every element with zero.", |a| {
        in_place(a, cast::zero_(a.tensor(0)?))
    }),
];

fn transpose(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    permute::transpose(arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?).answer(arguments.py())
}

fn transpose_(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let result = permute::transpose_(arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?);
    in_place(arguments, result)
}

fn movedim(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let x = arguments.tensor(0)?;
    match arguments.overload() {
        0 => permute::movedim(x, &[arguments.int(1)?], &[arguments.int(2)?]),
        _ => permute::movedim(x, &arguments.ints(1)?, &arguments.ints(2)?),
    }
    .answer(arguments.py())
}

/// Calls with the dimensions that the overload names.
fn with_squeezed(
    arguments: &Arguments<'_, '_>,
    call: impl FnOnce(Squeezed<'_>) -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    match arguments.overload() {
        0 => call(Squeezed::All),
        1 => call(Squeezed::One(arguments.int(1)?)),
        _ => call(Squeezed::Several(&arguments.ints(1)?)),
    }
}
