//! Distances of all pairs of rows by kernels, and those of the pairs of one matrix.

use std::mem::MaybeUninit;
use std::sync::Arc;

use ndarray::ArrayView2;
use smallvec::smallvec;

use crate::dispatch::apply::Outputs;
use crate::dispatch::composites::checkpointed::{self, AtOnce, CheckpointedOp};
use crate::dispatch::modes::recording;
use crate::dtype::{DType, Number, Real, Scalar};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::kernels::linalg::distance::{self, Norm};
use crate::ops::creation::copy;
use crate::ops::geometry::expand;
use crate::ops::indexing::along::index_select;
use crate::ops::pointwise::clamp::clamp_max;
use crate::ops::reduction::{norm, reduce};
use crate::ops::{abs, ceil, sub};
use crate::schema::{Entry, IntoReply, inner};
use crate::shape::{self, Dims};
use crate::tensor::{Array, Tensor};

/// Whether kernels may calculate with these at once.
pub(super) fn have_loops(tensors: &[&Tensor]) -> bool {
    let dtype = tensors[0].dtype();
    let is_alike = |x: &&Tensor| x.dtype() == dtype && x.numel() > 0;
    matches!(dtype, DType::Float32 | DType::Float64)
        && tensors.iter().all(is_alike)
        && recording::is_undivided(tensors)
}

/// Matrices of rows that are compared with the rows of others, and what there is of each pair: as many matrices of
/// each, in order.
pub(super) struct Pairs {
    lead: Dims,
    arrays: Vec<Array>,
}

impl Pairs {
    pub(super) fn new(tensors: &[&Tensor]) -> Result<Pairs> {
        let split = |x: &&Tensor| x.layout().shape().split_at(x.ndim() - 2).0.to_vec();
        let lead = tensors.iter().try_fold(Dims::new(), |lead, x| shape::broadcast(&lead, &split(x)))?;
        let wide = |x: &&Tensor| {
            let layout = x.layout();
            let end = &layout.shape()[x.ndim() - 2..];
            let wide = expand::expand(x, &shape::signed(&[&lead[..], end].concat()))?;
            Ok(copy::in_order(&wide.array())?.into_owned())
        };
        let arrays = tensors.iter().map(wide).collect::<Result<_>>()?;
        Ok(Pairs { lead, arrays })
    }

    /// Of arrays that have as many matrices each.
    pub(super) fn alike(arrays: &[Array]) -> Result<Pairs> {
        let shape = arrays[0].layout.shape();
        let lead = shape[..shape.len() - 2].into();
        let ordered = |x: &Array| Ok(copy::in_order(x)?.into_owned());
        Ok(Pairs { lead, arrays: arrays.iter().map(ordered).collect::<Result<_>>()? })
    }

    /// The number of matrices, and the sizes of these.
    fn sizes(&self) -> (usize, [usize; 2], [usize; 2]) {
        let ends = [0, 1].map(|index| {
            let shape = self.arrays[index].layout.shape();
            [shape[shape.len() - 2], shape[shape.len() - 1]]
        });
        (self.lead.iter().product(), ends[0], ends[1])
    }

    /// Calls `of` for each matrix with its numbers, those of the others and the room for what comes of them.
    fn each<T: Real, const N: usize>(
        &self,
        end: [usize; 2],
        of: impl Fn([&[T]; N], &mut [MaybeUninit<T>]),
    ) -> Result<Array> {
        let mut y = Array::uninit_shape(&[&self.lead[..], &end].concat(), T::DTYPE)?;
        let count: usize = self.lead.iter().product();
        let numbers: [&[T]; N] = std::array::from_fn(|index| {
            self.arrays[index].slice().unwrap_or_else(|| unreachable!("they are in order"))
        });
        let len = end[0] * end[1];
        for (place, y) in y.fresh::<T>().chunks_exact_mut(len.max(1)).enumerate() {
            let own = numbers.map(|numbers| {
                let len = numbers.len() / count;
                &numbers[place * len..][..len]
            });
            of(own, y);
        }
        Ok(y)
    }

    /// The norms of the differences.
    pub(super) fn norms(&self, norm: Norm) -> Result<Array> {
        let (_, [rows, _], [others, width]) = self.sizes();
        let dtype = self.arrays[0].dtype;
        dispatch!(float dtype, T => {
            self.each([rows, others], |[a, b]: [&[T]; 2], y| distance::distances(a, matrix(b, others, width), norm, y))
        }, else { Err(Error::NotImplementedFor { operation: "cdist", dtype }.into()) })
    }

