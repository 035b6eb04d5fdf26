//! The entries of views that are copied.

use super::*;
use crate::schema::Placed;

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function("alias_copy", ONE_OUT, "A copy of the tensor.", |a| alias_copy(a.tensor(0)?).reply())
        .written(&OutPolicy::VIEWED.unknown("alias_copy")),
    function("detach_copy", ONE_OUT, "A copy of the tensor, detached from the graph.", |a| {
        random::detach_copy(a.tensor(0)?).reply()
    })
    .written(&OutPolicy::VIEWED.unknown("detach_copy")),
    function(
        "as_strided_copy",
        &["(Tensor input, int[] size, int[] stride, SymInt? storage_offset=None, *, Tensor out=None)"],
        "`as_strided` as a copy in memory of its own.",
        |a| {
            let (size, stride, offset) = (a.ints(1)?.to_vec(), a.ints(2)?.to_vec(), a.optional_int(3)?);
            copy_call(a, "AsStridedBackward0_copy", move |x| strided::as_strided(x, &size, &stride, offset))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("as_strided_copy")),
    function("diagonal_copy", DIAGONAL, "`diagonal` as a copy in memory of its own.", |a| {
        let (offset, first, second) = (a.int(1)?, a.int(2)?, a.int(3)?);
        copy_call(a, "DiagonalBackward0_copy", move |x| part::diagonal(x, offset, first, second))
    })
    .written(&OutPolicy::VIEWED.unknown("diagonal_copy")),
    function(
        "expand_copy",
        &["(Tensor input, int[] size, *, bool implicit=False, Tensor out=None)"],
        "`Tensor.expand` as a copy in memory of its own.",
        |a| {
            let size = a.ints(1)?.to_vec();
            copy_call(a, "ExpandBackward0_copy", move |x| expand::expand(x, &size))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("expand_copy")),
    function(
        "permute_copy",
        &["(Tensor input, int[] dims, *, Tensor out=None)"],
        "`permute` as a copy in memory of its own.",
        |a| {
            let dims = a.ints(1)?.to_vec();
            copy_call(a, "PermuteBackward0_copy", move |x| permute::permute(x, &dims))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("permute_copy")),
    function(
        "select_copy",
        &["(Tensor input, int dim, SymInt index, *, Tensor out=None)"],
        "`select` as a copy in memory of its own.",
        |a| {
            let (dim, index) = (a.int(1)?, a.int(2)?);
            copy_call(a, "SelectBackward0_copy", move |x| part::select(x, dim, index))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("select_copy")),
    function(
        "slice_copy",
        &["(Tensor input, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor out=None)"],
        "A slice of a dimension, as a copy in memory of its own.",
        |a| {
            let (dim, start, end, step) = (a.int(1)?, a.optional_int(2)?, a.optional_int(3)?, a.int(4)?);
            copy_call(a, "SliceBackward0_copy", move |x| part::slice(x, dim, start, end, step))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("slice_copy")),
    both(
        "narrow_copy",
        &["(Tensor input, int dim, SymInt start, SymInt length, *, Tensor out=None)"],
        "`narrow` as a copy in memory of its own.",
        |a| narrow_copy(a.tensor(0)?, a.int(1)?, a.int(2)?, a.int(3)?).reply(),
    )
    .written(&OutPolicy::PLAIN.shaped(Shape::Silent).typed(Types::Narrowed)),
    function("squeeze_copy", SQUEEZE, "`squeeze` as a copy in memory of its own.", |a| match a.overload() {
        0 => copy_call(a, "SqueezeBackward0_copy", |x| squeeze::squeeze(x, Squeezed::All)),
        1 => {
            let dim = a.int(1)?;
            copy_call(a, "SqueezeBackward1_copy", move |x| squeeze::squeeze(x, Squeezed::One(dim)))
        }
        _ => {
            let dims = a.ints(1)?.to_vec();
            copy_call(a, "SqueezeBackward2_copy", move |x| squeeze::squeeze(x, Squeezed::Several(&dims)))
        }
    })
    .written(&OutPolicy::VIEWED.unknown("squeeze_copy")),
    function("t_copy", ONE_OUT, "`t` as a copy in memory of its own.", |a| {
        copy_call(a, "TBackward0_copy", permute::t)
    })
    .written(&OutPolicy::VIEWED.unknown("t_copy")),
    function(
        "transpose_copy",
        &["(Tensor input, int dim0, int dim1, *, Tensor out=None)"],
        "`transpose` as a copy in memory of its own.",
        |a| {
            let (first, second) = (a.int(1)?, a.int(2)?);
            copy_call(a, "TransposeBackward0_copy", move |x| permute::transpose(x, first, second))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("transpose_copy")),
    function(
        "unfold_copy",
        &["(Tensor input, int dimension, int size, int step, *, Tensor out=None)"],
        "`Tensor.unfold` as a copy in memory of its own.",
        |a| {
            let (dim, size, step) = (a.int(1)?, a.int(2)?, a.int(3)?);
            copy_call(a, "UnfoldBackward0_copy", move |x| part::windows(x, dim, size, step))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("unfold_copy")),
    function(
        "unsqueeze_copy",
        &["(Tensor input, int dim, *, Tensor out=None)"],
        "`unsqueeze` as a copy in memory of its own.",
        |a| {
            let dim = a.int(1)?;
            copy_call(a, "UnsqueezeBackward0_copy", move |x| squeeze::unsqueeze(x, dim))
        },
    )
    .written(&OutPolicy::VIEWED.unknown("unsqueeze_copy")),
    function(
        "view_copy",
        &[
            "(Tensor input, dtype dtype, *, Tensor out=None)",
            "(Tensor input, int[] size, *, Tensor out=None)",
        ],
        "`Tensor.view` as a copy in memory of its own.",
        |a| match a.overload() {
            1 => {
                let size = a.ints(1)?.to_vec();
                // What no view fits is copied first, into an order that any does.
                copy_call(a, "ViewBackward0_copy", move |x| reshape::reshape(x, &size))
            }
            _ => {
                let dtype = a.element_type(1)?;
                read_otherwise(a, |x| reinterpret::view_dtype(x, dtype))
            }
        },
    )
    .written(&OutPolicy::VIEWED.unknown("view_copy")),
    function("view_as_real_copy", ONE_OUT, "`view_as_real` as a copy in memory of its own.", |a| {
        read_otherwise(a, conjugate::view_as_real)
    })
    .written(&OutPolicy::VIEWED.unknown("view_as_real_copy")),
    function("view_as_complex_copy", ONE_OUT, "`view_as_complex` as a copy in memory of its own.", |a| {
        read_otherwise(a, conjugate::view_as_complex)
    })
    .written(&OutPolicy::VIEWED.unknown("view_as_complex_copy")),
    function(
        "unbind_copy",
        &["(Tensor input, int dim=0, *, Tensor[] out=None) -> tuple[Tensor, ...]"],
        "`unbind` as copies in memory of their own.",
        |a| {
            let dim = a.int(1)?;
            copies(a, "UnbindBackward0_copy", move |x| split::unbind(x, dim))
        },
    )
    .written(&OutPolicy::PLAIN.out_as(|_| ".int_out")),
    function(
        "split_copy",
        &["(Tensor input, SymInt split_size, int dim=0, *, Tensor[] out=None) -> tuple[Tensor, ...]"],
        "`split` as copies in memory of their own.",
        |a| {
            let (size, dim) = (a.int(1)?, a.int(2)?);
            copies(a, "SplitBackward0_copy", move |x| split::split(x, size, dim))
        },
    )
    .written(&OutPolicy::PLAIN.placed(Placed::Copied).out_as(|_| ".Tensor_out")),
    function(
        "split_with_sizes_copy",
        &["(Tensor input, int[] split_sizes, int dim=0, *, Tensor[] out=None) -> tuple[Tensor, ...]"],
        "`split_with_sizes` as copies in memory of their own.",
        |a| {
            let (sizes, dim) = (a.ints(1)?.to_vec(), a.int(2)?);
            copies(a, "SplitWithSizesBackward0_copy", move |x| split::split_with_sizes(x, &sizes, dim))
        },
    ),
    both(
        "unsafe_split",
        &["(Tensor input, SymInt split_size, int dim=0) -> tuple[Tensor, ...]"],
        "`split` without tracking the results as views of the input.",
        |a| {
            let (size, dim) = (a.int(1)?, a.int(2)?);
            let shown = vec![("split_size", size.into()), ("dim", dim.into())];
            apart(a, "UnsafeSplitBackward0", dim, shown, move |x| split::split(x, size, dim))
        },
    ),
    both(
        "unsafe_split_with_sizes",
        &["(Tensor input, int[] split_sizes, int dim=0) -> tuple[Tensor, ...]"],
        "`split_with_sizes` without tracking the results as views of the input.",
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
        "`chunk` without tracking the results as views of the input.",
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
fn copy_call(
    a: &dyn Arguments,
    name: &'static str,
    view: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Reply> {
    copied(a.tensor(0)?, name, view).reply()
}

/// What the elements of the first argument are as another type, copied.
fn read_otherwise(a: &dyn Arguments, view: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Reply> {
    view(a.tensor(0)?).and_then(|seen| cast::clone_contiguous(&seen)).reply()
}

/// The same of several parts.
fn copies(
    a: &dyn Arguments,
    name: &'static str,
    cut: impl Fn(&Tensor) -> Result<Vec<Tensor>> + Send + Sync + 'static,
) -> Result<Reply> {
    all_copied(a.tensor(0)?, name, Arc::new(cut)).reply()
}

/// Parts of the first argument along a dimension, which share its memory without being views of it.
fn apart(
    a: &dyn Arguments,
    name: &'static str,
    dim: i64,
    mut shown: Attributes,
    cut: impl Fn(&Tensor) -> Result<Vec<Tensor>> + Send + Sync + 'static,
) -> Result<Reply> {
    shown.push(("self_sym_sizes", (&a.tensor(0)?.layout()).into()));
    unsafe_parts(a.tensor(0)?, name, dim, shown, Arc::new(cut)).reply()
}
