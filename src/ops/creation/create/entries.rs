//! The entries of tensors out of nothing.

use super::*;
use crate::dispatch::default_dtype;
use crate::dispatch::operand::scalar_type;
use crate::schema::{Arguments, Entry, OutPolicy, Reply, Types, function, made, made_like, method, options};

const SIZED: &[&str] = &[options!("(int[] size, *, Tensor out=None, ")];
const NEW: &[&str] = &[options!("(Tensor input, int[] size, *, ")];
const LIKE: &[&str] = &[
    "(Tensor input, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False, memory_format? memory_format=None)",
];
const ZERO: Scalar = Scalar::Int(0);
const ONE: Scalar = Scalar::Int(1);

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function("zeros", SIZED, "A tensor filled with zeros.", |a| {
        let size = a.ints(0)?;
        made(a, 2, default_dtype::get(), |dtype| zeros(&size, dtype))
    })
    .written(&OutPolicy::MADE.unknown("zeros"))
    .operators(&[("-", "zeros")]),
    function("ones", SIZED, "A tensor filled with ones.", |a| {
        let size = a.ints(0)?;
        made(a, 2, default_dtype::get(), |dtype| full(&size, ONE, dtype))
    })
    .written(&OutPolicy::MADE.unknown("ones"))
    .operators(&[("-", "ones")]),
    function(
        "empty",
        &[options!("(int[] size, *, memory_format? memory_format=None, Tensor out=None, ")],
        "A tensor filled with uninitialized data.",
        |a| {
            let (size, order) = (a.ints(0)?, a.order(1));
            if order == Some(Order::Kept) {
                return Err(Error::EmptyKept {}.into());
            }
            let order = order.unwrap_or(Order::RowMajor);
            made(a, 3, default_dtype::get(), |dtype| empty_in(&size, order, dtype))
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
            made(a, 2, default_dtype::get(), |dtype| empty_strided(&size, &stride, dtype))
        },
    ),
    function(
        "empty_permuted",
        &[options!("(int[] size, int[] physical_layout, *, ")],
        "A tensor filled with uninitialized data, whose dimensions lie in memory in the given order.",
        |a| {
            let (size, order) = (a.ints(0)?, a.ints(1)?);
            made(a, 2, default_dtype::get(), |dtype| empty_permuted(&size, &order, dtype))
        },
    ),
    function(
        "full",
        &[options!("(int[] size, Number fill_value, *, Tensor out=None, ")],
        "A tensor filled with a value, of its dtype unless `dtype` is given.",
        |a| {
            let (size, value) = (a.ints(0)?, a.number(1)?);
            // Complex numbers of halves are made only where they are asked for.
            let usual = match scalar_type(value) {
                DType::Complex32 => DType::Complex64,
                usual => usual,
            };
            made(a, 3, usual, |dtype| full(&size, value, dtype))
        },
    )
    .written(&OutPolicy::MADE.unknown("full"))
    .operators(&[("-", "full")]),
    function(
        "scalar_tensor",
        &[options!("(Number s, *, ")],
        "A tensor of no dimensions that holds a number.",
        |a| {
            let value = a.number(0)?;
            made(a, 1, default_dtype::get(), |dtype| full(&[], value, dtype))
        },
    )
    .operators(&[("-", "scalar_tensor")]),
    function("zeros_like", LIKE, "A tensor of zeros with the size and dtype of another.", |a| {
        made_like(a, 1, 6, |x, dtype| full_like(x, ZERO, dtype))
    })
    .operators(&[("ZerosLike", "zeros_like"), ("-", "zeros_like")]),
    function("ones_like", LIKE, "A tensor of ones with the size and dtype of another.", |a| {
        made_like(a, 1, 6, |x, dtype| full_like(x, ONE, dtype))
    })
    .operators(&[("OnesLike", "ones_like"), ("-", "ones_like")]),
    function("empty_like", LIKE, "An uninitialized tensor with the size and dtype of another.", |a| {
        made_like(a, 1, 6, empty_like)
    })
    .operators(&[("EmptyLike", "empty_like"), ("-", "empty_like")]),
    function(
        "full_like",
        &[
            "(Tensor input, Number fill_value, *, memory_format? memory_format=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False)",
        ],
        "A tensor filled with a value, with the size and dtype of another.",
        |a| {
            let value = a.number(1)?;
            made_like(a, 3, 2, |x, dtype| full_like(x, value, dtype))
        },
    )
    .operators(&[("FullLike", "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"), ("-", "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    method("new_zeros", NEW, "A tensor of zeros with the dtype of this one.", |a| new(a, 2, ZERO))
    .operators(&[("-", "new_zeros")]),
    method("new_ones", NEW, "A tensor of ones with the dtype of this one.", |a| new(a, 2, ONE))
    .operators(&[("-", "new_ones")]),
    method("new_empty", NEW, "An uninitialized tensor with the dtype of this one.", |a| {
        let size = a.ints(1)?;
        made(a, 2, a.tensor(0)?.dtype(), |dtype| empty_in(&size, Order::RowMajor, dtype))
    })
    .operators(&[("-", "new_empty")]),
    method(
        "new_full",
        &[options!("(Tensor input, int[] size, Number fill_value, *, ")],
        "A tensor filled with a value, with the dtype of this one.",
        |a| new(a, 3, a.number(2)?),
    )
    .operators(&[("-", "new_full")]),
    method(
        "new_empty_strided",
        &[options!("(Tensor input, int[] size, int[] stride, *, ")],
        "An uninitialized tensor of the given size and stride, with the dtype of this one.",
        |a| {
            let (size, stride) = (a.ints(1)?, a.ints(2)?);
            made(a, 3, a.tensor(0)?.dtype(), |dtype| empty_strided(&size, &stride, dtype))
        },
    ),
    function(
        "eye",
        &[options!("(SymInt n, *, Tensor out=None, "), options!("(SymInt n, SymInt m, *, Tensor out=None, ")],
        "A matrix with ones on the diagonal and zeros elsewhere.",
        |a| {
            let last = a.overload();
            let (rows, columns) = (a.int(0)?, a.int(last)?);
            made(a, last + 2, default_dtype::get(), |dtype| eye(rows, columns, dtype))
        },
    )
    .written(&OutPolicy::MADE.unknown("eye"))
    .operators(&[("-", "eye"), ("-", "eye.m@1")]),
];

fn new(arguments: &dyn Arguments, first: usize, value: Scalar) -> Result<Reply> {
    let size = arguments.ints(1)?;
    made(arguments, first, arguments.tensor(0)?.dtype(), |dtype| full(&size, value, dtype))
}
