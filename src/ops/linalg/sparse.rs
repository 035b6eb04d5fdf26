//! Products of matrices of which few elements are kept: their values and places on the one side, whole matrices on the
//! other. The tensors that are made of such are the host's.

use std::sync::Arc;

use super::bilinear::Product;
use crate::dispatch::batch;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::kernels::linalg::sparse;
use crate::ops::creation::copy;
use crate::ops::geometry::{join, part};
use crate::schema::{Entry, IntoReply, function};
use crate::shape::{self, Layout};
use crate::tensor::{Array, Tensor};

/// The multiplications of dense matrices that take as long as one here.
const SLOWER: u64 = 16;

/// Where the values stand, in a matrix of this size.
struct Places {
    rows: Array,
    columns: Array,
    size: [usize; 2],
}

impl Places {
    fn new(rows: &Tensor, columns: &Tensor, size: [usize; 2]) -> Result<Arc<Places>> {
        let numbers = |x: &Tensor, dim: usize| -> Result<Array> {
            if batch::is_batched(x) {
                return Err(Error::MappedShape { operation: "sparse product" }.into());
            }
            let array =
                copy::as_type(&x.array(), DType::Int64).and_then(|x| Ok(copy::in_order(&x)?.into_owned()))?;
            let outside =
                elements::<i64>(&array).iter().find(|&&index| index < 0 || index as usize >= size[dim]);
            match outside {
                Some(&index) => Err(Error::GatherRange { index, dim, size: size[dim] }.into()),
                None => Ok(array),
            }
        };
        Ok(Arc::new(Places { rows: numbers(rows, 0)?, columns: numbers(columns, 1)?, size }))
    }

    /// The places in the transposed matrix.
    fn turned(&self) -> Arc<Places> {
        let [rows, columns] = self.size;
        Arc::new(Places { rows: self.columns.clone(), columns: self.rows.clone(), size: [columns, rows] })
    }
}

/// The numbers of what lies in order.
fn elements<T: Element>(array: &Array) -> &[T] {
    array.slice().unwrap_or_else(|| unreachable!("the numbers lie in order"))
}

/// Arrays in order, in a type that products are compiled for: integers of all sizes wrap alike.
fn in_order(array: &Array) -> Result<Array> {
    let dtype = if array.dtype.is_float() || array.dtype.is_complex() { array.dtype } else { DType::Int64 };
    let array = copy::as_type(array, dtype)?;
    Ok(copy::in_order(&array)?.into_owned())
}

/// Computes with numbers of these types.
macro_rules! over {
    ($array:expr, $T:ident => $body:expr) => {
        dispatch!(field $array.dtype, $T => $body, else {
            type $T = i64;
            $body
        })
    };
}

/// The product of every sample of one or both, whose samples lie along a dimension beyond these ranks.
fn each(product: &impl Product, [a, b]: [&Tensor; 2], ranks: [usize; 2]) -> Result<Tensor> {
    let samples = |x: &Tensor, rank: usize| (x.ndim() > rank).then(|| x.layout().shape()[0]);
    let count = samples(a, ranks[0]).or_else(|| samples(b, ranks[1])).unwrap_or_default();
    let sample = |x: &Tensor, rank: usize, index: usize| match samples(x, rank) {
        Some(_) => part::select(x, 0, index as i64),
        None => Ok(x.clone()),
    };
    let products: Vec<Tensor> = (0..count)
        .map(|index| product.call(&sample(a, ranks[0], index)?, &sample(b, ranks[1], index)?))
        .collect::<Result<_>>()?;
    join::stack(&products.iter().collect::<Vec<_>>(), 0)
}

/// y = A b, where A has the values a in some places
///
/// ā = ȳ bᵀ in these places, b̄ = Aᵀ ȳ
#[derive(Clone)]
struct TimesMatrix(Arc<Places>);

impl Product for TimesMatrix {
    const FACTORS: &'static [&'static str] = &["values", "matrix"];

    fn name(&self) -> &'static str {
        "SparseProductBackward0"
    }

    fn compute(&self, a: &Array, b: &Array) -> Result<Array> {
        let (values, matrix) = (in_order(a)?, in_order(b)?);
        let Places { rows, columns, size } = &*self.0;
        let width = b.layout.shape()[1];
        let mut y = Array::uninit_shape(&[size[0], width], values.dtype)?;
        if y.layout.numel() > 0 {
            let lines = sparse::Lines::new(elements(rows), size[0]);
            over!(values, T => {
                let (values, matrix) = (elements::<T>(&values), elements::<T>(&matrix));
                sparse::product(&lines, elements(columns), values, (matrix, width), y.fresh::<T>());
            });
        }
        Ok(copy::as_type(&y, a.dtype)?.into_owned())
    }

    fn left(&self, b: &Tensor, g: &Tensor, _like: &Layout) -> Result<Tensor> {
        Sampled(self.0.clone()).call(g, b)
    }

    fn right(&self, a: &Tensor, g: &Tensor, _like: &Layout) -> Result<Tensor> {
        TimesMatrix(self.0.turned()).call(a, g)
    }

    fn batch(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        each(self, [a, b], [1, 2])
    }

    fn multiplications(&self, a: &Layout, b: &Layout) -> u64 {
        SLOWER.saturating_mul(a.numel() as u64).saturating_mul(b.shape()[1] as u64)
    }
}

