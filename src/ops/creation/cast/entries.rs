//! The entries of copies, conversions and tensors that are overwritten.

use super::*;
use crate::schema::{
    Arguments, Entry, IntoReply, OutPolicy, Reply, UnbatchedTarget, both, method, receiver, warn_once,
};

const CONVERTED: &[&str] = &["(Tensor input, *, memory_format? memory_format=None)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "fill_",
        &["(Tensor input, Tensor value)", "(Tensor input, Number value)"],
        "Sets every element to `value` in place.",
        |a| receiver(a, fill_(a.tensor(0)?, a.operand(1)?)),
    )
    .written(&OutPolicy::PLAIN.overloaded().unbatched_target(|_| UnbatchedTarget::Rule("fill_")))
    .operators(&[("-", "fill_.Scalar@1"), ("-", "fill_.Tensor")]),
    both("zero_", &["(Tensor input)"], "Sets every element to zero in place.", |a| {
        receiver(a, zero_(a.tensor(0)?))
    })
    .operators(&[("-", "zero_")]),
    method("half", CONVERTED, "The tensor converted to float16.", |a| converted(a, DType::Float16)),
    method("bfloat16", CONVERTED, "The tensor converted to bfloat16.", |a| converted(a, DType::BFloat16)),
    method("float", CONVERTED, "The tensor converted to float32.", |a| converted(a, DType::Float32)),
    method("double", CONVERTED, "The tensor converted to float64.", |a| converted(a, DType::Float64)),
    method("chalf", CONVERTED, "The tensor converted to complex32.", |a| converted(a, DType::Complex32)),
    method("cfloat", CONVERTED, "The tensor converted to complex64.", |a| converted(a, DType::Complex64)),
    method("cdouble", CONVERTED, "The tensor converted to complex128.", |a| converted(a, DType::Complex128)),
    method("bool", CONVERTED, "The tensor converted to bool: whether each element is not zero.", |a| {
        converted(a, DType::Bool)
    }),
    method("byte", CONVERTED, "The tensor converted to uint8.", |a| converted(a, DType::UInt8)),
    method("char", CONVERTED, "The tensor converted to int8.", |a| converted(a, DType::Int8)),
    method("short", CONVERTED, "The tensor converted to int16.", |a| converted(a, DType::Int16)),
    method("int", CONVERTED, "The tensor converted to int32.", |a| converted(a, DType::Int32)),
    method("long", CONVERTED, "The tensor converted to int64.", |a| converted(a, DType::Int64)),
    method("cpu", CONVERTED, "The tensor in the memory of the CPU: itself.", |a| {
        converted(a, a.tensor(0)?.dtype())
    }),
    method(
        "cuda",
        &[
            "(Tensor input, device? device=None, bool non_blocking=False, *, memory_format? memory_format=None)",
        ],
        "Raises an error: there is no CUDA device.",
        |_| Err(Error::NoCuda {}.into()),
    ),
    method(
        "to",
        &[
            "(Tensor input, device? device=None, dtype? dtype=None, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None)",
            "(Tensor input, dtype dtype, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None)",
            "(Tensor input, Tensor tensor, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None)",
        ],
        "The tensor converted to a dtype, to a device, or to those of another tensor.",
        |a| {
            let own = a.tensor(0)?.dtype();
            match a.overload() {
                0 => {
                    a.device(1)?;
                    as_asked(a, a.dtype(2).unwrap_or(own), a.boolean(4), 5)
                }
                1 => as_asked(a, a.dtype(1).unwrap_or(own), a.boolean(3), 4),
                _ => as_asked(a, a.tensor(1)?.dtype(), a.boolean(3), 4),
            }
        },
    ),
    both("clone", CONVERTED, "A copy of the tensor, through which gradients flow back.", |a| {
        let (x, order) = (a.tensor(0)?, a.order(1).unwrap_or(Order::Kept));
        if let Order::ChannelsLast(ndim) = order
            && x.differs()
        {
            return Err(Error::MappedClone { format: format_of(ndim) }.into());
        }
        cloned(x, order).reply()
    })
    .operators(&[("CloneBackward0", "clone")]),
    method(
        "contiguous",
        &["(Tensor input, *, memory_format memory_format=contiguous_format)"],
        "The tensor contiguous in memory: itself if it is, else a copy.",
        |a| {
            let x = a.tensor(0)?;
            match asked_order(a)? {
                Order::ChannelsLast(ndim) if is_channels_last(x, ndim)? => Ok(Reply::Given(0)),
                Order::ChannelsLast(ndim) => clone_channels_last(x, ndim).reply(),
                _ => contiguous(x).reply(),
            }
        },
    ),
    method(
        "is_contiguous",
        &["(Tensor input, *, memory_format memory_format=contiguous_format) -> bool"],
        "Whether the elements are contiguous in memory, in row-major order or in that of a memory format.",
        |a| {
            let x = a.tensor(0)?;
            match asked_order(a)? {
                Order::ChannelsLast(ndim) => {
                    (if x.ndim() == ndim { is_channels_last(x, ndim) } else { Ok(false) }).reply()
                }
                _ => Ok(x.is_contiguous()).reply(),
            }
        },
    ),
    method(
        "copy_",
        &[
            "(Tensor input, Tensor|Number other, bool non_blocking=False)",
            "(Tensor input, Tensor|Number other, bool async=False)|deprecated",
        ],
        "Copies the elements of another tensor into this one.",
        |a| {
            let target = a.tensor(0)?;
            let number;
            let source = match a.operand(1)? {
                Operand::Tensor(source) => source,
                Operand::Scalar(value) => {
                    number = create::alone(value)?;
                    &number
                }
            };
            warn_of_lost_part(source.dtype(), target.dtype())?;
            receiver(a, copy_(target, source))
        },
    )
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Arithmetic)),
];