    /// The gradients of the first from the norms and their gradients.
    pub(super) fn gradients(&self, norm: Norm) -> Result<Array> {
        let (_, first, [others, width]) = self.sizes();
        let dtype = self.arrays[0].dtype;
        dispatch!(float dtype, T => {
            self.each(first, |[a, b, y, g]: [&[T]; 4], out| {
                distance::gradients(a, matrix(b, others, width), norm, [y, g], out);
            })
        }, else { Err(Error::NotImplementedFor { operation: "cdist", dtype }.into()) })
    }
}

/// Numbers as a matrix.
fn matrix<T>(numbers: &[T], rows: usize, width: usize) -> ArrayView2<'_, T> {
    let matrix = ArrayView2::from_shape((rows, width), numbers);
    matrix.unwrap_or_else(|_| unreachable!("there are so many numbers"))
}

/// The norms of the differences of all pairs of rows of a matrix, each pair once.
struct Within(Norm);

impl AtOnce for Within {
    fn fits(&self, inputs: &[&Tensor]) -> bool {
        let is_backward = inputs.len() > 1;
        have_loops(inputs) && !(is_backward && self.0 == Norm::Greatest)
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let x = inputs[0].array();
        let rows = x.layout.shape()[0];
        let mut y = Array::uninit_shape(&[rows * (rows - 1) / 2], x.dtype)?;
        dispatch!(float x.dtype, T => {
            distance::distances_within(plane::<T>(&x), self.0, y.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(smallvec![Tensor::from_array(y)])
    }

    fn backward(&self, kept: &[&Tensor], gradient: &Tensor, _wanted: &[bool]) -> Result<Outputs> {
        let [x, y, g] = [kept[0], kept[1], gradient].map(Tensor::array);
        let (y, g) = (copy::in_order(&y)?, copy::in_order(&g)?);
        let mut found = Array::uninit_shape(x.layout.shape(), x.dtype)?;
        dispatch!(float x.dtype, T => {
            let (Some(y), Some(g)) = (y.slice::<T>(), g.slice::<T>()) else { unreachable!("they are in order") };
            distance::gradients_within(plane(&x), self.0, [y, g], found.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(smallvec![Tensor::from_array(found)])
    }
}

/// An array of two dimensions as a matrix.
fn plane<T: Number>(x: &Array) -> ArrayView2<'_, T> {
    x.view::<T>().into_dimensionality().unwrap_or_else(|_| unreachable!("it has two dimensions"))
}

/// The distances of all pairs of rows of a matrix, each pair once.
pub fn pdist(x: &Tensor, order: f64) -> Result<Tensor> {
    let parts = move |inputs: &[&Tensor]| -> Result<Outputs> {
        let x = inputs[0];
        let rows = x.layout().shape()[0] as i64;
        let pairs = (0..rows).flat_map(|row| (row + 1..rows).map(move |other| (row, other)));
        let (first, second): (Vec<i64>, Vec<i64>) = pairs.unzip();
        let picked = |places: Vec<i64>| index_select(x, 0, &Tensor::from_slice(&[places.len()], &places)?);
        let apart = sub(&picked(first)?, &picked(second)?)?;
        Ok(smallvec![of_differences(&apart, order.into())?])
    };
    let names = &["self", "result"];
    let operation = CheckpointedOp {
        shown: shown! { p: Scalar::Float(order) },
        at_once: Norm::of_order(order).map(|norm| Arc::new(Within(norm)) as Arc<dyn AtOnce>),
        ..CheckpointedOp::new("_pdist_forward", "PdistBackward0", names, 1, parts)
    };
    checkpointed::apply_one(operation, &[x])
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "pdist",
    &["(Tensor input, float p=2)"],
    "The p-norm distance between every pair of rows.",
    |a| pdist(a.tensor(0)?, a.float(1)?).reply(),
)];

/// The norms of differences, of which each is a row.
pub(super) fn of_differences(apart: &Tensor, order: Scalar) -> Result<Tensor> {
    match order.to_f64() == 0.0 {
        // How many differ; what is no number makes it none.
        true => reduce::sum(&clamp_max(&ceil(&abs(apart)?)?, 1.0)?, Some(&[-1]), false, None),
        false => norm::vector_norm(apart, order, Some(&[-1]), false, None),
    }
}
