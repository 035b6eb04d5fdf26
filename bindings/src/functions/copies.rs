//! What views show, in memory of its own, and parts that are no views.
use super::entries::{both, function};
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, Shape, types};
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use std::sync::Arc;

use rushlight::graph::Attributes;
use rushlight::ops::conjugate;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::squeeze;
use rushlight::ops::geometry::squeeze::Squeezed;
use rushlight::ops::geometry::view_copy::{alias_copy, all_copied, copied, narrow_copy, unsafe_parts};
use rushlight::ops::geometry::{expand, part, permute, reinterpret, reshape, split, strided};
use rushlight::ops::sampling::random;
use rushlight::{Result, Tensor};

const DIAGONAL: &[&str] = &["(Tensor input, int offset=0, int dim1=0, int dim2=1, *, Tensor out=None)"];
const SQUEEZE: &[&str] = &[
    "(Tensor input, *, Tensor out=None)",
    "(Tensor input, int dim, *, Tensor out=None)",
    "(Tensor input, int[] dim, *, Tensor out=None)",
];
const PLAIN: &[&str] = &["(Tensor input, *, Tensor out=None)"];

/// The entries.
pub(super) const TABLE: &[Function] = &[
    function("alias_copy", PLAIN, "The tensor, copied.", |a| alias_copy(a.tensor(0)?).answer(a.py()))
        .written(&OutPolicy::VIEWED.unknown("alias_copy")),
    function("detach_copy", PLAIN, "The tensor without its history, copied.", |a| {
        random::detach_copy(a.tensor(0)?).answer(a.py())
    })
    .written(&OutPolicy::VIEWED.unknown("detach_copy")),
    function(
        "as_strided_copy",
        &["(Tensor input, int[] size, int[] stride, int? storage_offset=None, *, Tensor out=None)"],
        "`as_strided`, copied.",
        |a| {
            let (size, stride, offset) = (a.ints(1)?.to_vec(), a.ints(2)?.to_vec(), a.optional_int(3)?);
            copy(a, "AsStridedBackward0_copy", move |x| strided::as_strided(x, &size, &stride, offset))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("as_strided_copy")),
    function("diagonal_copy", DIAGONAL, "`diagonal`, copied.", |a| {
        let (offset, first, second) = (a.int(1)?, a.int(2)?, a.int(3)?);
        copy(a, "DiagonalBackward0_copy", move |x| part::diagonal(x, offset, first, second))
    })
    .written(&OutPolicy::VIEWED.unknown("diagonal_copy")),
    function(
        "expand_copy",
        &["(Tensor input, int[] size, *, bool implicit=False, Tensor out=None)"],
        "`expand`, copied.",
        |a| {
            let size = a.ints(1)?.to_vec();
            copy(a, "ExpandBackward0_copy", move |x| expand::expand(x, &size))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("expand_copy")),
    function(
        "permute_copy",
        &["(Tensor input, int[] dims, *, Tensor out=None)"],
        "`permute`, copied.",
        |a| {
            let dims = a.ints(1)?.to_vec();
            copy(a, "PermuteBackward0_copy", move |x| permute::permute(x, &dims))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("permute_copy")),
    function(
        "select_copy",
        &["(Tensor input, int dim, int index, *, Tensor out=None)"],
        "`select`, copied.",
        |a| {
            let (dim, index) = (a.int(1)?, a.int(2)?);
            copy(a, "SelectBackward0_copy", move |x| part::select(x, dim, index))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("select_copy")),
    function(
        "slice_copy",
        &["(Tensor input, int dim=0, int? start=None, int? end=None, int step=1, *, Tensor out=None)"],
        "A range of a dimension, copied.",
        |a| {
            let (dim, start, end, step) = (a.int(1)?, a.optional_int(2)?, a.optional_int(3)?, a.int(4)?);
            copy(a, "SliceBackward0_copy", move |x| part::slice(x, dim, start, end, step))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("slice_copy")),
    both(
        "narrow_copy",
        &["(Tensor input, int dim, int start, int length, *, Tensor out=None)"],
        "`narrow`, copied.",
        |a| narrow_copy(a.tensor(0)?, a.int(1)?, a.int(2)?, a.int(3)?).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.shaped(Shape::Silent).typed(types::narrowed)),
    function("squeeze_copy", SQUEEZE, "`squeeze`, copied.", |a| match a.overload() {
        0 => copy(a, "SqueezeBackward0_copy", |x| squeeze::squeeze(x, Squeezed::All)),
        1 => {
            let dim = a.int(1)?;
            copy(a, "SqueezeBackward1_copy", move |x| squeeze::squeeze(x, Squeezed::One(dim)))
        }
        _ => {
            let dims = a.ints(1)?.to_vec();
            copy(a, "SqueezeBackward2_copy", move |x| squeeze::squeeze(x, Squeezed::Several(&dims)))
        }
    })
    .written(&OutPolicy::VIEWED.unknown("squeeze_copy")),
    function("t_copy", PLAIN, "`t`, copied.", |a| copy(a, "TBackward0_copy", permute::t))
        .written(&OutPolicy::VIEWED.unknown("t_copy")),
    function(
        "transpose_copy",
        &["(Tensor input, int dim0, int dim1, *, Tensor out=None)"],
        "`transpose`, copied.",
        |a| {
            let (first, second) = (a.int(1)?, a.int(2)?);
            copy(a, "TransposeBackward0_copy", move |x| permute::transpose(x, first, second))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("transpose_copy")),
    function(
        "unfold_copy",
        &["(Tensor input, int dimension, int size, int step, *, Tensor out=None)"],
        "`Tensor.unfold`, copied.",
        |a| {
            let (dim, size, step) = (a.int(1)?, a.int(2)?, a.int(3)?);
            copy(a, "UnfoldBackward0_copy", move |x| part::windows(x, dim, size, step))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("unfold_copy")),
    function(
        "unsqueeze_copy",
        &["(Tensor input, int dim, *, Tensor out=None)"],
        "`unsqueeze`, copied.",
        |a| {
            let dim = a.int(1)?;
            copy(a, "UnsqueezeBackward0_copy", move |x| squeeze::unsqueeze(x, dim))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("unsqueeze_copy")),
    function(
        "view_copy",
        &[
            "(Tensor input, dtype dtype, *, Tensor out=None)",
            "(Tensor input, int[] size, *, Tensor out=None)",
        ],
        "`Tensor.view`, copied.",
        |a| match a.overload() {
            1 => {
                let size = a.ints(1)?.to_vec();
                // What no view fits is copied first, into an order that any does.
                copy(a, "ViewBackward0_copy", move |x| reshape::reshape(x, &size))
            }
            _ => {
                let dtype = a.element_type(1)?;
                read_otherwise(a, |x| reinterpret::view_dtype(x, dtype))
            }
        },
    )
    .written(&OutPolicy::VIEWED.unknown("view_copy")),
    function("view_as_real_copy", PLAIN, "`view_as_real`, copied.", |a| {
        read_otherwise(a, conjugate::view_as_real)
    })
    .written(&OutPolicy::VIEWED.unknown("view_as_real_copy")),
    function("view_as_complex_copy", PLAIN, "`view_as_complex`, copied.", |a| {
        read_otherwise(a, conjugate::view_as_complex)
    })
    .written(&OutPolicy::VIEWED.unknown("view_as_complex_copy")),
    function("unbind_copy", &["(Tensor input, int dim=0) -> tuple[Tensor, ...]"], "`unbind`, copied.", |a| {
        let dim = a.int(1)?;
        copies(a, "UnbindBackward0_copy", move |x| split::unbind(x, dim))
    }),
    function(
        "split_copy",
        &["(Tensor input, int split_size, int dim=0) -> tuple[Tensor, ...]"],
        "`split`, copied.",
        |a| {
            let (size, dim) = (a.int(1)?, a.int(2)?);
            copies(a, "SplitBackward0_copy", move |x| split::split(x, size, dim))
        },
    ),
    function(
        "split_with_sizes_copy",
        &["(Tensor input, int[] split_sizes, int dim=0) -> tuple[Tensor, ...]"],
        "`split_with_sizes`, copied.",
        |a| {
            let (sizes, dim) = (a.ints(1)?.to_vec(), a.int(2)?);
            copies(a, "SplitWithSizesBackward0_copy", move |x| split::split_with_sizes(x, &sizes, dim))
        },
    ),
    both(
        "unsafe_split",
        &["(Tensor input, int split_size, int dim=0) -> tuple[Tensor, ...]"],
        "`split` into tensors that are no views, though they share memory.",
        |a| {
            let (size, dim) = (a.int(1)?, a.int(2)?);
            let shown = vec![("split_size", size.into()), ("dim", dim.into())];
            apart(a, "UnsafeSplitBackward0", dim, shown, move |x| split::split(x, size, dim))
        },
    ),
    both(
        "unsafe_split_with_sizes",
        &["(Tensor input, int[] split_sizes, int dim=0) -> tuple[Tensor, ...]"],
        "`split_with_sizes` into tensors that are no views, though they share memory.",
        |a| {
            let (sizes, dim) = (a.ints(1)?.to_vec(), a.int(2)?);
            let shown = vec![("split_sizes", (&sizes[..]).into()), ("dim", dim.into())];
            apart(a, "UnsafeSplitWithSizesBackward0", dim, shown, move |x| {
                split::split_with_sizes(x, &sizes, dim)
            })
        },
    ),
    both(
        "unsafe_chunk",
        &["(Tensor input, int chunks, int dim=0) -> tuple[Tensor, ...]"],
        "`chunk` into tensors that are no views, though they share memory.",
        |a| {
            let (chunks, dim) = (a.int(1)?, a.int(2)?);
            let size = |x: &Tensor| -> Option<i64> {
                let place = usize::try_from(if dim < 0 { dim + x.ndim() as i64 } else { dim }).ok()?;
                Some(x.layout().shape().get(place)?.div_ceil(chunks.max(1) as usize) as i64)
            };
            let shown = vec![("split_size", size(a.tensor(0)?).into()), ("dim", dim.into())];
            apart(a, "UnsafeSplitBackward0", dim, shown, move |x| split::chunk(x, chunks, dim))
        },
    ),
];

/// What a view shows of the first argument, copied; the node has this name.
fn copy(
    a: &Arguments<'_, '_>,
    name: &'static str,
    view: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> PyResult<Py<PyAny>> {
    copied(a.tensor(0)?, name, view).answer(a.py())
}

/// The same of several parts.
fn copies(
    a: &Arguments<'_, '_>,
    name: &'static str,
    cut: impl Fn(&Tensor) -> Result<Vec<Tensor>> + Send + Sync + 'static,
) -> PyResult<Py<PyAny>> {
    all_copied(a.tensor(0)?, name, Arc::new(cut)).answer(a.py())
}

/// What the elements of the first argument are as another type, copied.
fn read_otherwise(a: &Arguments<'_, '_>, view: impl Fn(&Tensor) -> Result<Tensor>) -> PyResult<Py<PyAny>> {
    view(a.tensor(0)?).and_then(|seen| cast::clone_contiguous(&seen)).answer(a.py())
}

/// Parts of the first argument along a dimension, which share its memory without being views of it.
fn apart(
    a: &Arguments<'_, '_>,
    name: &'static str,
    dim: i64,
    mut shown: Attributes,
    cut: impl Fn(&Tensor) -> Result<Vec<Tensor>> + Send + Sync + 'static,
) -> PyResult<Py<PyAny>> {
    shown.push(("self_sym_sizes", (&a.tensor(0)?.layout()).into()));
    unsafe_parts(a.tensor(0)?, name, dim, shown, Arc::new(cut)).answer(a.py())
}