/// y = the elements of a bᵀ in some places
///
/// ā = G b, b̄ = Gᵀ a, where G has the values ȳ in these places
#[derive(Clone)]
struct Sampled(Arc<Places>);

impl Product for Sampled {
    const FACTORS: &'static [&'static str] = &["left", "right"];

    fn name(&self) -> &'static str {
        "SparseSamplesBackward0"
    }

    fn compute(&self, a: &Array, b: &Array) -> Result<Array> {
        let (left, right) = (in_order(a)?, in_order(b)?);
        let Places { rows, columns, .. } = &*self.0;
        let width = b.layout.shape()[1];
        let mut y = Array::uninit_shape(rows.layout.shape(), left.dtype)?;
        over!(left, T => {
            let factors = [elements::<T>(&left), elements::<T>(&right)];
            sparse::sampled(elements(rows), elements(columns), factors, width, y.fresh::<T>());
        });
        Ok(copy::as_type(&y, a.dtype)?.into_owned())
    }

    fn left(&self, b: &Tensor, g: &Tensor, _like: &Layout) -> Result<Tensor> {
        TimesMatrix(self.0.clone()).call(g, b)
    }

    fn right(&self, a: &Tensor, g: &Tensor, _like: &Layout) -> Result<Tensor> {
        TimesMatrix(self.0.turned()).call(g, a)
    }

    fn batch(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        each(self, [a, b], [2, 2])
    }

    fn multiplications(&self, _a: &Layout, b: &Layout) -> u64 {
        SLOWER.saturating_mul(self.0.rows.layout.numel() as u64).saturating_mul(b.shape()[1] as u64)
    }
}

/// Refuses numbers of different types, and tensors that are no matrices.
fn check(a: &Tensor, b: &Tensor) -> Result<()> {
    if a.dtype() != b.dtype() {
        return Err(Error::DTypesDiffer { left: a.dtype(), right: b.dtype() }.into());
    }
    match b.ndim() {
        2 => Ok(()),
        ndim => Err(Error::MatrixRank { argument: "the other factor", ndim }.into()),
    }
}

/// The product of a sparse matrix of so many rows, which has these values in these places, and a matrix.
pub fn product(
    rows: &Tensor,
    columns: &Tensor,
    values: &Tensor,
    matrix: &Tensor,
    count: usize,
) -> Result<Tensor> {
    check(values, matrix)?;
    let columns_of = matrix.layout().shape()[0];
    let places = Places::new(rows, columns, [count, columns_of])?;
    let found = [values, rows, columns].map(Tensor::numel);
    if values.ndim() != 1 || found[1] != found[0] || found[2] != found[0] {
        return Err(Error::SparsePlaces { values: found[0], rows: found[1], columns: found[2] }.into());
    }
    TimesMatrix(places).call(values, matrix)
}

/// The elements of the product of a matrix and another transposed that stand in these rows and columns.
pub fn sampled(rows: &Tensor, columns: &Tensor, left: &Tensor, right: &Tensor) -> Result<Tensor> {
    check(left, right)?;
    check(right, left)?;
    let [a, b] = [left.layout(), right.layout()];
    if a.shape()[1] != b.shape()[1] {
        let ([rows1, columns1], [columns2, rows2]) =
            ([a.shape()[0], a.shape()[1]], [b.shape()[0], b.shape()[1]]);
        return Err(Error::MatrixSizes { rows1, columns1, rows2, columns2 }.into());
    }
    let places = Places::new(rows, columns, [a.shape()[0], b.shape()[0]])?;
    let found = [rows, columns].map(Tensor::numel);
    if found[0] != found[1] {
        return Err(Error::SparsePlaces { values: found[0], rows: found[0], columns: found[1] }.into());
    }
    Sampled(places).call(left, right)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "_sparse_product",
        &["(Tensor rows, Tensor columns, Tensor values, Tensor matrix, int count) -> Tensor"],
        "The product of a sparse matrix of `count` rows, which has `values` in these places, and a matrix.",
        |a| {
            let count = shape::checked_shape(&[a.int(4)?])?[0];
            product(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.tensor(3)?, count).reply()
        },
    ),
    function(
        "_sparse_samples",
        &["(Tensor rows, Tensor columns, Tensor left, Tensor right) -> Tensor"],
        "The elements of the product of `left` and `right` transposed that stand in these rows and columns.",
        |a| sampled(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.tensor(3)?).reply(),
    ),
];
