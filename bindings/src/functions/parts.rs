//! Parts of a tensor, elements at other places, and several tensors as one.
use super::entries::{both, function, method};
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, types};
use crate::error::raise;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dtype::DType;
use rushlight::ops::geometry::split::Sections;
use rushlight::ops::geometry::{expand, join, part, rearrange, split, triangle};
use rushlight::{Error, Result, Tensor};

const TRIANGLE: &[&str] = &["(Tensor input, int diagonal=0, *, Tensor out=None)"];
const SECTIONS: &[&str] = &[
    "(Tensor input, int sections, int dim=0) -> tuple[Tensor, ...]",
    "(Tensor input, int[] indices, int dim=0) -> tuple[Tensor, ...]",
    "(Tensor input, Tensor tensor_indices_or_sections, int dim=0) -> tuple[Tensor, ...]",
];
const REPEATED: &str = "Every element of a dimension so many times.";
const REPEATS: &[&str] = &[
    "(Tensor input, Tensor repeats, int? dim=None, *, int? output_size=None)",
    "(Tensor input, int repeats, int? dim=None, *, int? output_size=None)",
];
const SIDES: &[&str] = &[
    "(Tensor input, int sections) -> tuple[Tensor, ...]",
    "(Tensor input, int[] indices) -> tuple[Tensor, ...]",
];
const JOIN: &[&str] = &["(Tensor[] tensors, *, Tensor out=None)"];

