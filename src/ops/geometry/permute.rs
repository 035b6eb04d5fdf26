//! Dimensions in another order.

use crate::ops::geometry::reshape;
use crate::schema::{Arguments, Entry, IntoReply, Reply, both, method, receiver};
use smallvec::SmallVec;

use crate::dispatch::batch;
use crate::dispatch::composites::attribute_override::ViewWithAttributes;
use crate::dispatch::view::{ViewKind, apply, apply_in_place};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::shape::{self, Dims, Layout};
use crate::tensor::Tensor;

/// By which name two dimensions are exchanged: that decides what the node shows.
#[derive(Clone, Copy)]
enum Caller {
    T,
    TInPlace,
    Transpose,
    TransposeInPlace,
}

/// y = x with two dimensions exchanged
///
/// dy is dx and x̄ is ȳ with the same exchanged
struct Transpose {
    caller: Caller,
    first: usize,
    second: usize,
    /// The dimensions as the caller named them.
    given: [i64; 2],
}

impl ViewKind for Transpose {
    fn name(&self) -> &'static str {
        match self.caller {
            Caller::T => "TBackward0",
            Caller::TInPlace => "TBackward1",
            Caller::Transpose => "TransposeBackward0",
            Caller::TransposeInPlace => "TransposeBackward1",
        }
    }

    fn shown(&self, _source: &Layout) -> Attributes {
        match self.caller {
            Caller::T | Caller::TInPlace => Attributes::new(),
            Caller::Transpose | Caller::TransposeInPlace => {
                shown! { dim0: self.given[0], dim1: self.given[1] }
            }
        }
    }

    fn vjp(&self, _source: &Layout, gradient: &Tensor) -> Result<Tensor> {
        let caller = if let Caller::T = self.caller { Caller::T } else { Caller::Transpose };
        exchange(caller, gradient, self.first, self.second)
    }

    fn jvp(&self, tangent: &Tensor, _shape: &[usize]) -> Result<Tensor> {
        exchange(Caller::Transpose, tangent, self.first, self.second)
    }
}

fn exchange(caller: Caller, x: &Tensor, first: usize, second: usize) -> Result<Tensor> {
    let given = [first as i64, second as i64];
    apply(Transpose { caller, first, second, given }, x, x.layout().exchanged(first, second))
}

fn exchange_in_place(caller: Caller, x: &Tensor, first: usize, second: usize) -> Result<()> {
    let given = [first as i64, second as i64];
    apply_in_place(Transpose { caller, first, second, given }, x, x.layout().exchanged(first, second))
}

fn pair(x: &Tensor, first: i64, second: i64) -> Result<(usize, usize)> {
    let ndim = x.ndim();
    Ok((shape::normalize_dim(first, ndim)?, shape::normalize_dim(second, ndim)?))
}

/// The tensor with two dimensions exchanged.
pub fn transpose(x: &Tensor, first: i64, second: i64) -> Result<Tensor> {
    let given = [first, second];
    let (first, second) = pair(x, first, second)?;
    let transpose = Transpose { caller: Caller::Transpose, first, second, given };
    apply(transpose, x, x.layout().exchanged(first, second))
}

/// Exchanges two dimensions of the tensor itself.
pub fn transpose_(x: &Tensor, first: i64, second: i64) -> Result<()> {
    let (first, second) = pair(x, first, second)?;
    exchange_in_place(Caller::TransposeInPlace, x, first, second)
}

fn matrix_pair(operation: &'static str, x: &Tensor) -> Result<(usize, usize)> {
    match x.ndim() {
        0 | 1 => Ok((0, 0)),
        2 => Ok((0, 1)),
        ndim => Err(Error::TransposeDimensions { operation, ndim }.into()),
    }
}

/// A matrix transposed; a vector or a number as it is.
pub fn t(x: &Tensor) -> Result<Tensor> {
    let (first, second) = matrix_pair("t", x)?;
    exchange(Caller::T, x, first, second)
}

/// Transposes the matrix itself.
pub fn t_(x: &Tensor) -> Result<()> {
    let (first, second) = matrix_pair("t_", x)?;
    exchange_in_place(Caller::TInPlace, x, first, second)
}

/// A matrix, or each of a batch of matrices, transposed.
#[allow(non_snake_case)] // as in torch
pub fn mT(x: &Tensor) -> Result<Tensor> {
    match x.ndim() {
        0 => Ok(x.clone()),
        1 => Err(Error::MatrixTransposeDimensions { attribute: "mT", ndim: 1 }.into()),
        _ => transpose(x, -2, -1),
    }
}

/// y = x with the dimensions in the order `dims`
///
/// dy is dx in that order; x̄ is ȳ in the order before
struct Permute {
    dims: Dims,
}

/// The order as the caller gave it, if that was by negative numbers.
fn given(dims: &[i64]) -> Option<Attributes> {
    dims.iter().any(|&dim| dim < 0).then(|| shown! { dims: dims })
}

impl ViewKind for Permute {
    fn name(&self) -> &'static str {
        "PermuteBackward0"
    }

    fn shown(&self, _source: &Layout) -> Attributes {
        shown! { dims: &self.dims }
    }

    fn vjp(&self, _source: &Layout, gradient: &Tensor) -> Result<Tensor> {
        let mut inverse: Dims = SmallVec::from_elem(0, self.dims.len());
        for (place, &dim) in self.dims.iter().enumerate() {
            inverse[dim] = place;
        }
        reorder(gradient, inverse)
    }

    fn jvp(&self, tangent: &Tensor, _shape: &[usize]) -> Result<Tensor> {
        reorder(tangent, self.dims.clone())
    }
}