/// The receiver in an element type, in the order that is named at position 1: itself if it is so already.
pub fn converted(arguments: &dyn Arguments, dtype: DType) -> Result<Reply> {
    as_asked(arguments, dtype, false, 1)
}

fn as_asked(arguments: &dyn Arguments, dtype: DType, copy: bool, slot: usize) -> Result<Reply> {
    let (x, order) = (arguments.tensor(0)?, arguments.order(slot));
    if x.dtype() != dtype {
        warn_of_lost_part(x.dtype(), dtype)?;
    } else if !copy && lies(x, order) {
        return Ok(Reply::Given(0));
    }
    to_copy(x, dtype, order.unwrap_or(Order::Kept)).reply()
}

/// Whether a tensor lies in the order that is asked for, as far as torch looks: where sizes of one leave that
/// open, its channels do not lie last.
fn lies(x: &Tensor, order: Option<Order>) -> bool {
    let is_last = |ndim| x.ndim() == ndim && suggests_channels_last(x);
    match order {
        Some(Order::RowMajor) => !is_last(4) && !is_last(5),
        Some(Order::ChannelsLast(ndim)) => is_last(ndim),
        Some(Order::Kept) | None => true,
    }
}

/// The order that a tensor shall lie in. A sample lies as all of them do, so that nothing else can be asked of it.
fn asked_order(arguments: &dyn Arguments) -> Result<Order> {
    let order = arguments.order(1).unwrap_or(Order::RowMajor);
    if order != Order::RowMajor && arguments.tensor(0)?.differs() {
        return Err(Error::MappedOrder {}.into());
    }
    Ok(order)
}

/// What torch calls the order in which channels come last.
fn format_of(ndim: usize) -> &'static str {
    if ndim == 4 { "ChannelsLast" } else { "ChannelsLast3d" }
}

/// Warns if imaginary parts get lost.
fn warn_of_lost_part(from: DType, to: DType) -> Result<()> {
    let lost = from.is_complex() && !to.is_complex() && to != DType::Bool;
    if lost { warn_once(Error::ImaginaryLost {}) } else { Ok(()) }
}