/// The entries.
pub(super) const TABLE: &[Function] = &[
    both("select", &["(Tensor input, int dim, int index)"], "One element of a dimension.", |a| {
        part::select(a.tensor(0)?, a.int(1)?, a.int(2)?).answer(a.py())
    }),
    both(
        "narrow",
        &[
            "(Tensor input, int dim, Tensor start, int length)",
            "(Tensor input, int dim, int start, int length)",
        ],
        "A number of elements of a dimension.",
        |a| {
            let start = match a.optional_tensor(2) {
                Some(start) if start.ndim() > 0 || start.dtype().is_differentiable() => {
                    return Err(raise(Error::NarrowStartTensor {}.into()));
                }
                Some(start) => start.item().map_err(raise)?.to_f64() as i64,
                None => a.int(2)?,
            };
            part::narrow(a.tensor(0)?, a.int(1)?, start, a.int(3)?).answer(a.py())
        },
    ),
    both(
        "diagonal",
        &["(Tensor input, int offset=0, int dim1=0, int dim2=1)"],
        "A diagonal of two dimensions.",
        |a| part::diagonal(a.tensor(0)?, a.int(1)?, a.int(2)?, a.int(3)?).answer(a.py()),
    ),
    both(
        "unbind",
        &["(Tensor input, int dim=0) -> tuple[Tensor, ...]"],
        "The elements of a dimension, a view each.",
        |a| split::unbind(a.tensor(0)?, a.int(1)?).answer(a.py()),
    ),
    function(
        "split",
        &[
            "(Tensor tensor, int split_size_or_sections, int dim=0) -> tuple[Tensor, ...]",
            "(Tensor tensor, int[] split_size_or_sections, int dim=0) -> tuple[Tensor, ...]",
        ],
        SPLIT,
        split_,
    ),
    method(
        "split",
        &[
            "(Tensor input, int split_size, int dim=0) -> tuple[Tensor, ...]",
            "(Tensor input, int[] split_size, int dim=0) -> tuple[Tensor, ...]",
        ],
        SPLIT,
        split_,
    ),
    both(
        "split_with_sizes",
        &["(Tensor input, int[] split_sizes, int dim=0) -> tuple[Tensor, ...]"],
        "Ranges of a dimension of the given lengths, a view each.",
        |a| split::split_with_sizes(a.tensor(0)?, &a.ints(1)?, a.int(2)?).answer(a.py()),
    ),
    both(
        "chunk",
        &["(Tensor input, int chunks, int dim=0) -> tuple[Tensor, ...]"],
        "At most so many ranges of equal length, a view each.",
        |a| split::chunk(a.tensor(0)?, a.int(1)?, a.int(2)?).answer(a.py()),
    ),
    both("hsplit", SIDES, "Parts side by side: of the second dimension, or of a vector.", |a| {
        let dim = if a.tensor(0)?.ndim() == 1 { 0 } else { 1 };
        sides(a, "hsplit", 1, dim)
    }),
    both("vsplit", SIDES, "Parts below each other: of the first dimension.", |a| sides(a, "vsplit", 2, 0)),
    both("dsplit", SIDES, "Parts behind each other: of the third dimension.", |a| sides(a, "dsplit", 3, 2)),
    both("tensor_split", SECTIONS, "Ranges of a dimension, a view each.", tensor_split),
    both("flip", &["(Tensor input, int[] dims)"], "The opposite order along some dimensions.", |a| {
        rearrange::flip(a.tensor(0)?, &a.ints(1)?).answer(a.py())
    }),
    both(
        "roll",
        &["(Tensor input, int[1] shifts, int[1] dims=())"],
        "The tensor turned round along some dimensions.",
        |a| rearrange::roll(a.tensor(0)?, &a.ints(1)?, &a.ints(2)?).answer(a.py()),
    ),
    method("repeat", &["(Tensor input, int[] repeats)"], "The tensor so many times by dimension.", |a| {
        rearrange::repeat(a.tensor(0)?, &a.ints(1)?).answer(a.py())
    }),
    both("tile", &["(Tensor input, int[] dims)"], "The tensor so many times by dimension.", |a| {
        rearrange::tile(a.tensor(0)?, &a.ints(1)?).answer(a.py())
    }),
    method("repeat_interleave", REPEATS, REPEATED, repeat_interleave),
    function(
        "repeat_interleave",
        &[
            "(Tensor repeats, *, int? output_size=None)",
            "(Tensor input, Tensor repeats, int? dim=None, *, int? output_size=None)",
            "(Tensor input, int repeats, int? dim=None, *, int? output_size=None)",
        ],
        REPEATED,
        |a| match a.overload() {
            0 => {
                let y = rearrange::repeated_numbers(a.tensor(0)?).map_err(raise)?;
                match a.optional_int(1)? {
                    Some(wanted) if wanted != y.numel() as i64 => Err(raise(Error::RepeatsSize {}.into())),
                    _ => y.answer(a.py()),
                }
            }
            overload => repeated(a, overload - 1),
        },
    ),
    both("tril", TRIANGLE, "Matrices with zeros above a diagonal.", |a| {
        triangle::tril(a.tensor(0)?, a.int(1)?).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.typed(types::same)),
    both("triu", TRIANGLE, "Matrices with zeros below a diagonal.", |a| {
        triangle::triu(a.tensor(0)?, a.int(1)?).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.typed(types::same)),
    both("diag", TRIANGLE, "The diagonal of a matrix, or the matrix of a diagonal.", |a| {
        triangle::diag(a.tensor(0)?, a.int(1)?).answer(a.py())
    })
    .written(&OutPolicy::VIEWED.unknown("diag_embed")),
    both(
        "diag_embed",
        &["(Tensor input, int offset=0, int dim1=-2, int dim2=-1)"],
        "Zeros with the last dimension on a diagonal of two new ones.",
        |a| triangle::diag_embed(a.tensor(0)?, a.int(1)?, a.int(2)?, a.int(3)?).answer(a.py()),
    ),
    function(
        "cat",
        &["(Tensor[] tensors, int dim=0, *, Tensor out=None)"],
        "Tensors one after the other.",
        cat,
    )
    .written(&OutPolicy::JOINED),
    function(
        "concat",
        &["(Tensor[] tensors, int dim=0, *, Tensor out=None)"],
        "Tensors one after the other.",
        cat,
    )
    .written(&OutPolicy::JOINED.refused_as("cat")),
    function(
        "concatenate",
        &["(Tensor[] tensors, int dim=0, *, Tensor out=None)"],
        "Tensors one after the other.",
        cat,
    )
    .written(&OutPolicy::JOINED.refused_as("cat")),
    function(
        "stack",
        &["(Tensor[] tensors, int dim=0, *, Tensor out=None)"],
        "Tensors side by side along a new dimension.",
        |a| {
            let dim = a.int(1)?;
            joined(a, |tensors| join::stack(tensors, dim))
        },
    )
    .written(&OutPolicy::JOINED),
    function("hstack", JOIN, "Tensors side by side.", |a| joined(a, join::hstack))
        .written(&OutPolicy::JOINED.refused_as("cat")),
    function("vstack", JOIN, "Tensors one upon the other.", |a| joined(a, join::vstack))
        .written(&OutPolicy::JOINED.refused_as("cat")),
    function("row_stack", JOIN, "Tensors one upon the other.", |a| joined(a, join::vstack))
        .written(&OutPolicy::JOINED.refused_as("cat")),
    function(
        "meshgrid",
        &[
            "(Tensor[] tensors) -> tuple[Tensor, ...]",
            "(Tensor[] tensors, *, str indexing) -> tuple[Tensor, ...]",
        ],
        "Vectors as the coordinates of a grid.",
        meshgrid,
    ),
    function(
        "broadcast_tensors",
        &["(Tensor[] tensors) -> tuple[Tensor, ...]"],
        "Tensors in the shape that they broadcast to.",
        |a| joined(a, expand::broadcast_tensors),
    ),
    function("atleast_1d", &["(Tensor input)"], "The tensor with at least one dimension.", |a| {
        join::atleast_1d(a.tensor(0)?).answer(a.py())
    }),
    function("atleast_2d", &["(Tensor input)"], "The tensor with at least two dimensions.", |a| {
        join::atleast_2d(a.tensor(0)?).answer(a.py())
    }),
];

const SPLIT: &str = "Ranges of a dimension, of one length or of the given lengths, a view each.";

fn split_(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (x, dim) = (arguments.tensor(0)?, arguments.int(2)?);
    match arguments.overload() {
        0 => split::split(x, arguments.int(1)?, dim),
        _ => split::split_with_sizes(x, &arguments.ints(1)?, dim),
    }
    .answer(arguments.py())
}

/// Parts of a dimension, of one size or between indices.
fn sides(a: &Arguments<'_, '_>, operation: &'static str, least: usize, dim: usize) -> PyResult<Py<PyAny>> {
    let x = a.tensor(0)?;
    if x.ndim() < least {
        return Err(raise(Error::SplitRank { operation, least, ndim: x.ndim() }.into()));
    }
    if a.overload() == 1 {
        return split::tensor_split(x, Sections::Indices(&a.ints(1)?), dim as i64).answer(a.py());
    }
    let (sections, size) = (a.int(1)?, x.layout().shape()[dim]);
    if sections <= 0 || size as i64 % sections != 0 {
        return Err(raise(Error::SplitUneven { operation, dim, size, sections }.into()));
    }
    split::tensor_split(x, Sections::Count(sections), dim as i64).answer(a.py())
}

fn tensor_split(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (x, dim) = (arguments.tensor(0)?, arguments.int(2)?);
    match arguments.overload() {
        0 => split::tensor_split(x, Sections::Count(arguments.int(1)?), dim),
        1 => split::tensor_split(x, Sections::Indices(&arguments.ints(1)?), dim),
        _ => {
            let sections = arguments.tensor(1)?;
            if sections.dtype() != DType::Int64 {
                return Err(raise(Error::SectionsDType { dtype: sections.dtype() }.into()));
            }
            if sections.ndim() > 1 {
                return Err(raise(Error::SectionsRank { ndim: sections.ndim() }.into()));
            }
            match (sections.ndim(), sections.to_vec::<i64>().map_err(raise)?.as_slice()) {
                (0, &[count]) => split::tensor_split(x, Sections::Count(count), dim),
                (_, indices) => split::tensor_split(x, Sections::Indices(indices), dim),
            }
        }
    }
    .answer(arguments.py())
}

fn repeat_interleave(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    repeated(arguments, arguments.overload())
}

/// `repeat_interleave` as often as a vector says, or a number.
fn repeated(arguments: &Arguments<'_, '_>, overload: usize) -> PyResult<Py<PyAny>> {
    let (x, dim, wanted) = (arguments.tensor(0)?, arguments.optional_int(2)?, arguments.optional_int(3)?);
    let y = match overload {
        0 => rearrange::repeat_interleave_each(x, arguments.tensor(1)?, dim),
        _ => rearrange::repeat_interleave(x, arguments.int(1)?, dim),
    }
    .map_err(raise)?;
    let layout = y.layout();
    let got = dim.map_or(y.numel() as i64, |dim| {
        let place = if dim < 0 { dim + y.ndim() as i64 } else { dim };
        layout.shape().get(place as usize).map_or(1, |&size| size as i64)
    });
    match wanted {
        Some(wanted) if wanted != got && overload == 0 => Err(raise(Error::RepeatsSize {}.into())),
        Some(wanted) if wanted != got => {
            Err(raise(Error::RepeatsOutput { expected: got, got: wanted }.into()))
        }
        _ => y.answer(arguments.py()),
    }
}

fn cat(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let dim = arguments.int(1)?;
    joined(arguments, |tensors| join::cat(tensors, dim))
}

/// Calls with the tensors of the first argument.
fn joined<T: ToPython>(
    arguments: &Arguments<'_, '_>,
    call: impl FnOnce(&[&Tensor]) -> Result<T>,
) -> PyResult<Py<PyAny>> {
    let tensors = arguments.tensors(0)?;
    let tensors: Vec<&Tensor> = tensors.iter().collect();
    call(&tensors).answer(arguments.py())
}

fn meshgrid(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let indexing = if arguments.overload() == 0 { None } else { Some(arguments.text(1)?) };
    joined(arguments, |tensors| join::meshgrid(tensors, indexing.as_deref().unwrap_or("ij")))
}