/// A layout with the dimensions in the order `dims`, which names each of them once.
pub(crate) fn reordered(layout: &Layout, dims: &[usize]) -> Layout {
    layout.permuted(dims.iter().copied())
}

fn reorder(x: &Tensor, dims: Dims) -> Result<Tensor> {
    let layout = reordered(&x.layout(), &dims);
    apply(Permute { dims }, x, layout)
}

/// The tensor with its dimensions in another order.
pub fn permute(x: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let ndim = x.ndim();
    if dims.len() != ndim {
        if batch::is_batched(x) {
            // Dimensions of samples are counted from behind those of all, before they are compared.
            dims.iter().try_for_each(|&dim| shape::normalize_dim(dim, ndim).map(drop))?;
        }
        return Err(batch::told_of_all(Error::PermuteCount { ndim, given: dims.len() }, &[x]));
    }
    let mut order = Dims::new();
    for &dim in dims {
        let dim = shape::normalize_dim(dim, ndim)?;
        if order.contains(&dim) {
            return Err(Error::PermuteRepeated {}.into());
        }
        order.push(dim);
    }
    match given(dims) {
        Some(given) => {
            let layout = reordered(&x.layout(), &order);
            apply(ViewWithAttributes { kind: Permute { dims: order }, given }, x, layout)
        }
        None => reorder(x, order),
    }
}

/// The tensor with its dimensions in the opposite order.
#[allow(non_snake_case)] // as in torch
pub fn T(x: &Tensor) -> Result<Tensor> {
    reorder(x, (0..x.ndim()).rev().collect())
}

/// Moves the dimensions `source` to the places `destination`; the others keep their order.
pub fn movedim(x: &Tensor, source: &[i64], destination: &[i64]) -> Result<Tensor> {
    let ndim = x.ndim();
    if source.len() != destination.len() {
        let (source, destination) = (source.to_vec(), destination.to_vec());
        return Err(Error::MovedimCount { source, destination }.into());
    }
    let within = |dims: &[i64]| -> Result<Vec<i64>> {
        dims.iter().map(|&dim| shape::normalize_dim(dim, ndim).map(|dim| dim as i64)).collect()
    };
    let once = |dims: Vec<i64>, given: &[i64], argument: &'static str| -> Result<Dims> {
        let twice = |place: usize| dims[..place].contains(&dims[place]);
        match (0..dims.len()).any(twice) {
            true => Err(Error::MovedimRepeated { argument, dims: given.to_vec() }.into()),
            false => Ok(dims.into_iter().map(|dim| dim as usize).collect()),
        }
    };
    let (first, second) = (within(source)?, within(destination)?);
    let source = once(first, source, "source")?;
    let destination = once(second, destination, "destination")?;
    if ndim == 0 {
        return reshape::alias(x);
    }
    let mut others = (0..ndim).filter(|dim| !source.contains(dim));
    let place = |place: usize| match destination.iter().position(|&to| to == place) {
        Some(index) => source[index],
        None => others.next().unwrap_or_else(|| unreachable!("as many places are left as dimensions")),
    };
    reorder(x, (0..ndim).map(place).collect())
}

const EXCHANGE: &[&str] = &["(Tensor input, int dim0, int dim1)"];

const EXCHANGE_AXES: &[&str] = &["(Tensor input, int axis0, int axis1)"];

const MOVE: &[&str] =
    &["(Tensor input, int source, int destination)", "(Tensor input, int[] source, int[] destination)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("t", &["(Tensor input)"], "The transpose of a matrix, as a view.", |a| t(a.tensor(0)?).reply())
        .operators(&[("TBackward0", "t(Tensor(a) self) -> Tensor(a)")]),
    method("t_", &["(Tensor input)"], "Transposes a matrix in place.", |a| receiver(a, t_(a.tensor(0)?)))
        .operators(&[("-", "t_")]),
    both("transpose", EXCHANGE, "A view with two dimensions swapped.", transpose_call).operators(&[(
        "TransposeBackward0",
        "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    )]),
    both("swapaxes", EXCHANGE_AXES, "A view with two dimensions swapped: `transpose`.", transpose_call),
    both("swapdims", EXCHANGE, "A view with two dimensions swapped: `transpose`.", transpose_call),
    method("transpose_", EXCHANGE, "Swaps two dimensions in place.", transpose_in_place)
        .operators(&[("-", "transpose_")]),
    method("swapaxes_", EXCHANGE_AXES, "Swaps two dimensions in place.", transpose_in_place),
    method("swapdims_", EXCHANGE, "Swaps two dimensions in place.", transpose_in_place),
    both("permute", &["(Tensor input, int[] dims)"], "A view with the dimensions permuted.", |a| {
        permute(a.tensor(0)?, &a.ints(1)?).reply()
    })
    .operators(&[("PermuteBackward0", "permute(Tensor(a) self, int[] dims) -> Tensor(a)")]),
    both("movedim", MOVE, "A view with dimensions moved from `source` to `destination`.", movedim_call),
    both(
        "moveaxis",
        MOVE,
        "A view with dimensions moved from `source` to `destination`: `movedim`.",
        movedim_call,
    ),
];

fn transpose_call(arguments: &dyn Arguments) -> Result<Reply> {
    transpose(arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?).reply()
}

fn transpose_in_place(arguments: &dyn Arguments) -> Result<Reply> {
    let result = transpose_(arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?);
    receiver(arguments, result)
}

fn movedim_call(arguments: &dyn Arguments) -> Result<Reply> {
    let x = arguments.tensor(0)?;
    match arguments.overload() {
        0 => movedim(x, &[arguments.int(1)?], &[arguments.int(2)?]),
        _ => movedim(x, &arguments.ints(1)?, &arguments.ints(2)?),
    }
    .reply()
}
