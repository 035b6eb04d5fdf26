//! Products of operands of all ranks: views around the products of fixed rank, chosen so that
//! nothing is copied that need not be. Neither kernel nor rule lives here.

use crate::error::{Error, Result};
use crate::ops::composite::einsum::tensordot;
use crate::ops::creation::cast;
use crate::ops::geometry::squeeze::{Squeezed, squeeze, squeeze_, unsqueeze};
use crate::ops::geometry::{expand, permute, reshape};
use crate::ops::linalg::products::{bmm, dot, mm, mv};
use crate::ops::{Operand, mul};
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both};
use crate::shape::{self, Layout};
use crate::tensor::Tensor;

/// The product of two tensors: matrices are multiplied, vectors count as a row before a matrix and
/// as a column behind one, and further dimensions are a batch and broadcast.
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    match (a.ndim(), b.ndim()) {
        (ndim1 @ 0, ndim2) | (ndim1, ndim2 @ 0) => {
            Err(Error::MatmulScalar { operation: "matmul", ndim1, ndim2 }.into())
        }
        (1, 1) => dot(a, b),
        (2, 1) => mv(a, b),
        (1, 2) => {
            let row = mm(&unsqueeze(a, 0)?, b)?;
            squeeze_(&row, Squeezed::One(0))?;
            Ok(row)
        }
        (2, 2) => mm(a, b),
        (3, 3) if a.layout().shape()[0] != 1 && b.layout().shape()[0] == 1 && b.requires_grad() => {
            matmul(a, &squeeze(b, Squeezed::One(0))?)
        }
        (3, 3) if a.layout().shape()[0] == 1 && b.layout().shape()[0] != 1 && a.requires_grad() => {
            matmul(&squeeze(a, Squeezed::One(0))?, b)
        }
        (rank1, rank2) if rank1 >= rank2 && folds(a, b) => folded(a, b),
        (rank1, rank2) if rank1 < rank2 && folds(b, a) => folded_from_the_left(a, b),
        _ => batched(a, b),
    }
}

/// Whether the batch of `large` is multiplied as one tall matrix, so that the matrix or vector
/// `small` need not be repeated. Its gradient would otherwise be as large as the batch.
fn folds(large: &Tensor, small: &Tensor) -> bool {
    let (layout, rank) = (large.layout(), small.ndim());
    if layout.ndim() < 3 || rank > 2 {
        return false;
    }
    small.requires_grad() || layout.numel() == 0 || rank == 2 && merges(&layout)
}

/// Whether all dimensions but the last are one without moving elements.
fn merges(layout: &Layout) -> bool {
    let (shape, strides) = (layout.shape(), layout.strides());
    (1..shape.len() - 1).all(|dim| strides[dim - 1] == strides[dim] * shape[dim])
}

/// A batch times a matrix or vector.
fn folded(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let layout = a.layout();
    let Some((&columns, outer)) = layout.shape().split_last() else { unreachable!("a is a batch") };
    let tall = reshape::reshape_to(a, &[outer.iter().product(), columns])?;
    let mut shape = outer.to_vec();
    let product = match b.layout().shape() {
        &[_, columns] => {
            shape.push(columns);
            mm(&tall, b)?
        }
        _ => mv(&tall, b)?,
    };
    reshape::unsafe_view(&product, &shape)
}

/// A matrix or vector times a batch, as the batch transposed times it.
fn folded_from_the_left(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let turned = permute::transpose(b, -2, -1)?;
    if a.ndim() == 1 {
        return folded(&turned, a);
    }
    let product = folded(&turned, &permute::t(a)?)?;
    cast::contiguous(&permute::transpose(&product, -2, -1)?)
}

/// Two batches, broadcast and multiplied pair by pair.
fn batched(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (left, right) = (a.layout(), b.layout());
    let matrix = |layout: &Layout, vector: [usize; 2]| match *layout.shape() {
        [_] => vector,
        [.., rows, columns] => [rows, columns],
        [] => unreachable!("operands without dimensions were refused"),
    };
    let [rows, inner1] = matrix(&left, [1, left.numel()]);
    let [inner2, columns] = matrix(&right, [right.numel(), 1]);
    let outer = |layout: &Layout| layout.ndim().saturating_sub(2);
    let batch = shape::broadcast(&left.shape()[..outer(&left)], &right.shape()[..outer(&right)])?;
    let count = batch.iter().product();
    let repeated = |x: &Tensor, rows: usize, columns: usize| {
        let sizes: Vec<usize> = batch.iter().copied().chain([rows, columns]).collect();
        reshape::reshape_to(&expand::expand(x, &shape::signed(&sizes))?, &[count, rows, columns])
    };
    let column = if right.ndim() == 1 { unsqueeze(b, 1)? } else { b.clone() };
    let product = bmm(&repeated(a, rows, inner1)?, &repeated(&column, inner2, columns)?)?;
    let mut sizes: Vec<usize> = batch.iter().copied().collect();
    sizes.extend((left.ndim() > 1).then_some(rows));
    sizes.extend((right.ndim() > 1).then_some(columns));
    reshape::unsafe_view(&product, &sizes)
}

/// The products of every element of one vector with every element of another.
pub fn outer(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    for (argument, ndim) in [("self", a.ndim()), ("vec2", b.ndim())] {
        if ndim != 1 {
            return Err(Error::OuterDimensions { argument, ndim }.into());
        }
    }
    mul(Operand::Tensor(&reshape::reshape_to(a, &[a.numel(), 1])?), b)
}

/// The sums of products along the last dimensions of both.
pub fn inner(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (left, right) = (a.layout(), b.layout());
    let (Some(last1), Some(last2)) = (left.shape().last(), right.shape().last()) else { return mul(a, b) };
    if last1 != last2 {
        let (shape1, shape2) = (left.shape().to_vec(), right.shape().to_vec());
        return Err(Error::InnerSizes { shape1, shape2 }.into());
    }
    tensordot(a, b, &[-1], &[-1])
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "matmul",
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The matrix product of two tensors, batched and broadcast as their dimensions ask for.",
        |a| matmul(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("=", "matmul")]),
    both(
        "outer",
        &["(Tensor input, Tensor vec2, *, Tensor out=None)"],
        "The outer product of two vectors.",
        |a| outer(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::APART.once().refused_as("mul")),
    both(
        "inner",
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The inner product along the last dimensions of two tensors.",
        |a| inner(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.copied().typed(Types::Contracted)),
    both(
        "ger",
        &["(Tensor input, Tensor vec2, *, Tensor out=None)"],
        "The outer product of two vectors; `outer` has taken its place.",
        |a| outer(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::APART.once().refused_as("mul").noticed(|| Error::GerSuperseded {})),
];
