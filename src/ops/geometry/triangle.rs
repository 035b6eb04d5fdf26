//! Triangles and diagonals of matrices.

use crate::dispatch::apply::portable;
use crate::dispatch::in_place as writing;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, inner, method, receiver};
use smallvec::smallvec;

use crate::dispatch::apply::number_one;
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::modes::recording;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::kernels::geometry::rows;
use crate::kernels::interrupt::Steps;
use crate::ops::creation::copy;
use crate::ops::geometry::part;
use crate::ops::geometry::part::Part;
use crate::shape::{self, SharedLayout};
use crate::tensor::{Array, Tensor};

/// y = x with zeros above, or below, a diagonal of its matrices
///
/// dy and x̄ are dx and ȳ with the same zeros
#[derive(Clone)]
struct Triangle {
    upper: bool,
    diagonal: i64,
}

impl Triangle {
    fn again(&self, x: &Tensor) -> Result<Gradients> {
        one(apply_one(Triangle { upper: self.upper, diagonal: self.diagonal }, &[x])?)
    }
}

/// The upper or the lower triangles of matrices, from a diagonal on.
pub(crate) fn numbers(x: &Array, upper: bool, diagonal: i64) -> Result<Array> {
    number_one(&Triangle { upper, diagonal }, std::slice::from_ref(x))
}

/// How many elements so many rows have of which each is longer by one than the one before it, up to `most`; the greatest
/// number if there is none for it.
fn stairs(shortest: i64, rows: i64, most: i64) -> i64 {
    let (shortest, rows, most) = (i128::from(shortest), i128::from(rows), i128::from(most));
    let rising = (most - shortest).clamp(0, rows);
    let count = rising * shortest + rising * (rising - 1) / 2 + (rows - rising) * most;
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The rows of what stays of a matrix of so many rows and columns, and the columns.
fn indices([rows, columns]: [i64; 2], diagonal: i64, upper: bool) -> Result<Tensor> {
    let of_row = |row: i64| {
        let edge = row.saturating_add(i64::from(!upper)).saturating_add(diagonal).clamp(0, columns);
        if upper { edge..columns } else { 0..edge }
    };
    // Rows of which something stays.
    let kept = match upper {
        _ if columns == 0 => 0..0,
        true => 0..rows.min(columns.saturating_sub(diagonal)).max(0),
        false => diagonal.saturating_neg().clamp(0, rows)..rows,
    };
    // The shortest of them: rows of a lower triangle become longer, those of an upper one shorter.
    let shortest = of_row(if upper { kept.end.saturating_sub(1) } else { kept.start });
    let count = stairs(shortest.end - shortest.start, kept.end - kept.start, columns);
    let mut steps = Steps::default();
    let mut places = Array::uninit_shape(&shape::checked_shape(&[2, count])?, DType::Int64)?;
    let (down, across) = places.fresh::<i64>().split_at_mut(count as usize);
    let mut free = down.iter_mut().zip(across);
    for row in kept {
        steps.take(1);
        for (column, (down, across)) in of_row(row).zip(&mut free) {
            steps.take(1);
            down.write(row);
            across.write(column);
        }
    }
    let places = Tensor::from_array(places);
    recording::fixed(&places)?;
    Ok(places)
}

impl Op for Triangle {
    type Saved = ();
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        if self.upper { "TriuBackward0" } else { "TrilBackward0" }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { diagonal: self.diagonal }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let x = copy::in_order(x)?;
        let mut y = Array::uninit(&x.layout, x.dtype)?;
        let (&[.., rows, columns], diagonal) = (x.layout.shape(), self.diagonal) else {
            unreachable!("triangles are parts of matrices")
        };
        dispatch!(bits x.dtype, T => {
            let elements = x.slice::<T>().unwrap_or_else(|| unreachable!("the elements are contiguous"));
            rows::triangle(elements, y.fresh::<T>(), [rows, columns], diagonal, self.upper);
        });
        Ok(smallvec![y])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        self.again(single(gradients))
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        self.again(tangent(tangents))
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

fn triangle(x: &Tensor, upper: bool, diagonal: i64, operation: &'static str) -> Result<Tensor> {
    match x.ndim() {
        0 | 1 => Err(Error::TriangleDimensions { operation }.into()),
        _ => apply_one(Triangle { upper, diagonal }, &[x]),
    }
}

/// `triangle` in place.
fn triangle_(x: &Tensor, upper: bool, diagonal: i64, operation: &'static str) -> Result<()> {
    let layout = x.layout();
    let (&[.., rows, columns], true) = (layout.shape(), writing::is_plain(x)) else {
        return writing::through(x, &[], |x| triangle(x, upper, diagonal, operation));
    };
    dispatch!(bits x.dtype(), T => x.memory().overwrite_slice::<T>([], |elements| {
        rows::clear_beside_triangle(elements, [rows, columns], diagonal, upper);
    }));
    x.bump_version()
}

/// The matrices with zeros above the diagonal of that number.
pub fn tril(x: &Tensor, diagonal: i64) -> Result<Tensor> {
    triangle(x, false, diagonal, "tril")
}

/// The matrices with zeros below the diagonal of that number.
pub fn triu(x: &Tensor, diagonal: i64) -> Result<Tensor> {
    triangle(x, true, diagonal, "triu")
}

/// y = a copy of a diagonal of x
///
/// dy is that of dx; x̄ is ȳ on the diagonal of zeros
#[derive(Clone)]
struct DiagonalCopy {
    part: Part,
}

impl Op for DiagonalCopy {
    type Saved = SharedLayout;
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        "DiagonalBackward0_copy"
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        match self.part {
            Part::Diagonal { offset, first, second } => {
                shown! { dim1: first, dim2: second, offset: offset, self_sym_sizes: saved }
            }
            _ => unreachable!("it is the copy of a diagonal"),
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![copy::dense(&self.part.of(&inputs[0])?)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, source: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(part::embed(single(gradients), self.part, source.shape(), "DiagonalBackwardBackward0")?)
    }

    fn jvp(&self, _source: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(DiagonalCopy { part: self.part }, &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(DiagonalCopy { part: self.part.deeper() })
    }
}

/// The diagonal of a matrix, or the matrix with a vector on that diagonal.
pub fn diag(x: &Tensor, diagonal: i64) -> Result<Tensor> {
    match *x.layout().shape() {
        [_] => diag_embed(x, diagonal, -2, -1),
        [rows, columns] => {
            // Beyond the corners there is nothing, however far.
            let offset = diagonal.clamp(-(rows as i64), columns as i64);
            apply_one(DiagonalCopy { part: Part::Diagonal { offset, first: 0, second: 1 } }, &[x])
        }
        ref shape => Err(Error::DiagDimensions { ndim: shape.len() }.into()),
    }
}

/// Zeros with the last dimension of the tensor on a diagonal of two new dimensions.
pub fn diag_embed(x: &Tensor, offset: i64, first: i64, second: i64) -> Result<Tensor> {
    let ndim = x.ndim() + 1;
    let (dim1, dim2) = (first, second);
    let (first, second) = (shape::normalize_dim(first, ndim)?, shape::normalize_dim(second, ndim)?);
    if first == second {
        return Err(Error::DiagonalDimensions { dim1, dim2 }.into());
    }
    let layout = x.layout();
    let Some((&length, rest)) = layout.shape().split_last() else {
        return Err(Error::DimOutOfRange { dim: -1, low: -1, high: 0 }.into());
    };
    let side = (length as i64).saturating_add(offset.saturating_abs());
    let mut whole = shape::signed(rest);
    for dim in [first.min(second), first.max(second)] {
        whole.insert(dim, side);
    }
    let whole = shape::checked_shape(&whole)?;
    let part = Part::Diagonal { offset, first, second };
    let given = shown! { offset: offset, dim1: dim1, dim2: dim2 };
    part::embed_given(x, part, &whole, "DiagEmbedBackward0", given)
}

const TRIANGLE: &[&str] = &["(Tensor input, SymInt diagonal=0, *, Tensor out=None)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "triangle_indices",
        &["(int row, int col, int offset, bool upper)"],
        "The rows and columns of what is on or above a diagonal of a matrix, or on or below.",
        |a| indices([a.int(0)?, a.int(1)?], a.int(2)?, a.boolean(3)).reply(),
    ),
    method("tril_", &["(Tensor input, SymInt diagonal=0)"], "`tril` in place.", |a| {
        let (x, diagonal) = (a.tensor(0)?, a.int(1)?);
        receiver(a, triangle_(x, false, diagonal, "tril"))
    }),
    method("triu_", &["(Tensor input, SymInt diagonal=0)"], "`triu` in place.", |a| {
        let (x, diagonal) = (a.tensor(0)?, a.int(1)?);
        receiver(a, triangle_(x, true, diagonal, "triu"))
    }),
    both(
        "tril",
        TRIANGLE,
        "The lower triangle of matrices: elements above a diagonal are set to zero.",
        |a| tril(a.tensor(0)?, a.int(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("TrilBackward0", "tril")]),
    both(
        "triu",
        TRIANGLE,
        "The upper triangle of matrices: elements below a diagonal are set to zero.",
        |a| triu(a.tensor(0)?, a.int(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("TriuBackward0", "triu")]),
    both(
        "diag",
        &["(Tensor input, int diagonal=0, *, Tensor out=None)"],
        "The diagonal of a matrix, or the matrix with a given diagonal.",
        |a| diag(a.tensor(0)?, a.int(1)?).reply(),
    )
    .written(&OutPolicy::VIEWED.unknown("diag_embed")),
    both(
        "diag_embed",
        &["(Tensor input, int offset=0, int dim1=-2, int dim2=-1)"],
        "Matrices whose diagonals are the last dimension, zero elsewhere.",
        |a| diag_embed(a.tensor(0)?, a.int(1)?, a.int(2)?, a.int(3)?).reply(),
    )
    .operators(&[("DiagEmbedBackward0", "diag_embed")]),
];

plain! {
    struct Triangle { upper, diagonal }
    struct DiagonalCopy { part }
}

/// How these are written as plain data.
pub const ROWS: &[Row] =
    &[portable::row::<Triangle>("triangle"), portable::row::<DiagonalCopy>("diagonal copy")];
